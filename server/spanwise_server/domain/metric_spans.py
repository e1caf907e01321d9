"""Metric spans: the tree that GetExecutionMetrics of Flyte answers with."""

from typing import NamedTuple

from spanwise_server.domain.identifiers import EntityVersion, ExecutionId


class MetricNode(NamedTuple):
    """Identifies a node, or a sub-task as if it were one."""

    execution_id: ExecutionId
    node_id: str


class MetricAttempt(NamedTuple):
    """Identifies a task attempt."""

    execution_id: ExecutionId
    node_id: str
    task_id: EntityVersion
    retry_attempt: int


class MetricSpan(NamedTuple):
    """One flyteidl.core.Span. A text as subject is an operation id.

    The end is before the start where FlyteAdmin has it so.
    """

    start_ns: int
    end_ns: int
    subject: str | ExecutionId | MetricNode | MetricAttempt
    children: list["MetricSpan"]

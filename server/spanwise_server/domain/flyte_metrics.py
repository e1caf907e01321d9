"""The rendering of a span tree as GetExecutionMetrics of Flyte gives it: spans, categories, depths.

What FlyteAdmin answers, this answers, negative times among it. Where FlyteAdmin fails the whole
call (a node that the workflow does not have, several cases of a branch, a child execution that is
not known) all else is answered. What it does not look at, such as sub-tasks, is added.

Source: flyteadmin v1.16, pkg/manager/impl/metrics_manager.go.
"""

from typing import NamedTuple

from spanwise_server.domain.flyte_metric_rules import Below, parts_of
from spanwise_server.domain.flyte_metric_times import times_of
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.metric_spans import MetricAttempt, MetricNode, MetricSpan
from spanwise_server.domain.spans import (
    ExecutionSubject,
    NodeSubject,
    OperationSubject,
    Span,
    SubtaskSubject,
    TaskAttemptSubject,
)


class _Pending(NamedTuple):
    """A rendered span of which the children are still to be rendered."""

    metric: MetricSpan
    source: Span
    depth: int
    execution_id: ExecutionId
    node_id: str


def render_metrics(root: Span, depth: int) -> MetricSpan:
    """Render an execution.

    Args:
        root: Its span tree, of any depth.
        depth: Levels below the execution, as FlyteAdmin counts them. 0 gives the execution alone,
            a negative number all.
    """
    if not isinstance(root.subject, ExecutionSubject):
        raise TypeError("metrics are rendered from the span of an execution")
    top = _begin(Below(root, depth), root.subject.execution_id, "")
    pending = [top]
    while pending:
        parent = pending.pop()
        for part in parts_of(parent.source, parent.depth):
            if isinstance(part, MetricSpan):
                parent.metric.children.append(part)
            else:
                child = _begin(part, parent.execution_id, parent.node_id)
                parent.metric.children.append(child.metric)
                pending.append(child)
    return top.metric


def _begin(below: Below, execution_id: ExecutionId, node_id: str) -> _Pending:
    """Make the reference span of `below`, which is inside an execution and a node."""
    span = below.source
    subject: ExecutionId | MetricNode | MetricAttempt
    match span.subject:
        case ExecutionSubject():
            subject = execution_id = span.subject.execution_id
        case NodeSubject():
            node_id = span.subject.node_id
            subject = MetricNode(execution_id, node_id)
        case TaskAttemptSubject(task_id=task_id, retry_attempt=retry_attempt):
            subject = MetricAttempt(execution_id, node_id, task_id, retry_attempt)
        case SubtaskSubject(ordinal=ordinal, retry_attempt=retry_attempt):
            # A task_id would have one number for both, and flytekit keeps one span of each number.
            subject = MetricNode(execution_id, f"{node_id}-n{ordinal}-{retry_attempt}")
        case OperationSubject():
            raise TypeError("operations are not taken over, but worked out anew")
    times = times_of(span)
    children = [] if below.transition is None else [below.transition]
    metric = MetricSpan(times.created_ns, times.updated_ns, subject, children)
    return _Pending(metric, span, below.depth, execution_id, node_id)

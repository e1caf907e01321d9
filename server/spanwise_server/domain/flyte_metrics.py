"""The rendering of a span tree as GetExecutionMetrics of Flyte gives it: spans, categories, depths.

Source: flyteadmin v1.16, pkg/manager/impl/metrics_manager.go. Where FlyteAdmin would give a
negative time or fail the whole call, the time is zero and the part is left out.
"""

from collections.abc import Mapping
from typing import NamedTuple

from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.spans import (
    ClosureTimes,
    ExecutionSubject,
    NodeSubject,
    Operation,
    Span,
    TaskAttemptSubject,
)


class MetricNode(NamedTuple):
    """Identifies a node."""

    execution_id: ExecutionId
    node_id: str


class MetricAttempt(NamedTuple):
    """Identifies a task attempt."""

    execution_id: ExecutionId
    node_id: str
    task_id: EntityVersion
    retry_attempt: int


class MetricSpan(NamedTuple):
    """One flyteidl.core.Span. A text as subject is an operation id."""

    start_ns: int
    end_ns: int
    subject: str | ExecutionId | MetricNode | MetricAttempt
    children: list["MetricSpan"]


def render_metrics(root: Span, depth: int) -> MetricSpan:
    """Render an execution.

    Args:
        root: Its span tree.
        depth: Levels below the execution, as FlyteAdmin counts them. 0 gives the execution alone,
            a negative number all.
    """
    if not isinstance(root.subject, ExecutionSubject):
        raise TypeError("metrics are rendered from the span of an execution")
    execution_id = root.subject.execution_id
    times = _times(root)
    span = MetricSpan(times.created_ns, times.updated_ns, execution_id, [])
    if depth == 0:
        return span
    nodes = _nodes(root)
    start_node = next((node for node in nodes if _kind(node) is NodeKind.START), None)
    if start_node is None:
        span.children.append(_operation(Operation.WORKFLOW_SETUP, span.start_ns, span.end_ns))
        return span
    ready_ns = _times(start_node).updated_ns
    span.children.append(_operation(Operation.WORKFLOW_SETUP, span.start_ns, ready_ns))
    work = [node for node in nodes if _kind(node) not in (NodeKind.START, NodeKind.END)]
    ends_ns = {_node_id(node): _times(node).updated_ns for node in nodes}
    for node in sorted(work, key=lambda node: _times(node).created_ns):
        span.children.append(_render_node(execution_id, node, ends_ns, depth - 1))
    done_ns = max((_times(node).updated_ns for node in work), default=ready_ns)
    if done_ns <= span.end_ns:
        span.children.append(_operation(Operation.WORKFLOW_TEARDOWN, done_ns, span.end_ns))
    return span


def _render_node(
    execution_id: ExecutionId, node: Span, ends_ns: Mapping[str, int], depth: int
) -> MetricSpan:
    if not isinstance(node.subject, NodeSubject):
        raise TypeError("not the span of a node")
    times = _times(node)
    span = MetricSpan(
        times.created_ns, times.updated_ns, MetricNode(execution_id, node.subject.node_id), []
    )
    upstream_ns = [ends_ns[each] for each in node.subject.upstream_node_ids if each in ends_ns]
    if upstream_ns:
        span.children.append(_operation(Operation.NODE_TRANSITION, max(upstream_ns), span.start_ns))
    if depth != 0:
        span.children.extend(_render_task_node(span, node, depth - 1))
    return span


def _render_task_node(node: MetricSpan, span: Span, depth: int) -> list[MetricSpan]:
    attempts = [child for child in span.children if isinstance(child.subject, TaskAttemptSubject)]
    if not attempts:
        return [_operation(Operation.NODE_SETUP, node.start_ns, node.end_ns)]
    times = [_times(attempt) for attempt in attempts]
    parts = [_operation(Operation.NODE_SETUP, node.start_ns, times[0].created_ns)]
    for number, attempt in enumerate(attempts):
        if number:
            before, after = times[number - 1], times[number]
            parts.append(_operation(Operation.NODE_RESET, before.updated_ns, after.created_ns))
        if depth != 0:
            parts.append(_render_attempt(node, attempt))
    if times[-1].updated_ns <= node.end_ns:
        parts.append(_operation(Operation.NODE_TEARDOWN, times[-1].updated_ns, node.end_ns))
    return parts


def _render_attempt(node: MetricSpan, attempt: Span) -> MetricSpan:
    if not isinstance(node.subject, MetricNode) or not isinstance(
        attempt.subject, TaskAttemptSubject
    ):
        raise TypeError("not the span of a task attempt")
    created_ns, started_ns, ran_until_ns, updated_ns = _times(attempt)
    subject = MetricAttempt(*node.subject, attempt.subject.task_id, attempt.subject.retry_attempt)
    span = MetricSpan(created_ns, updated_ns, subject, [])
    if started_ns is None:
        span.children.append(_operation(Operation.TASK_SETUP, created_ns, updated_ns))
        return span
    span.children.append(_operation(Operation.TASK_SETUP, created_ns, started_ns))
    if ran_until_ns is None:
        span.children.append(_operation(Operation.TASK_RUNTIME, started_ns, updated_ns))
        return span
    span.children.append(_operation(Operation.TASK_RUNTIME, started_ns, ran_until_ns))
    if ran_until_ns <= updated_ns:
        span.children.append(_operation(Operation.TASK_TEARDOWN, ran_until_ns, updated_ns))
    return span


def _operation(operation: Operation, start_ns: int, end_ns: int) -> MetricSpan:
    return MetricSpan(start_ns, max(start_ns, end_ns), operation.name, [])


def _nodes(span: Span) -> list[Span]:
    return [child for child in span.children if isinstance(child.subject, NodeSubject)]


def _node_id(span: Span) -> str:
    return span.subject.node_id if isinstance(span.subject, NodeSubject) else ""


def _kind(span: Span) -> NodeKind:
    return span.subject.kind if isinstance(span.subject, NodeSubject) else NodeKind.UNSPECIFIED


def _times(span: Span) -> ClosureTimes:
    """Give FlyteAdmin's times, not running backwards; a placeholder has those of its contents."""
    closure = span.closure
    if closure is None:
        inside = [_times(child).updated_ns for child in span.children if child.closure is not None]
        updated_ns = max(inside, default=span.start_ns)
        return ClosureTimes(span.start_ns, None, None, max(updated_ns, span.start_ns))
    return closure._replace(updated_ns=max(closure.updated_ns, closure.created_ns))

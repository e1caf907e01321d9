"""What FlyteAdmin's metrics have right below an execution, a node of each kind, and an attempt.

An operation is guarded where FlyteAdmin leaves it out if it would run backwards; others may do so.
Source: flyteadmin v1.16, pkg/manager/impl/metrics_manager.go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.flyte_metric_times import (
    MARKS,
    created_ns,
    done_ns,
    ends_ns,
    kind_of,
    latest_upstream_ns,
    ready_ns,
    times_of,
)
from spanwise_server.domain.metric_spans import MetricSpan
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.spans import (
    ExecutionSubject,
    NodeSubject,
    Operation,
    Span,
    SubtaskSubject,
    TaskAttemptSubject,
)

SUBTASK = "SUBTASK"
"""Operation of a sub-task. FlyteAdmin has none for its time, which its attempt has as well."""


class Below(NamedTuple):
    """A span that is to be rendered, the depth left for it, and the way that led to it."""

    source: Span
    depth: int
    transition: MetricSpan | None = None


Parts = Iterator[MetricSpan | Below]


def parts_of(span: Span, depth: int) -> Parts:
    """Give what is right below a span, in order: operations, and what is to be rendered in turn.

    Args:
        span: An execution, a node, an attempt or a sub-task.
        depth: Its own depth.
    """
    match span.subject:
        case ExecutionSubject() if depth:
            yield from _execution(span, depth - 1)
        case NodeSubject(kind=kind) if depth:
            yield from _with_the_rest(span, depth - 1, _NODE_RULES.get(kind, _other_node))
        case TaskAttemptSubject():
            yield from _attempt(span)
        case SubtaskSubject():
            times = times_of(span)
            yield MetricSpan(times.created_ns, times.updated_ns, SUBTASK, [])


def _execution(span: Span, depth: int) -> Parts:
    times, nodes = times_of(span), _nodes(span)
    start_ns = ready_ns(nodes)
    if start_ns is None:
        yield _operation(Operation.WORKFLOW_SETUP, times.created_ns, times.updated_ns)
        return
    yield _operation(Operation.WORKFLOW_SETUP, times.created_ns, start_ns)
    yield from _node_list(nodes, depth)
    yield from _guarded(Operation.WORKFLOW_TEARDOWN, done_ns(span, nodes), times.updated_ns)


def _node_list(nodes: Sequence[Span], depth: int) -> Iterator[Below]:
    """Give the nodes of one workflow, each with the way to it from its latest upstream."""
    ends_by_id = ends_ns(nodes)
    for node in _work(nodes):
        upstream_ns = latest_upstream_ns(node, ends_by_id)
        transition = None
        if upstream_ns is not None:
            transition = _operation(Operation.NODE_TRANSITION, upstream_ns, created_ns(node))
        yield Below(node, depth, transition)


def _task_node(span: Span, depth: int) -> Parts:
    attempts = _attempts(span)
    if not attempts:
        yield _all_setup(span)
        return
    yield _setup(span, created_ns(attempts[0]))
    yield from _attempt_list(attempts, depth)
    yield from _teardown(span, times_of(attempts[-1]).updated_ns)


def _dynamic_node(span: Span, depth: int) -> Parts:
    attempts, nodes = _attempts(span), _nodes(span)
    if not attempts:
        yield _all_setup(span)
        return
    yield _setup(span, created_ns(attempts[0]))
    yield from _attempt_list(attempts, depth)
    planned_ns, end_ns = times_of(attempts[-1]).updated_ns, times_of(span).updated_ns
    if not nodes:
        yield from _guarded(Operation.NODE_RESET, planned_ns, end_ns)
        return
    yield _operation(Operation.NODE_RESET, planned_ns, _begun_ns(span, nodes))
    yield from _node_list(nodes, depth)
    yield from _teardown(span, done_ns(span, nodes))


def _subworkflow_node(span: Span, depth: int) -> Parts:
    nodes = _nodes(span)
    if not nodes:
        yield _all_setup(span)
        return
    yield _setup(span, _begun_ns(span, nodes))
    yield from _node_list(nodes, depth)
    yield from _teardown(span, done_ns(span, nodes))


def _launch_plan_node(span: Span, depth: int) -> Parts:
    child = next((each for each in span.children if _is_execution(each)), None)
    if child is None:
        yield _all_setup(span)
        return
    yield _setup(span, created_ns(child))
    yield Below(child, depth)
    yield from _teardown(span, times_of(child).updated_ns)


def _branch_node(span: Span, depth: int) -> Parts:
    """Give the case that was taken. FlyteAdmin refuses several; here all are taken."""
    cases = _work(_nodes(span))
    if not cases:
        yield _all_setup(span)
        return
    yield _setup(span, created_ns(cases[0]))
    for case in cases:
        yield Below(case, depth)
    yield from _teardown(span, max(times_of(case).updated_ns for case in cases))


def _gate_node(span: Span, _depth: int) -> Parts:
    times = times_of(span)
    if times.started_ns is None:
        yield _all_setup(span)
        return
    yield _setup(span, times.started_ns)
    if times.ran_until_ns is None:
        yield _operation(Operation.NODE_IDLE, times.started_ns, times.updated_ns)
        return
    yield _operation(Operation.NODE_IDLE, times.started_ns, times.ran_until_ns)
    yield _operation(Operation.NODE_TEARDOWN, times.ran_until_ns, times.updated_ns)


def _other_node(span: Span, depth: int) -> Parts:
    """Give a node that FlyteAdmin has no rule for, such as an array: around all that it contains.

    The nodes of an array do not wait for each other, so there are no ways between them.
    """
    attempts, nodes = _attempts(span), _work(_nodes(span))
    inside = [times_of(each) for each in (*attempts, *nodes)]
    if not inside:
        yield _all_setup(span)
        return
    yield _setup(span, min(each.created_ns for each in inside))
    yield from _attempt_list(attempts, depth)
    for node in nodes:
        yield Below(node, depth)
    yield from _teardown(span, max(each.updated_ns for each in inside))


_NODE_RULES: Mapping[NodeKind, Callable[[Span, int], Parts]] = {
    NodeKind.TASK: _task_node,
    NodeKind.DYNAMIC: _dynamic_node,
    NodeKind.SUBWORKFLOW: _subworkflow_node,
    NodeKind.LAUNCH_PLAN: _launch_plan_node,
    NodeKind.BRANCH: _branch_node,
    NodeKind.GATE: _gate_node,
}
"""All others are for _other_node."""


def _with_the_rest(span: Span, depth: int, rule: Callable[[Span, int], Parts]) -> Parts:
    """Apply the rule of a node's kind, and add what the node contains and the rule leaves out.

    FlyteAdmin does not look for such parts, for instance for the nodes of a task node.
    """
    left = {id(child): child for child in span.children}
    for part in rule(span, depth):
        if isinstance(part, Below):
            left.pop(id(part.source), None)
        yield part
    for child in left.values():
        match child.subject:
            case NodeSubject(kind=kind) if kind not in MARKS:
                yield Below(child, depth)
            case ExecutionSubject():
                yield Below(child, depth)
            case TaskAttemptSubject() if depth:
                yield Below(child, depth)


def _attempt_list(attempts: Sequence[Span], depth: int) -> Parts:
    """Give attempts with the resets between them; at depth 0 the resets alone."""
    before_ns = None
    for attempt in attempts:
        times = times_of(attempt)
        if before_ns is not None:
            yield _operation(Operation.NODE_RESET, before_ns, times.created_ns)
        if depth:
            yield Below(attempt, depth)
        before_ns = times.updated_ns


def _attempt(span: Span) -> Parts:
    times = times_of(span)
    if times.started_ns is None:
        yield _operation(Operation.TASK_SETUP, times.created_ns, times.updated_ns)
    else:
        yield _operation(Operation.TASK_SETUP, times.created_ns, times.started_ns)
        worked_until_ns = times.updated_ns if times.ran_until_ns is None else times.ran_until_ns
        yield _operation(Operation.TASK_RUNTIME, times.started_ns, worked_until_ns)
        yield from _guarded(Operation.TASK_TEARDOWN, times.ran_until_ns, times.updated_ns)
    for child in span.children:
        if isinstance(child.subject, SubtaskSubject):
            yield Below(child, 0)


def _operation(operation: Operation, start_ns: int, end_ns: int) -> MetricSpan:
    return MetricSpan(start_ns, end_ns, operation.name, [])


def _guarded(operation: Operation, start_ns: int | None, end_ns: int) -> Iterator[MetricSpan]:
    if start_ns is not None and start_ns <= end_ns:
        yield _operation(operation, start_ns, end_ns)


def _all_setup(node: Span) -> MetricSpan:
    return _setup(node, times_of(node).updated_ns)


def _setup(node: Span, until_ns: int) -> MetricSpan:
    return _operation(Operation.NODE_SETUP, created_ns(node), until_ns)


def _teardown(node: Span, from_ns: int | None) -> Iterator[MetricSpan]:
    return _guarded(Operation.NODE_TEARDOWN, from_ns, times_of(node).updated_ns)


def _begun_ns(node: Span, nodes: Sequence[Span]) -> int:
    """Give when the start of a node's workflow was reported, or else when its first node began."""
    start_ns = ready_ns(nodes)
    if start_ns is None:
        return min(map(created_ns, _work(nodes)), default=times_of(node).updated_ns)
    return start_ns


def _is_execution(span: Span) -> bool:
    return isinstance(span.subject, ExecutionSubject)


def _nodes(span: Span) -> list[Span]:
    return [child for child in span.children if isinstance(child.subject, NodeSubject)]


def _attempts(span: Span) -> list[Span]:
    """Give the attempts of a node, by creation."""
    attempts = [child for child in span.children if isinstance(child.subject, TaskAttemptSubject)]
    return sorted(attempts, key=created_ns)


def _work(nodes: Iterable[Span]) -> list[Span]:
    """Give the nodes that are neither start nor end of their workflow, by creation."""
    return sorted((node for node in nodes if kind_of(node) not in MARKS), key=created_ns)

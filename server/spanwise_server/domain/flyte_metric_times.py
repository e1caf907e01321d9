"""The moments that FlyteAdmin's metrics are made of, read from a span tree.

Source: flyteadmin v1.16, pkg/manager/impl/metrics_manager.go.
"""

from collections.abc import Iterable, Mapping, Sequence

from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.spans import ClosureTimes, NodeSubject, Span, SubtaskSubject

MARKS = frozenset({NodeKind.START, NodeKind.END})
"""Kinds of the nodes that only mark where a workflow starts and ends."""


def times_of(span: Span) -> ClosureTimes:
    """Give FlyteAdmin's times of a span, and for what it would not know those of what is inside.

    A start in 1970 and a duration of nothing count as not set, as they do for it.
    """
    closure = span.closure
    if closure is None:
        return _times_inside(span)
    if not closure.started_ns:
        return closure._replace(started_ns=None, ran_until_ns=None)
    if closure.ran_until_ns == closure.started_ns:
        return closure._replace(ran_until_ns=None)
    return closure


def _times_inside(span: Span) -> ClosureTimes:
    if isinstance(span.subject, SubtaskSubject):
        last_ns = span.end_ns if span.end_ns is not None else span.last_event_ns
        ends = [] if last_ns is None else [last_ns]
    else:
        ends = [child.closure.updated_ns for child in span.children if child.closure is not None]
    return ClosureTimes(span.start_ns, None, None, max([span.start_ns, *ends]))


def created_ns(span: Span) -> int:
    """Give created_at of a span: what FlyteAdmin sorts by."""
    return times_of(span).created_ns


def kind_of(span: Span) -> NodeKind:
    """Give the kind of a node."""
    return span.subject.kind if isinstance(span.subject, NodeSubject) else NodeKind.UNSPECIFIED


def ends_ns(nodes: Iterable[Span]) -> dict[str, int]:
    """Give by node id when nodes were updated last, those only that ever were after 1970."""
    return {
        _node_id(node): node.closure.updated_ns
        for node in nodes
        if node.closure is not None and node.closure.updated_ns > 0
    }


def latest_upstream_ns(node: Span, ends_by_id: Mapping[str, int]) -> int | None:
    """Give when the last of the nodes ended that a node waited for; None without any."""
    return _latest_ns(_upstream_ids(node), ends_by_id)


def ready_ns(nodes: Iterable[Span]) -> int | None:
    """Give when the start of a workflow was reported; of several, as after a retry, the last."""
    starts = [node for node in nodes if kind_of(node) is NodeKind.START]
    return max(ends_ns(starts).values(), default=None)


def done_ns(span: Span, nodes: Sequence[Span]) -> int | None:
    """Give when the last of the nodes in a span ended that the end of their workflow waits for.

    Where nothing tells which nodes these are, it is the last of all.
    """
    if span.end_upstream_ids is not None:
        return _latest_ns(span.end_upstream_ids, ends_ns(nodes))
    awaited = [
        each for node in nodes if kind_of(node) is NodeKind.END for each in _upstream_ids(node)
    ]
    if not awaited:
        awaited = [_node_id(node) for node in nodes if kind_of(node) not in MARKS]
    return _latest_ns(awaited, ends_ns(nodes))


def _latest_ns(node_ids: Iterable[str], ends_by_id: Mapping[str, int]) -> int | None:
    return max((ends_by_id[each] for each in node_ids if each in ends_by_id), default=None)


def _node_id(span: Span) -> str:
    return span.subject.node_id if isinstance(span.subject, NodeSubject) else ""


def _upstream_ids(span: Span) -> tuple[str, ...]:
    return span.subject.upstream_node_ids if isinstance(span.subject, NodeSubject) else ()

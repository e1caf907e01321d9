"""Where one execution took longer than another: node by node, and operation by operation."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.spans import (
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    TaskAttemptSubject,
)
from spanwise_server.domain.totals import end_of


class Side(NamedTuple):
    """A tree, and the moment that its open spans are drawn up to."""

    root: Span
    as_of_ns: int


class OperationDelta(NamedTuple):
    """The time of one operation, in the execution and in the base."""

    operation: Operation
    duration_ns: int
    base_duration_ns: int
    num_spans: int
    base_num_spans: int


class NodeTimes(NamedTuple):
    """A node in one of the trees. `num_attempts` are those of its task."""

    span: Span
    duration_ns: int
    num_attempts: int


class NodeDelta(NamedTuple):
    """A node in both trees, or in one.

    Attributes:
        times: In the execution; None when it is not there.
        base_times: In the base; None when it is not there.
        operations: Of the node itself and of its attempts, not of nodes below it, in ascending
            order.
    """

    times: NodeTimes | None
    base_times: NodeTimes | None
    operations: tuple[OperationDelta, ...]

    @property
    def difference_ns(self) -> int:
        """How much longer it took in the execution; where it is missing it took no time."""
        duration_ns = self.times.duration_ns if self.times else 0
        return duration_ns - (self.base_times.duration_ns if self.base_times else 0)


class Comparison(NamedTuple):
    """What differs.

    Attributes:
        operations: All of the trees, in ascending order.
        nodes: The greatest difference first, in either direction; of the same difference in the
            pre-order of the execution, and after them those that are in the base alone.
    """

    operations: tuple[OperationDelta, ...]
    nodes: list[NodeDelta]


def compare(side: Side, base: Side) -> Comparison:
    """Compare an execution with another one, the base.

    Nodes are the same when the ids of the nodes on the way to them are, those in child executions
    included. Of several with the same way the first is compared with the first, and so on.
    """
    places: dict[tuple[int, str, int], int] = {}
    nodes, base_nodes = _find_nodes(side, places), _find_nodes(base, places)
    deltas = [
        _compare_nodes(nodes.get(place), base_nodes.get(place), side, base)
        for place in [*nodes, *(place for place in base_nodes if place not in nodes)]
    ]
    deltas.sort(key=_greatest_first)  # which keeps the order of those of the same difference
    return Comparison(
        _compare_operations(
            _time_operations(_all(side), side.as_of_ns),
            _time_operations(_all(base), base.as_of_ns),
        ),
        deltas,
    )


def _greatest_first(delta: NodeDelta) -> int:
    return -abs(delta.difference_ns)


def _find_nodes(side: Side, places: dict[tuple[int, str, int], int]) -> dict[int, NodeTimes]:
    """Give the nodes of a tree in pre-order, by a number of the way to them.

    `places` numbers the ways of both trees, by the number of the node above, the id of the node and
    how many of that id came before there: a path as text would grow with the square of the depth.
    """
    found: dict[int, NodeTimes] = {}
    seen: Counter[tuple[int, str]] = Counter()
    pending = [(side.root, 0)]
    while pending:
        span, above = pending.pop()
        if isinstance(span.subject, NodeSubject):
            node_id = span.subject.node_id
            key = (above, node_id, seen[above, node_id])
            seen[above, node_id] += 1
            above = places.setdefault(key, len(places) + 1)
            duration_ns = end_of(span, side.as_of_ns) - span.start_ns
            num_attempts = sum(
                isinstance(each.subject, TaskAttemptSubject) for each in span.children
            )
            found[above] = NodeTimes(span, duration_ns, num_attempts)
        pending.extend([(child, above) for child in reversed(span.children)])
    return found


def _compare_nodes(
    times: NodeTimes | None, base_times: NodeTimes | None, side: Side, base: Side
) -> NodeDelta:
    operations = _compare_operations(
        _time_operations(_own(times.span), side.as_of_ns) if times else {},
        _time_operations(_own(base_times.span), base.as_of_ns) if base_times else {},
    )
    return NodeDelta(times, base_times, operations)


_Timed = dict[Operation, tuple[int, int]]
"""Time and number of spans by operation."""


def _time_operations(spans: Iterable[Span], as_of_ns: int) -> _Timed:
    timed: dict[Operation, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for span in spans:
        if isinstance(span.subject, OperationSubject):
            duration_ns, num_spans = timed[span.subject.operation]
            duration_ns += end_of(span, as_of_ns) - span.start_ns
            timed[span.subject.operation] = (duration_ns, num_spans + 1)
    return timed


def _compare_operations(timed: _Timed, base_timed: _Timed) -> tuple[OperationDelta, ...]:
    deltas = []
    for operation in sorted(timed.keys() | base_timed.keys()):
        duration_ns, num_spans = timed.get(operation, (0, 0))
        base_duration_ns, base_num_spans = base_timed.get(operation, (0, 0))
        deltas.append(
            OperationDelta(operation, duration_ns, base_duration_ns, num_spans, base_num_spans)
        )
    return tuple(deltas)


def _own(node: Span) -> Iterator[Span]:
    """Give what belongs to a node itself: its operations, its attempts, and those of both."""
    pending = list(node.children)
    while pending:
        span = pending.pop()
        if isinstance(span.subject, OperationSubject | TaskAttemptSubject):
            yield span
            pending.extend(span.children)


def _all(side: Side) -> Iterator[Span]:
    return (span for span, *_ in walk_spans(side.root))

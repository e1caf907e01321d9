"""The critical path: which spans the wall clock of an execution went into, from start to end.

The path is found by walking back in time. A cursor starts at the end of the execution and moves to
its start; what the walk meets takes the time between its start and the cursor, and moves the
cursor. So every nanosecond is in exactly one segment, also where spans overlap or stick out.

Inside a span (an execution or a node) the walk goes over its *steps*: the nodes, attempts and
executions among its children, without END nodes. Sub-tasks are no steps.

1. The last step is, of those that the END node waited for, the one that ended last. If there is no
   END node, or it names no step, or an attempt or execution started after it, then it is the step
   that ended last of all. (Of several END nodes, the one that started last.)
2. From a node the walk goes to its upstream that ended last, of those that are steps here and not
   on the path yet. From a node without any, it goes to the attempt or execution that ended last, of
   those that started before everything on the path so far.
3. From an attempt or an execution the walk goes to the step that ended last, of those that started
   before everything on the path so far.
4. The walk ends when there is nothing to go to, or the cursor is at the start.

"Last" means: the latest end, then the latest start, then the last in the order of start. "Before"
is the order of start, then that among the children.

What lies between the steps, before the first and after the last, the span's own operations take.
A NODE_TRANSITION takes time only right before the node that it leads to (for the END node: after
the last step), and there it goes before all others. Of operations that cover one moment the deepest
takes it (a part of TASK_SETUP rather than TASK_SETUP), then the one that started last, then the
last in pre-order. A moment that no operation covers belongs to the span itself. A step takes the
stretch from its start to the cursor, which is then looked at in the same way.

A segment is approximate when the walk came to it over a guess, the stretch between the two steps
included: an upstream of a node with INFERRED_UPSTREAM, or a node that rules 1 and 3 picked by time
while the span has several besides START and END.
"""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import NamedTuple

from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.painting import Piece, fill, paint
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import (
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    SubtaskSubject,
)
from spanwise_server.domain.totals import end_of

_START = attrgetter("start_ns")


class CriticalSegment(NamedTuple):
    """A stretch of the critical path, never empty.

    `span` is the operation that the time went into or, where none covers it, what contains it.
    """

    span: Span
    start_ns: int
    end_ns: int
    is_approximate: bool


def find_critical_path(root: Span, as_of_ns: int) -> list[CriticalSegment]:
    """Give the critical path of a tree, in the order of time.

    The segments cover the time from the start of the root to its end, or to `as_of_ns` while it is
    open, without gap or overlap. Neighbours are of different spans. Empty for a root without
    length.

    Args:
        root: Root of the tree.
        as_of_ns: End of what is open.
    """
    backwards: list[CriticalSegment] = []
    # What is still to be looked at; the latest on top, so that segments come out backwards.
    stack: list[_Stretch | CriticalSegment] = [
        _Stretch(root, root.start_ns, end_of(root, as_of_ns), is_approximate=False)
    ]
    while stack:
        part = stack.pop()
        if isinstance(part, _Stretch):
            stack += reversed(list(_walk(part, as_of_ns)))
        elif backwards and backwards[-1].span is part.span:
            after = backwards.pop()
            is_approximate = part.is_approximate or after.is_approximate
            backwards.append(
                CriticalSegment(part.span, part.start_ns, after.end_ns, is_approximate)
            )
        else:
            backwards.append(part)
    backwards.reverse()
    return backwards


class _Stretch(NamedTuple):
    """A stretch of a span that is still to be looked at."""

    span: Span
    start_ns: int
    end_ns: int
    is_approximate: bool


def _walk(whole: _Stretch, as_of_ns: int) -> Iterator[_Stretch | CriticalSegment]:
    """Give what a stretch consists of, backwards in time. No part is empty."""
    span, from_ns, cursor_ns, is_approximate = whole
    level = _Level(span, as_of_ns)
    waiting = level.end_node
    for step, is_guess in level.path():
        is_approximate |= is_guess
        since_ns = max(from_ns, min(step.end_ns, cursor_ns))
        for start_ns, end_ns, operation in level.pieces(since_ns, cursor_ns, waiting):
            yield CriticalSegment(operation, start_ns, end_ns, is_approximate)
        cursor_ns = since_ns
        since_ns = max(from_ns, min(step.start_ns, cursor_ns))
        if since_ns < cursor_ns:
            yield _Stretch(step.span, since_ns, cursor_ns, is_approximate)
        cursor_ns = since_ns
        waiting = step.span
        if cursor_ns == from_ns:
            return
    for start_ns, end_ns, operation in level.pieces(from_ns, cursor_ns, waiting):
        yield CriticalSegment(operation, start_ns, end_ns, is_approximate)


class _Step(NamedTuple):
    """A child that the walk may go to. They compare so that the last one is the greatest.

    `place` is that in the order of start; `node` is None for an attempt or an execution.
    """

    end_ns: int
    start_ns: int
    place: int
    span: Span
    node: NodeSubject | None


_Choice = tuple[_Step, bool] | None
"""A step, and whether it is a guess."""


class _Level:
    """The children of one span, and the way back through them."""

    def __init__(self, span: Span, as_of_ns: int) -> None:
        """Sort the children out."""
        self.end_node: Span | None = None
        self._span = span
        self._as_of_ns = as_of_ns
        self._ways: dict[str, list[Span]] = defaultdict(list)
        operations: list[Span] = []
        steps: list[Span] = []
        for child in span.children:
            subject = child.subject
            if isinstance(subject, OperationSubject):
                is_way = subject.operation is Operation.NODE_TRANSITION
                (self._ways[subject.node_id] if is_way else operations).append(child)
            elif isinstance(subject, NodeSubject) and subject.kind is NodeKind.END:
                if self.end_node is None or child.start_ns >= self.end_node.start_ns:
                    self.end_node = child
            elif not isinstance(subject, SubtaskSubject):
                steps.append(child)
        steps.sort(key=_START)
        self._operations = paint(operations, as_of_ns)
        self._steps: list[_Step] = []
        self._nodes: dict[str, _Step] = {}
        self._num_inner_nodes = 0
        for place, child in enumerate(steps):
            node = child.subject if isinstance(child.subject, NodeSubject) else None
            step = _Step(end_of(child, as_of_ns), child.start_ns, place, child, node)
            self._steps.append(step)
            if node is not None:
                self._nodes[node.node_id] = step
                self._num_inner_nodes += node.kind is not NodeKind.START
        self._last_before: dict[bool, list[_Step | None]] = {}

    def pieces(self, start_ns: int, end_ns: int, waiting: Span | None) -> Iterator[Piece]:
        """Give what a stretch between steps, or before `waiting`, was spent on, backwards."""
        if start_ns >= end_ns:
            return
        whole = Piece(start_ns, end_ns, self._span)
        node_id = _node_id(waiting)
        ways = self._ways.get(node_id) if node_id else None
        if ways is None:
            yield from reversed(fill(whole, self._operations))
            return
        for piece in reversed(fill(whole, paint(ways, self._as_of_ns))):
            if piece.span is self._span:
                yield from reversed(fill(piece, self._operations))
            else:
                yield piece

    def path(self) -> Iterator[tuple[_Step, bool]]:
        """Give the steps of the path, backwards, each with whether it is a guess."""
        on_path: set[int] = set()
        first_place = len(self._steps)
        choice = self._last()
        while choice is not None:
            yield choice
            step = choice[0]
            on_path.add(step.place)
            first_place = min(first_place, step.place)
            choice = self._before(step, on_path, first_place)

    def _last(self) -> _Choice:
        if not self._steps:
            return None
        if self.end_node is not None:
            others_ns = [step.start_ns for step in self._steps if step.node is None]
            if max(others_ns, default=self.end_node.start_ns) <= self.end_node.start_ns:
                choice = self._last_upstream(self.end_node, frozenset())
                if choice is not None:
                    return choice
        return self._by_time(max(self._steps))

    def _before(self, step: _Step, on_path: AbstractSet[int], first_place: int) -> _Choice:
        if step.node is None:
            return self._by_time(self._last_before_place(first_place, with_nodes=True))
        choice = self._last_upstream(step.span, on_path)
        if choice is not None:
            return choice
        return self._by_time(self._last_before_place(first_place, with_nodes=False))

    def _last_upstream(self, node: Span, on_path: AbstractSet[int]) -> _Choice:
        subject = node.subject
        if not isinstance(subject, NodeSubject):
            return None
        steps = [
            step
            for node_id in subject.upstream_node_ids
            if (step := self._nodes.get(node_id)) is not None and step.place not in on_path
        ]
        if not steps:
            return None
        return max(steps), SpanQuality.INFERRED_UPSTREAM in node.qualities

    def _by_time(self, step: _Step | None) -> _Choice:
        """Give a step that was found by time: a guess if it is one of several nodes."""
        if step is None:
            return None
        if step.node is None:
            return step, False
        return step, self._num_inner_nodes > 1

    def _last_before_place(self, place: int, *, with_nodes: bool) -> _Step | None:
        """Give the last of the steps before a place in the order of start."""
        last_before = self._last_before.get(with_nodes)
        if last_before is None:
            last: _Step | None = None
            last_before = self._last_before[with_nodes] = []
            for step in self._steps:
                last_before.append(last)
                if (with_nodes or step.node is None) and (last is None or step > last):
                    last = step
        return last_before[place]


def _node_id(span: Span | None) -> str:
    return (
        span.subject.node_id if span is not None and isinstance(span.subject, NodeSubject) else ""
    )

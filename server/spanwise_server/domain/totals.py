"""Totals: how long each span took, how much of that its children cover, and what it went into.

Definitions, which hold for every tree:

* A span ends at its end or, while it is open, at as_of; never before its start.
* `self_ns` is the part of the wall clock that no child covers. Only what of a child lies inside the
  span counts.
* The operations of a span are all operation spans below it, at any depth. Of each, what lies inside
  the span counts: `sum_ns` adds these stretches up, `union_ns` is the time that any of them covers.
  So `union_ns` is at most `sum_ns` and at most the wall clock of the span. `num_spans` counts all,
  those outside of the span as well.
* A part of TASK_SETUP counts under its own operation, and its time in TASK_SETUP as well.

Where operations tile a span without gap or overlap, the sums of the operations of FlyteAdmin, 1 to
10, add up to its wall clock.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter

from spanwise_server.domain.spans import Operation, OperationSubject, OperationTotal, Span, Totals

_START = attrgetter("start_ns")


def fill_totals(root: Span, as_of_ns: int) -> None:
    """Set the totals of a span and of everything below it that is no operation.

    Args:
        root: Root of the tree.
        as_of_ns: End of what is open.
    """
    order, owners, gathered = _gather(root, as_of_ns)
    # Backwards: whatever is below a span comes before it.
    for number in range(len(order) - 1, -1, -1):
        span, owner = order[number], owners[number]
        start_ns, end_ns = span.start_ns, end_of(span, as_of_ns)
        below = gathered[number]
        gathered[number] = None
        self_ns = end_ns - start_ns - covered_by_children_ns(span, end_ns, as_of_ns)
        span.totals = Totals(end_ns - start_ns, self_ns, _close(below, start_ns, end_ns))
        if below is not None and owner >= 0:
            gathered[owner] = _united(gathered[owner], below)


def end_of(span: Span, as_of_ns: int) -> int:
    """Give where a span ends: at its end or, while it is open, at `as_of_ns`, if that is later."""
    end_ns = span.end_ns
    if end_ns is None:
        end_ns = as_of_ns
    return max(span.start_ns, end_ns)


class _Gathered:
    """The spans of one operation in a subtree.

    `starts` and `ends` are theirs, in any order; the bounds of their union are ascending.
    """

    __slots__ = ("covered_ns", "ends", "starts", "sum_ns", "union_ends", "union_starts")

    def __init__(self, start_ns: int, end_ns: int) -> None:
        self.sum_ns = self.covered_ns = end_ns - start_ns
        self.starts = [start_ns]
        self.ends = [end_ns]
        self.union_starts = [start_ns]
        self.union_ends = [end_ns]

    def add(self, start_ns: int, end_ns: int) -> None:
        """Add one span."""
        self.sum_ns += end_ns - start_ns
        self.starts.append(start_ns)
        self.ends.append(end_ns)
        self._cover(start_ns, end_ns)

    def take(self, other: "_Gathered") -> None:
        """Add all of another. It has fewer spans, so that each moves few times on its way up."""
        self.sum_ns += other.sum_ns
        self.starts += other.starts
        self.ends += other.ends
        for start_ns, end_ns in zip(other.union_starts, other.union_ends, strict=True):
            self._cover(start_ns, end_ns)

    def inside(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        """Give sum and union of what lies inside these bounds."""
        if self.union_starts[0] >= start_ns and self.union_ends[-1] <= end_ns:
            return self.sum_ns, self.covered_ns
        self.starts.sort()
        self.ends.sort()
        sum_ns = self.sum_ns - _outside(self.starts, self.ends, start_ns, end_ns)
        outside_ns = _outside(self.union_starts, self.union_ends, start_ns, end_ns)
        return sum_ns, self.covered_ns - outside_ns

    def _cover(self, start_ns: int, end_ns: int) -> None:
        """Add a stretch to the union."""
        starts, ends = self.union_starts, self.union_ends
        if end_ns < starts[0]:  # spans are added backwards
            first = past = 0
        else:
            # What it touches, from `first` up to before `past`, becomes one with it.
            first, past = bisect_left(ends, start_ns), bisect_right(starts, end_ns)
        if first < past:
            start_ns, end_ns = min(start_ns, starts[first]), max(end_ns, ends[past - 1])
            self.covered_ns -= sum(ends[first:past]) - sum(starts[first:past])
        starts[first:past] = [start_ns]
        ends[first:past] = [end_ns]
        self.covered_ns += end_ns - start_ns


_Single = tuple[int, int]
_ByOperation = dict[Operation, _Single | _Gathered]
"""The start and end of one span, as most spans have no more of an operation below them, or several:
a hundred thousand objects would cost more in garbage collection than all the sums."""


def _gather(root: Span, as_of_ns: int) -> tuple[list[Span], list[int], list[_ByOperation | None]]:
    """Walk the tree.

    Returns:
        The root and all spans that are no operations, each before what is below it; for each the
        place of the next such span above, or -1; and the operations between the two levels.
    """
    order: list[Span] = []
    owners: list[int] = []
    gathered: list[_ByOperation | None] = []
    stack = [(root, -1)]
    while stack:
        span, owner = stack.pop()
        number = len(order)
        order.append(span)
        owners.append(owner)
        own: _ByOperation = {}
        below = list(span.children)
        for child in below:  # grows while it is walked, by what is below operations
            subject = child.subject
            if isinstance(subject, OperationSubject):
                _add(own, subject.operation, child.start_ns, end_of(child, as_of_ns))
                below += child.children
            else:
                stack.append((child, number))
        gathered.append(own or None)
    return order, owners, gathered


def _add(own: _ByOperation, operation: Operation, start_ns: int, end_ns: int) -> None:
    before = own.get(operation)
    if before is None:
        own[operation] = (start_ns, end_ns)
    elif isinstance(before, _Gathered):
        before.add(start_ns, end_ns)
    else:
        own[operation] = each = _Gathered(*before)
        each.add(start_ns, end_ns)


def _united(mine: _ByOperation | None, others: _ByOperation) -> _ByOperation:
    """Give the sum of both, which are not to be used afterwards."""
    if mine is None:
        return others
    for operation, each in others.items():
        own = mine.get(operation)
        if own is None:
            mine[operation] = each
        elif not isinstance(each, _Gathered):
            _add(mine, operation, *each)
        elif not isinstance(own, _Gathered):
            each.add(*own)
            mine[operation] = each
        elif len(own.starts) >= len(each.starts):
            own.take(each)
        else:
            each.take(own)
            mine[operation] = each
    return mine


def _close(below: _ByOperation | None, start_ns: int, end_ns: int) -> tuple[OperationTotal, ...]:
    if below is None:
        return ()
    totals = []
    for operation, each in sorted(below.items()):
        if isinstance(each, _Gathered):
            inside = each.inside(start_ns, end_ns)
            totals.append(OperationTotal(operation, *inside, len(each.starts)))
        else:
            inside_ns = max(min(each[1], end_ns) - max(each[0], start_ns), 0)
            totals.append(OperationTotal(operation, inside_ns, inside_ns, 1))
    return tuple(totals)


def _outside(starts: Sequence[int], ends: Sequence[int], start_ns: int, end_ns: int) -> int:
    """Give the sum of what of stretches lies outside of bounds; `starts`, `ends` are ascending.

    Which end belongs to which start does not matter: each stretch adds what its end is beyond a
    bound and takes away what its start is beyond it.
    """
    late_ends = ends[bisect_right(ends, end_ns) :]
    late_starts = starts[bisect_right(starts, end_ns) :]
    early_starts = starts[: bisect_left(starts, start_ns)]
    early_ends = ends[: bisect_left(ends, start_ns)]
    after_ns = sum(late_ends) - sum(late_starts) - end_ns * (len(late_ends) - len(late_starts))
    num_early = len(early_starts) - len(early_ends)
    before_ns = sum(early_ends) - sum(early_starts) + start_ns * num_early
    return after_ns + before_ns


def covered_by_children_ns(span: Span, end_ns: int, as_of_ns: int) -> int:
    """Give the length of the union of the children inside a span."""
    if not span.children:
        return 0
    covered_ns = 0
    until_ns = span.start_ns
    for child in sorted(span.children, key=_START):
        from_ns = max(child.start_ns, until_ns)
        child_end_ns = min(end_of(child, as_of_ns), end_ns)
        if child_end_ns > from_ns:
            covered_ns += child_end_ns - from_ns
            until_ns = child_end_ns
    return covered_ns

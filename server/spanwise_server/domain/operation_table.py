"""A table of what the time of an execution was spent on: one line for each operation."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spanwise_server.domain.critical_path import find_critical_path
from spanwise_server.domain.percentiles import percentile
from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.spans import Operation, OperationSubject, Span
from spanwise_server.domain.totals import covered_by_children_ns, end_of


class OperationRow(NamedTuple):
    """All spans of one operation.

    Attributes:
        operation: The operation.
        num_spans: Number of spans, at least 1.
        num_open: How many of them are open.
        total_ns: Sum of their durations: parallel work counts each time.
        union_ns: Time during which at least one of them went on.
        self_ns: Part of the total that no part of them covers.
        mean_ns: Total by number, rounded down.
        p50_ns: Least duration that at least half of them do not exceed.
        p95_ns: Least duration that at least 95 % of them do not exceed.
        max_ns: Longest duration.
        critical_ns: Time of the critical path that went into them and into no part of them.
        longest: The longest; of several, the first in pre-order.
    """

    operation: Operation
    num_spans: int
    num_open: int
    total_ns: int
    union_ns: int
    self_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    max_ns: int
    critical_ns: int
    longest: Span


class OperationTable(NamedTuple):
    """The table of a span and everything below it.

    Attributes:
        rows: In ascending order of operation.
        critical_ns: Time of the critical path of the execution that went into these spans: that
            of the rows and `unattributed_ns`.
        unattributed_ns: The part of it that no operation covers.
        wall_ns: Duration of the span.
        is_approximate: Whether that critical path rests on guesses.
    """

    rows: tuple[OperationRow, ...]
    critical_ns: int
    unattributed_ns: int
    wall_ns: int
    is_approximate: bool


def tabulate_operations(root: Span, top: Span, as_of_ns: int) -> OperationTable:
    """Sum up the operations of a span and of everything below it.

    Args:
        root: Root of the tree, which the critical path is that of.
        top: Span of that tree to sum up.
        as_of_ns: End of what is open.
    """
    spans = [span for span, *_ in walk_spans(top)]
    inside = {id(span) for span in spans}
    critical: dict[Operation, int] = defaultdict(int)
    is_approximate = False
    for segment in find_critical_path(root, as_of_ns):
        if id(segment.span) in inside:
            critical[_operation(segment.span)] += segment.end_ns - segment.start_ns
            is_approximate |= segment.is_approximate
    by_operation: dict[Operation, list[Span]] = defaultdict(list)
    for span in spans:
        if isinstance(span.subject, OperationSubject):
            by_operation[span.subject.operation].append(span)
    rows = tuple(
        _row(operation, each, as_of_ns, critical.pop(operation, 0))
        for operation, each in sorted(by_operation.items())
    )
    unattributed_ns = sum(critical.values())
    return OperationTable(
        rows,
        unattributed_ns + sum(row.critical_ns for row in rows),
        unattributed_ns,
        end_of(top, as_of_ns) - top.start_ns,
        is_approximate,
    )


def _row(
    operation: Operation, spans: Sequence[Span], as_of_ns: int, critical_ns: int
) -> OperationRow:
    ends_ns = [end_of(span, as_of_ns) for span in spans]
    durations_ns = [end_ns - span.start_ns for span, end_ns in zip(spans, ends_ns, strict=True)]
    total_ns = sum(durations_ns)
    covered_ns = sum(
        covered_by_children_ns(span, end_ns, as_of_ns)
        for span, end_ns in zip(spans, ends_ns, strict=True)
    )
    ascending = sorted(durations_ns)
    return OperationRow(
        operation=operation,
        num_spans=len(spans),
        num_open=sum(span.end_ns is None for span in spans),
        total_ns=total_ns,
        union_ns=_union_ns(zip((span.start_ns for span in spans), ends_ns, strict=True)),
        self_ns=total_ns - covered_ns,
        mean_ns=total_ns // len(spans),
        p50_ns=percentile(ascending, 50),
        p95_ns=percentile(ascending, 95),
        max_ns=ascending[-1],
        critical_ns=critical_ns,
        longest=spans[durations_ns.index(ascending[-1])],
    )


def _union_ns(stretches: Iterable[tuple[int, int]]) -> int:
    union_ns = 0
    until_ns: int | None = None
    for start_ns, end_ns in sorted(stretches):
        from_ns = start_ns if until_ns is None else max(start_ns, until_ns)
        if end_ns > from_ns:
            union_ns += end_ns - from_ns
        until_ns = end_ns if until_ns is None else max(until_ns, end_ns)
    return union_ns


def _operation(span: Span) -> Operation:
    """Give the operation of a span; UNSPECIFIED for one that is none."""
    subject = span.subject
    return subject.operation if isinstance(subject, OperationSubject) else Operation.UNSPECIFIED

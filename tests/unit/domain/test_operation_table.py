import math
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from spanwise_server.domain.critical_path import find_critical_path
from spanwise_server.domain.operation_table import OperationRow, tabulate_operations
from spanwise_server.domain.spans import Operation, OperationSubject, Span
from tests.unit.domain.trees import attempt, execution, node, operation, random_tree

AS_OF_NS = 150
SETUP, RUNTIME, PULL = Operation.TASK_SETUP, Operation.TASK_RUNTIME, Operation.IMAGE_PULL


def spans_of(top: Span) -> Iterator[Span]:
    yield top
    for child in top.children:
        yield from spans_of(child)


def moments(span: Span) -> range:
    until_ns = AS_OF_NS if span.end_ns is None else span.end_ns
    return range(span.start_ns, max(span.start_ns, until_ns))


def expected_row(kind: Operation, spans: list[Span], critical_ns: int) -> OperationRow:
    """Count nanosecond by nanosecond what a line says by its definition."""
    durations = [len(moments(span)) for span in spans]
    covered = [
        len(set(moments(span)) & {moment for part in span.children for moment in moments(part)})
        for span in spans
    ]

    def least_of(share: Fraction) -> int:
        return sorted(durations)[math.ceil(share * len(durations)) - 1]

    return OperationRow(
        operation=kind,
        num_spans=len(spans),
        num_open=len([span for span in spans if span.end_ns is None]),
        total_ns=sum(durations),
        union_ns=len({moment for span in spans for moment in moments(span)}),
        self_ns=sum(durations) - sum(covered),
        mean_ns=math.floor(Fraction(sum(durations), len(durations))),
        p50_ns=least_of(Fraction(1, 2)),
        p95_ns=least_of(Fraction(95, 100)),
        max_ns=max(durations),
        critical_ns=critical_ns,
        longest=next(span for span in spans if len(moments(span)) == max(durations)),
    )


@pytest.mark.parametrize("seed", range(10))
def test_lines_are_those_of_counting_every_nanosecond(seed: int) -> None:
    for number in range(30):
        root = random_tree(random.Random(1000 * seed + number))
        top = random.Random(number).choice(list(spans_of(root)))
        inside = {id(span) for span in spans_of(top)}
        path = [each for each in find_critical_path(root, AS_OF_NS) if id(each.span) in inside]
        table = tabulate_operations(root, top, AS_OF_NS)
        for row in table.rows:
            spans = [
                span
                for span in spans_of(top)
                if isinstance(span.subject, OperationSubject)
                and span.subject.operation is row.operation
            ]
            critical_ns = sum(
                each.end_ns - each.start_ns
                for each in path
                if any(each.span is span for span in spans)
            )
            assert row == expected_row(row.operation, spans, critical_ns)
        assert table.critical_ns == sum(each.end_ns - each.start_ns for each in path)
        assert table.critical_ns == table.unattributed_ns + sum(
            row.critical_ns for row in table.rows
        )
        assert table.wall_ns == len(moments(top))
        assert [row.operation for row in table.rows] == sorted(
            {
                span.subject.operation
                for span in spans_of(top)
                if isinstance(span.subject, OperationSubject)
            }
        )


def test_the_time_of_a_part_is_no_self_time_of_the_whole() -> None:
    root = execution(
        0,
        100,
        node(
            "n0",
            0,
            100,
            attempt(
                0,
                0,
                100,
                operation(SETUP, 0, 60, operation(PULL, 10, 50)),
                operation(RUNTIME, 60, 100),
            ),
        ),
    )

    rows = {row.operation: row for row in tabulate_operations(root, root, AS_OF_NS).rows}

    assert (rows[SETUP].total_ns, rows[SETUP].self_ns, rows[SETUP].critical_ns) == (60, 20, 20)
    assert (rows[PULL].total_ns, rows[PULL].self_ns, rows[PULL].critical_ns) == (40, 40, 40)


def test_a_tree_of_ten_thousand_levels_is_summed_up() -> None:
    span = operation(RUNTIME, 0, 1)
    for number in range(10_000):
        span = node(f"n{number}", 0, 1, span)
    root = execution(0, 1, span)
    assert tabulate_operations(root, root, AS_OF_NS).critical_ns == 1

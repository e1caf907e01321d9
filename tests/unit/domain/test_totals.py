import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise_server.domain.spans import Operation, OperationSubject, OperationTotal, Span, Totals
from spanwise_server.domain.totals import fill_totals
from tests.unit.domain.trees import attempt, execution, node, operation, random_tree

AS_OF_NS = 150
RUNTIME, SETUP, QUEUED = Operation.TASK_RUNTIME, Operation.TASK_SETUP, Operation.QUEUED


def totals(span: Span, as_of_ns: int = AS_OF_NS) -> Totals:
    fill_totals(span, as_of_ns)
    assert span.totals is not None
    return span.totals


def below(span: Span) -> Iterator[Span]:
    for child in span.children:
        yield child
        yield from below(child)


def expected_totals(span: Span, as_of_ns: int) -> Totals:
    """Count nanosecond by nanosecond: what the totals of a span are by their definition."""

    def moments(each: Span) -> range:
        until_ns = as_of_ns if each.end_ns is None else each.end_ns
        return range(each.start_ns, max(each.start_ns, until_ns))

    wall = set(moments(span))
    covered = {moment for child in span.children for moment in moments(child)}
    operations: dict[Operation, list[set[int]]] = {}
    for each in below(span):
        if isinstance(each.subject, OperationSubject):
            inside = wall.intersection(moments(each))
            operations.setdefault(each.subject.operation, []).append(inside)
    return Totals(
        len(wall),
        len(wall - covered),
        tuple(
            OperationTotal(kind, sum(map(len, each)), len(set().union(*each)), len(each))
            for kind, each in sorted(operations.items())
        ),
    )


@pytest.mark.parametrize("seed", range(10))
def test_totals_are_those_of_counting_every_nanosecond(seed: int) -> None:
    for number in range(100):
        root = random_tree(random.Random(1000 * seed + number))
        as_of_ns = random.Random(number).choice([-10, 30, AS_OF_NS, 300])
        fill_totals(root, as_of_ns)
        for span in [root, *below(root)]:
            if isinstance(span.subject, OperationSubject):
                assert span.totals is None
            else:
                assert span.totals == expected_totals(span, as_of_ns)


@settings(deadline=None)
@given(st.integers())
def test_no_part_is_more_than_the_whole(seed: int) -> None:
    root = random_tree(random.Random(seed))
    fill_totals(root, AS_OF_NS)
    for span in [root, *below(root)]:
        if span.totals is not None:
            assert 0 <= span.totals.self_ns <= span.totals.wall_ns
            for each in span.totals.operations:
                assert 0 <= each.union_ns <= min(each.sum_ns, span.totals.wall_ns)


def test_sums_of_what_operations_tile_are_the_wall_clock() -> None:
    train = attempt(
        0,
        10,
        80,
        operation(
            SETUP, 10, 30, operation(QUEUED, 10, 15), operation(Operation.IMAGE_PULL, 15, 30)
        ),
        operation(RUNTIME, 30, 70),
        operation(Operation.TASK_TEARDOWN, 70, 80),
    )
    root = execution(
        0,
        100,
        operation(Operation.WORKFLOW_SETUP, 0, 5),
        operation(Operation.NODE_TRANSITION, 5, 7, to="n0"),
        node(
            "n0",
            7,
            90,
            operation(Operation.NODE_SETUP, 7, 10),
            train,
            operation(Operation.NODE_TEARDOWN, 80, 90),
        ),
        operation(Operation.WORKFLOW_TEARDOWN, 90, 100),
    )
    found = totals(root)
    sums = {each.operation: each.sum_ns for each in found.operations}
    assert found.self_ns == 0
    assert sum(sum_ns for kind, sum_ns in sums.items() if kind <= Operation.TASK_TEARDOWN) == 100
    assert sums[QUEUED] + sums[Operation.IMAGE_PULL] == sums[SETUP] == 20


def test_parallel_work_counts_each_time_in_the_sum_and_once_in_the_union() -> None:
    nodes = [
        node(
            f"n{start}",
            start,
            start + 10,
            attempt(0, start, start + 10, operation(RUNTIME, start, start + 10)),
        )
        for start in (0, 5, 40)
    ]
    assert totals(execution(0, 50, *nodes)).operations == (OperationTotal(RUNTIME, 30, 25, 3),)


def test_what_sticks_out_counts_only_as_far_as_it_lies_inside() -> None:
    inner = node("n0", 0, 100, attempt(0, 0, 100, operation(RUNTIME, 0, 100)))
    root = execution(40, 70, inner)
    assert totals(root) == Totals(30, 0, (OperationTotal(RUNTIME, 30, 30, 1),))
    assert inner.totals == Totals(100, 0, (OperationTotal(RUNTIME, 100, 100, 1),))


def test_a_very_deep_tree_has_totals() -> None:
    span = node("last", 0, 10, operation(RUNTIME, 0, 10))
    for level in range(10_000):
        span = node(f"n{level}", 0, 10, span)
    assert totals(span).operations == (OperationTotal(RUNTIME, 10, 10, 1),)

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from spanwise_server.domain.comparison import NodeDelta, OperationDelta, Side, compare
from spanwise_server.domain.spans import (
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    TaskAttemptSubject,
)
from tests.unit.domain.trees import attempt, execution, node, operation, random_tree

AS_OF_NS = 150
SETUP, RUNTIME, PULL = Operation.TASK_SETUP, Operation.TASK_RUNTIME, Operation.IMAGE_PULL


def node_ids(delta: NodeDelta) -> str:
    times = delta.times or delta.base_times
    assert times is not None
    assert isinstance(times.span.subject, NodeSubject)
    return times.span.subject.node_id


def task(node_id: str, start_ns: int, end_ns: int, setup_ns: int = 0) -> Span:
    middle_ns = start_ns + setup_ns
    parts = [operation(RUNTIME, middle_ns, end_ns)]
    if setup_ns:
        parts.insert(0, operation(SETUP, start_ns, middle_ns, operation(PULL, start_ns, middle_ns)))
    return node(node_id, start_ns, end_ns, attempt(0, start_ns, end_ns, *parts))


def duration(span: Span) -> int:
    end_ns = AS_OF_NS if span.end_ns is None else span.end_ns
    return max(end_ns - span.start_ns, 0)


def ways(root: Span) -> dict[tuple[tuple[str, int], ...], Span]:
    """Give the nodes of a tree by the ids on the way to them, each with its number among equals."""
    found: dict[tuple[tuple[str, int], ...], Span] = {}
    seen: Counter[tuple[object, ...]] = Counter()

    def visit(span: Span, way: tuple[tuple[str, int], ...]) -> None:
        if isinstance(span.subject, NodeSubject):
            step = (*way, span.subject.node_id)
            way = (*way, (span.subject.node_id, seen[step]))
            seen[step] += 1
            found[way] = span
        for child in span.children:
            visit(child, way)

    visit(root, ())
    return found


def own_operations(span: Span) -> Iterator[tuple[Operation, int]]:
    for child in span.children:
        if isinstance(child.subject, OperationSubject):
            yield child.subject.operation, duration(child)
        if isinstance(child.subject, OperationSubject | TaskAttemptSubject):
            yield from own_operations(child)


def deltas_of(span: Span | None, base: Span | None) -> tuple[OperationDelta, ...]:
    mine = list(own_operations(span)) if span else []
    other = list(own_operations(base)) if base else []
    return tuple(
        OperationDelta(
            kind,
            sum(each for of, each in mine if of is kind),
            sum(each for of, each in other if of is kind),
            sum(of is kind for of, _ in mine),
            sum(of is kind for of, _ in other),
        )
        for kind in sorted({of for of, _ in [*mine, *other]})
    )


@pytest.mark.parametrize("seed", range(10))
def test_nodes_of_any_two_trees_are_paired_by_the_ids_on_the_way_to_them(seed: int) -> None:
    for number in range(30):
        root = random_tree(random.Random(1000 * seed + number))
        base = random_tree(random.Random(1000 * seed + number + number % 2))
        mine, other = ways(root), ways(base)

        found = compare(Side(root, AS_OF_NS), Side(base, AS_OF_NS)).nodes

        expected = {
            (id(mine.get(way)), id(other.get(way))): deltas_of(mine.get(way), other.get(way))
            for way in mine.keys() | other.keys()
        }
        assert {
            (
                id(each.times.span if each.times else None),
                id(each.base_times.span if each.base_times else None),
            ): each.operations
            for each in found
        } == expected
        differences = [abs(each.difference_ns) for each in found]
        assert differences == sorted(differences, reverse=True)
        for each in found:
            for times in filter(None, [each.times, each.base_times]):
                assert times.duration_ns == duration(times.span)


def test_the_node_that_took_longer_comes_first_and_tells_by_which_operation() -> None:
    root = execution(0, 100, task("n0", 0, 20), task("n1", 20, 100, setup_ns=60))
    base = execution(0, 45, task("n0", 0, 22), task("n1", 22, 45, setup_ns=3))

    comparison = compare(Side(root, AS_OF_NS), Side(base, AS_OF_NS))

    assert [node_ids(each) for each in comparison.nodes] == ["n1", "n0"]
    slow = comparison.nodes[0]
    assert slow.difference_ns == 57
    assert slow.operations == (
        OperationDelta(SETUP, 60, 3, 1, 1),
        OperationDelta(RUNTIME, 20, 20, 1, 1),
        OperationDelta(PULL, 60, 3, 1, 1),
    )
    assert comparison.operations == (
        OperationDelta(SETUP, 60, 3, 1, 1),
        OperationDelta(RUNTIME, 40, 42, 2, 2),
        OperationDelta(PULL, 60, 3, 1, 1),
    )


def test_a_node_that_one_side_has_not_is_compared_with_no_time() -> None:
    root = execution(0, 30, task("n0", 0, 30))
    base = execution(0, 50, task("n0", 0, 30), task("n1", 30, 50))

    nodes = compare(Side(root, AS_OF_NS), Side(base, AS_OF_NS)).nodes

    assert [(node_ids(each), each.difference_ns) for each in nodes] == [("n1", -20), ("n0", 0)]
    assert nodes[0].times is None


def test_the_same_id_below_another_node_is_another_node() -> None:
    def nested(inner_ns: int) -> Span:
        child = execution(0, inner_ns, task("n0", 0, inner_ns), name="child")
        return execution(0, 50, task("n0", 0, 10), node("n1", 10, 50, child))

    nodes = compare(Side(nested(30), AS_OF_NS), Side(nested(10), AS_OF_NS)).nodes

    assert [each.difference_ns for each in nodes] == [20, 0, 0]


def test_trees_of_ten_thousand_levels_are_compared() -> None:
    def deep() -> Span:
        span = task("leaf", 0, 1)
        for number in range(10_000):
            span = node(f"n{number}", 0, 1, span)
        return execution(0, 1, span)

    nodes = compare(Side(deep(), AS_OF_NS), Side(deep(), AS_OF_NS)).nodes
    assert len(nodes) == 10_001
    assert all(each.times and each.base_times for each in nodes)

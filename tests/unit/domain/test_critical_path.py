import random
from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise_server.domain.critical_path import find_critical_path
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import (
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    SubtaskSubject,
)
from tests.unit.domain.trees import attempt, execution, node, operation, random_tree, subtask

AS_OF_NS = 150
SETUP, RUNTIME = Operation.TASK_SETUP, Operation.TASK_RUNTIME
TRANSITION, RESET = Operation.NODE_TRANSITION, Operation.NODE_RESET

Owner = tuple[int, bool]


class Oracle:
    """Says of every nanosecond which span it belongs to, straight from the definition."""

    def __init__(self, as_of_ns: int) -> None:
        self.as_of_ns = as_of_ns
        self.owners: dict[int, Owner] = {}

    def end(self, span: Span) -> int:
        return max(span.start_ns, self.as_of_ns if span.end_ns is None else span.end_ns)

    def walk(self, span: Span, start: int, end: int, guess: bool) -> None:
        steps = sorted(
            (
                child
                for child in span.children
                if not isinstance(child.subject, OperationSubject | SubtaskSubject)
                and not is_end(child)
            ),
            key=lambda child: child.start_ns,
        )
        ends = sorted((c for c in span.children if is_end(c)), key=lambda child: child.start_ns)
        waiting = ends[-1] if ends else None
        path: list[Span] = []
        step, is_guess = self.last(steps, waiting)
        while step is not None:
            guess = guess or is_guess
            self.between(span, max(start, min(self.end(step), end)), end, waiting, guess)
            end = max(start, min(self.end(step), end))
            self.walk(step, max(start, min(step.start_ns, end)), end, guess)
            end = max(start, min(step.start_ns, end))
            path.append(step)
            waiting = step
            step, is_guess = self.before(steps, step, path)
        self.between(span, start, end, waiting, guess)

    def last(self, steps: list[Span], end_node: Span | None) -> tuple[Span | None, bool]:
        if end_node is not None and not any(
            step.start_ns > end_node.start_ns for step in steps if not is_node(step)
        ):
            named = [step for step in steps if node_id(step) in upstreams(end_node)]
            if named:
                return self.latest(steps, named), is_inferred(end_node)
        return self.by_time(steps, steps)

    def before(self, steps: list[Span], step: Span, path: list[Span]) -> tuple[Span | None, bool]:
        first = min(position(steps, each) for each in path)
        if not is_node(step):
            return self.by_time(steps, steps[:first])
        named = [
            each
            for each in steps
            if is_node(each)
            and node_id(each) in upstreams(step)
            and not any(each is other for other in path)
        ]
        if named:
            return self.latest(steps, named), is_inferred(step)
        return self.by_time(steps, [each for each in steps[:first] if not is_node(each)])

    def by_time(self, steps: list[Span], choice: list[Span]) -> tuple[Span | None, bool]:
        if not choice:
            return None, False
        inner = [step for step in steps if is_node(step) and kind(step) is not NodeKind.START]
        found = self.latest(steps, choice)
        return found, is_node(found) and len(inner) > 1

    def latest(self, steps: list[Span], choice: list[Span]) -> Span:
        return max(choice, key=lambda each: (self.end(each), each.start_ns, position(steps, each)))

    def between(self, span: Span, start: int, end: int, waiting: Span | None, guess: bool) -> None:
        ways: list[tuple[Span, int]] = []
        others: list[tuple[Span, int]] = []
        for child in span.children:
            if isinstance(child.subject, OperationSubject):
                if child.subject.operation is not TRANSITION:
                    others += in_pre_order(child, 0)
                elif waiting is not None and child.subject.node_id == node_id(waiting):
                    ways += in_pre_order(child, 0)
        for moment in range(start, end):
            owner = self.owner(ways, moment) or self.owner(others, moment) or span
            assert moment not in self.owners
            self.owners[moment] = (owner.span_id, guess)

    def owner(self, operations: list[tuple[Span, int]], moment: int) -> Span | None:
        covering = [
            (depth, span.start_ns, place, span)
            for place, (span, depth) in enumerate(operations)
            if span.start_ns <= moment < self.end(span)
        ]
        return max(covering, key=lambda each: each[:3])[3] if covering else None


def in_pre_order(span: Span, depth: int) -> list[tuple[Span, int]]:
    return [(span, depth), *(x for part in span.children for x in in_pre_order(part, depth + 1))]


def position(steps: list[Span], step: Span) -> int:
    return next(number for number, each in enumerate(steps) if each is step)


def is_node(span: Span) -> bool:
    return isinstance(span.subject, NodeSubject)


def kind(span: Span) -> NodeKind | None:
    return span.subject.kind if isinstance(span.subject, NodeSubject) else None


def is_end(span: Span) -> bool:
    return kind(span) is NodeKind.END


def node_id(span: Span) -> str | None:
    return span.subject.node_id if isinstance(span.subject, NodeSubject) else None


def upstreams(span: Span) -> tuple[str, ...]:
    return span.subject.upstream_node_ids if isinstance(span.subject, NodeSubject) else ()


def is_inferred(span: Span) -> bool:
    return SpanQuality.INFERRED_UPSTREAM in span.qualities


def expected_path(root: Span, as_of_ns: int) -> list[tuple[int, int, int, bool]]:
    oracle = Oracle(as_of_ns)
    oracle.walk(root, root.start_ns, oracle.end(root), False)
    path = []
    for span_id, group in groupby(sorted(oracle.owners.items()), key=lambda each: each[1][0]):
        moments = list(group)
        guess = any(guess for _, (_, guess) in moments)
        path.append((span_id, moments[0][0], moments[-1][0] + 1, guess))
    return path


def found_path(root: Span, as_of_ns: int = AS_OF_NS) -> list[tuple[int, int, int, bool]]:
    return [
        (span.span_id, start_ns, end_ns, is_approximate)
        for span, start_ns, end_ns, is_approximate in find_critical_path(root, as_of_ns)
    ]


def named_path(root: Span, as_of_ns: int = AS_OF_NS) -> list[tuple[str, int, int]]:
    return [
        (each.span.name, each.start_ns, each.end_ns) for each in find_critical_path(root, as_of_ns)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_the_path_is_that_of_the_definition(seed: int) -> None:
    for number in range(100):
        root = random_tree(random.Random(1000 * seed + number))
        as_of_ns = random.Random(number).choice([-10, 30, AS_OF_NS, 300])
        assert found_path(root, as_of_ns) == expected_path(root, as_of_ns)


@settings(deadline=None)
@given(st.integers())
def test_the_path_covers_the_wall_clock_once(seed: int) -> None:
    root = random_tree(random.Random(seed))
    path = find_critical_path(root, AS_OF_NS)
    end_ns = max(root.start_ns, AS_OF_NS if root.end_ns is None else root.end_ns)
    bounds = [root.start_ns, *(each.end_ns for each in path)]
    assert [each.start_ns for each in path] == bounds[:-1]
    assert bounds[-1] == end_ns
    assert all(each.start_ns < each.end_ns for each in path)
    assert all(one.span is not other.span for one, other in pairwise(path))


def test_the_path_follows_the_upstream_that_ended_last() -> None:
    root = execution(
        0,
        100,
        operation(Operation.WORKFLOW_SETUP, 0, 5),
        node("start", 0, 5, kind=NodeKind.START),
        node("quick", 5, 20, upstreams=["start"]),
        node("slow", 6, 50, upstreams=["start"]),
        operation(TRANSITION, 50, 55, to="join"),
        operation(TRANSITION, 50, 90, to="other"),
        node("other", 90, 95, upstreams=["slow"]),
        node("join", 55, 80, upstreams=["quick", "slow"]),
        node("end", 80, 81, upstreams=["join"], kind=NodeKind.END),
        operation(Operation.WORKFLOW_TEARDOWN, 80, 100),
    )
    assert named_path(root) == [
        ("start", 0, 5),
        ("run", 5, 6),
        ("slow", 6, 50),
        ("NODE_TRANSITION", 50, 55),
        ("join", 55, 80),
        ("WORKFLOW_TEARDOWN", 80, 100),
    ]
    assert not any(each.is_approximate for each in find_critical_path(root, AS_OF_NS))


def test_parts_of_the_set_up_stand_for_it() -> None:
    setup = operation(
        SETUP,
        0,
        30,
        operation(Operation.SCHEDULING, 0, 10),
        operation(Operation.IMAGE_PULL, 12, 30),
    )
    one = attempt(0, 0, 90, setup, operation(RUNTIME, 30, 90), subtask(0, 30, 60))
    assert named_path(node("n0", 0, 90, one)) == [
        ("SCHEDULING", 0, 10),
        ("TASK_SETUP", 10, 12),
        ("IMAGE_PULL", 12, 30),
        ("TASK_RUNTIME", 30, 90),
    ]


def test_attempts_resets_and_children_of_a_dynamic_node_follow_each_other() -> None:
    dynamic = node(
        "n0",
        0,
        100,
        attempt(0, 0, 20, operation(RUNTIME, 0, 20)),
        operation(RESET, 20, 30),
        attempt(1, 30, 40, operation(RUNTIME, 30, 40)),
        operation(RESET, 40, 45),
        node("n0-1-a", 45, 60),
        node("n0-1-b", 62, 95, upstreams=["n0-1-a"]),
        operation(Operation.NODE_TEARDOWN, 95, 100),
        kind=NodeKind.DYNAMIC,
    )
    assert named_path(dynamic) == [
        ("TASK_RUNTIME", 0, 20),
        ("NODE_RESET", 20, 30),
        ("TASK_RUNTIME", 30, 40),
        ("NODE_RESET", 40, 45),
        ("n0-1-a", 45, 60),
        ("n0", 60, 62),
        ("n0-1-b", 62, 95),
        ("NODE_TEARDOWN", 95, 100),
    ]


def test_overlap_is_counted_once() -> None:
    root = execution(0, 100, node("a", 0, 60), node("b", 40, 100, upstreams=["a"]))
    assert named_path(root) == [("a", 0, 40), ("b", 40, 100)]


def test_only_what_a_guess_led_to_is_approximate() -> None:
    guessed = SpanQuality.INFERRED_UPSTREAM
    root = execution(
        0,
        100,
        node("a", 0, 30),
        node("b", 40, 60, upstreams=["a"], qualities=guessed),
        node("c", 70, 100, upstreams=["b"]),
        node("end", 100, 100, upstreams=["c"], kind=NodeKind.END),
    )
    path = find_critical_path(root, AS_OF_NS)
    assert [(each.start_ns, each.is_approximate) for each in path] == [
        (0, True),
        (30, True),
        (40, False),
        (60, False),
        (70, False),
    ]


def test_upstreams_in_a_circle_end_the_path() -> None:
    root = execution(0, 100, node("a", 0, 50, upstreams=["b"]), node("b", 50, 100, upstreams=["a"]))
    assert named_path(root) == [("a", 0, 50), ("b", 50, 100)]


def test_an_open_execution_has_a_path_up_to_as_of() -> None:
    root = execution(0, None, node("a", 0, 50), node("b", 50, None, upstreams=["a"]))
    assert named_path(root, 120) == [("a", 0, 50), ("b", 50, 120)]


def test_a_very_deep_tree_has_a_path() -> None:
    span = node("last", 10, 20, attempt(0, 10, 20, operation(RUNTIME, 10, 20)))
    for level in range(10_000):
        span = node(f"n{level}", 0, 20, span)
    assert named_path(span) == [("n0", 0, 10), ("TASK_RUNTIME", 10, 20)]

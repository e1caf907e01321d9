import random

from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise_server.domain.parallelism import find_parallelism
from spanwise_server.domain.spans import Operation, Span
from tests.unit.domain.trees import attempt, execution, node, operation

RUNTIME = Operation.TASK_RUNTIME


def running(*bounds: tuple[int, int | None]) -> Span:
    nodes = [
        node(f"n{number}", start, end, attempt(0, start, end, operation(RUNTIME, start, end)))
        for number, (start, end) in enumerate(bounds)
    ]
    return execution(0, None, *nodes)


def test_each_change_is_a_step() -> None:
    steps = find_parallelism(running((0, 10), (5, 20), (20, 30), (7, 7), (25, None)), 40)
    assert steps == [(0, 1), (5, 2), (10, 1), (25, 2), (30, 1), (40, 0)]


def test_without_attempts_there_is_no_step() -> None:
    assert find_parallelism(execution(0, 10, operation(RUNTIME, 0, 10)), 0) == []


@settings(deadline=None)
@given(st.integers())
def test_steps_are_those_of_counting(seed: int) -> None:
    chance = random.Random(seed)
    bounds = [sorted(chance.choices(range(20), k=2)) for _ in range(chance.randrange(8))]
    steps = find_parallelism(running(*((start, end) for start, end in bounds)), 0)
    counted = {}
    before = 0
    for moment in range(21):
        now = sum(start <= moment < end for start, end in bounds)
        if now != before:
            counted[moment] = now
        before = now
    assert dict(steps) == counted

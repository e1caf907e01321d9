import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise_server.domain.parallelism import ParallelismStep, find_parallelism, join_steps
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


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(2, 20))
def test_joined_steps_tell_the_most_that_ran(numbers: list[int], most: int) -> None:
    steps = [ParallelismStep(10 * at, number) for at, number in enumerate(numbers)]
    steps.append(ParallelismStep(10 * len(numbers), 0))
    joined = join_steps(steps, most)
    assert len(joined) <= most
    assert joined[0].start_ns == steps[0].start_ns
    assert joined[-1] == steps[-1]
    if len(steps) <= most:
        assert joined == steps
    for this, following in itertools.pairwise(joined):
        inside = [
            each.num_running
            for each in steps
            if this.start_ns <= each.start_ns < following.start_ns
        ]
        assert max(inside) == this.num_running

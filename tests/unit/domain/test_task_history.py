import pytest

from spanwise_server.domain.spans import Operation, Span
from spanwise_server.domain.task_history import AttemptTimes, Comparison, compare_with_past
from tests.unit.domain.trees import TASK_ID, attempt, operation

S = 1_000_000_000
TASK = TASK_ID[:3]


def compared(runtime_s: float, *earlier_s: float) -> Comparison:
    one = attempt(0, 0, None, operation(Operation.TASK_RUNTIME, 0, round(runtime_s * S)))
    past = {TASK: [AttemptTimes(False, None, round(each * S), None) for each in earlier_s]}
    (found,) = compare_with_past({"n0/0": one}, past, 0)
    assert (found.attempt, found.path) == (one, "n0/0")
    return found


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    found = compared(1, *range(1, 21))
    assert (found.p50_ns, found.p95_ns, found.num_samples) == (10 * S, 19 * S, 20)
    found = compared(1, 3, 1, 1, 1, 2)
    assert (found.p50_ns, found.p95_ns, found.num_samples) == (1 * S, 3 * S, 5)


@pytest.mark.parametrize(
    ("runtime_s", "earlier_s", "is_outlier"),
    [
        (17, [10] * 5, True),
        (16, [10] * 5, False),  # not more than 1.5 times the median plus a second
        (17, [10] * 4 + [17], False),  # not more than the 95th percentile
        (0.9, [0.1] * 9, False),  # less than a second does not matter
    ],
)
def test_an_outlier_is_far_outside_of_enough_earlier_ones(
    runtime_s: float, earlier_s: list[float], is_outlier: bool
) -> None:
    assert compared(runtime_s, *earlier_s).is_outlier is is_outlier


def two_parts(number: int = 0) -> Span:
    setup, runtime = (
        operation(Operation.TASK_SETUP, 0, 10),
        operation(Operation.TASK_RUNTIME, 10, 20),
    )
    return attempt(number, 0, 30, setup, runtime)


def test_what_is_not_known_is_not_compared() -> None:
    one = two_parts()
    past = {TASK: [AttemptTimes(False, None, 5, 5)] * 5}
    found = compare_with_past({"n0/0": one}, past, 0)
    assert [each.operation for each in found] == [Operation.TASK_RUNTIME]
    other = {("other", "", ""): [AttemptTimes(False, 1, 1, 1)] * 5}
    assert compare_with_past({"n0/0": one}, other, 0) == []
    assert compare_with_past({"n0/0": one}, {TASK: []}, 0) == []


def test_fewer_earlier_ones_than_say_anything_are_not_compared() -> None:
    past = {TASK: [AttemptTimes(False, 1, 1, 1)] * 4 + [AttemptTimes(False, 1, None, 1)]}
    found = compare_with_past({"n0/0": two_parts()}, past, 0)
    assert [(each.operation, each.num_samples) for each in found] == [(Operation.TASK_SETUP, 5)]


def test_first_attempts_are_compared_with_first_ones_and_later_ones_with_later_ones() -> None:
    past = {TASK: [AttemptTimes(False, 1000 * S, 1, 1)] * 5 + [AttemptTimes(True, 2 * S, 1, 1)] * 6}
    for number, samples in [(0, (1000 * S, 5)), (1, (2 * S, 6)), (2, (2 * S, 6))]:
        found = compare_with_past({"n0": two_parts(number)}, past, 0)[0]
        assert (found.p50_ns, found.num_samples) == samples

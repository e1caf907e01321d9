import pytest

from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import Operation, Span
from spanwise_server.domain.task_history import (
    MAX_COMPARISONS,
    MAX_SAMPLES,
    AttemptTimes,
    Comparison,
    History,
    TaskName,
    compare_with_past,
)
from tests.unit.domain.trees import TASK_ID, attempt, execution, node, operation

S = 1_000_000_000
TASK = TASK_ID[:3]


def history(past: dict[TaskName, list[AttemptTimes]], *attempts: Span) -> History:
    root = execution(0, 100 * S, node("n0", 0, 100 * S, *attempts))
    return compare_with_past(attempts, past, SpanPaths(root), 0)


def compared(runtime_s: float, *earlier_s: float) -> Comparison:
    one = attempt(0, 0, None, operation(Operation.TASK_RUNTIME, 0, round(runtime_s * S)))
    past = {TASK: [AttemptTimes(False, None, round(each * S), None) for each in earlier_s]}
    ((found,), _) = history(past, one)
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
    found = history(past, one).comparisons
    assert [each.operation for each in found] == [Operation.TASK_RUNTIME]
    other = {("other", "", ""): [AttemptTimes(False, 1, 1, 1)] * 5}
    assert history(other, one) == ([], 0)
    assert history({TASK: []}, one) == ([], 0)


def test_fewer_earlier_ones_than_say_anything_are_not_compared() -> None:
    past = {TASK: [AttemptTimes(False, 1, 1, 1)] * 4 + [AttemptTimes(False, 1, None, 1)]}
    found = history(past, two_parts()).comparisons
    assert [(each.operation, each.num_samples) for each in found] == [(Operation.TASK_SETUP, 5)]


def test_first_attempts_are_compared_with_first_ones_and_later_ones_with_later_ones() -> None:
    past = {TASK: [AttemptTimes(False, 1000 * S, 1, 1)] * 5 + [AttemptTimes(True, 2 * S, 1, 1)] * 6}
    for number, samples in [(0, (1000 * S, 5)), (1, (2 * S, 6)), (2, (2 * S, 6))]:
        found = history(past, two_parts(number)).comparisons[0]
        assert (found.p50_ns, found.num_samples) == samples


def test_only_the_latest_of_each_operation_count() -> None:
    failed = [AttemptTimes(False, 1, None, None)] * 200
    succeeded = [AttemptTimes(False, None, 5, None)] * MAX_SAMPLES
    found, _ = history({TASK: failed + succeeded + [AttemptTimes(False, 9, 9, 9)] * 9}, two_parts())
    assert [(each.num_samples, each.p95_ns) for each in found] == [(50, 1), (50, 5)]


def test_of_many_comparisons_outliers_and_then_the_longest_stay() -> None:
    def ran(number: int, length_ns: int) -> Span:
        return attempt(number, 0, length_ns, operation(Operation.TASK_RUNTIME, 0, length_ns))

    usual = [ran(number, number) for number in range(200)]
    late = [ran(number, 9 * S) for number in range(200, 203)]
    # The other kind is usual at any length, so that length alone does not tell what stays.
    first = attempt(0, 0, 50 * S, operation(Operation.TASK_RUNTIME, 0, 50 * S))
    past = {TASK: [AttemptTimes(True, 1, S, 1)] * 5 + [AttemptTimes(False, 1, 50 * S, 1)] * 5}
    found, num_left_out = history(past, first, *late, *usual[1:])
    assert (len(found), num_left_out) == (MAX_COMPARISONS, 203 - MAX_COMPARISONS)
    assert [each.is_outlier for each in found[:5]] == [False, True, True, True, False]
    assert [each.duration_ns for each in found[4:]] == list(range(104, 200))
    assert found[1].path == "n0/200"

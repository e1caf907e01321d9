"""How an attempt compares with earlier ones of the same task."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.spans import Operation, OperationSubject, Span, TaskAttemptSubject
from spanwise_server.domain.totals import end_of

TaskName = tuple[str, str, str]
"""Project, domain and name of a task."""

MIN_SAMPLES = 5
"""Fewer earlier attempts say nothing about what is usual."""

_SLACK_NS = 1_000_000_000
"""What takes milliseconds may well take twice as long; nobody has to look into that."""


class AttemptTimes(NamedTuple):
    """How long an earlier attempt took. None: not known, or not to be compared with.

    `is_retry` says whether another attempt was before it: it may find a machine that is warm.
    """

    is_retry: bool
    setup_ns: int | None
    runtime_ns: int | None
    teardown_ns: int | None


class Comparison(NamedTuple):
    """One operation of an attempt beside those of earlier attempts.

    Attributes:
        attempt: The attempt.
        path: Its path from the root, for people.
        operation: TASK_SETUP, TASK_RUNTIME or TASK_TEARDOWN.
        duration_ns: Here; up to as_of if it still goes on.
        p50_ns: Median: the least time that half of the earlier ones did not exceed.
        p95_ns: The least time that 95 of 100 of the earlier ones did not exceed.
        num_samples: Number of earlier ones, at least MIN_SAMPLES.
        is_outlier: Whether it is more than p95 and more than 1.5 times p50 plus a second.
    """

    attempt: Span
    path: str
    operation: Operation
    duration_ns: int
    p50_ns: int
    p95_ns: int
    num_samples: int
    is_outlier: bool


_COMPARED = (Operation.TASK_SETUP, Operation.TASK_RUNTIME, Operation.TASK_TEARDOWN)


def task_of(attempt: Span) -> TaskName | None:
    """Give the task that an attempt runs; None when it is not known."""
    subject = attempt.subject
    if not isinstance(subject, TaskAttemptSubject) or not subject.task_id.name:
        return None
    project, domain, name, _ = subject.task_id
    return project, domain, name


def _is_retry(attempt: Span) -> bool:
    return isinstance(attempt.subject, TaskAttemptSubject) and attempt.subject.retry_attempt > 0


def compare_with_past(
    attempts: Mapping[str, Span], past: Mapping[TaskName, Sequence[AttemptTimes]], as_of_ns: int
) -> list[Comparison]:
    """Compare attempts with earlier ones: first with first, and later with later ones.

    Args:
        attempts: The attempts, by path.
        past: Earlier attempts, by task.
        as_of_ns: End of what is open.

    Returns:
        One for each operation that the attempt has and that is known of MIN_SAMPLES earlier ones or
        more, in the order of attempts, then of operations.
    """
    alike: dict[tuple[TaskName, bool], list[tuple[int | None, ...]]] = defaultdict(list)
    for task, earlier in past.items():
        for is_retry, *times_ns in earlier:
            alike[task, is_retry].append(tuple(times_ns))
    known = {key: tuple(map(_sorted, zip(*rows, strict=True))) for key, rows in alike.items()}
    comparisons = []
    for path, attempt in attempts.items():
        this = task_of(attempt)
        columns = known.get((this, _is_retry(attempt)), ()) if this is not None else ()
        durations = _durations(attempt, as_of_ns)
        for operation, samples in zip(_COMPARED, columns, strict=False):
            if len(samples) >= MIN_SAMPLES and operation in durations:
                comparisons.append(
                    _compare((attempt, path, operation), durations[operation], samples)
                )
    return comparisons


def _compare(
    which: tuple[Span, str, Operation], duration_ns: int, samples: Sequence[int]
) -> Comparison:
    p50_ns, p95_ns = _percentile(samples, 50), _percentile(samples, 95)
    is_outlier = duration_ns > p95_ns and 2 * duration_ns > 3 * p50_ns + 2 * _SLACK_NS
    return Comparison(*which, duration_ns, p50_ns, p95_ns, len(samples), is_outlier)


def _sorted(times_ns: Sequence[int | None]) -> list[int]:
    return sorted(time_ns for time_ns in times_ns if time_ns is not None)


def _percentile(samples: Sequence[int], percent: int) -> int:
    """Give the nearest rank of ascending samples."""
    return samples[-(-percent * len(samples) // 100) - 1]


def _durations(attempt: Span, as_of_ns: int) -> dict[Operation, int]:
    durations: dict[Operation, int] = {}
    for child in attempt.children:
        if isinstance(child.subject, OperationSubject):
            operation = child.subject.operation
            duration_ns = end_of(child, as_of_ns) - child.start_ns
            durations[operation] = durations.get(operation, 0) + duration_ns
    return durations

"""How an attempt compares with earlier ones of the same task."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.percentiles import percentile
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import Operation, OperationSubject, Span, TaskAttemptSubject
from spanwise_server.domain.totals import end_of

TaskName = tuple[str, str, str]
"""Project, domain and name of a task."""

MIN_SAMPLES = 5
"""Fewer earlier attempts say nothing about what is usual."""

MAX_SAMPLES = 50
"""Earlier attempts that an operation is compared with, the latest: enough for a 95th percentile,
and few enough to follow a task whose habits change."""

MAX_COMPARISONS = 100
"""Comparisons of a diagnosis: one for each operation of each attempt on the path would be any
number, and nobody looks for the usual ones."""

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
        path: Its path from the root, for people, as SpanPaths.short_path gives it.
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


class History(NamedTuple):
    """Comparisons, and the number of those that were left out."""

    comparisons: list[Comparison]
    num_left_out: int


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
    attempts: Iterable[Span],
    past: Mapping[TaskName, Sequence[AttemptTimes]],
    paths: SpanPaths,
    as_of_ns: int,
) -> History:
    """Compare attempts with earlier ones: first with first, and later with later ones.

    Args:
        attempts: The attempts.
        past: Earlier attempts, by task, the latest first; no more than MAX_SAMPLES of each kind
            count that are known for an operation.
        paths: Of the tree that the attempts are in.
        as_of_ns: End of what is open.

    Returns:
        One for each operation that an attempt has and that is known of MIN_SAMPLES earlier ones or
        more, in the order of attempts, then of operations. Of more than MAX_COMPARISONS the
        outliers stay, the longest first, and then the longest of the others.
    """
    alike: dict[tuple[TaskName, bool], list[tuple[int | None, ...]]] = defaultdict(list)
    for task, earlier in past.items():
        for is_retry, *times_ns in earlier:
            alike[task, is_retry].append(tuple(times_ns))
    known = {key: tuple(map(_sorted, zip(*rows, strict=True))) for key, rows in alike.items()}
    found: list[Comparison] = []
    for attempt in attempts:
        this = task_of(attempt)
        columns = known.get((this, _is_retry(attempt)), ()) if this is not None else ()
        durations = _durations(attempt, as_of_ns)
        for operation, samples in zip(_COMPARED, columns, strict=False):
            if len(samples) >= MIN_SAMPLES and operation in durations:
                found.append(_compare(attempt, operation, durations[operation], samples))
    places = sorted(range(len(found)), key=lambda place: _weight(found[place]), reverse=True)
    kept = [found[place] for place in sorted(places[:MAX_COMPARISONS])]
    return History(
        [each._replace(path=paths.short_path(each.attempt)) for each in kept],
        len(found) - len(kept),
    )


def _weight(comparison: Comparison) -> tuple[bool, int]:
    return comparison.is_outlier, comparison.duration_ns


def _compare(
    attempt: Span, operation: Operation, duration_ns: int, samples: Sequence[int]
) -> Comparison:
    """Compare one operation; the path is left open, which takes long for what nobody gets."""
    p50_ns, p95_ns = percentile(samples, 50), percentile(samples, 95)
    is_outlier = duration_ns > p95_ns and 2 * duration_ns > 3 * p50_ns + 2 * _SLACK_NS
    return Comparison(attempt, "", operation, duration_ns, p50_ns, p95_ns, len(samples), is_outlier)


def _sorted(times_ns: Sequence[int | None]) -> list[int]:
    return sorted([time_ns for time_ns in times_ns if time_ns is not None][:MAX_SAMPLES])


def _durations(attempt: Span, as_of_ns: int) -> dict[Operation, int]:
    durations: dict[Operation, int] = {}
    for child in attempt.children:
        if isinstance(child.subject, OperationSubject):
            operation = child.subject.operation
            duration_ns = end_of(child, as_of_ns) - child.start_ns
            durations[operation] = durations.get(operation, 0) + duration_ns
    return durations

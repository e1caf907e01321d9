"""Diagnosis: what cost most on the critical path of an execution, why, and what helps."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.advice import CAUSES, Advice, Condition, find_advice
from spanwise_server.domain.causes import Share, find_causes
from spanwise_server.domain.conditions import find_conditions, find_tree_conditions
from spanwise_server.domain.critical_path import CriticalSegment, find_critical_path
from spanwise_server.domain.events import ExecutionError
from spanwise_server.domain.naming import label_span, shorten
from spanwise_server.domain.parallelism import ParallelismStep, find_parallelism, join_steps
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import Mark, Operation, Span
from spanwise_server.domain.task_history import (
    AttemptTimes,
    History,
    TaskName,
    compare_with_past,
)
from spanwise_server.domain.totals import end_of
from spanwise_server.domain.wording import summarise

MAX_FINDINGS = 50
MAX_EVIDENCE = 5
MAX_REASONS = 10
MAX_REASON_LENGTH = 2000
MAX_SEGMENTS = 10_000
MAX_STEPS = 10_000
"""Bounds of a diagnosis: texts and trees may be of any size, and the answer has to fit into a
message: with five findings into the 4 MiB that clients of gRPC take by default, with MAX_FINDINGS
into the 64 MiB of this server's client. The tree has the rest."""

MIN_SHARE = 0.02
"""Share of the wall clock below which a finding gets no advice: mending it would not be noticed."""

_MIN_PART_PERCENT = 1
"""Percent of a finding below which a stretch is not worth a line of evidence."""


class Evidence(NamedTuple):
    """A stretch of the critical path.

    Attributes:
        span: Span that it went into.
        path: Path of the span from the root, for people, as SpanPaths.short_path gives it.
        label: The path with what the span stands for.
        start_ns: Start.
        end_ns: End.
        reasons: What was said in it, in the order of time; a text that was repeated once.
        error: For a retry, how the attempt failed, at the first stretch with that error; else None.
        is_open: Whether it still goes on.
        last_heard_ns: While it does, when what it lies in was last heard of; None if never.
        is_stale: Whether that was too long ago.
    """

    span: Span
    path: str
    label: str
    start_ns: int
    end_ns: int
    reasons: tuple[Mark, ...]
    error: ExecutionError | None
    is_open: bool
    last_heard_ns: int | None
    is_stale: bool


class Finding(NamedTuple):
    """One thing that cost time.

    Attributes:
        cause: Key of the cause, of advice.CAUSES.
        operation: What most of the time was spent on.
        cost_ns: Time on the critical path.
        share: Share of the wall clock of the execution, 0 to 1.
        summary: The finding as a sentence.
        evidence: The costliest stretches, the costliest first.
        advice: What is known to help; may be empty, and is below MIN_SHARE.
        is_open: Whether it still goes on.
        num_left_out: Stretches that the evidence leaves out.
        left_out_ns: Their time.
    """

    cause: str
    operation: Operation
    cost_ns: int
    share: float
    summary: str
    evidence: tuple[Evidence, ...]
    advice: tuple[Advice, ...]
    is_open: bool
    num_left_out: int
    left_out_ns: int


class Diagnosis(NamedTuple):
    """What cost time.

    Attributes:
        findings: The costliest first.
        wall_ns: Wall clock of the execution, which is the length of the critical path.
        is_approximate: Whether the path rests on edges that are a guess.
        history: Attempts of the path beside earlier ones of their tasks, in the order of time.
        segments: The critical path; of more than MAX_SEGMENTS the longest, in the order of time.
        num_segments_left_out: Segments that were left out.
        parallelism: How many attempts ran at once, in MAX_STEPS at most.
        num_steps_joined: Steps of it that were joined to the one before.
        root: The execution, with its phase and when it was last heard of.
        error: Why it failed; None when it did not.
        num_left_out: Findings that were left out.
        left_out_ns: Their cost.
    """

    findings: list[Finding]
    wall_ns: int
    is_approximate: bool
    history: History
    segments: Sequence[CriticalSegment]
    num_segments_left_out: int
    parallelism: list[ParallelismStep]
    num_steps_joined: int
    root: Span
    error: ExecutionError | None
    num_left_out: int
    left_out_ns: int


class Course(NamedTuple):
    """The critical path of a tree, with what it runs through.

    Attributes:
        root: Root of the tree.
        as_of_ns: End of what is open.
        segments: The critical path.
        shares: The cause of each segment.
        paths: Paths of the tree.
        attempts: Attempts that the path runs through, in the order of time.
    """

    root: Span
    as_of_ns: int
    segments: Sequence[CriticalSegment]
    shares: Sequence[Share]
    paths: SpanPaths
    attempts: Sequence[Span]


def find_course(root: Span, as_of_ns: int) -> Course:
    """Find the critical path of a tree, and the cause of each segment."""
    segments = find_critical_path(root, as_of_ns)
    paths = SpanPaths(root)
    shares = find_causes(segments, paths)
    attempts = {
        id(share.around.attempt): share.around.attempt
        for share in shares
        if share.around.attempt is not None
    }
    return Course(root, as_of_ns, segments, shares, paths, list(attempts.values()))


def diagnose(
    course: Course,
    past: Mapping[TaskName, Sequence[AttemptTimes]],
    max_findings: int,
) -> Diagnosis:
    """Say what cost most.

    Each nanosecond of the critical path belongs to one finding, so that the costs of all findings
    add up to the wall clock.

    Args:
        course: Critical path of the execution.
        past: Earlier attempts, by task, the latest first.
        max_findings: Most findings to give; never more than MAX_FINDINGS.
    """
    root, as_of_ns, segments, shares, paths, attempts = course
    wall_ns = end_of(root, as_of_ns) - root.start_ns
    groups: dict[tuple[str, str], list[Share]] = defaultdict(list)
    for share in shares:
        groups[share.cause, share.detail].append(share)
    # Of equal costs the one that came first stays first.
    costliest = sorted(groups.values(), key=_cost, reverse=True)
    of_tree = find_tree_conditions(root, as_of_ns)
    given = costliest[: min(max_findings, MAX_FINDINGS)]
    findings = [_finding(each, wall_ns, course, of_tree) for each in given]
    kept = _longest(segments)
    steps = find_parallelism(root, as_of_ns)
    joined = join_steps(steps, MAX_STEPS)
    return Diagnosis(
        findings=findings,
        wall_ns=wall_ns,
        is_approximate=any(segment.is_approximate for segment in segments),
        history=compare_with_past(attempts, past, paths, as_of_ns),
        segments=kept,
        num_segments_left_out=len(segments) - len(kept),
        parallelism=joined,
        num_steps_joined=len(steps) - len(joined),
        root=root,
        error=_bounded(root.error) if root.error is not None else None,
        num_left_out=len(costliest) - len(findings),
        left_out_ns=wall_ns - sum(each.cost_ns for each in findings),
    )


def _longest(segments: Sequence[CriticalSegment]) -> Sequence[CriticalSegment]:
    """Give at most MAX_SEGMENTS, in the order of time."""
    if len(segments) <= MAX_SEGMENTS:
        return segments
    longest = sorted(segments, key=lambda each: each.end_ns - each.start_ns, reverse=True)
    return sorted(longest[:MAX_SEGMENTS], key=lambda each: each.start_ns)


def _cost(shares: Iterable[Share]) -> int:
    return sum(share.end_ns - share.start_ns for share in shares)


def _finding(
    shares: Sequence[Share],
    wall_ns: int,
    course: Course,
    of_tree: frozenset[Condition],
) -> Finding:
    cost_ns = _cost(shares)
    by_operation: dict[Operation, int] = defaultdict(int)
    for share in shares:
        by_operation[share.operation] += share.end_ns - share.start_ns
    cause = shares[0].cause
    is_open = any(_is_open(share, course) for share in shares)
    advice: tuple[Advice, ...] = ()
    if cost_ns >= MIN_SHARE * wall_ns:
        conditions = of_tree | find_conditions(shares, is_open=is_open)
        if any(_is_open(share, course) and _is_stale(_owner(share, course)) for share in shares):
            conditions |= {Condition.STALE}
        advice = find_advice(cause, conditions)
    evidence = _evidence(shares, cost_ns, course)
    return Finding(
        cause=cause,
        operation=max(by_operation, key=lambda each: by_operation[each]),
        cost_ns=cost_ns,
        share=cost_ns / wall_ns,
        summary=summarise(CAUSES[cause], shares, wall_ns, course.paths, is_open=is_open),
        evidence=evidence,
        advice=advice,
        is_open=is_open,
        num_left_out=len(shares) - len(evidence),
        left_out_ns=cost_ns - sum(each.end_ns - each.start_ns for each in evidence),
    )


def _is_open(share: Share, course: Course) -> bool:
    """Say whether a stretch still goes on: only the last one of an open execution can."""
    is_last = share is course.shares[-1]
    return is_last and course.root.end_ns is None and share.span.end_ns is None


def _owner(share: Share, course: Course) -> Span:
    """Give what a stretch lies in and events are about."""
    return share.around.attempt or share.around.node or course.root


def _is_stale(span: Span) -> bool:
    return SpanQuality.STALE in span.qualities


def _evidence(shares: Sequence[Share], cost_ns: int, course: Course) -> tuple[Evidence, ...]:
    """Give the costliest stretches that matter, one at least."""
    costliest = sorted(shares, key=lambda each: each.end_ns - each.start_ns, reverse=True)
    told: set[ExecutionError] = set()
    evidence: list[Evidence] = []
    for share in costliest[:MAX_EVIDENCE]:
        if 100 * (share.end_ns - share.start_ns) < _MIN_PART_PERCENT * cost_ns and evidence:
            break
        error = share.failed.error if share.failed is not None else None
        error = error if error not in told else None
        if error is not None:
            told.add(error)
            error = _bounded(error)
        owner = _owner(share, course)
        is_open = _is_open(share, course)
        evidence.append(
            Evidence(
                span=share.span,
                path=course.paths.short_path(share.span),
                label=label_span(share.span, share.around.node, course.paths),
                start_ns=share.start_ns,
                end_ns=share.end_ns,
                reasons=_distinct(share.reasons),
                error=error,
                is_open=is_open,
                last_heard_ns=owner.last_heard_ns if is_open else None,
                is_stale=is_open and _is_stale(owner),
            )
        )
    return tuple(evidence)


def _bounded(error: ExecutionError) -> ExecutionError:
    code, message, uri = (
        shorten(text, MAX_REASON_LENGTH) for text in (error.code, error.message, error.error_uri)
    )
    return ExecutionError(code, message, error.kind, uri)


def _distinct(reasons: Iterable[Mark]) -> tuple[Mark, ...]:
    """Give each text once, with how often it was said: as counted here, or by its source."""
    kept: list[Mark] = []
    for reason in reasons:
        if kept and _is_echo(kept[-1], reason):
            kept[-1] = max(kept[-1], reason, key=lambda each: len(each.message))
        else:
            kept.append(reason)
    alike: dict[str, list[Mark]] = defaultdict(list)
    for reason in kept:
        alike[reason.message].append(reason)
    told = list(alike.values())
    if len(told) > MAX_REASONS:  # the last one may be what tells that it ended
        told = [*told[: MAX_REASONS - 1], told[-1]]
    return tuple(
        each[0]._replace(
            message=shorten(each[0].message, MAX_REASON_LENGTH),
            source=shorten(each[0].source, MAX_REASON_LENGTH),
            occurrences=max(len(each), *(mark.occurrences for mark in each)),
        )
        for each in told
    )


def _is_echo(one: Mark, other: Mark) -> bool:
    """Say whether two reasons are one that Kubernetes told twice: as a state and as an event."""
    if one.occurred_at_ns != other.occurred_at_ns or one.message == other.message:
        return False
    return one.message.endswith(other.message) or other.message.endswith(one.message)

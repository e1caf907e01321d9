"""Diagnosis: what cost most on the critical path of an execution, why, and what helps."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.advice import CAUSES, Advice, Condition, find_advice
from spanwise_server.domain.causes import Share, find_causes
from spanwise_server.domain.critical_path import CriticalSegment, find_critical_path
from spanwise_server.domain.events import CacheStatus, ErrorKind
from spanwise_server.domain.parallelism import ParallelismStep, find_parallelism
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import (
    Mark,
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    TaskAttemptSubject,
)
from spanwise_server.domain.task_history import (
    AttemptTimes,
    Comparison,
    TaskName,
    compare_with_past,
    task_of,
)
from spanwise_server.domain.totals import end_of
from spanwise_server.domain.wording import shorten, summarise

MAX_EVIDENCE = 5
MAX_REASONS = 10
MAX_REASON_LENGTH = 2000
"""Bounds of a finding: a text may be of any length, and the answer has to fit into a message. The
tree has the rest."""

_MIN_SETUP_ATTEMPTS = 10
_CACHE_CONDITIONS = {
    CacheStatus.UNSPECIFIED: Condition.NOT_CACHED,
    CacheStatus.DISABLED: Condition.NOT_CACHED,
    CacheStatus.SKIPPED: Condition.NOT_CACHED,
    CacheStatus.MISS: Condition.CACHE_MISSED,
    CacheStatus.POPULATED: Condition.CACHE_MISSED,
    CacheStatus.EVICTED: Condition.CACHE_MISSED,
    CacheStatus.LOOKUP_FAILURE: Condition.CACHE_FAILED,
    CacheStatus.PUT_FAILURE: Condition.CACHE_FAILED,
}


class Evidence(NamedTuple):
    """A stretch of the critical path.

    Attributes:
        span: Span that it went into.
        path: Path of the span from the root, for people.
        start_ns: Start.
        end_ns: End.
        reasons: What was said in it, in the order of time; a text that was repeated once.
    """

    span: Span
    path: str
    start_ns: int
    end_ns: int
    reasons: tuple[Mark, ...]


class Finding(NamedTuple):
    """One thing that cost time.

    Attributes:
        cause: Key of the cause, of advice.CAUSES.
        operation: What most of the time was spent on.
        cost_ns: Time on the critical path.
        share: Share of the wall clock of the execution, 0 to 1.
        summary: The finding as a sentence.
        evidence: The costliest stretches, the costliest first.
        advice: What is known to help; may be empty.
    """

    cause: str
    operation: Operation
    cost_ns: int
    share: float
    summary: str
    evidence: tuple[Evidence, ...]
    advice: tuple[Advice, ...]


class Diagnosis(NamedTuple):
    """What cost time.

    Attributes:
        findings: The costliest first.
        wall_ns: Wall clock of the execution, which is the length of the critical path.
        is_approximate: Whether the path rests on edges that are a guess.
        history: Attempts of the path beside earlier ones of their tasks, in the order of time.
        segments: The critical path.
        parallelism: How many attempts ran at once.
    """

    findings: list[Finding]
    wall_ns: int
    is_approximate: bool
    history: list[Comparison]
    segments: Sequence[CriticalSegment]
    parallelism: list[ParallelismStep]


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
        past: Earlier attempts that succeeded, by task.
        max_findings: Most findings to give.
    """
    root, as_of_ns, segments, shares, paths, attempts = course
    wall_ns = end_of(root, as_of_ns) - root.start_ns
    groups: dict[tuple[str, str], list[Share]] = defaultdict(list)
    for share in shares:
        groups[share.cause, share.detail].append(share)
    # Of equal costs the one that came first stays first.
    costliest = sorted(groups.values(), key=_cost, reverse=True)[:max_findings]
    of_tree = _conditions_of_tree(root, as_of_ns)
    return Diagnosis(
        findings=[_finding(each, wall_ns, paths, of_tree) for each in costliest],
        wall_ns=wall_ns,
        is_approximate=any(segment.is_approximate for segment in segments),
        history=compare_with_past(
            {paths.path(each): each for each in attempts if task_of(each) in past}, past, as_of_ns
        ),
        segments=segments,
        parallelism=find_parallelism(root, as_of_ns),
    )


def _cost(shares: Iterable[Share]) -> int:
    return sum(share.end_ns - share.start_ns for share in shares)


def _finding(
    shares: Sequence[Share],
    wall_ns: int,
    paths: SpanPaths,
    of_tree: frozenset[Condition],
) -> Finding:
    cost_ns = _cost(shares)
    by_operation: dict[Operation, int] = defaultdict(int)
    for share in shares:
        by_operation[share.operation] += share.end_ns - share.start_ns
    stretches = sorted(_joined(shares), key=lambda each: each[2] - each[1], reverse=True)
    cause = shares[0].cause
    conditions = of_tree | _conditions(shares)
    return Finding(
        cause=cause,
        operation=max(by_operation, key=lambda each: by_operation[each]),
        cost_ns=cost_ns,
        share=cost_ns / wall_ns,
        summary=summarise(CAUSES[cause], shares, cost_ns, wall_ns),
        evidence=tuple(
            Evidence(span, paths.path(span), start_ns, end_ns, _distinct(reasons))
            for span, start_ns, end_ns, reasons in stretches[:MAX_EVIDENCE]
        ),
        advice=find_advice(cause, conditions),
    )


_Stretch = tuple[Span, int, int, list[Mark]]


def _joined(shares: Iterable[Share]) -> list[_Stretch]:
    """Join neighbours that stand for the same span, as those of an attempt that failed do."""
    stretches: list[_Stretch] = []
    for share in shares:
        reasons = list(share.reasons)
        start_ns = share.start_ns
        if stretches and stretches[-1][0] is share.span and stretches[-1][2] == start_ns:
            _, start_ns, _, before = stretches.pop()
            # The reason that a stretch rests on may be in the one before as well.
            known = set(map(id, before))
            reasons = [*before, *(each for each in reasons if id(each) not in known)]
        stretches.append((share.span, start_ns, share.end_ns, reasons))
    return stretches


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
    return tuple(
        each[0]._replace(
            message=shorten(each[0].message, MAX_REASON_LENGTH),
            occurrences=max(len(each), *(mark.occurrences for mark in each)),
        )
        for each in list(alike.values())[:MAX_REASONS]
    )


def _is_echo(one: Mark, other: Mark) -> bool:
    """Say whether two reasons are one that Kubernetes told twice: as a state and as an event."""
    if one.occurred_at_ns != other.occurred_at_ns or one.message == other.message:
        return False
    return one.message.endswith(other.message) or other.message.endswith(one.message)


def _conditions(shares: Iterable[Share]) -> frozenset[Condition]:
    conditions = set()
    for share in shares:
        node = share.around.node
        if node is not None and isinstance(node.subject, NodeSubject):
            condition = _CACHE_CONDITIONS.get(node.subject.cache_status)
            if condition is not None:
                conditions.add(condition)
        attempt = share.around.attempt
        if attempt is not None and isinstance(attempt.subject, TaskAttemptSubject):
            is_own_fault = attempt.error is not None and attempt.error.kind is ErrorKind.USER
            if attempt.subject.interruptible and not is_own_fault:
                conditions.add(Condition.INTERRUPTIBLE)
            if attempt.error is not None and "OOMKilled" in attempt.error.code:
                conditions.add(Condition.OUT_OF_MEMORY)
    return frozenset(conditions)


def _conditions_of_tree(root: Span, as_of_ns: int) -> frozenset[Condition]:
    num_attempts = num_dominated = 0
    stack = [root]
    while stack:
        span = stack.pop()
        spent = {Operation.TASK_SETUP: 0, Operation.TASK_RUNTIME: 0}
        for child in span.children:
            subject = child.subject
            if not isinstance(subject, OperationSubject):
                stack.append(child)
            elif subject.operation in spent:
                spent[subject.operation] += end_of(child, as_of_ns) - child.start_ns
        if isinstance(span.subject, TaskAttemptSubject):
            num_attempts += 1
            num_dominated += 0 < 2 * spent[Operation.TASK_RUNTIME] <= spent[Operation.TASK_SETUP]
    if num_dominated >= _MIN_SETUP_ATTEMPTS and 2 * num_dominated >= num_attempts:
        return frozenset({Condition.SETUP_DOMINATES})
    return frozenset()

"""Which cause each stretch of the critical path belongs to: exactly one, so that costs add up."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from spanwise_server.domain.critical_path import CriticalSegment
from spanwise_server.domain.naming import name_nameless_task, name_task
from spanwise_server.domain.phases import UNSUCCESSFUL_PHASES
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import (
    Mark,
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    TaskAttemptSubject,
)

_CAUSE_OF = {
    Operation.WORKFLOW_SETUP: "propeller/workflow",
    Operation.WORKFLOW_TEARDOWN: "propeller/workflow",
    Operation.NODE_SETUP: "propeller/node",
    Operation.NODE_TEARDOWN: "propeller/node",
    Operation.NODE_TRANSITION: "propeller/transition",
    Operation.NODE_RESET: "propeller/node",
    Operation.NODE_IDLE: "gate",
    Operation.TASK_SETUP: "task-setup",
    Operation.TASK_RUNTIME: "runtime",
    Operation.TASK_TEARDOWN: "task-teardown",
    Operation.QUEUED: "queued",
    Operation.WAITING_FOR_RESOURCES: "waiting",
    Operation.INITIALIZING: "initializing",
    Operation.SCHEDULING: "scheduling",
    Operation.SCALE_UP: "scale-up",
    Operation.VOLUME_ATTACH: "volume",
    Operation.IMAGE_PULL: "image-pull",
    Operation.IMAGE_PULL_BACKOFF: "image-pull-backoff",
    Operation.CONTAINER_START: "container-start",
    Operation.CRASH_BACKOFF: "crash-backoff",
    Operation.QUOTA_WAIT: "quota",
    Operation.CACHE_RESERVATION: "cache-reservation",
    Operation.EVICTION: "eviction",
    Operation.ADMISSION: "admission",
    Operation.PLUGIN_SETUP: "plugin-setup",
}
_PAID_ANYWAY = frozenset(
    {Operation.SCHEDULING, Operation.SCALE_UP, Operation.VOLUME_ATTACH, Operation.IMAGE_PULL}
    | {Operation.IMAGE_PULL_BACKOFF, Operation.QUOTA_WAIT, Operation.CACHE_RESERVATION}
    | {Operation.ADMISSION, Operation.EVICTION, Operation.CRASH_BACKOFF}
)
"""Waits with a cause of their own. An attempt that failed was not their reason: one that succeeds
would have waited as well. Only what the attempt itself took is lost to the retry."""
# Extended resources of accelerators, as their device plugins name them.
_ACCELERATOR = re.compile(
    r"Insufficient ((?:nvidia\.com|amd\.com|gpu\.intel\.com|google\.com|cloud-tpus\.google\.com"
    r"|aws\.amazon\.com|habana\.ai|intel\.com|gpu\.[\w.-]+)/\w+(?:[.-]\w+)*)",
    re.IGNORECASE,
)
_CPU_OR_MEMORY = re.compile(r"\b(\d{1,9} )?Insufficient (cpu|memory)\b", re.IGNORECASE)
_TAINT = re.compile(r"untolerated taint|had taint|didn't tolerate", re.IGNORECASE)
_MOST_CHARACTERS = 2000
"""Of a text that are looked at, as by the classifier: a reason may be megabytes long."""
_START = attrgetter("start_ns")
_WHEN = attrgetter("occurred_at_ns")


class Surroundings(NamedTuple):
    """What a stretch of the critical path lies in: the nearest node and attempt, None if none."""

    node: Span | None
    attempt: Span | None


class Share(NamedTuple):
    """A stretch of the critical path with its cause.

    Attributes:
        cause: Key of the cause.
        detail: What stands for "{detail}" in the title of the cause, or empty.
        operation: What the time was spent on.
        span: Span of the segment.
        start_ns: Start.
        end_ns: End.
        around: What it lies in.
        reasons: What was said during the stretch, in the order of time.
        failed: For a retry, the attempt that failed; else None.
    """

    cause: str
    detail: str
    operation: Operation
    span: Span
    start_ns: int
    end_ns: int
    around: Surroundings
    reasons: tuple[Mark, ...]
    failed: Span | None


def find_causes(path: Iterable[CriticalSegment], paths: SpanPaths) -> list[Share]:
    """Give each segment of a critical path its cause. Same order, same bounds.

    Args:
        path: The path.
        paths: Of the tree that it is of.
    """
    shares: list[Share] = []
    retries: dict[int, _Retries] = {}
    nameless: dict[int, str] = {}
    for segment in path:
        subject = segment.span.subject
        operation = (
            subject.operation if isinstance(subject, OperationSubject) else Operation.UNSPECIFIED
        )
        around = _surroundings(segment.span, paths)
        failed = None
        if around.node is not None and operation not in _PAID_ANYWAY:
            if id(around.node) not in retries:
                retries[id(around.node)] = _find_retries(around.node)
            own = retries[id(around.node)]
            failed = own.attempt_of(around.attempt, operation, segment.start_ns)
        owner = around.attempt or around.node
        before = shares[-1] if shares and owner is _owner(shares[-1].around) else None
        reasons = _reasons(segment, owner, operation, before)
        cause, detail = "retry", ""
        if failed is None:
            cause, detail = _cause(operation, reasons)
        if cause == "runtime":
            detail = _task(around, nameless, paths)
        shares.append(
            Share(
                cause,
                detail,
                operation,
                segment.span,
                segment.start_ns,
                segment.end_ns,
                around,
                reasons,
                failed,
            )
        )
    return shares


def _cause(operation: Operation, reasons: Sequence[Mark]) -> tuple[str, str]:
    cause = _CAUSE_OF.get(operation, "unexplained")
    return _scheduling(reasons) if cause == "scheduling" else (cause, "")


def _task(around: Surroundings, nameless: dict[int, str], paths: SpanPaths) -> str:
    """Name what ran. `nameless` keeps what nodes of nameless tasks are called, by id()."""
    node, attempt = around
    task = name_task(attempt) if attempt is not None else ""
    if task or node is None:
        return task or "a task"
    if id(node) not in nameless:
        nameless[id(node)] = name_nameless_task(node, paths)
    return nameless[id(node)]


class _Retries(NamedTuple):
    """The attempts of a node, in the order of start, and the id() of those tried again."""

    attempts: list[Span]
    failed: frozenset[int]

    def attempt_of(self, attempt: Span | None, operation: Operation, start_ns: int) -> Span | None:
        """Give the failed attempt that a stretch of the node is lost to, if it is."""
        if attempt is None:
            number = bisect_right(self.attempts, start_ns, key=_START) - 1
            is_between = 0 <= number < len(self.attempts) - 1
            if operation is not Operation.NODE_RESET or not is_between:
                return None
            attempt = self.attempts[number]
        return attempt if id(attempt) in self.failed else None


def _find_retries(node: Span) -> _Retries:
    attempts = [child for child in node.children if isinstance(child.subject, TaskAttemptSubject)]
    # One that never said how it ended, although another one followed, has not succeeded either.
    failed = [
        each
        for each in attempts[:-1]
        if not each.phase.is_terminal or each.phase in UNSUCCESSFUL_PHASES
    ]
    return _Retries(attempts, frozenset(map(id, failed)))


def _surroundings(span: Span, paths: SpanPaths) -> Surroundings:
    attempt = None
    above: Span | None = span
    while above is not None:
        if isinstance(above.subject, NodeSubject):
            return Surroundings(above, attempt)
        if attempt is None and isinstance(above.subject, TaskAttemptSubject):
            attempt = above
        if not isinstance(above.subject, OperationSubject | TaskAttemptSubject):
            break
        above = paths.parent(above)
    return Surroundings(None, attempt)


def _owner(around: Surroundings) -> Span | None:
    """Give the span that has the marks of a stretch."""
    return around.attempt or around.node


def _reasons(
    segment: CriticalSegment, owner: Span | None, operation: Operation, before: Share | None
) -> tuple[Mark, ...]:
    """Give what was said in a stretch, what began it where that was said before, and what ended it.

    Pod times are whole seconds, so the reason that a stretch rests on may stand before its start.
    What was said right between two stretches and is about the first one belongs to that, such as
    that an image was pulled; all else to the second.

    Args:
        segment: The stretch.
        owner: Has the marks.
        operation: That the stretch went into.
        before: The stretch before, if it has the same owner.
    """
    if owner is None or not owner.marks:
        return ()
    _, start_ns, end_ns, _ = segment
    marks = owner.marks
    first = bisect_left(marks, start_ns, key=_WHEN)
    inner = bisect_right(marks, start_ns, key=_WHEN)
    past = bisect_left(marks, end_ns, key=_WHEN)
    final = bisect_right(marks, end_ns, key=_WHEN)
    at_start = marks[first:inner]
    if before is not None:
        at_start = tuple(mark for mark in at_start if not _is_about(mark, before.operation))
    if first > 0 and _is_about(marks[first - 1], operation):
        at_start = (marks[first - 1], *at_start)
    at_end = (mark for mark in marks[past:final] if _is_about(mark, operation))
    return (*at_start, *marks[inner:past], *at_end)


def _is_about(mark: Mark, operation: Operation) -> bool:
    return mark.operation is operation is not Operation.UNSPECIFIED


def _scheduling(reasons: Sequence[Mark]) -> tuple[str, str]:
    """Tell which resource was short. An accelerator first, then what most machines lacked."""
    texts = [
        mark.message[:_MOST_CHARACTERS]
        for mark in reasons
        if mark.operation in (Operation.SCHEDULING, Operation.SCALE_UP)
    ]
    for text in texts:
        if found := _ACCELERATOR.search(text):
            return "scheduling/gpu", found[1]
    lacking = {"cpu": 0, "memory": 0}
    for text in texts:
        for count, resource in _CPU_OR_MEMORY.findall(text):
            lacking[resource.lower()] = max(lacking[resource.lower()], int(count or 1))
    resource = max(lacking, key=lambda each: lacking[each])
    if lacking[resource]:
        return f"scheduling/{resource}", ""
    if any(_TAINT.search(text) for text in texts):
        return "scheduling/taints", ""
    return "scheduling", ""

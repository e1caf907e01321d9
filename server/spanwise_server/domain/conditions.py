"""What holds for a finding, so that advice is given only where it fits."""

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from spanwise_server.domain.advice import Condition
from spanwise_server.domain.causes import Share
from spanwise_server.domain.events import CacheStatus, ErrorKind
from spanwise_server.domain.last_subtask import find_last_subtask
from spanwise_server.domain.phases import UNSUCCESSFUL_PHASES
from spanwise_server.domain.spans import (
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    TaskAttemptSubject,
)
from spanwise_server.domain.totals import end_of

_MIN_SETUP_ATTEMPTS = 10
_DEFAULT_MAX_PARALLELISM = 25
_CACHE_CONDITIONS = {
    CacheStatus.UNSPECIFIED: Condition.NOT_CACHED,
    CacheStatus.DISABLED: Condition.NOT_CACHED,
    CacheStatus.MISS: Condition.CACHE_MISSED,
    CacheStatus.POPULATED: Condition.CACHE_MISSED,
    CacheStatus.LOOKUP_FAILURE: Condition.CACHE_FAILED,
    CacheStatus.PUT_FAILURE: Condition.CACHE_FAILED,
}
_POD_EVENTS = (
    "Successfully assigned ",
    "Pulling image ",
    "Successfully pulled image ",
    'Container image "',
    "Created container",
    "Started container",
)
"""How the events begin that every pod has which gets a machine. Source: Kubernetes v1.30,
pkg/scheduler/schedule_one.go, pkg/kubelet/images/image_manager.go, pkg/kubelet/kuberuntime."""


def find_conditions(shares: Iterable[Share], *, is_open: bool) -> frozenset[Condition]:
    """Give what holds for the stretches of a finding.

    Args:
        shares: The stretches.
        is_open: Whether one of them still goes on. Nothing is then said of the cache, and neither
            of an attempt that failed: a result that is not there cannot have been kept. Nor is it
            where an attempt waited for a sub-task
            that was queued most of the time: that is what has to be mended.
    """
    conditions = set()
    for share in shares:
        node = share.around.node
        attempt = share.failed or share.around.attempt
        has_result = not is_open and (attempt is None or attempt.phase not in UNSUCCESSFUL_PHASES)
        is_of_cache = has_result and not _waits_for_subtask(share)
        if is_of_cache and node is not None and isinstance(node.subject, NodeSubject):
            condition = _CACHE_CONDITIONS.get(node.subject.cache_status)
            if condition is not None:
                conditions.add(condition)
        if attempt is not None and isinstance(attempt.subject, TaskAttemptSubject):
            is_own_fault = attempt.error is not None and attempt.error.kind is ErrorKind.USER
            if attempt.subject.interruptible and not is_own_fault:
                conditions.add(Condition.INTERRUPTIBLE)
            if attempt.error is not None and "OOMKilled" in attempt.error.code:
                conditions.add(Condition.OUT_OF_MEMORY)
    return frozenset(conditions)


def _waits_for_subtask(share: Share) -> bool:
    attempt = share.around.attempt
    if attempt is None or share.operation is not Operation.TASK_RUNTIME:
        return False
    last = find_last_subtask(attempt, share.end_ns)
    return last is not None and last.is_held_up


def find_tree_conditions(root: Span, as_of_ns: int) -> frozenset[Condition]:
    """Give what holds for a tree as a whole."""
    conditions = set()
    changes: Counter[int] = Counter()
    num_attempts = num_dominated = 0
    has_pod_events = False
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
            changes[span.start_ns] += 1
            changes[end_of(span, as_of_ns)] -= 1
        has_pod_events = has_pod_events or _has_pod_event(span)
    if num_dominated >= _MIN_SETUP_ATTEMPTS and 2 * num_dominated >= num_attempts:
        conditions.add(Condition.SETUP_DOMINATES)
    alive = accumulate(change for _, change in sorted(changes.items()))
    if max(alive, default=0) >= _DEFAULT_MAX_PARALLELISM:
        conditions.add(Condition.MANY_AT_ONCE)
    if not has_pod_events:
        conditions.add(Condition.NO_POD_EVENTS)
    return frozenset(conditions)


def _has_pod_event(span: Span) -> bool:
    return any(mark.message.startswith(_POD_EVENTS) for mark in span.marks)

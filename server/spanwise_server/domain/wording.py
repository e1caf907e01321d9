"""Findings as sentences that a user understands."""

from collections import defaultdict
from collections.abc import Sequence

from spanwise_server.domain.advice import Cause
from spanwise_server.domain.causes import Share, short_name
from spanwise_server.domain.events import CacheStatus
from spanwise_server.domain.spans import (
    NodeSubject,
    OperationSubject,
    Span,
    TaskAttemptSubject,
)

_LONGEST_NAME = 100
_MILLISECOND_NS = 1_000_000
_SECOND_NS = 1_000_000_000
_CACHE_NOTES = {
    CacheStatus.MISS: "the cache had no result",
    CacheStatus.POPULATED: "the cache had no result; it has one now",
    CacheStatus.EVICTED: "the cached result was to be replaced",
    CacheStatus.DISABLED: "its result is not cached",
    CacheStatus.LOOKUP_FAILURE: "the cache could not be read",
    CacheStatus.PUT_FAILURE: "the result could not be put into the cache",
}


def summarise(cause: Cause, shares: Sequence[Share], cost_ns: int, wall_ns: int) -> str:
    """Give a finding as one sentence.

    Args:
        cause: The cause.
        shares: What it rests on; at least one.
        cost_ns: Time on the critical path.
        wall_ns: Wall clock of the execution, more than 0.
    """
    title = cause.title.replace("{detail}", shorten(shares[0].detail, _LONGEST_NAME))
    took = f"{title} took {say_duration(cost_ns)}"
    of_all = f"of {say_duration(wall_ns)} ({_percent(cost_ns, wall_ns)})"
    parts = [f"{took} {of_all}", _where(shares), _note(cause, shares)]
    return f"{', '.join(part for part in parts if part)}."


def _where(shares: Sequence[Share]) -> str:
    """Say which nodes and attempts it was in."""
    if isinstance(shares[0].span.subject, OperationSubject) and shares[0].span.subject.node_id:
        return _before(shares)
    costs: dict[int, int] = defaultdict(int)
    nodes: dict[int, Span] = {}
    for share in shares:
        if share.around.node is not None:
            nodes[id(share.around.node)] = share.around.node
            costs[id(share.around.node)] += share.end_ns - share.start_ns
    if not nodes:
        return ""
    largest = max(nodes, key=lambda each: costs[each])
    name = _node_name(nodes[largest], shares)
    if len(nodes) > 1:
        return f"in {len(nodes)} nodes, the largest part in {name}"
    numbers = sorted({number for share in shares if (number := _attempt_number(share)) is not None})
    if not numbers:
        return f"in {name}"
    if len(numbers) == 1:
        return f"in {name}, attempt {numbers[0]}"
    return f"in {len(numbers)} attempts of {name}"


def _before(shares: Sequence[Share]) -> str:
    costs: dict[str, int] = defaultdict(int)
    for share in shares:
        if isinstance(share.span.subject, OperationSubject):
            costs[share.span.subject.node_id] += share.end_ns - share.start_ns
    largest = max(costs, key=lambda each: costs[each])
    if len(costs) == 1:
        return f"before {shorten(largest, _LONGEST_NAME)}"
    return f"before {len(costs)} nodes, the largest part before {shorten(largest, _LONGEST_NAME)}"


def _node_name(node: Span, shares: Sequence[Share]) -> str:
    """Give id and name of a node; of a nameless one the task that it runs."""
    subject = node.subject
    if not isinstance(subject, NodeSubject):
        return node.name
    name = node.name if node.name not in {"", subject.node_id, subject.spec_node_id} else ""
    name = name or short_name(subject.target_id.name)
    if not name:
        tasks = [
            share.around.attempt.subject.task_id.name
            for share in shares
            if share.around.node is node
            and share.around.attempt is not None
            and isinstance(share.around.attempt.subject, TaskAttemptSubject)
        ]
        name = short_name(tasks[0]) if tasks else ""
    node_id = shorten(subject.node_id, _LONGEST_NAME)
    return f"{node_id} ({shorten(name, _LONGEST_NAME)})" if name else node_id


def _attempt_number(share: Share) -> int | None:
    attempt = share.around.attempt
    if attempt is None or not isinstance(attempt.subject, TaskAttemptSubject):
        return None
    return attempt.subject.retry_attempt


def _note(cause: Cause, shares: Sequence[Share]) -> str:
    """Say what the cache did, or how attempts failed, where that is the same everywhere."""
    if cause.key == "runtime":
        notes = {_cache_note(share.around.node) for share in shares}
    elif cause.key == "retry":
        notes = {
            f"failed with {shorten(share.span.error.code, _LONGEST_NAME)}"
            for share in shares
            if share.span.error is not None and share.span.error.code
        }
    else:
        return ""
    return notes.pop() if len(notes) == 1 else ""


def _cache_note(node: Span | None) -> str:
    if node is None or not isinstance(node.subject, NodeSubject):
        return ""
    return _CACHE_NOTES.get(node.subject.cache_status, "")


def _percent(cost_ns: int, wall_ns: int) -> str:
    percent = round(100 * cost_ns / wall_ns)
    return f"{percent} %" if percent else "less than 1 %"


def shorten(text: str, longest: int) -> str:
    """Give a text with at most `longest` characters and a count of the others."""
    rest = len(text) - longest
    return text if rest <= 0 else f"{text[:longest]} (+{rest} chars)"


def say_duration(duration_ns: int) -> str:
    """Give a duration as people say it, for instance "12m 3s"."""
    seconds = duration_ns // _SECOND_NS
    if not seconds:
        return f"{duration_ns // _MILLISECOND_NS}ms" if duration_ns >= _MILLISECOND_NS else "<1ms"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    if minutes:
        return f"{minutes}m {seconds}s"
    tenths = duration_ns % _SECOND_NS // (_SECOND_NS // 10)
    return f"{seconds}.{tenths}s" if tenths else f"{seconds}s"

"""Findings as sentences that a user understands."""

from collections import defaultdict
from collections.abc import Sequence

from spanwise_server.domain.advice import NO_REASON, Cause
from spanwise_server.domain.causes import Share
from spanwise_server.domain.events import CacheStatus
from spanwise_server.domain.last_subtask import LastSubtask, find_last_subtask
from spanwise_server.domain.naming import LONGEST_NAME, name_node, name_target, shorten, target_of
from spanwise_server.domain.phases import UNSUCCESSFUL_PHASES
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import NodeSubject, Span, TaskAttemptSubject

_MICROSECOND_NS = 1_000
_MILLISECOND_NS = 1_000_000
_SECOND_NS = 1_000_000_000
_CACHE_NOTES = {
    CacheStatus.MISS: "the cache had no result",
    CacheStatus.POPULATED: "the cache had no result; it has one now",
    CacheStatus.EVICTED: "the cached result was to be replaced",
    CacheStatus.DISABLED: "its result is not cached",
    CacheStatus.SKIPPED: "the cache was left out on request",
    CacheStatus.LOOKUP_FAILURE: "the cache could not be read",
    CacheStatus.PUT_FAILURE: "the result could not be put into the cache",
}


def summarise(
    cause: Cause,
    shares: Sequence[Share],
    wall_ns: int,
    paths: SpanPaths,
    *,
    is_open: bool,
) -> str:
    """Give a finding as one sentence.

    Args:
        cause: The cause.
        shares: What it rests on; at least one.
        wall_ns: Wall clock of the execution, more than 0.
        paths: Of the tree.
        is_open: Whether it still goes on.
    """
    cost_ns = sum(share.end_ns - share.start_ns for share in shares)
    took = "has taken" if is_open else "took"
    of_all = f"{say_duration(wall_ns)} so far" if is_open else say_duration(wall_ns)
    took = f"{took} {say_duration(cost_ns)} of {of_all} ({_percent(cost_ns, wall_ns)})"
    title = cause.title if "{took}" in cause.title else f"{cause.title} {{took}}"
    # The detail last: it is of any text, such as another placeholder.
    sentence = title.replace("{took}", took)
    sentence = sentence.replace("{detail}", shorten(shares[0].detail, LONGEST_NAME))
    parts = [sentence, _where(shares, paths), _note(cause, shares)]
    last = _last_subtask(shares) if cause.key == "runtime" else None
    if last is not None:
        parts = [*parts[: 2 if last.is_held_up else 3], _say_subtask(last)]
    return f"{', '.join(part for part in parts if part)}."


def _where(shares: Sequence[Share], paths: SpanPaths) -> str:
    """Say which nodes and attempts it was in."""
    if target_of(shares[0].span):
        return _before(shares, paths)
    nodes = _nodes(shares)
    if not nodes:
        return ""
    name = name_node(nodes[0], paths)
    if len(nodes) > 1:
        return f"in {len(nodes)} nodes, the largest part in {name}"
    numbers = {number for share in shares if (number := _attempt_number(share)) is not None}
    if not numbers:
        return f"in {name}"
    if len(numbers) == 1:
        return f"in {name}, attempt {numbers.pop()}"
    return f"in {len(numbers)} attempts of {name}"


def _nodes(shares: Sequence[Share]) -> list[Span]:
    """Give the nodes that stretches lie in, the costliest first."""
    costs: dict[int, int] = defaultdict(int)
    nodes: dict[int, Span] = {}
    for share in shares:
        if share.around.node is not None:
            nodes[id(share.around.node)] = share.around.node
            costs[id(share.around.node)] += share.end_ns - share.start_ns
    return sorted(nodes.values(), key=lambda each: costs[id(each)], reverse=True)


def _last_subtask(shares: Sequence[Share]) -> LastSubtask | None:
    """Give the sub-task that ended last in the attempt that cost most in the node that did."""
    node = next(iter(_nodes(shares)), None)
    inside = [share for share in shares if share.around.node is node]
    share = max(inside, key=lambda each: each.end_ns - each.start_ns)
    attempt = share.around.attempt
    return find_last_subtask(attempt, share.end_ns) if attempt is not None else None


def _say_subtask(last: LastSubtask) -> str:
    """Tell how long a sub-task waited and ran, for that is no part of the critical path."""
    told = [
        f"{what} for {say_duration(took_ns)}"
        for what, took_ns in (("was queued", last.queued_ns), ("waited", last.waited_ns))
        if took_ns
    ]
    told.append(f"ran for {say_duration(last.ran_ns)}")
    times = " and ".join([", ".join(told[:-1]), told[-1]] if told[:-1] else told)
    if last.is_open:
        return f"where sub-task {last.name} of {last.num_subtasks} still goes on: it {times} so far"
    if last.num_subtasks == 1:
        return f"where its sub-task {last.name} {times}"
    return f"where the last of {last.num_subtasks} sub-tasks to end, {last.name}, {times}"


def _before(shares: Sequence[Share], paths: SpanPaths) -> str:
    """Say which nodes it was before. An id names a node only among its siblings."""
    costs: dict[tuple[int, str], int] = defaultdict(int)
    ways: dict[tuple[int, str], Span] = {}
    for share in shares:
        key = id(paths.parent(share.span)), target_of(share.span)
        costs[key] += share.end_ns - share.start_ns
        ways[key] = share.span
    name = name_target(ways[max(costs, key=lambda each: costs[each])], paths)
    if len(costs) == 1:
        return f"before {name}"
    return f"before {len(costs)} nodes, the largest part before {name}"


def _attempt_number(share: Share) -> int | None:
    attempt = share.failed or share.around.attempt
    if attempt is None or not isinstance(attempt.subject, TaskAttemptSubject):
        return None
    return attempt.subject.retry_attempt


def _note(cause: Cause, shares: Sequence[Share]) -> str:
    """Say what the cache did, or how attempts failed, where that is the same everywhere."""
    if cause.key in NO_REASON:
        return "" if any(share.reasons for share in shares) else "and no reason was given"
    if cause.key == "runtime":
        notes = {_failure_note(share) or _cache_note(share.around.node) for share in shares}
    elif cause.key == "retry":
        notes = {note for share in shares if (note := _failure_note(share))}
    else:
        return ""
    return notes.pop() if len(notes) == 1 else ""


def _failure_note(share: Share) -> str:
    """Say how the attempt failed that a stretch lies in, or is lost to."""
    attempt = share.failed or share.around.attempt
    if attempt is None or attempt.phase not in UNSUCCESSFUL_PHASES:
        return ""
    code = "" if attempt.error is None else attempt.error.code
    if code:
        return f"failed with {shorten(code, LONGEST_NAME)}"
    return f"which was {attempt.phase.name.lower().replace('_', ' ')}"


def _cache_note(node: Span | None) -> str:
    if node is None or not isinstance(node.subject, NodeSubject):
        return ""
    return _CACHE_NOTES.get(node.subject.cache_status, "")


def _percent(cost_ns: int, wall_ns: int) -> str:
    percent = round(100 * cost_ns / wall_ns)
    return f"{percent} %" if percent else "less than 1 %"


def say_duration(duration_ns: int) -> str:
    """Give a duration, not negative, as the client writes it: 350ms, 12.5s, 3m 07s, 1h 02m 03s.

    What does not fit is cut, never rounded up.
    """
    if duration_ns < _MICROSECOND_NS:
        return f"{duration_ns}ns" if duration_ns else "0s"
    if duration_ns < _MILLISECOND_NS:
        return f"{duration_ns // _MICROSECOND_NS}us"
    if duration_ns < _SECOND_NS:
        return f"{duration_ns // _MILLISECOND_NS}ms"
    minutes, seconds = divmod(duration_ns // _SECOND_NS, 60)
    if not minutes:
        hundredths = f".{duration_ns % _SECOND_NS // (10 * _MILLISECOND_NS):02}"
        return f"{seconds}{hundredths.rstrip('0').rstrip('.')}s"
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours:02}h {minutes:02}m {seconds:02}s"
    if hours:
        return f"{hours}h {minutes:02}m {seconds:02}s"
    return f"{minutes}m {seconds:02}s"

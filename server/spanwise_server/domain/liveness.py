"""When each open span was last heard of, and which of them have been silent for too long.

A span that has not ended may be at work, or may have lost whoever would report its end. Only the
time since the last event tells them apart, and senders report changes alone: a long training says
nothing while it runs.
"""

from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import OperationSubject, Span


def judge_liveness(root: Span, as_of_ns: int, stale_after_ns: int) -> int | None:
    """Fill in `last_heard_ns` of the open spans of a tree, and mark those that are stale.

    An open span is heard of by its own events and by those of everything below it. It is stale when
    the last of them occurred more than `stale_after_ns` before `as_of_ns`; where there is none, its
    start stands in. Operations have no events and are left alone: what contains them is judged.

    Args:
        root: Root of a tree as the builder gives it. It is changed in place.
        as_of_ns: Moment to judge for. Events after it count as heard.
        stale_after_ns: Longest silence that is not stale.

    Returns:
        The first moment at which another span will be stale if nothing more is heard; None when
        there is no such span.
    """
    spans = [root]
    parents = [0]
    for number, span in enumerate(spans):  # grows while it is walked: parents before children
        spans += span.children
        parents += [number] * len(span.children)
    heard: list[int | None] = [None] * len(spans)
    next_ns: int | None = None
    for number in range(len(spans) - 1, -1, -1):
        span = spans[number]
        heard_ns = _later(heard[number], span.last_event_ns)
        parent = parents[number]
        heard[parent] = _later(heard[parent], heard_ns)
        if span.end_ns is not None or isinstance(span.subject, OperationSubject):
            continue
        stale_at_ns = judge_span(span, heard_ns, as_of_ns, stale_after_ns)
        if stale_at_ns > as_of_ns and (next_ns is None or stale_at_ns < next_ns):
            next_ns = stale_at_ns
    return next_ns


def judge_span(span: Span, heard_ns: int | None, as_of_ns: int, stale_after_ns: int) -> int:
    """Judge one open span that is no operation, and give the first moment at which it is stale.

    Args:
        span: Span. It is changed in place.
        heard_ns: When it or anything below it was last heard of; None for never.
        as_of_ns: As for judge_liveness().
        stale_after_ns: As for judge_liveness().
    """
    span.last_heard_ns = heard_ns
    stale_at_ns = (span.start_ns if heard_ns is None else heard_ns) + stale_after_ns + 1
    if stale_at_ns <= as_of_ns:
        span.qualities |= SpanQuality.STALE
    return stale_at_ns


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)

"""What counts as odd in an event, for the codecs of all kinds."""

from spanwise_server.domain.events import MAX_TIME_NS, MIN_TIME_NS, Reason
from spanwise_server.domain.quality import EventQuality

# Looking a member up in its enum costs 200 ns, which every event would pay many times.
NOTHING_ODD = EventQuality.NONE
INCOMPLETE = EventQuality.INCOMPLETE
OUT_OF_RANGE = EventQuality.TIMESTAMP_OUT_OF_RANGE
UNKNOWN_PHASE = EventQuality.UNKNOWN_PHASE
UNUSUAL_TEXT = EventQuality.UNUSUAL_TEXT

_BOUNDS = frozenset({MIN_TIME_NS, MAX_TIME_NS})

MAX_ID_CHARS = 255
"""Length of FlyteAdmin's id columns. A longer id would be refused or cut there; here it is flagged.

Source: flyteadmin v1.16 repositories/models/{execution,node_execution,task_execution}.go.
"""


def judge_texts(payload: bytes, ids: tuple[str, ...], reasons: tuple[Reason, ...]) -> EventQuality:
    """Give UNUSUAL_TEXT when an id is too long, or when an id or a reason holds a NUL character.

    Args:
        payload: Message that all of them stand in. Without a zero byte in it no text has a NUL,
            which spares most events the search.
        ids: Identifiers and names, of bounded length in FlyteAdmin. At least one.
        reasons: Reasons, of any length.
    """
    if max(map(len, ids)) > MAX_ID_CHARS:
        return UNUSUAL_TEXT
    if b"\0" in payload and ("\0" in "".join(ids) or any("\0" in text for text, *_ in reasons)):
        return UNUSUAL_TEXT
    return NOTHING_ODD


def judge_reason_times(reasons: tuple[Reason, ...]) -> EventQuality:
    """Give TIMESTAMP_OUT_OF_RANGE when a reason was moved to a bound of time."""
    for reason in reasons:
        if reason.occurred_at_ns in _BOUNDS:
            return OUT_OF_RANGE
    return NOTHING_ODD


def unite(*qualities: EventQuality) -> EventQuality:
    """Give the union of sets of flags.

    Most are empty, and an identity check costs a twentieth of `|` on enum flags (30 against 600 ns,
    four of them an event).
    """
    united = NOTHING_ODD
    for quality in qualities:
        if quality is not NOTHING_ODD:
            united |= quality
    return united

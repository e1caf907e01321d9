"""Codec of google.protobuf.Timestamp and Duration: nanoseconds inside, since the epoch.

Any two numbers can stand in a Timestamp on the wire. Decoding never fails: what cannot be stored is
moved to the nearest time that can, and flagged.
"""

from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise_server.domain.events import MAX_TIME_NS, MIN_TIME_NS
from spanwise_server.domain.quality import EventQuality

SECOND_NS = 1_000_000_000

# Looking a member up in its enum costs 200 ns, which every event would pay many times.
_NOTHING_ODD = EventQuality.NONE
_MISSING = EventQuality.MISSING_TIMESTAMP
_OUT_OF_RANGE = EventQuality.TIMESTAMP_OUT_OF_RANGE

GO_ZERO_SECONDS = -62_135_596_800
"""0001-01-01T00:00:00Z: what Go's zero time.Time turns into, which means that no time was set."""


_FIRST_SECOND = MIN_TIME_NS // SECOND_NS + 1
_LAST_SECOND = MAX_TIME_NS // SECOND_NS - 1
"""Whole seconds between which every moment can be stored: a check without big integers."""


def decode_timestamp(timestamp: Timestamp) -> tuple[int | None, EventQuality]:
    """Give the nanoseconds of a timestamp, and what is odd about it.

    Nanos below zero or above a second count into the seconds, and a time outside of
    MIN_TIME_NS..MAX_TIME_NS becomes the nearer bound; both are TIMESTAMP_OUT_OF_RANGE. None for
    Go's zero time, which is not odd.
    """
    seconds, nanos = timestamp.seconds, timestamp.nanos
    if 0 <= nanos < SECOND_NS:
        if _FIRST_SECOND <= seconds <= _LAST_SECOND:
            return seconds * SECOND_NS + nanos, _NOTHING_ODD
        if seconds == GO_ZERO_SECONDS and nanos == 0:
            return None, _NOTHING_ODD
    time_ns = seconds * SECOND_NS + nanos
    if 0 <= nanos < SECOND_NS and MIN_TIME_NS <= time_ns <= MAX_TIME_NS:
        return time_ns, _NOTHING_ODD
    return min(max(time_ns, MIN_TIME_NS), MAX_TIME_NS), _OUT_OF_RANGE


def fill_time(message: Timestamp, time_ns: int) -> None:
    """Fill in a stored time."""
    message.seconds, message.nanos = divmod(time_ns, SECOND_NS)


def fill_duration(message: Duration, duration_ns: int) -> None:
    """Fill in a duration, which is not negative."""
    message.seconds, message.nanos = divmod(duration_ns, SECOND_NS)


def decode_optional(message: Any, field: str) -> int | None:
    """Give the nanoseconds of a timestamp field; None when it says nothing."""
    timestamp = getattr(message, field)
    seconds, nanos = timestamp.seconds, timestamp.nanos
    if 0 < seconds <= _LAST_SECOND and 0 <= nanos < SECOND_NS:  # nearly all
        time_ns: int = seconds * SECOND_NS + nanos
        return time_ns
    return decode_timestamp(getattr(message, field))[0] if message.HasField(field) else None


def decode_times(event: Any) -> tuple[int | None, int | None, EventQuality]:
    """Give what decode_occurred_at and decode_reported_at give of an event message."""
    occurred_at, reported_at = event.occurred_at, event.reported_at
    occurred_s, occurred_nanos = occurred_at.seconds, occurred_at.nanos
    reported_s, reported_nanos = reported_at.seconds, reported_at.nanos
    if (
        0 < occurred_s <= _LAST_SECOND
        and 0 <= occurred_nanos < SECOND_NS
        and 0 < reported_s <= _LAST_SECOND
        and 0 <= reported_nanos < SECOND_NS
    ):  # nearly all
        occurred_at_ns = occurred_s * SECOND_NS + occurred_nanos
        return occurred_at_ns, reported_s * SECOND_NS + reported_nanos, _NOTHING_ODD
    occurred_at_ns, odd_occurred = decode_occurred_at(event)
    reported_at_ns, odd_reported = decode_reported_at(event)
    return occurred_at_ns, reported_at_ns, odd_occurred | odd_reported


def decode_occurred_at(event: Any) -> tuple[int | None, EventQuality]:
    """Give the occurred_at of an event message; None with MISSING_TIMESTAMP when it says nothing.

    The epoch itself is a time like any other.
    """
    if event.HasField("occurred_at"):
        decoded = decode_timestamp(event.occurred_at)
        if decoded[0] is not None:
            return decoded
    return None, _MISSING


def decode_reported_at(event: Any) -> tuple[int | None, EventQuality]:
    """Give the reported_at of an event message; None when it says nothing, which is not odd.

    Source: flyteadmin v1.16 transformers/{node,task}_execution.go, which take occurred_at where
    reported_at is absent or zero.
    """
    if event.HasField("reported_at"):
        decoded = decode_timestamp(event.reported_at)
        if decoded[0] != 0:
            return decoded
    return None, _NOTHING_ODD

"""Times and durations: integer nanoseconds inside, text at the rim."""

from datetime import UTC, datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise._errors import InvalidRequest

SECOND_NS = 1_000_000_000
_MILLISECOND_NS = 1_000_000
_MICROSECOND_NS = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The seconds that a protobuf Timestamp, RFC 3339 and datetime can hold: years 1 to 9999.
_MIN_S = -62_135_596_800
_MAX_S = 253_402_300_799

Moment = datetime | int
"""A moment as callers give it: a datetime with a time zone, or nanoseconds since the epoch."""


def to_ns(message: Timestamp) -> int:
    """Give the nanoseconds since the epoch of a Timestamp."""
    return message.seconds * SECOND_NS + message.nanos


def duration_to_ns(message: Duration) -> int:
    """Give the nanoseconds of a Duration."""
    return message.seconds * SECOND_NS + message.nanos


def to_timestamp(moment_ns: int) -> Timestamp:
    """Give the Timestamp of nanoseconds since the epoch."""
    seconds, nanos = divmod(moment_ns, SECOND_NS)
    return Timestamp(seconds=seconds, nanos=nanos)


def moment_to_timestamp(moment: Moment) -> Timestamp:
    """Give the Timestamp of a moment.

    Raises:
        InvalidRequest: A datetime without a time zone, or a moment outside of years 1 to 9999.
    """
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise InvalidRequest(f"{moment.isoformat()} has no time zone")
        moment = (moment - _EPOCH) // timedelta(microseconds=1) * _MICROSECOND_NS
    if not _MIN_S <= moment // SECOND_NS <= _MAX_S:
        raise InvalidRequest(f"{moment} ns is outside of the years 1 to 9999")
    return to_timestamp(moment)


def to_datetime(moment_ns: int) -> datetime:
    """Give an aware UTC datetime, cut to microseconds, which is all that it can hold."""
    seconds = min(max(moment_ns // SECOND_NS, _MIN_S), _MAX_S)
    return _EPOCH + timedelta(
        seconds=seconds, microseconds=moment_ns % SECOND_NS // _MICROSECOND_NS
    )


def rfc3339(moment_ns: int, *, local_time: bool = False) -> str:
    """Give a moment in RFC 3339 with 0, 3, 6 or 9 fractional digits, whichever tells it exactly.

    Args:
        moment_ns: Nanoseconds since the epoch.
        local_time: In the time zone of this machine, with its offset, instead of UTC with a Z.
    """
    moment = to_datetime(moment_ns).replace(microsecond=0)
    offset = "Z"
    if local_time:
        moment, offset = _local(moment)
    text = moment.replace(tzinfo=None).isoformat()
    return f"{text}{_fraction(moment_ns % SECOND_NS)}{offset}"


def iso_duration(duration_ns: int) -> str:
    """Give a duration in ISO 8601 with hours as the largest unit: PT10S, PT1H2M3.5S.

    Days are not used: not everything that reads ISO 8601 takes them as 24 hours.
    """
    sign = "-" if duration_ns < 0 else ""
    seconds, nanos = divmod(abs(duration_ns), SECOND_NS)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    text = f"{hours}H" if hours else ""
    text += f"{minutes}M" if minutes else ""
    if seconds or nanos or not text:
        text += f"{seconds}{f'.{nanos:09}'.rstrip('0') if nanos else ''}S"
    return f"{sign}PT{text}"


def short_duration(duration_ns: int) -> str:
    """Give a duration for people: 250us, 350ms, 4s, 12.5s, 3m 07s, 1h 02m 03s, 2d 00h 00m 00s.

    What does not fit is cut, never rounded up, so that 59.999s does not read as a minute.
    """
    sign = "-" if duration_ns < 0 else ""
    return sign + _short(abs(duration_ns))


def _short(ns: int) -> str:
    if ns < _MICROSECOND_NS:
        return f"{ns}ns" if ns else "0s"
    if ns < _MILLISECOND_NS:
        return f"{ns // _MICROSECOND_NS}us"
    if ns < SECOND_NS:
        return f"{ns // _MILLISECOND_NS}ms"
    seconds = ns // SECOND_NS
    if seconds < 60:  # noqa: PLR2004 - seconds of a minute
        hundredths = f".{ns % SECOND_NS // (10 * _MILLISECOND_NS):02}".rstrip("0").rstrip(".")
        return f"{seconds}{hundredths}s"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours:02}h {minutes:02}m {seconds:02}s"
    if hours:
        return f"{hours}h {minutes:02}m {seconds:02}s"
    return f"{minutes}m {seconds:02}s"


def _fraction(nanos: int) -> str:
    if not nanos:
        return ""
    if nanos % _MILLISECOND_NS == 0:
        return f".{nanos // _MILLISECOND_NS:03}"
    if nanos % _MICROSECOND_NS == 0:
        return f".{nanos // _MICROSECOND_NS:06}"
    return f".{nanos:09}"


def _local(moment: datetime) -> tuple[datetime, str]:
    try:
        local = moment.astimezone()
    except (OverflowError, ValueError):  # the ends of the calendar, where no time zone fits
        return moment, "Z"
    return local, local.isoformat()[len("0000-00-00T00:00:00") :]

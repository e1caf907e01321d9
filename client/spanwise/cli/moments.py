"""Moments as people type them."""

from datetime import datetime

from spanwise._errors import InvalidRequest
from spanwise._times import moment_to_timestamp, to_ns


def moment_ns(text: str) -> int:
    """Read a moment in RFC 3339, in nanoseconds since the epoch.

    Raises:
        InvalidRequest: It is none, or has no zone.
    """
    try:
        return to_ns(moment_to_timestamp(datetime.fromisoformat(text)))
    except ValueError as error:
        raise InvalidRequest(
            f"{text!r} is no time of the form 2026-01-31T10:00:00Z ({error})"
        ) from error

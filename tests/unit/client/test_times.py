"""Times and durations as text."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import InvalidRequest
from spanwise._times import (
    iso_duration,
    moment_to_timestamp,
    rfc3339,
    short_duration,
    to_datetime,
    to_ns,
    to_timestamp,
)
from tests.unit.client.spans import SECOND_NS, T0_NS

_MIN_NS = -62_135_596_800 * SECOND_NS
_MAX_NS = 253_402_300_799 * SECOND_NS + SECOND_NS - 1
moments = st.integers(_MIN_NS, _MAX_NS)


@pytest.mark.parametrize(
    ("moment_ns", "text"),
    [
        (T0_NS, "2023-01-01T10:00:00Z"),
        (T0_NS + 500_000_000, "2023-01-01T10:00:00.500Z"),
        (T0_NS + 1_000, "2023-01-01T10:00:00.000001Z"),
        (T0_NS + 1, "2023-01-01T10:00:00.000000001Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (_MIN_NS, "0001-01-01T00:00:00Z"),
        (_MAX_NS, "9999-12-31T23:59:59.999999999Z"),
    ],
)
def test_a_time_has_as_many_digits_as_it_needs(moment_ns: int, text: str) -> None:
    """In groups of three, as protobuf's JSON has it."""
    assert rfc3339(moment_ns) == text


@given(moments)
def test_times_are_exact_to_the_nanosecond(moment_ns: int) -> None:
    """Protobuf reads back what we write, and a Timestamp loses nothing."""
    stamp = to_timestamp(0)
    stamp.FromJsonString(rfc3339(moment_ns))
    assert to_ns(stamp) == moment_ns
    assert to_ns(to_timestamp(moment_ns)) == moment_ns


@given(moments)
def test_local_time_is_the_same_moment(moment_ns: int) -> None:
    """With its offset, also at the ends of the calendar."""
    text = rfc3339(moment_ns // SECOND_NS * SECOND_NS, local_time=True)
    assert datetime.fromisoformat(text) == to_datetime(moment_ns).replace(microsecond=0)


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "0s"),
        (5, "5ns"),
        (250_000, "250us"),
        (350_000_000, "350ms"),
        (4 * SECOND_NS, "4s"),
        (10 * SECOND_NS, "10s"),
        (12_500_000_000, "12.5s"),
        (12_050_000_000, "12.05s"),
        (59_999_999_999, "59.99s"),
        (187 * SECOND_NS, "3m 07s"),
        (3723 * SECOND_NS, "1h 02m 03s"),
        (2 * 86_400 * SECOND_NS, "2d 00h 00m 00s"),
        (-4 * SECOND_NS, "-4s"),
    ],
)
def test_durations_for_people(duration_ns: int, text: str) -> None:
    """Every part has its unit, and nothing is rounded up into the next one."""
    assert short_duration(duration_ns) == text


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "PT0S"),
        (10 * SECOND_NS, "PT10S"),
        (350_000_000, "PT0.35S"),
        (60 * SECOND_NS, "PT1M"),
        (3723 * SECOND_NS + 1, "PT1H2M3.000000001S"),
        (100 * 3600 * SECOND_NS, "PT100H"),
        (-SECOND_NS, "-PT1S"),
    ],
)
def test_durations_in_iso_8601(duration_ns: int, text: str) -> None:
    """Hours are the largest unit."""
    assert iso_duration(duration_ns) == text


def test_a_datetime_keeps_its_moment_in_any_zone() -> None:
    """Only the moment counts."""
    zone = timezone(timedelta(hours=2))
    assert to_ns(moment_to_timestamp(datetime(2023, 1, 1, 12, tzinfo=zone))) == T0_NS
    assert to_datetime(T0_NS) == datetime(2023, 1, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("moment", [datetime(2023, 1, 1), _MIN_NS - 1, _MAX_NS + 1])  # noqa: DTZ001
def test_a_moment_that_cannot_be_sent_is_an_invalid_request(moment: datetime | int) -> None:
    """Without a zone, or outside of the years 1 to 9999."""
    with pytest.raises(InvalidRequest):
        moment_to_timestamp(moment)

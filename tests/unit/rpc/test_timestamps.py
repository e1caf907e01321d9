"""Timestamps: any two numbers become a time that can be stored."""

import pytest
from flyteidl.event.event_pb2 import TaskExecutionEvent
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import MAX_TIME_NS, MIN_TIME_NS
from spanwise_server.domain.quality import EventQuality
from spanwise_server.rpc.codecs.timestamps import (
    GO_ZERO_SECONDS,
    decode_occurred_at,
    decode_reported_at,
    decode_timestamp,
    fill_time,
)

IN_ORDER = EventQuality.NONE
MOVED = EventQuality.TIMESTAMP_OUT_OF_RANGE


@given(st.integers(MIN_TIME_NS, MAX_TIME_NS))
def test_every_stored_time_survives_the_wire(time_ns: int) -> None:
    """To the nanosecond, and without a flag."""
    timestamp = Timestamp()
    fill_time(timestamp, time_ns)
    assert decode_timestamp(timestamp) == (time_ns, IN_ORDER)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1))
def test_every_timestamp_of_the_wire_can_be_stored(seconds: int, nanos: int) -> None:
    """And carries a flag unless it says exactly the stored time."""
    time_ns, quality = decode_timestamp(Timestamp(seconds=seconds, nanos=nanos))
    if (seconds, nanos) == (GO_ZERO_SECONDS, 0):
        assert time_ns is None
        return
    assert time_ns is not None
    assert MIN_TIME_NS <= time_ns <= MAX_TIME_NS
    assert (quality is IN_ORDER) == (divmod(time_ns, 10**9) == (seconds, nanos))


@pytest.mark.parametrize(
    ("seconds", "nanos", "expected_ns"),
    [
        (10, -1, 9_999_999_999),
        (10, 1_500_000_000, 11_500_000_000),
        (-(2**63), 0, MIN_TIME_NS),
        (2**63 - 1, 999_999_999, MAX_TIME_NS),
        (253_402_300_799, 0, MAX_TIME_NS),  # year 9999
        (GO_ZERO_SECONDS + 1, 0, MIN_TIME_NS),  # year 1
    ],
)
def test_a_bad_timestamp_becomes_the_nearest_time(
    seconds: int, nanos: int, expected_ns: int
) -> None:
    """With the flag that says so."""
    assert decode_timestamp(Timestamp(seconds=seconds, nanos=nanos)) == (expected_ns, MOVED)


def test_an_unset_occurred_at_is_missing() -> None:
    """So that the time of receipt can stand in."""
    assert decode_occurred_at(TaskExecutionEvent()) == (None, EventQuality.MISSING_TIMESTAMP)


def test_the_zero_time_of_go_is_missing() -> None:
    """0001-01-01 is what Go sends for a time that nobody set."""
    event = TaskExecutionEvent(occurred_at=Timestamp(seconds=GO_ZERO_SECONDS))
    assert decode_occurred_at(event) == (None, EventQuality.MISSING_TIMESTAMP)


def test_the_epoch_is_a_time_of_occurrence() -> None:
    """A simulated clock may begin there."""
    assert decode_occurred_at(TaskExecutionEvent(occurred_at=Timestamp())) == (0, IN_ORDER)


@pytest.mark.parametrize(
    "event",
    [
        TaskExecutionEvent(),
        TaskExecutionEvent(reported_at=Timestamp()),
        TaskExecutionEvent(reported_at=Timestamp(seconds=GO_ZERO_SECONDS)),
    ],
)
def test_a_zero_reported_at_says_nothing(event: TaskExecutionEvent) -> None:
    """As in FlyteAdmin, which then takes occurred_at."""
    assert decode_reported_at(event) == (None, IN_ORDER)

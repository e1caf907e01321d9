"""Files of events."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import InvalidRequest
from spanwise._event_file import decode_line, encode_line
from spanwise._times import to_timestamp
from spanwise.v1.event_service_pb2 import LoggedEvent, ReceivedEvent

LINE = {"payload_type": "a.B", "payload": "AAE=", "recorded_at": "2026-01-31T10:00:00Z"}
TIMES_NS = st.integers(-(2**63), 2**63 - 1)  # what a server stores


@given(st.text(min_size=1), st.binary(min_size=1), TIMES_NS)
def test_any_event_of_a_log_is_read_as_it_was_written(
    payload_type: str, payload: bytes, recorded_at_ns: int
) -> None:
    recorded_at = to_timestamp(recorded_at_ns)
    logged = LoggedEvent(payload_type=payload_type, payload=payload, recorded_at=recorded_at)
    line = encode_line(logged)
    assert "\n" not in line
    assert decode_line(line.encode()) == ReceivedEvent(
        payload_type=payload_type, payload=payload, recorded_at=recorded_at
    )


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps).map(str.encode))
def test_any_other_line_is_refused_with_a_reason(line: bytes) -> None:
    with pytest.raises(InvalidRequest):
        decode_line(line)


def test_time_of_receipt_may_be_missing_and_other_members_are_passed_over() -> None:
    line = json.dumps({**LINE, "recorded_at": None, "sequence": 7})
    assert decode_line(line.encode()) == ReceivedEvent(payload_type="a.B", payload=b"\0\1")


@pytest.mark.parametrize(
    ("member", "value", "reason"),
    [
        ("payload_type", None, "payload_type"),
        ("payload_type", 3, "payload_type"),
        ("payload_type", "\ud800", "Unicode"),
        ("payload", None, "payload"),
        ("payload", "", "payload"),
        ("payload", "not base64!", "base64"),
        ("payload", "AAE", "base64"),
        ("payload", "\u00e4", "base64"),
        ("recorded_at", 3, "recorded_at"),
        ("recorded_at", "yesterday", "recorded_at"),
        ("recorded_at", "0000-01-31T10:00:00Z", "recorded_at"),
        ("recorded_at", "2026-01-31T10:00:00.1234567890Z", "recorded_at"),
    ],
)
def test_bad_member_is_named(member: str, value: object, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        decode_line(json.dumps({**LINE, member: value}).encode())


def test_line_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="JSON"):
        decode_line(b"[" * 1_000_000)

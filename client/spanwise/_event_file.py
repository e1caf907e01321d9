"""Codec of files of events, as `spanwise export` writes them and `spanwise import` reads them.

One JSON object a line, with these members; others are passed over, so that the lines of `spanwise
events --json --payload` can be read as well:

    payload_type  full name of the message that the event came in
    payload       that message as it was received, in base64
    recorded_at   when it was received, in RFC 3339; may be missing, which means now
"""

import base64
import binascii
import json
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from spanwise._errors import InvalidRequest
from spanwise._times import rfc3339, to_ns
from spanwise.v1 import event_service_pb2


def encode_line(event: event_service_pb2.LoggedEvent) -> str:
    """Give the line of an event of a log, which must come with its payload; no newline."""
    return json.dumps(
        {
            "payload_type": event.payload_type,
            "recorded_at": rfc3339(to_ns(event.recorded_at)),
            "payload": base64.b64encode(event.payload).decode(),
        }
    )


def decode_line(line: bytes) -> event_service_pb2.ReceivedEvent:
    """Give the event of a line.

    Raises:
        InvalidRequest: It is none; the message says why.
    """
    members = _members(line)
    event = event_service_pb2.ReceivedEvent(
        payload_type=_text(members, "payload_type"),
        payload=_from_base64(_text(members, "payload")),
    )
    if members.get("recorded_at") is not None:
        event.recorded_at.CopyFrom(_from_rfc3339(_text(members, "recorded_at")))
    return event


def _members(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("is not JSON") from error
    if not isinstance(value, dict):
        raise InvalidRequest("is not a JSON object")
    return value


def _text(members: dict[str, Any], name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidRequest(f"has no text {name!r}")
    if not _is_unicode(value):
        raise InvalidRequest(f"{name!r} is not Unicode text")
    return value


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest("'payload' is not base64") from error


def _from_rfc3339(text: str) -> Timestamp:
    moment = Timestamp()
    try:
        moment.FromJsonString(text)
    except ValueError as error:
        raise InvalidRequest("'recorded_at' is no time of the form 2026-01-31T10:00:00Z") from error
    return moment

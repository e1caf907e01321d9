"""Codec of logged payloads: from the name and bytes in the log to the event that was recorded."""

from collections.abc import Callable
from typing import Any, NamedTuple

from flyteidl.admin.event_pb2 import (
    NodeExecutionEventRequest,
    TaskExecutionEventRequest,
    WorkflowExecutionEventRequest,
)
from google.protobuf.message import DecodeError, Message

from spanwise.v1.event_service_pb2 import (
    CreateExecutionEventRequest,
    CreateNodeEventRequest,
    CreateTaskEventRequest,
)
from spanwise_server.domain.errors import CorruptRecord, InvalidEvent
from spanwise_server.domain.events import Event, PayloadType
from spanwise_server.rpc.codecs import flyte1, native
from spanwise_server.rpc.codecs.requests import request_parser


class _Codec(NamedTuple):
    name: str
    parse: Callable[[bytes], Any]
    decode: Callable[[Any, bytes], Event]
    complete: Callable[[Any, Event], Event]


def _codec(
    message_type: type[Message],
    decode: Callable[[Any, bytes], Event],
    complete: Callable[[Any, Event], Event] = lambda _, event: event,
) -> _Codec:
    name = message_type.DESCRIPTOR.full_name
    return _Codec(name, request_parser(message_type), decode, complete)


def _native_codec(message_type: type[Message], decode: Callable[[Any, bytes], Event]) -> _Codec:
    return _codec(message_type, lambda request, payload: decode(request.event, payload))


_CODECS = {
    PayloadType.FLYTE1_WORKFLOW_EVENT: _codec(
        WorkflowExecutionEventRequest, flyte1.decode_workflow_event
    ),
    PayloadType.FLYTE1_NODE_EVENT: _codec(
        NodeExecutionEventRequest, flyte1.decode_node_event, flyte1.complete_node_event
    ),
    PayloadType.FLYTE1_TASK_EVENT: _codec(TaskExecutionEventRequest, flyte1.decode_task_event),
    PayloadType.EXECUTION_EVENT: _native_codec(
        CreateExecutionEventRequest, native.decode_execution_event
    ),
    PayloadType.NODE_EVENT: _native_codec(CreateNodeEventRequest, native.decode_node_event),
    PayloadType.TASK_EVENT: _native_codec(CreateTaskEventRequest, native.decode_task_event),
}


def payload_name(payload_type: PayloadType) -> str:
    """Give the full name of a message, for instance flyteidl.admin.TaskExecutionEventRequest."""
    return _CODECS[payload_type].name


_TYPES_BY_NAME = {codec.name: payload_type for payload_type, codec in _CODECS.items()}


def payload_type_named(name: str) -> PayloadType | None:
    """Give the type of which payload_name() gives the name; None when there is none."""
    return _TYPES_BY_NAME.get(name)


def decode_event(payload_type: PayloadType, payload: bytes) -> Event:
    """Give the event in a request that was just received, as far as it is stored outside the log.

    Args:
        payload_type: Which message it is.
        payload: The message.

    Raises:
        InvalidEvent: It names nothing to store it under, or the bytes are not of its type.
    """
    return _CODECS[payload_type].decode(_parse(payload_type, payload), payload)


def decode_payload(payload_type: PayloadType, payload: bytes) -> Event:
    """Give the event that a logged payload was recorded as, with all of its details.

    Args:
        payload_type: Which message it is.
        payload: The message.

    Raises:
        CorruptRecord: The type is not known to this version, or the bytes are not of it.
    """
    codec = _CODECS[payload_type]
    try:
        message = _parse(payload_type, payload)
        return codec.complete(message, codec.decode(message, payload))
    except InvalidEvent as error:
        raise CorruptRecord(
            f"the bytes of a logged event are not a {payload_name(payload_type)}"
        ) from error


def _parse(payload_type: PayloadType, payload: bytes) -> Any:
    try:
        return _CODECS[payload_type].parse(payload)
    except DecodeError as error:
        raise InvalidEvent(
            "request", f"its bytes are not a {payload_name(payload_type)}"
        ) from error

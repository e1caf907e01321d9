"""Parsing of requests, also of those that are nested deeper than Python's protobuf goes.

Inline inputs, outputs and plugin state can nest as deep as a user likes. Go, which sends them,
parses 10,000 levels; Python's protobuf gives up at 100. An event must not fail somebody's node for
that, and no codec reads those parts, so the parser leaves them out when it has to. The payload that
is kept has them all.
"""

from collections.abc import Callable, Mapping
from typing import Optional, TypeAlias

from flyteidl.admin.event_pb2 import (
    NodeExecutionEventRequest,
    TaskExecutionEventRequest,
    WorkflowExecutionEventRequest,
)
from flyteidl.event.event_pb2 import (
    ExternalResourceInfo,
    NodeExecutionEvent,
    TaskExecutionEvent,
    TaskExecutionMetadata,
    TaskNodeMetadata,
    WorkflowExecutionEvent,
)
from google.protobuf.message import DecodeError, Message

Pruning: TypeAlias = Mapping[int, Optional["Pruning"]]
"""What to leave out of a message: by number of field None for the whole field, or what to leave out
inside it."""

_PRUNINGS: dict[type[Message], Pruning] = {
    WorkflowExecutionEventRequest: {
        WorkflowExecutionEventRequest.EVENT_FIELD_NUMBER: {
            WorkflowExecutionEvent.OUTPUT_DATA_FIELD_NUMBER: None,
        }
    },
    NodeExecutionEventRequest: {
        NodeExecutionEventRequest.EVENT_FIELD_NUMBER: {
            NodeExecutionEvent.INPUT_DATA_FIELD_NUMBER: None,
            NodeExecutionEvent.OUTPUT_DATA_FIELD_NUMBER: None,
            NodeExecutionEvent.TASK_NODE_METADATA_FIELD_NUMBER: {
                TaskNodeMetadata.DYNAMIC_WORKFLOW_FIELD_NUMBER: None,
            },
        }
    },
    TaskExecutionEventRequest: {
        TaskExecutionEventRequest.EVENT_FIELD_NUMBER: {
            TaskExecutionEvent.INPUT_DATA_FIELD_NUMBER: None,
            TaskExecutionEvent.OUTPUT_DATA_FIELD_NUMBER: None,
            TaskExecutionEvent.CUSTOM_INFO_FIELD_NUMBER: None,
            TaskExecutionEvent.METADATA_FIELD_NUMBER: {
                TaskExecutionMetadata.EXTERNAL_RESOURCES_FIELD_NUMBER: {
                    ExternalResourceInfo.CUSTOM_INFO_FIELD_NUMBER: None,
                }
            },
        }
    },
}

_MORE = 0x80
"""Bit of a byte of a varint: another one follows."""

_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5


def request_parser(message_type: type[Message]) -> Callable[[bytes], Message]:
    """Give the function that parses requests of a type. It raises DecodeError."""
    from_string = message_type.FromString
    pruning = _PRUNINGS.get(message_type)
    if pruning is None:
        return from_string

    def parse(payload: bytes) -> Message:
        try:
            return from_string(payload)
        except DecodeError:
            return from_string(prune(payload, pruning))

    return parse


def prune(payload: bytes, pruning: Pruning) -> bytes:
    """Give the bytes of a message without some of its fields.

    Raises:
        DecodeError: The bytes are no message.
    """
    kept = bytearray()
    position = 0
    while position < len(payload):
        start = position
        tag, position = _read_varint(payload, position)
        number, wire_type = tag >> 3, tag & 7
        begin, position = _read_extent(payload, position, wire_type)
        if number not in pruning or wire_type != _LENGTH_DELIMITED:
            kept += payload[start:position]
            continue
        inner = pruning[number]
        if inner is not None:
            content = prune(payload[begin:position], inner)
            kept += encode_varint(tag) + encode_varint(len(content)) + content
    return bytes(kept)


def _read_extent(payload: bytes, position: int, wire_type: int) -> tuple[int, int]:
    """Give where the content of a field begins and ends."""
    if wire_type == _VARINT:
        _, end = _read_varint(payload, position)
    elif wire_type == _FIXED64:
        end = position + 8
    elif wire_type == _FIXED32:
        end = position + 4
    elif wire_type == _LENGTH_DELIMITED:
        length, position = _read_varint(payload, position)
        end = position + length
    else:
        raise DecodeError(f"wire type {wire_type}")  # groups, which no Flyte message has
    if end > len(payload):
        raise DecodeError("the message is cut off")
    return position, end


def _read_varint(payload: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(payload):
            break
        byte = payload[position]
        position += 1
        value |= (byte & ~_MORE) << shift
        if not byte & _MORE:
            return value, position
    raise DecodeError("a number is cut off or too long")


def encode_varint(value: int) -> bytes:
    """Give a number from 0 as it stands in a message."""
    encoded = bytearray()
    while value >= _MORE:
        encoded.append(value & 0x7F | _MORE)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)

"""Codec of what arrives: single requests, and the batches of CreateEvents."""

from collections.abc import Sequence
from functools import lru_cache

from google.protobuf.message import Message

from spanwise.v1.event_service_pb2 import (
    CreateEventsRequest,
    CreateTaskEventRequest,
    Event,
    ReceivedEvent,
)
from spanwise_server.domain import events as domain_events
from spanwise_server.domain.errors import InvalidEvent
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.rpc.codecs import native
from spanwise_server.rpc.codecs.payloads import decode_event, payload_type_named
from spanwise_server.rpc.codecs.requests import encode_varint
from spanwise_server.rpc.codecs.timestamps import decode_optional
from spanwise_server.service.arrivals import Arrival
from spanwise_server.service.projections import Received


def decode_arrival(arrival: Arrival) -> Sequence[Received | InvalidEvent]:
    """Give the events of an arrival: see ArrivalDecoder."""
    payload_type, payload, recorded_at_ns = arrival
    if payload_type is None:
        events = CreateEventsRequest.FromString(payload).events
        return [_decode_sent(event, recorded_at_ns) for event in events]
    try:
        return (new_tuple(Received, (decode_event(payload_type, payload), recorded_at_ns)),)
    except InvalidEvent as error:
        return (error,)


def split_arrival(arrival: Arrival) -> list[Arrival]:
    """Give an arrival of its own for each of the events."""
    if arrival.payload_type is not None:
        return [arrival]
    return [
        arrival._replace(payload=CreateEventsRequest(events=[event]).SerializeToString())
        for event in CreateEventsRequest.FromString(arrival.payload).events
    ]


def is_of_execution(event: Event) -> bool:
    """Say whether an event of a batch is one of an execution itself."""
    match event.WhichOneof("event"):
        case "execution_event":
            return True
        case "received_event":
            return payload_type_named(event.received_event.payload_type) in _EXECUTION_TYPES
    return False


def decode_one(event: bytes) -> domain_events.Event:
    """Give an event of a batch by itself, encoded. Raises InvalidEvent."""
    sent = _decode_sent(Event.FromString(event), 0)
    if isinstance(sent, InvalidEvent):
        raise sent
    return sent.event


def _decode_sent(event: Event, now_ns: int) -> Received | InvalidEvent:
    try:
        match event.WhichOneof("event"):
            case "task_event":
                task = event.task_event
                decoded = native.decode_task_event(task, _as_request(task))
                return new_tuple(Received, (decoded, now_ns))
            case "received_event":
                return _decode_received(event.received_event, now_ns)
            case "node_event":
                node = event.node_event
                return Received(native.decode_node_event(node, _as_request(node)), now_ns)
            case "execution_event":
                execution = event.execution_event
                payload = _as_request(execution)
                return Received(native.decode_execution_event(execution, payload), now_ns)
            case _:
                return InvalidEvent("event", "is of no kind that this version knows")
    except InvalidEvent as error:
        return error


_EXECUTION_TYPES = (PayloadType.FLYTE1_WORKFLOW_EVENT, PayloadType.EXECUTION_EVENT)

_EVENT_TAG = bytes([CreateTaskEventRequest.EVENT_FIELD_NUMBER << 3 | 2])
"""Of the one field of a Create…EventRequest, the same for the three of them."""


def _as_request(event: Message) -> bytes:
    """Give the request that carries an event alone, as the log holds it whichever way it came.

    Put together by hand: a message would be a copy of the event, at three times the cost.
    """
    encoded = event.SerializeToString()
    return _begin_request(len(encoded)) + encoded


@lru_cache(maxsize=2**12)
def _begin_request(num_bytes: int) -> bytes:
    """Give what stands before an event of a length. There are few lengths: events are short."""
    return _EVENT_TAG + encode_varint(num_bytes)


def _decode_received(received: ReceivedEvent, now_ns: int) -> Received:
    payload_type = payload_type_named(received.payload_type)
    if payload_type is None:
        raise InvalidEvent(
            "received_event.payload_type", f"{received.payload_type!r} is no request of an event"
        )
    recorded_at_ns = decode_optional(received, "recorded_at")
    return Received(
        decode_event(payload_type, received.payload),
        now_ns if recorded_at_ns is None else recorded_at_ns,
    )

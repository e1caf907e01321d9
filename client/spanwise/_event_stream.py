"""Sending of events in a stream of batches."""

from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any, NamedTuple

import grpc

from spanwise._errors import InvalidRequest, ServerFailed, translated
from spanwise._values import enum_name
from spanwise.v1 import event_pb2, event_service_pb2

BATCH_EVENTS = 500
"""A larger batch saves the server next to nothing."""

_BATCH_BYTES = 2 * 1024 * 1024
"""Of a batch of several events: below the smallest cap that a server can be given."""

_MAX_IN_FLIGHT = 4
"""Batches without an answer: two keep the server busy, the others make up for the way there."""

_CODES = {code.value[0]: code.name for code in grpc.StatusCode}

AnyEvent = (
    event_pb2.ExecutionEvent
    | event_pb2.NodeEvent
    | event_pb2.TaskEvent
    | event_service_pb2.ReceivedEvent
)
"""What create_events sends."""


class EventVerdict(NamedTuple):
    """What became of one event of a stream.

    Attributes:
        sequence: Position among the events of its execution, from 1; 0 when it was not stored.
        disposition: "ACCEPTED", "LATE", "DUPLICATE" or "REFUSED"; "" when it was not stored.
        code: Name of the status code that a call for it alone would have ended with: "OK" for
            ACCEPTED and LATE, "ALREADY_EXISTS", "FAILED_PRECONDITION" for REFUSED,
            "INVALID_ARGUMENT" or "INTERNAL" for an event that was not stored.
        message: Text of that status; "" for "OK".
    """

    sequence: int
    disposition: str
    code: str
    message: str

    @property
    def is_stored(self) -> bool:
        """Whether it is in the log, whatever became of it."""
        return self.sequence > 0


def send_events(
    method: Callable[..., Any], events: Iterable[AnyEvent], endpoint: str
) -> Iterator[EventVerdict]:
    """Send events and give what became of each, in order: see Client.create_events.

    Args:
        method: CreateEvents of a stub.
        events: What to send.
        endpoint: Where to, for the text of errors.
    """
    subject = "the stream of events"
    requests: SimpleQueue[event_service_pb2.CreateEventsRequest | None] = SimpleQueue()
    expected: list[int] = []
    with translated(endpoint, subject):
        call = method(iter(requests.get, None))
        try:
            for batch in _batches(events):
                if len(expected) == _MAX_IN_FLIGHT:
                    yield from _verdicts(next(call), expected.pop(0), endpoint, subject)
                expected.append(len(batch.events))
                requests.put(batch)
            requests.put(None)
            for answer in call:
                yield from _verdicts(answer, expected.pop(0), endpoint, subject)
        finally:
            requests.put(None)  # gRPC's thread waits for it
            call.cancel()


def _batches(events: Iterable[AnyEvent]) -> Iterator[event_service_pb2.CreateEventsRequest]:
    batch = event_service_pb2.CreateEventsRequest()
    num_bytes = 0
    for event in events:
        size_bytes = event.ByteSize()
        is_full = len(batch.events) == BATCH_EVENTS or num_bytes + size_bytes > _BATCH_BYTES
        if is_full and batch.events:
            yield batch
            batch = event_service_pb2.CreateEventsRequest()
            num_bytes = 0
        batch.events.append(_wrapped(event))
        num_bytes += size_bytes
    if batch.events:
        yield batch


def _wrapped(event: AnyEvent) -> event_service_pb2.Event:
    match event:
        case event_pb2.TaskEvent():
            return event_service_pb2.Event(task_event=event)
        case event_pb2.NodeEvent():
            return event_service_pb2.Event(node_event=event)
        case event_pb2.ExecutionEvent():
            return event_service_pb2.Event(execution_event=event)
        case event_service_pb2.ReceivedEvent():
            return event_service_pb2.Event(received_event=event)
    raise InvalidRequest(
        f"a {type(event).__qualname__} is no event of spanwise.v1: ExecutionEvent, NodeEvent,"
        " TaskEvent or ReceivedEvent"
    )


def _verdicts(
    answer: event_service_pb2.CreateEventsResponse, expected: int, endpoint: str, subject: str
) -> Iterator[EventVerdict]:
    if len(answer.verdicts) != expected:
        raise ServerFailed(
            endpoint, subject, f"{expected} events got {len(answer.verdicts)} verdicts"
        )
    for verdict in answer.verdicts:
        disposition = ""
        if verdict.disposition:
            disposition = enum_name(event_service_pb2.Disposition, verdict.disposition)
        code = _CODES.get(verdict.code, str(verdict.code))
        yield EventVerdict(verdict.sequence, disposition, code, verdict.message)

"""Committing of what arrived: decode, record in one transaction, and say what to answer."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from spanwise_server.domain.errors import (
    EventAlreadyRecorded,
    EventRefused,
    InvalidEvent,
)
from spanwise_server.domain.events import Disposition, Event, PayloadType
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.service.projections import Received
from spanwise_server.service.recorder import Result, record_batch
from spanwise_server.storage.api import Storage


class Arrival(NamedTuple):
    """A request as it was received, and when.

    Attributes:
        payload_type: Which message `payload` is; None for a batch of events, which only the decoder
            looks into.
        payload: The request, byte for byte.
        recorded_at_ns: Time of receipt.
    """

    payload_type: PayloadType | None
    payload: bytes
    recorded_at_ns: int


class Recorded(NamedTuple):
    """Where an event went.

    Attributes:
        sequence: Its position inside its execution.
        disposition: What became of it.
        objection: What its sender hears instead of OK; None for accepted and late events.
    """

    sequence: int
    disposition: Disposition
    objection: EventAlreadyRecorded | EventRefused | None = None


Verdict = Recorded | Exception
"""What became of an event: where it went, or why it was not stored."""

PayloadDecoder = Callable[[PayloadType, bytes], Event]
"""Decodes a payload: takes its type and bytes."""

ArrivalDecoder = Callable[[Arrival], Sequence[Received | InvalidEvent]]
"""Gives the events of an arrival, in order: one, or those of a batch. In the place of an event that
cannot be stored stands the reason."""


def commit_arrivals(
    storage: Storage, decode: ArrivalDecoder, arrivals: Sequence[Arrival]
) -> list[Verdict]:
    """Decode, decide, log and project in one transaction.

    Gives a verdict for each event, in the order of the arrivals and, in a batch, of its events. One
    that cannot be decoded is not stored, and stops no other one.

    Raises:
        StoreUnavailable: Nothing was stored, or the commit broke off and all may have been.
        WriteConflict: Nothing was stored.
    """
    decoded = [each for arrival in arrivals for each in decode(arrival)]
    received = [each for each in decoded if isinstance(each, Received)]
    results: list[Result] = []
    if received:
        results = storage.write(lambda transaction: record_batch(transaction, received))
    stored = map(_to_recorded, received, results)
    return [each if isinstance(each, InvalidEvent) else next(stored) for each in decoded]


def _to_recorded(received: Received, result: Result) -> Recorded:
    sequence, (disposition, refusal) = result
    if disposition is Disposition.DUPLICATE:
        return Recorded(sequence, disposition, EventAlreadyRecorded(received.event.phase))
    return new_tuple(Recorded, (sequence, disposition, refusal))

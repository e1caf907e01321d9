"""Committing of what arrived: decode, record in one transaction, and say what to answer."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from spanwise_server.domain.errors import EventAlreadyRecorded, InvalidEvent
from spanwise_server.domain.events import Disposition, Event, PayloadType
from spanwise_server.service.projections import Received
from spanwise_server.service.recorder import Result, record_batch
from spanwise_server.storage.api import Storage


class Arrival(NamedTuple):
    """A request as it was received, and when.

    Attributes:
        payload_type: Which message `payload` is.
        payload: The request, byte for byte.
        recorded_at_ns: Time of receipt.
    """

    payload_type: PayloadType
    payload: bytes
    recorded_at_ns: int


class Recorded(NamedTuple):
    """Where an event went: its sequence inside its execution, and what became of it."""

    sequence: int
    disposition: Disposition


Verdict = Recorded | Exception
"""What to answer to an event: where it went, or what to raise to its sender."""

PayloadDecoder = Callable[[PayloadType, bytes], Event]
"""Decodes a payload: takes its type and bytes."""


def commit_arrivals(
    storage: Storage, decode: PayloadDecoder, arrivals: Sequence[Arrival]
) -> list[Verdict]:
    """Decode, decide, log and project in one transaction; give a verdict for each, in order.

    An arrival that `decode` refuses with InvalidEvent is not stored, and stops no other one.

    Raises:
        StoreUnavailable: Nothing was stored, or the commit broke off and all may have been.
        WriteConflict: Nothing was stored.
    """
    verdicts: list[Verdict | None] = []
    received = []
    for payload_type, payload, recorded_at_ns in arrivals:
        try:
            event = decode(payload_type, payload)
        except InvalidEvent as error:
            verdicts.append(error)
        else:
            verdicts.append(None)
            received.append(Received(event, recorded_at_ns))
    results: list[Result] = []
    if received:
        results = storage.write(lambda transaction: record_batch(transaction, received))
    stored = map(_to_verdict, received, results)
    return [next(stored) if verdict is None else verdict for verdict in verdicts]


def _to_verdict(received: Received, result: Result) -> Verdict:
    sequence, decision = result
    if decision.refusal is not None:
        return decision.refusal
    if decision.disposition is Disposition.DUPLICATE:
        return EventAlreadyRecorded(received.event.phase)
    return Recorded(sequence, decision.disposition)

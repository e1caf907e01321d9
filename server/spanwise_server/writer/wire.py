"""What the serving process and its writer say to each other, in the frames of child_process."""

from collections.abc import Sequence
from io import BufferedRWPair
from typing import Any

from spanwise_server.child_process import encode_frame, read_frame
from spanwise_server.domain.errors import EventAlreadyRecorded, EventRefused, SpanwiseError
from spanwise_server.domain.events import Disposition, PayloadType
from spanwise_server.domain.phases import Phase
from spanwise_server.service.arrivals import Arrival, Recorded, Verdict

_DISPOSITIONS = {int(disposition): disposition for disposition in Disposition}
_PHASES = {int(phase): phase for phase in Phase}
SIGN_OF_LIFE = None
"""What the writer says when it was asked for a sign, and when it goes on with something long."""

ASK_FOR_SIGN = encode_frame(None)
"""The frame that asks for a sign of life."""

_BATCH = 0
"""Stands for the payload type of a batch."""

_PAYLOAD_TYPES = {_BATCH: None} | {int(payload_type): payload_type for payload_type in PayloadType}

# Enum members go as numbers: a pickled one costs ten times as much, in both processes.


def encode_batch(batch: Sequence[Arrival]) -> bytes:
    """Give the frame of a batch."""
    return encode_frame(
        [
            (_BATCH if payload_type is None else int(payload_type), payload, at_ns)
            for payload_type, payload, at_ns in batch
        ]
    )


def read_batch(stream: BufferedRWPair) -> list[Arrival] | None:
    """Wait for the frame of a batch and give it; None for one that asks for a sign of life.

    Raises:
        EOFError: The other end has closed the stream, or has ended.
    """
    batch = read_frame(stream)
    if batch is None:
        return None
    return [Arrival(_PAYLOAD_TYPES[kind], payload, at_ns) for kind, payload, at_ns in batch]


def encode_answer(answer: list[Verdict] | SpanwiseError) -> bytes:
    """Give the frame of the answer to a batch."""
    if isinstance(answer, SpanwiseError):
        return encode_frame(answer)
    return encode_frame(
        [_pack(*verdict) if isinstance(verdict, Recorded) else verdict for verdict in answer]
    )


def _pack(
    sequence: int, disposition: Disposition, objection: EventAlreadyRecorded | EventRefused | None
) -> tuple[Any, ...]:
    if objection is None:
        return sequence, int(disposition)
    if isinstance(objection, EventAlreadyRecorded):  # a batch that is sent again has no others
        return sequence, int(disposition), int(objection.phase)
    return sequence, int(disposition), objection


def _unpack(
    sequence: int, disposition: int, objection: int | EventRefused | None = None
) -> Recorded:
    if isinstance(objection, int):
        already = EventAlreadyRecorded(_PHASES[objection])
        return Recorded(sequence, _DISPOSITIONS[disposition], already)
    return Recorded(sequence, _DISPOSITIONS[disposition], objection)


def decode_answer(answer: Any) -> list[Verdict]:
    """Give the verdicts of an answer: of the value of its frame.

    Raises:
        SpanwiseError: The answer is that nothing was stored.
    """
    if isinstance(answer, SpanwiseError):
        raise answer
    return [_unpack(*verdict) if isinstance(verdict, tuple) else verdict for verdict in answer]

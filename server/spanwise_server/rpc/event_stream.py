"""CreateEvents: batches of events in, one answer for each, in order.

What is promised stands at the RPC in protos/spanwise/v1/event_service.proto.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, NamedTuple

from google.rpc import code_pb2

from spanwise.v1.event_service_pb2 import CreateEventsRequest, CreateEventsResponse
from spanwise_server.domain.errors import InvalidQuery, SpanwiseError, StoreUnavailable
from spanwise_server.rpc.codecs.arrivals import decode_one, is_of_execution
from spanwise_server.rpc.methods import Answers, Call
from spanwise_server.rpc.reader import Reader, prepare_ended
from spanwise_server.rpc.status import encode_status
from spanwise_server.service.arrivals import Recorded, Verdict
from spanwise_server.service.event_sink import EventSink

MAX_EVENTS = 10_000
"""Of a batch. One commit takes it whole, and whatever else arrives waits for that."""

MAX_AHEAD_BATCHES = 8
"""Two keep the writer busy; more make larger commits of small batches."""

MAX_AHEAD_BYTES = 16 * 2**20
"""Bounds what the batches of one stream take. One that is larger is taken alone."""


class _Ahead(NamedTuple):
    """A batch that was read and is not answered yet.

    `of_executions` are those of its events that are of executions themselves: place and encoding.
    """

    batch_id: int
    num_bytes: int
    of_executions: list[tuple[int, bytes]]
    verdicts: "asyncio.Future[list[Verdict]]"


class _Window:
    """The batches that a stream is ahead of its answers, in order and bounded; then its end."""

    def __init__(self) -> None:
        self._batches: deque[_Ahead] = deque()
        self._num_bytes = 0
        self._is_complete = False
        self._failure: BaseException | None = None
        self._changed = asyncio.Condition()

    async def wait_for_room(self, num_bytes: int) -> None:
        def has_room() -> bool:
            return not self._batches or (
                len(self._batches) < MAX_AHEAD_BATCHES
                and self._num_bytes + num_bytes <= MAX_AHEAD_BYTES
            )

        async with self._changed:
            await self._changed.wait_for(has_room)

    async def append(self, batch: _Ahead) -> None:
        async with self._changed:
            self._batches.append(batch)
            self._num_bytes += batch.num_bytes
            self._changed.notify_all()

    async def complete(self, failure: BaseException | None) -> None:
        """Say that no batch follows, and why, unless the sender has sent all."""
        async with self._changed:
            self._is_complete, self._failure = True, failure
            self._changed.notify_all()

    async def first(self) -> _Ahead | None:
        """Wait for the first batch; None when all are answered and the sender has sent all.

        Raises:
            Exception: What complete() was told.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._batches or self._is_complete)
        if self._batches:
            return self._batches[0]
        if self._failure is not None:
            raise self._failure
        return None

    async def drop_first(self) -> None:
        async with self._changed:
            self._num_bytes -= self._batches.popleft().num_bytes
            self._changed.notify_all()

    def abandon(self) -> None:
        """Wait for none of them any more. What is taken in is stored all the same."""
        for batch in self._batches:
            if not batch.verdicts.cancel():
                batch.verdicts.exception()  # asyncio complains of those that nobody has seen


async def create_events(
    sink: EventSink, reader: Reader, requests: AsyncIterator[CreateEventsRequest], call: Call
) -> Answers:
    """Handle one call of CreateEvents. Tell `reader` of large executions that ended.

    Raises:
        InvalidQuery: A batch has too many events, or is none.
        StoreUnavailable: A batch could not be stored, or the server is stopping.
        WriteConflict: A batch could not be stored.
    """
    window = _Window()
    feeding = asyncio.create_task(_feed(sink, requests, call, window))
    try:
        while (batch := await window.first()) is not None:
            verdicts = await batch.verdicts
            _prepare(reader, batch.of_executions, verdicts)
            yield _answer(batch.batch_id, verdicts)
            # Not before the answer went out: who reads no answers is not read any more.
            await window.drop_first()
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        window.abandon()


async def _feed(
    sink: EventSink, requests: AsyncIterator[CreateEventsRequest], call: Call, window: _Window
) -> None:
    """Hand over batches until the sender has sent all, something is wrong, or the sink stops."""
    reading = asyncio.create_task(_read(sink, requests, call, window))
    stopping = asyncio.create_task(sink.stopping.wait())
    try:
        await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            await window.complete(reading.exception())
        else:
            await window.complete(StoreUnavailable("the server is stopping"))
    finally:
        reading.cancel()
        stopping.cancel()
        await asyncio.gather(reading, stopping, return_exceptions=True)


async def _read(
    sink: EventSink, requests: AsyncIterator[CreateEventsRequest], call: Call, window: _Window
) -> None:
    async for request in requests:
        num_events = len(request.events)
        if num_events > MAX_EVENTS:
            raise InvalidQuery(
                "events", f"has {num_events}, more than {MAX_EVENTS}; send several batches"
            )
        payload = call.payload
        # By themselves, for the messages of a request live as long as one of them does.
        of_executions = [
            (place, event.SerializeToString())
            for place, event in enumerate(request.events)
            if is_of_execution(event)
        ]
        await window.wait_for_room(len(payload))
        verdicts = await sink.take_batch(payload, num_events)
        await window.append(_Ahead(request.batch_id, len(payload), of_executions, verdicts))


def _prepare(
    reader: Reader, of_executions: list[tuple[int, bytes]], verdicts: list[Verdict]
) -> None:
    for place, event in of_executions:
        verdict = verdicts[place]
        if isinstance(verdict, Recorded) and verdict.objection is None:
            prepare_ended(reader, verdict.sequence, partial(decode_one, event))


def _answer(batch_id: int, verdicts: list[Verdict]) -> CreateEventsResponse:
    answer = CreateEventsResponse(batch_id=batch_id)
    add = answer.verdicts.add
    for verdict in verdicts:
        if not isinstance(verdict, Recorded):
            add(**_status(verdict))
            continue
        sequence, disposition, objection = verdict
        if objection is None:  # nearly all
            add(sequence=sequence, disposition=int(disposition))
        else:
            add(
                sequence=sequence,
                disposition=int(disposition),
                **_status(objection),
            )
    return answer


def _status(error: Exception) -> dict[str, Any]:
    if isinstance(error, SpanwiseError):
        status = encode_status(error)
        return {"code": status.code, "message": status.message}
    return {"code": code_pb2.INTERNAL, "message": "the event could not be recorded"}

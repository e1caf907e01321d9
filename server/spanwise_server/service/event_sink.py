"""The way in: events are committed in groups, and each caller hears of its own after the commit."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.events import PayloadType
from spanwise_server.service.arrivals import Arrival, Recorded, Verdict

MAX_BATCH_EVENTS = 1000
"""Above this a larger batch saves next to nothing, but its first caller waits longer."""

MAX_BATCH_BYTES = 16 * 2**20
"""Bounds the memory of a batch of large events, such as compiled dynamic workflows."""

MAX_WAITING_BYTES = 256 * 2**20
"""Bounds the memory of the queue before a store that has stopped."""

_STOPPING = "the server is stopping"
_TOO_LATE = "the database did not answer before the server stopped; the event may have been stored"


class Committer(Protocol):
    """Commits batches."""

    async def commit(self, batch: Sequence[Arrival]) -> list[Verdict]:
        """Give one verdict for each arrival, in the same order, after a durable commit of all.

        Raises:
            StoreUnavailable: Nothing was stored, or the commit broke off and all may have been.
            WriteConflict: Nothing was stored.
            asyncio.CancelledError: It was cancelled, and close() is called next. All of it may have
                been stored.
        """

    async def close(self) -> None:
        """Give back processes and connections, after what runs. Idempotent."""


class _Waiting(NamedTuple):
    """What one caller brought, and what it waits for.

    That is a Recorded or an exception for an event, and for a batch the list of its verdicts.
    """

    arrival: Arrival
    num_events: int
    done: "asyncio.Future[Any]"


class EventSink:
    """Takes events in and commits them in groups.

    While one batch commits, the next gathers; a batch is all that arrived meanwhile. An idle sink
    commits a single event at once. To be used from one event loop.
    """

    def __init__(self, committer: Committer, count: Callable[[Sequence[Verdict]], None]) -> None:
        """Commit with `committer`, which it owns from then on; tell `count` of every batch."""
        self._committer = committer
        self._count = count
        self._waiting: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._task: asyncio.Task[None] | None = None
        self.stopping = asyncio.Event()
        """Set when nothing is taken any more."""

    def record(self, payload_type: PayloadType, payload: bytes) -> Awaitable[Recorded]:
        """Store one event and give where it went, after a durable commit.

        Safe to repeat: a repeated event is logged again as a duplicate and changes nothing. When
        the caller is cancelled the event may be stored all the same.

        Args:
            payload_type: Which message `payload` is.
            payload: The request as it was received.

        Raises:
            InvalidEvent: It names nothing to store it under. It was not stored.
            EventAlreadyRecorded: It repeats a phase. It was logged, and what else was new in it
                was kept.
            EventRefused: It contradicts what is stored. It was logged as refused.
            StoreUnavailable: It was not stored, or the commit broke off and it may have been.
            WriteConflict: It was not stored.
        """
        if self.stopping.is_set():
            raise StoreUnavailable(_STOPPING)
        if not self._has_room.is_set():
            raise StoreUnavailable("too many events wait for the database; try again later")
        return self._enqueue(payload_type, payload, 1)

    async def take_batch(self, payload: bytes, num_events: int) -> "asyncio.Future[list[Verdict]]":
        """Take a batch of events in when there is room, and give what its verdicts come with.

        Batches are stored in the order in which they are taken. Safe to repeat, as `record` is.

        Args:
            payload: The batch as it was received.
            num_events: Events in it.

        Returns:
            Gives one verdict for each event in the order of the batch, after a durable commit of
            all of it. May be cancelled; the batch may be stored all the same. Raises:
            StoreUnavailable: Nothing of it was stored, or the commit broke off and all may have
                been.
            WriteConflict: Nothing of it was stored.

        Raises:
            StoreUnavailable: The server is stopping. Nothing of it was stored.
        """
        await self._has_room.wait()
        if self.stopping.is_set():
            raise StoreUnavailable(_STOPPING)
        return self._enqueue(None, payload, num_events)

    def _enqueue(
        self, payload_type: PayloadType | None, payload: bytes, num_events: int
    ) -> "asyncio.Future[Any]":
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        arrival = Arrival(payload_type, payload, time.time_ns())
        self._waiting.append(_Waiting(arrival, num_events, done))
        self._add_waiting(len(payload))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        return done

    def _add_waiting(self, num_bytes: int) -> None:
        self._waiting_bytes += num_bytes
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self._has_room.clear()
        else:
            self._has_room.set()

    async def stop(self, within_s: float | None = None) -> None:
        """Commit what was accepted, then refuse what comes. Idempotent.

        Args:
            within_s: Seconds for that. What is not committed by then is refused as well, also where
                a commit is on its way. None: as long as it takes.
        """
        self.stopping.set()
        if self._task is not None:
            committing = self._task
            await asyncio.wait([committing], timeout=within_s)
            if not committing.done():
                committing.cancel()
                await asyncio.wait([committing])
        await self._committer.close()

    async def _commit_all(self) -> None:
        batch: list[_Waiting] = []
        try:
            while self._waiting:
                await self._gather()
                batch = self._take_batch()
                await self._commit(batch)
        except asyncio.CancelledError:
            self._fail_all(batch, StoreUnavailable(_TOO_LATE))
        self._task = None

    async def _commit(self, batch: list[_Waiting]) -> None:
        try:
            verdicts = await self._committer.commit([each.arrival for each in batch])
        except Exception as error:  # noqa: BLE001 - each caller must hear of it
            if self.stopping.is_set():
                # A store that hangs would take its time for each of the batches.
                self._fail_all(batch, error)
            else:
                _fail(batch, error)
        else:
            self._count(verdicts)
            _answer(batch, verdicts)

    def _fail_all(self, batch: list[_Waiting], error: Exception) -> None:
        _fail(batch, error)
        while self._waiting:
            _fail(self._take_batch(), error)

    async def _gather(self) -> None:
        """Let the event loop go round as long as each round brings events.

        A commit costs as much as ten events. Without this the writer would take what is there the
        moment it is free, ever so little under load, and use up a core with commits. An idle sink
        waits for one round, which is no time.
        """
        num_seen = 0
        while num_seen < len(self._waiting) < MAX_BATCH_EVENTS:
            num_seen = len(self._waiting)
            await asyncio.sleep(0)

    def _take_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        num_events = size_bytes = 0
        while self._waiting and num_events < MAX_BATCH_EVENTS and size_bytes < MAX_BATCH_BYTES:
            waiting = self._waiting.popleft()
            batch.append(waiting)
            num_events += waiting.num_events
            size_bytes += len(waiting.arrival.payload)
        self._add_waiting(-size_bytes)
        return batch


def _answer(batch: list[_Waiting], verdicts: list[Verdict]) -> None:
    start = 0
    for arrival, num_events, done in batch:
        if done.done():  # its caller was cancelled
            pass
        elif arrival.payload_type is None:
            done.set_result(verdicts[start : start + num_events])
        else:
            _answer_one(done, verdicts[start])
        start += num_events


def _answer_one(done: "asyncio.Future[Any]", verdict: Verdict) -> None:
    if isinstance(verdict, Exception):
        done.set_exception(verdict)
    elif verdict.objection is not None:
        done.set_exception(verdict.objection)
    else:
        done.set_result(verdict)


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for _, _, done in batch:
        if not done.done():
            done.set_exception(error)

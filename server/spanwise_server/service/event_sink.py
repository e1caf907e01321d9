"""The way in: events are committed in groups, and each caller hears of its own after the commit."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.events import PayloadType
from spanwise_server.service.arrivals import Arrival, Recorded, Verdict

MAX_BATCH_EVENTS = 1000
"""Above this a larger batch saves next to nothing, but its first caller waits longer."""

MAX_BATCH_BYTES = 16 * 2**20
"""Bounds the memory of a batch of large events, such as compiled dynamic workflows."""

MAX_WAITING_BYTES = 256 * 2**20
"""Bounds the memory of the queue before a store that has stopped."""


class Committer(Protocol):
    """Commits batches."""

    async def commit(self, batch: Sequence[Arrival]) -> list[Verdict]:
        """Give one verdict for each arrival, in the same order, after a durable commit of all.

        Raises:
            StoreUnavailable: Nothing was stored, or the commit broke off and all may have been.
            WriteConflict: Nothing was stored.
        """

    async def close(self) -> None:
        """Give back processes and connections, after what runs. Idempotent."""


class _Waiting(NamedTuple):
    arrival: Arrival
    done: "asyncio.Future[Recorded]"


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
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

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
        if self._stopped:
            raise StoreUnavailable("the server is stopping")
        if self._waiting_bytes > MAX_WAITING_BYTES:
            raise StoreUnavailable("too many events wait for the database; try again later")
        done: asyncio.Future[Recorded] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(Arrival(payload_type, payload, time.time_ns()), done))
        self._waiting_bytes += len(payload)
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        return done

    async def stop(self) -> None:
        """Commit what was accepted, then refuse what comes. Idempotent."""
        self._stopped = True
        if self._task is not None:
            await self._task
        await self._committer.close()

    async def _commit_all(self) -> None:
        while self._waiting:
            await self._gather()
            batch = self._take_batch()
            try:
                verdicts = await self._committer.commit([arrival for arrival, _ in batch])
            except Exception as error:  # noqa: BLE001 - each caller must hear of it
                _fail(batch, error)
            else:
                self._count(verdicts)
                _answer(batch, verdicts)
        self._task = None

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
        size_bytes = 0
        while self._waiting and len(batch) < MAX_BATCH_EVENTS and size_bytes < MAX_BATCH_BYTES:
            waiting = self._waiting.popleft()
            batch.append(waiting)
            size_bytes += len(waiting.arrival.payload)
        self._waiting_bytes -= size_bytes
        return batch


def _answer(batch: list[_Waiting], verdicts: list[Verdict]) -> None:
    for (_, done), verdict in zip(batch, verdicts, strict=True):
        if done.done():  # its caller was cancelled
            continue
        if isinstance(verdict, Exception):
            done.set_exception(verdict)
        else:
            done.set_result(verdict)


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for _, done in batch:
        if not done.done():
            done.set_exception(error)

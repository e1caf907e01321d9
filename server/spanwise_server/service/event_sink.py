"""The way in: events are committed in groups, and each caller hears of its own after the commit."""

import asyncio
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from spanwise_server.domain.errors import EventAlreadyRecorded, StoreUnavailable
from spanwise_server.domain.events import Disposition, Event
from spanwise_server.service.recorder import Arrival, record_batch
from spanwise_server.service.recorder import Recorded as _Result
from spanwise_server.storage.api import Storage

MAX_BATCH_EVENTS = 1000
"""Above this a larger batch saves next to nothing (17 µs an event) but its first caller waits
longer."""

MAX_BATCH_BYTES = 16 * 2**20
"""Bounds the memory of a batch of large events, such as compiled dynamic workflows."""

MAX_WAITING_EVENTS = 100_000
"""Bounds the memory of a queue before a store that has stopped: about 100 MB of usual events."""


class Recorded(NamedTuple):
    """Where an event went: its sequence inside its execution, and what became of it."""

    sequence: int
    disposition: Disposition


class _Waiting(NamedTuple):
    arrival: Arrival
    done: "asyncio.Future[Recorded]"


class EventSink:
    """Takes events in and commits them in groups.

    While one batch commits, the next gathers; a batch is all that arrived meanwhile. An idle sink
    commits a single event at once. To be used from one event loop.
    """

    def __init__(self, storage: Storage) -> None:
        """Write to `storage`, from a thread of its own that starts with the first event."""
        self._storage = storage
        self._waiting: deque[_Waiting] = deque()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="spanwise-writer")
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    async def record(self, event: Event) -> Recorded:
        """Store one event and give where it went, after a durable commit.

        Safe to repeat: a repeated event is logged again as a duplicate and changes nothing. When
        the caller is cancelled the event may be stored all the same.

        Raises:
            EventAlreadyRecorded: It repeats a phase. It was logged, and what else was new in it was
            kept. EventRefused: It contradicts what is stored. It was logged as refused.
            StoreUnavailable: It was not stored, or the commit broke off and it may have been.
            WriteConflict: It was not stored.
        """
        if self._stopped:
            raise StoreUnavailable("the server is stopping")
        if len(self._waiting) >= MAX_WAITING_EVENTS:
            raise StoreUnavailable(
                f"{MAX_WAITING_EVENTS} events wait for the database already; try again later"
            )
        done: asyncio.Future[Recorded] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(Arrival(event, time.time_ns()), done))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        return await done

    async def stop(self) -> None:
        """Commit what was accepted, then refuse what comes. Idempotent."""
        self._stopped = True
        if self._task is not None:
            await self._task
        self._writer.shutdown()

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = self._take_batch()
            try:
                results = await loop.run_in_executor(self._writer, self._commit, batch)
            except Exception as error:  # noqa: BLE001 - each caller must hear of it
                _fail(batch, error)
            else:
                _answer(batch, results)
        self._task = None

    def _take_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        size_bytes = 0
        while self._waiting and len(batch) < MAX_BATCH_EVENTS and size_bytes < MAX_BATCH_BYTES:
            waiting = self._waiting.popleft()
            batch.append(waiting)
            size_bytes += len(waiting.arrival.event.payload)
        return batch

    def _commit(self, batch: list[_Waiting]) -> list[_Result]:
        arrivals = [waiting.arrival for waiting in batch]
        return self._storage.write(lambda transaction: record_batch(transaction, arrivals))


def _answer(batch: list[_Waiting], results: list[_Result]) -> None:
    for waiting, (sequence, decision) in zip(batch, results, strict=True):
        if waiting.done.done():  # its caller was cancelled
            continue
        if decision.refusal is not None:
            waiting.done.set_exception(decision.refusal)
        elif decision.disposition is Disposition.DUPLICATE:
            waiting.done.set_exception(EventAlreadyRecorded(waiting.arrival.event.phase))
        else:
            waiting.done.set_result(Recorded(sequence, decision.disposition))


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for waiting in batch:
        if not waiting.done.done():
            waiting.done.set_exception(error)

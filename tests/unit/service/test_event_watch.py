"""Following logs in a real store, without a wire."""

import asyncio
import random
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from spanwise_server.domain.errors import ExecutionNotFound, InvalidQuery, StoreUnavailable
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.service import commit_wait, event_log
from spanwise_server.service.commit_wait import Commits
from spanwise_server.service.event_log import EventLog, LogPart
from spanwise_server.service.event_watch import EventWatches
from spanwise_server.service.retention import delete_execution
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.sql import open_storage
from tests.unit.service.test_recording import RUN, commit, storage_at, task, workflow

T = TypeVar("T")
DEADLINE_S = 60
MIB = 2**20


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Give the path of the store."""
    return tmp_path / "spanwise.db"


@pytest.fixture
def storage(database: Path) -> Iterator[Storage]:
    """Give an empty store."""
    storage = storage_at(database)
    yield storage
    storage.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once."""
    monkeypatch.setattr(commit_wait, "POLL_INTERVAL_S", 0.001)
    monkeypatch.setattr(commit_wait, "REST_S", 0.0)


class CountingLog(EventLog):
    """A log that counts how often it is read, and asked for last sequences."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.num_reads = 0
        self.asked: list[set[ExecutionId]] = []

    def read_after(self, execution_id: ExecutionId, *arguments: Any, **named: Any) -> LogPart:
        """See EventLog."""
        self.num_reads += 1
        return super().read_after(execution_id, *arguments, **named)

    def get_last_sequences(self, execution_ids: Collection[ExecutionId]) -> dict[ExecutionId, int]:
        """See EventLog."""
        self.asked.append(set(execution_ids))
        return super().get_last_sequences(execution_ids)


@asynccontextmanager
async def watching(log: EventLog) -> AsyncIterator[EventWatches]:
    """Let logs be watched."""
    pool = QueryPool()
    commits = Commits(time.sleep)  # a store that tells nothing
    watches = EventWatches(log, pool, commits)
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield watches
    finally:
        watches.stop()
        pool.close()
        commits.close()


def follow(
    watches: EventWatches, after_sequence: int = 0, *, run: ExecutionId = RUN
) -> AsyncGenerator[LogPart, None]:
    """Watch an execution, without payloads."""
    return watches.watch(run, after_sequence, with_payload=False)


async def sequences(parts: AsyncGenerator[LogPart, None], last: int) -> list[int]:
    """Read until an event has come, and give the sequences."""
    heard: list[int] = []
    while last not in heard:
        heard += [logged.record.sequence for logged in (await anext(parts)).events]
    return heard


async def until(is_so: Callable[[], bool]) -> None:
    """Let the event loop go round until something is so."""
    while not is_so():  # noqa: ASYNC110 - no event tells of it
        await asyncio.sleep(0)


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a test in an event loop."""
    return asyncio.run(work())


def tasks(count: int, first: int = 0) -> list[tuple[PayloadType, bytes]]:
    """Give events of one attempt, each of its own version."""
    return [
        task("RUNNING", number, f"reason {number}", version=number)
        for number in range(first, first + count)
    ]


def test_what_is_there_comes_at_once_and_new_events_as_they_commit(storage: Storage) -> None:
    """Each once, in the order of receipt."""

    async def work() -> list[int]:
        commit(storage, *tasks(3))
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            heard = await sequences(parts, 3)
            commit(storage, *tasks(2, first=3))
            return heard + await sequences(parts, 5)

    assert run(work) == [1, 2, 3, 4, 5]


def test_the_first_part_is_empty_where_there_is_nothing_yet(storage: Storage) -> None:
    """For an execution that is not known, and for a cursor at the end. No later one is."""

    async def work() -> list[list[int]]:
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            first = await anext(parts)
            commit(storage, *tasks(2))
            second = await anext(parts)
            async with aclosing(follow(watches, 2)) as behind:
                return [
                    [logged.record.sequence for logged in part.events]
                    for part in (first, second, await anext(behind))
                ]

    assert run(work) == [[], [1, 2], []]


def test_a_watch_goes_on_after_the_end_of_the_execution(storage: Storage) -> None:
    """What comes late is told as well."""

    async def work() -> list[int]:
        commit(storage, workflow("RUNNING", 0), workflow("SUCCEEDED", 9))
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            heard = await sequences(parts, 2)
            commit(storage, task("QUEUED", 1))
            return heard + await sequences(parts, 3)

    assert run(work) == [1, 2, 3]


def test_a_watch_that_is_resumed_gives_what_came_meanwhile_and_no_more(storage: Storage) -> None:
    """However its cursor stands to the parts of the log."""

    async def work() -> list[int]:
        commit(storage, *tasks(7))
        async with watching(EventLog(storage)) as watches:
            async with aclosing(follow(watches)) as parts:
                await sequences(parts, 7)
            commit(storage, *tasks(50, first=7))
            async with aclosing(follow(watches, 7)) as parts:
                return await sequences(parts, 57)

    assert run(work) == list(range(8, 58))


def test_a_slow_watcher_holds_one_part_and_no_backlog(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next part is read when the one before was taken, whatever commits meanwhile."""
    monkeypatch.setattr(event_log, "MAX_PAGE_SIZE", 10)
    log = CountingLog(storage)

    async def work() -> tuple[int, list[int]]:
        async with watching(log) as watches, aclosing(follow(watches)) as parts:
            commit(storage, *tasks(100))
            first = await anext(parts)
            looks = len(log.asked)
            while len(log.asked) < looks + 5:
                commit(storage, *tasks(1, first=100 + len(log.asked)))
                await asyncio.sleep(0)
            reads = log.num_reads
            begun = [logged.record.sequence for logged in first.events]
            return reads, begun + await sequences(parts, 100)

    reads, heard = run(work)
    assert reads == 1
    assert heard == list(range(1, len(heard) + 1))


def test_large_payloads_are_read_a_few_at_a_time(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts are bounded by bytes; without payloads by their number alone."""
    monkeypatch.setattr(event_log, "PART_BYTES", 1)
    commit(storage, *tasks(2 * event_log.STEP_EVENTS + 1))
    log = EventLog(storage)

    def sizes(*, with_payload: bool) -> list[int]:
        found, cursor, is_last = [], 0, False
        while not is_last:
            events, is_last = log.read_after(RUN, cursor, with_payload=with_payload)
            assert all(bool(logged.record.payload) is with_payload for logged in events)
            found.append(len(events))
            cursor = events[-1].record.sequence
        return found

    assert sizes(with_payload=True) == [event_log.STEP_EVENTS, event_log.STEP_EVENTS, 1]
    assert sizes(with_payload=False) == [2 * event_log.STEP_EVENTS + 1]


def test_a_part_of_several_steps_has_no_gap_and_no_overlap(storage: Storage) -> None:
    """Small payloads make one part."""
    count = 3 * event_log.STEP_EVENTS
    commit(storage, *tasks(count + 1))
    events, is_last = EventLog(storage).read_after(RUN, 1, with_payload=True)
    assert [logged.record.sequence for logged in events] == list(range(2, count + 2))
    assert is_last


def test_all_watchers_share_one_question(storage: Storage) -> None:
    """However many they are, and nobody asks when nobody watches."""
    log = CountingLog(storage)
    other = RUN._replace(name="other")

    async def work() -> bool:
        commit(storage, *tasks(1))
        async with (
            watching(log) as watches,
            aclosing(follow(watches)) as one,
            aclosing(follow(watches)) as two,
            aclosing(follow(watches, run=other)) as three,
        ):
            for parts in (one, two, three):
                await anext(parts)
            seen = len(log.asked)
            await until(lambda: len(log.asked) >= seen + 3)
            assert log.asked[seen : seen + 3] == [{RUN, other}] * 3
            for parts in (one, two, three):
                await parts.aclose()
            await until(lambda: watches._poller is None)  # noqa: SLF001 - nothing else shows it
            return True

    assert run(work)


@pytest.mark.parametrize("number", [0, 3])
def test_a_cursor_past_the_end_is_refused(number: int, storage: Storage) -> None:
    """It would wait in silence for events that have other sequences."""

    async def work() -> LogPart:
        if number:
            commit(storage, *tasks(number))
        async with watching(EventLog(storage)) as watches:
            return await anext(follow(watches, 5))

    with pytest.raises(InvalidQuery, match="after_sequence: is 5, past the end") as refused:
        run(work)
    assert ("no event" if not number else "last event is 3") in str(refused.value)


def delete_half(storage: Storage) -> None:
    """Begin to delete the execution of these tests, and leave some of its events."""

    def work(transaction: WriteTransaction) -> None:
        transaction.mark_deleted([execution_key(RUN)])
        transaction.delete_part(execution_key(RUN), max_rows=9, max_bytes=MIB)

    storage.write(work)
    with storage.read() as reader:
        assert 0 < reader.get_last_sequences([execution_key(RUN)])[execution_key(RUN)] < 5


def test_a_watch_that_waits_hears_of_the_deletion(storage: Storage) -> None:
    """At its first step already: it would wait for ever."""

    async def work() -> None:
        commit(storage, *tasks(5))
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            await sequences(parts, 5)
            delete_half(storage)
            await anext(parts)

    with pytest.raises(ExecutionNotFound, match="or it was deleted"):
        run(work)


def test_what_a_deletion_has_left_is_not_given(storage: Storage) -> None:
    """Neither to one that reads slowly, nor to one that begins, nor in pages."""

    async def work() -> None:
        commit(storage, *tasks(5))
        log = EventLog(storage)
        page = log.list_events(RUN, by_time=False, page_size=1, page_token="", with_payload=False)
        async with watching(log) as watches, aclosing(follow(watches, 1)) as slow:
            await sequences(slow, 5)
            delete_half(storage)
            for parts in (slow, follow(watches), follow(watches, 1)):
                with pytest.raises(ExecutionNotFound):
                    await anext(parts)
        with pytest.raises(ExecutionNotFound):
            log.list_events(
                RUN,
                by_time=False,
                page_size=1,
                page_token=page.next_page_token,
                with_payload=False,
            )

    run(work)


def test_a_watch_does_not_go_on_with_what_was_begun_anew(storage: Storage) -> None:
    """Its sequences are others."""

    async def work() -> None:
        commit(storage, *tasks(5))
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            await sequences(parts, 5)
            delete_execution(storage, RUN)
            commit(storage, *tasks(2))
            await anext(parts)

    with pytest.raises((ExecutionNotFound, InvalidQuery), match="deleted"):
        run(work)


def test_an_execution_that_is_gone_is_waited_for_by_those_who_begin(storage: Storage) -> None:
    """As any that is not known yet."""

    async def work() -> list[int]:
        commit(storage, *tasks(5))
        delete_execution(storage, RUN)
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            assert (await anext(parts)).events == []
            commit(storage, *tasks(1))
            return await sequences(parts, 1)

    assert run(work) == [1]


def test_every_watch_hears_that_the_store_is_away_and_the_next_one_begins_anew(
    storage: Storage,
) -> None:
    """Whoever watches calls again."""

    async def work() -> None:
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            await anext(parts)
            storage.close()
            for watch in (parts, follow(watches)):
                with pytest.raises(StoreUnavailable, match="the storage is closed"):
                    await anext(watch)

    run(work)


def test_every_watch_hears_of_a_stop(storage: Storage) -> None:
    """Also one that begins after it."""

    async def work() -> None:
        async with watching(EventLog(storage)) as watches, aclosing(follow(watches)) as parts:
            await anext(parts)
            waiting = asyncio.create_task(anext(parts))
            await asyncio.sleep(0)
            watches.stop()
            for watch in (waiting, anext(follow(watches))):
                with pytest.raises(StoreUnavailable, match="watch again, from the sequence"):
                    await watch

    run(work)


def test_a_watch_misses_nothing_of_writers_with_connections_of_their_own(database: Path) -> None:
    """Four at once, as four processes have them, while watchers come and go at any cursor."""
    storage_at(database).close()
    writers, batches = 4, 25
    stores = [open_storage(f"sqlite:///{database}") for _ in range(writers + 1)]
    total = writers * batches * 3

    def write(number: int) -> None:
        for batch in range(batches):
            commit(stores[number], *tasks(3, first=1_000 * number + 3 * batch))

    async def follow_all(watches: EventWatches, source: random.Random) -> list[int]:
        heard: list[int] = []
        while len(heard) < total:
            async with aclosing(follow(watches, heard[-1] if heard else 0)) as parts:
                for _ in range(source.randint(1, 5)):
                    if len(heard) == total:
                        break
                    heard += [logged.record.sequence for logged in (await anext(parts)).events]
        return heard

    async def work() -> list[list[int]]:
        async with watching(EventLog(stores[-1])) as watches:
            return await asyncio.gather(
                *(follow_all(watches, random.Random(seed)) for seed in range(3))
            )

    with ThreadPoolExecutor(writers) as threads:
        writing = [threads.submit(write, number) for number in range(writers)]
        heard = asyncio.run(work())
        for each in writing:
            each.result()
    for store in stores:
        store.close()
    assert heard == [list(range(1, total + 1))] * 3


def test_nothing_is_missed_between_the_read_and_the_wait(storage: Storage) -> None:
    """An event that commits after the read, and before its result is seen."""
    did_read, may_go_on = threading.Event(), threading.Event()

    class SlowLog(EventLog):
        def read_after(self, *arguments: Any, **named: Any) -> LogPart:
            part = super().read_after(*arguments, **named)
            did_read.set()
            may_go_on.wait(DEADLINE_S)
            return part

    async def work() -> list[int]:
        async with watching(SlowLog(storage)) as watches, aclosing(follow(watches)) as parts:
            first = asyncio.create_task(anext(parts))
            await asyncio.to_thread(did_read.wait, DEADLINE_S)
            commit(storage, *tasks(1))
            await until(lambda: watches._followed[RUN].last_sequence == 1)  # noqa: SLF001 - as above
            may_go_on.set()
            assert (await first).events == []
            return await sequences(parts, 1)

    assert run(work) == [1]

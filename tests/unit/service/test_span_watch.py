"""Following executions in a real store, without a wire."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from spanwise_server.domain.errors import CorruptRecord, StoreUnavailable
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.service import span_watch
from spanwise_server.service.span_queries import LiveTree
from spanwise_server.service.span_watch import Render, SpanWatches
from spanwise_server.storage.api import Storage
from tests.unit.rpc.flyte import T0
from tests.unit.service.test_recording import RUN, commit, queries_of, storage_at, task, workflow

T = TypeVar("T")
DEADLINE_S = 30
NOW_NS = (T0 + 60) * 10**9
LIMIT_NS = 3600 * 10**9

View = tuple[bool, int]
"""What the watchers of these tests see: whether the execution is stale, and the last sequence."""


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    """Give an empty store. Whoever watches it closes it."""
    return storage_at(tmp_path / "spanwise.db")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once."""
    monkeypatch.setattr(span_watch, "POLL_INTERVAL_S", 0.001)


def show(tree: LiveTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
    """See Render."""
    view = (SpanQuality.STALE in tree.root.qualities, tree.sequence)
    return previous if previous == view else view


@asynccontextmanager
async def watching(
    storage: Storage, render: Render[View] = show, now_ns: Callable[[], int] = lambda: NOW_NS
) -> AsyncIterator[SpanWatches[View]]:
    """Let executions of a store be watched."""
    pool = QueryPool()
    watches = SpanWatches(queries_of(storage, LIMIT_NS), pool, render, now_ns)
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield watches
    finally:
        watches.stop()
        pool.close()
        storage.close()


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a test in an event loop."""
    return asyncio.run(work())


def test_an_execution_that_is_not_known_yet_is_waited_for(storage: Storage) -> None:
    """Nothing is told until any event names it."""

    async def work() -> View:
        async with watching(storage) as watches, aclosing(watches.watch(RUN, None)) as views:
            first = asyncio.create_task(anext(views))
            commit(storage, task("QUEUED", 1))
            return await first

    assert run(work) == (False, 1)


def test_the_end_of_the_execution_ends_the_watch(storage: Storage) -> None:
    """After the view that shows it."""

    async def work() -> list[int]:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage) as watches, aclosing(watches.watch(RUN, None)) as views:
            heard = [(await anext(views))[1]]
            commit(storage, workflow("SUCCEEDED", 9))
            return heard + await sequences(views)

    assert run(work) == [1, 2]


def test_an_execution_that_has_ended_is_told_once(storage: Storage) -> None:
    """Then there is nothing to wait for."""

    async def work() -> list[int]:
        commit(storage, workflow("RUNNING", 0), workflow("SUCCEEDED", 9))
        async with watching(storage) as watches:
            return await sequences(watches.watch(RUN, None))

    assert run(work) == [2]


def test_a_slow_watcher_gets_the_newest_view_alone(storage: Storage) -> None:
    """Those between are lost to it, and to it only."""

    async def work() -> tuple[list[int], int]:
        commit(storage, workflow("RUNNING", 0))
        async with (
            watching(storage) as watches,
            aclosing(watches.watch(RUN, None)) as slow,
            aclosing(watches.watch(RUN, None)) as quick,
        ):
            await anext(slow)
            heard = [(await anext(quick))[1]]
            for number in range(3):
                commit(storage, task("QUEUED", number + 1))
                heard.append((await anext(quick))[1])
            return heard, (await anext(slow))[1]

    assert run(work) == ([1, 2, 3, 4], 4)


def test_watchers_of_one_execution_share_every_look(storage: Storage) -> None:
    """Fifty cost what one costs."""
    looks = []

    def counted(tree: LiveTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
        looks.append(tree.sequence)
        return show(tree, as_of_ns, depth, previous)

    async def work() -> list[list[int]]:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage, counted) as watches:
            watchers = [watches.watch(RUN, None) for _ in range(50)]
            await asyncio.gather(*map(anext, watchers))
            commit(storage, workflow("SUCCEEDED", 9))
            return await asyncio.gather(*map(sequences, watchers))

    assert run(work) == [[2]] * 50
    assert looks == [1, 2]


async def sequences(views: AsyncGenerator[View, None]) -> list[int]:
    """Read a watch to its end."""
    return [sequence async for _, sequence in views]


def test_silence_makes_a_span_stale_without_any_event(storage: Storage) -> None:
    """It is judged again when its time is over."""
    now_ns = NOW_NS

    async def work() -> list[View]:
        nonlocal now_ns
        commit(storage, workflow("RUNNING", 0))
        async with (
            watching(storage, now_ns=lambda: now_ns) as watches,
            aclosing(watches.watch(RUN, None)) as views,
        ):
            heard = [await anext(views)]
            now_ns += LIMIT_NS
            return [*heard, await anext(views)]

    assert run(work) == [(False, 1), (True, 1)]


def test_a_store_that_goes_away_ends_the_watches(storage: Storage, tmp_path: Path) -> None:
    """Those who watch can come back when it does."""

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage) as watches, aclosing(watches.watch(RUN, None)) as views:
            await anext(views)
            (tmp_path / "spanwise.db").rename(tmp_path / "elsewhere.db")
            await anext(views)

    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        run(work)


def test_a_tree_that_cannot_be_built_is_told(storage: Storage) -> None:
    """As a request for it would be."""

    def broken(tree: LiveTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
        raise CorruptRecord("damaged")

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0))
        async with (
            watching(storage, broken) as watches,
            aclosing(watches.watch(RUN, None)) as views,
        ):
            await anext(views)

    with pytest.raises(CorruptRecord):
        run(work)


def test_stopping_ends_those_who_wait_and_those_who_come(storage: Storage) -> None:
    """With what to do."""

    async def work() -> list[str]:
        told = []
        async with watching(storage) as watches:
            waiting = asyncio.create_task(anext(watches.watch(RUN, None)))
            await asyncio.sleep(0)
            watches.stop()
            for each in (waiting, anext(watches.watch(RUN, None))):
                with pytest.raises(StoreUnavailable) as refused:
                    await each
                told.append(str(refused.value))
        return told

    told = run(work)
    assert len(told) == 2
    assert all("watch again" in each for each in told)


def test_nothing_is_asked_when_nobody_watches(storage: Storage) -> None:
    """The last one who goes ends the polling; the next one starts it again."""

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage) as watches:
            for _ in range(2):
                async with aclosing(watches.watch(RUN, None)) as views:
                    await anext(views)
                await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    run(work)


def test_a_tree_that_was_just_built_is_left_alone_for_a_while(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many events come. The time is that of the build, many times over."""
    monkeypatch.setattr(span_watch, "REST_FACTOR", 10**6)
    looks = []

    def noted(tree: LiveTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
        looks.append((depth, tree.sequence))
        return show(tree, as_of_ns, depth, previous)

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0))
        async with (
            watching(storage, noted) as watches,
            aclosing(watches.watch(RUN, None)) as whole,
            aclosing(watches.watch(RUN, 0)) as top,
            aclosing(watches.watch(RUN, 1)) as middle,
        ):
            await anext(whole)
            commit(storage, task("QUEUED", 1))
            await anext(top)  # from a round that may have begun before the event
            await anext(middle)  # from a round that found the event for all three

    run(work)
    assert looks == [(None, 1), (0, 2), (1, 2)]

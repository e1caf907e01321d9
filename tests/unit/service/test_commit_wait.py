"""Waiting for commits of a real store."""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.service import commit_wait
from spanwise_server.service.commit_wait import Commits
from spanwise_server.storage.api import Storage
from tests.unit.service.test_recording import commit, storage_at, task

DEADLINE_S = 60
NEVER_S = 3600.0


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    """Give an empty store."""
    storage = storage_at(tmp_path / "spanwise.db")
    yield storage
    storage.close()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing but commits end a wait."""
    monkeypatch.setattr(commit_wait, "POLL_INTERVAL_S", NEVER_S)


@asynccontextmanager
async def commits_of(
    wait_for_commits: Callable[[float], None], end: Callable[[], None]
) -> AsyncIterator[Commits]:
    """Wait for commits, and at the end do what makes them end."""
    commits = Commits(wait_for_commits)
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield commits
    finally:
        end()
        commits.close()


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test in an event loop."""
    asyncio.run(work())


def test_every_wait_ends_after_a_commit(storage: Storage) -> None:
    """Whoever committed it. The first wait of all ends at once, for what was before."""

    async def work() -> None:
        async with commits_of(storage.wait_for_commits, storage.close) as commits:
            one, two = commits.new_wait(), commits.new_wait()
            await one.wait()
            await two.wait()
            waiting = [asyncio.create_task(each.wait()) for each in (one, two)]
            await asyncio.sleep(0)
            assert not any(each.done() for each in waiting)
            commit(storage, task("QUEUED", 1))
            await asyncio.gather(*waiting)

    run(work)


def test_a_commit_during_a_look_ends_the_next_wait(storage: Storage) -> None:
    """Of every one who looks, also when another one waited for it meanwhile."""

    async def work() -> None:
        async with commits_of(storage.wait_for_commits, storage.close) as commits:
            quick, slow = commits.new_wait(), commits.new_wait()
            await quick.wait()
            await slow.wait()
            commit(storage, task("QUEUED", 1))
            await quick.wait()
            await slow.wait()

    run(work)


def test_a_wait_can_be_hurried() -> None:
    """Before it begins, and while it is on; the others go on."""
    news: queue.SimpleQueue[None] = queue.SimpleQueue()

    async def work() -> None:
        async with commits_of(lambda _: news.get(), lambda: news.put(None)) as commits:
            hurried, other = commits.new_wait(), commits.new_wait()
            hurried.hurry()
            await hurried.wait()
            waiting, still = asyncio.create_task(hurried.wait()), asyncio.create_task(other.wait())
            await asyncio.sleep(0)
            hurried.hurry()
            await waiting
            assert not still.done()
            still.cancel()

    run(work)


def test_one_thread_waits_for_all_and_only_while_somebody_waits() -> None:
    """A store is asked by one thread of a process."""
    asked: list[threading.Thread] = []
    news: queue.SimpleQueue[None] = queue.SimpleQueue()

    def wait_for_commits(_: float) -> None:
        asked.append(threading.current_thread())
        news.get()

    async def work() -> None:
        async with commits_of(wait_for_commits, lambda: news.put(None)) as commits:
            waits = [commits.new_wait() for _ in range(3)]
            for _ in range(2):
                waiting = [asyncio.create_task(each.wait()) for each in waits]
                await asyncio.sleep(0)
                news.put(None)
                await asyncio.gather(*waiting)
            await asyncio.sleep(0)
            assert len(asked) == 2
            assert len(set(asked)) == 1

    run(work)


@pytest.mark.parametrize("error", [StoreUnavailable("away"), RuntimeError("of a driver")])
def test_a_store_that_is_away_is_looked_at_all_the_same(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then and when: who looks hears what is wrong, or that it is back."""
    monkeypatch.setattr(commit_wait, "POLL_INTERVAL_S", 0.001)

    def wait_for_commits(_: float) -> None:
        raise error

    async def work() -> None:
        async with commits_of(wait_for_commits, lambda: None) as commits:
            wait = commits.new_wait()
            for _ in range(3):
                await wait.wait()

    run(work)

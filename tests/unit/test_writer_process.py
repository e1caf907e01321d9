"""The serving process's end of the writer, when the writer hangs."""

import asyncio
import os
import signal
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
import uvloop

from spanwise_server import bootstrap
from spanwise_server.bootstrap import build_server, open_migrated
from spanwise_server.child_process import await_end
from spanwise_server.config import Settings
from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.events import Disposition
from spanwise_server.service.arrivals import Arrival, Recorded
from spanwise_server.service.event_sink import EventSink
from spanwise_server.writer import __main__ as own_end
from spanwise_server.writer import process as process_module
from spanwise_server.writer.process import MAX_MISSED_SIGNS, WriterProcess
from tests.process_tree import children_in_order
from tests.unit.service.test_recording import storage_at, task

DEADLINE_S = 60
SIGN_EVERY_S = 0.1
HANGS = ["the writer process hangs"]
SAYS_WHAT_TO_DO = r"no sign of life for 2 s and was killed; .* send it again"


class Running:
    """A writer, and what it told of its troubles."""

    def __init__(self, database: Path) -> None:
        storage_at(database).close()
        self.told: list[str] = []
        url = f"sqlite:///{database}"
        self.process = WriterProcess(
            url, "critical", note_trouble=self.told.append, sign_every_s=SIGN_EVERY_S
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        running = self.process._writer  # noqa: SLF001 - nothing else tells it
        assert running is not None
        return running.process.pid

    @property
    def troubles(self) -> list[str]:
        """What it told, without what it tells at every sign of life."""
        return [text for text in self.told if text]

    async def commit(self, version: int) -> Recorded | Exception:
        """Store an event."""
        kind, payload = task("RUNNING", version, version=version)
        [verdict] = await self.process.commit([Arrival(kind, payload, version)])
        return verdict


@asynccontextmanager
async def running(database: Path) -> AsyncIterator[Running]:
    """Run a writer."""
    writer = Running(database)
    await writer.process.start()
    try:
        yield writer
    finally:
        await writer.process.close()


async def until(is_so: Callable[[], object]) -> None:
    """Wait for a condition."""
    while not is_so():  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.001)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a test in the event loop that servers have."""

    async def limited() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(limited())


def test_a_writer_that_has_nothing_to_do_is_not_taken_for_one_that_hangs(tmp_path: Path) -> None:
    """It is asked for signs of life, and gives them."""

    async def work() -> None:
        async with running(tmp_path / "spanwise.db") as writer:
            pid = writer.pid
            await until(lambda: len(writer.told) > MAX_MISSED_SIGNS + 5)
            assert writer.troubles == []
            assert isinstance(await writer.commit(1), Recorded)
            assert writer.pid == pid

    run(work())


def test_a_commit_that_takes_its_time_is_not_taken_for_one_that_hangs(tmp_path: Path) -> None:
    """As on a slow disk; here it waits for the lock of another."""
    database = tmp_path / "spanwise.db"

    async def work() -> None:
        async with running(database) as writer:
            assert isinstance(await writer.commit(1), Recorded)
            pid = writer.pid
            with closing(sqlite3.connect(database, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                committing = asyncio.create_task(writer.commit(2))
                missed_some = lambda: writer.process._num_missed > 3  # noqa: E731, SLF001
                await until(missed_some)
                assert not committing.done()
            assert isinstance(await committing, Recorded)
            assert isinstance(await writer.commit(3), Recorded)
            assert (writer.pid, writer.troubles) == (pid, [])

    run(work())


def test_a_writer_that_hangs_while_idle_is_replaced_before_anybody_hears_of_it(
    tmp_path: Path,
) -> None:
    """By one."""

    async def work() -> None:
        async with running(tmp_path / "spanwise.db") as writer:
            assert isinstance(await writer.commit(1), Recorded)
            hung = writer.pid
            os.kill(hung, signal.SIGSTOP)
            await until(lambda: writer.troubles == HANGS)
            await until(lambda: writer.told[-1] == "")
            assert isinstance(await writer.commit(2), Recorded)
            assert writer.pid != hung
            assert children_in_order(os.getpid()).count(hung) == 0
            assert writer.troubles == HANGS

    run(work())


def test_a_writer_that_hangs_in_its_start_is_replaced(tmp_path: Path) -> None:
    """Later than others, for it loads its code."""

    async def work() -> None:
        async with running(tmp_path / "spanwise.db") as writer:
            hung = writer.pid
            os.kill(hung, signal.SIGSTOP)
            with pytest.raises(StoreUnavailable, match="no sign of life for 6 s"):
                await writer.commit(1)
            assert isinstance(await writer.commit(1), Recorded)
            assert writer.pid != hung

    run(work())


def test_senders_hear_what_is_wrong_and_what_is_acknowledged_is_stored(tmp_path: Path) -> None:
    """Also when it hangs in the middle of a transaction: its end gives the lock back."""
    database = tmp_path / "spanwise.db"
    num_events = 600

    async def work() -> None:
        writer = Running(database)
        sink = EventSink(writer.process, lambda _: None)

        async def send(version: int) -> object:
            try:
                return await sink.record(*task("RUNNING", version, version=version))
            except StoreUnavailable as error:
                return str(error)

        async def send_some(first: int) -> list[object]:
            # In turns, so that batches are many; all are under way when the first is stored.
            sent = []
            for version in range(first, first + num_events):
                sent.append(asyncio.create_task(send(version)))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            await until(lambda: any(each.done() for each in sent))
            os.kill(writer.pid, signal.SIGSTOP)
            return await asyncio.gather(*sent)

        answers: list[object] = []
        try:
            for first in (0, num_events, 2 * num_events):
                answers += await send_some(first)
        finally:
            await sink.stop()
        stored = {each.sequence for each in answers if isinstance(each, Recorded)}
        refused = {each for each in answers if not isinstance(each, Recorded)}
        assert stored
        assert all("send it again" in str(text) for text in refused)
        with closing(sqlite3.connect(database)) as connection:
            logged = [row[0] for row in connection.execute("SELECT sequence FROM events")]
        assert stored <= set(logged)
        assert sorted(logged) == list(range(1, len(logged) + 1))

    run(work())


def test_no_other_writer_is_started_before_one_that_was_killed_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that waits for a disk does not end when it is killed. Senders hear of it."""
    has_ended = threading.Event()

    def await_late_end(process: Any) -> None:
        has_ended.wait(DEADLINE_S)
        await_end(process)

    monkeypatch.setattr(process_module, "await_end", await_late_end)
    monkeypatch.setattr(process_module, "END_S", 0.01)

    async def work() -> None:
        async with running(tmp_path / "spanwise.db") as writer:
            assert isinstance(await writer.commit(1), Recorded)
            hung = writer.pid
            os.kill(hung, signal.SIGSTOP)
            with pytest.raises(StoreUnavailable, match=SAYS_WHAT_TO_DO):
                await writer.commit(2)
            for _ in range(3):
                with pytest.raises(StoreUnavailable, match=r"does not end .* look at the disk"):
                    await writer.commit(2)
            assert writer.pid == hung
            assert writer.told[-1:] == HANGS
            has_ended.set()
            await until(lambda: writer.told[-1] == "")
            assert isinstance(await writer.commit(2), Recorded)
            assert writer.pid != hung

    run(work())


def test_a_server_whose_writer_hangs_is_not_serving_until_another_one_has_come_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever watches its health hears both."""

    def make_writer(*arguments: Any, **options: Any) -> WriterProcess:
        return WriterProcess(*arguments, **options, sign_every_s=SIGN_EVERY_S)

    monkeypatch.setattr(bootstrap, "WriterProcess", make_writer)
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'spanwise.db'}", log_level="error")

    async def work() -> None:
        server = build_server(settings, open_migrated(settings.database_url))
        try:
            await server.writer.start()
            await server.sink.record(*task("RUNNING", 1))
            running = server.writer._writer  # noqa: SLF001 - nothing else tells its process
            assert running is not None
            assert server.health.is_serving
            os.kill(running.process.pid, signal.SIGSTOP)
            for is_serving in (False, True):
                while server.health.is_serving is not is_serving:
                    await server.health.changed()
            await server.sink.record(*task("SUCCEEDED", 2))
        finally:
            await server.sink.stop()
            server.close()

    run(work())


def test_events_that_are_tried_one_by_one_are_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand commits may take longer than one may that is not taken for hung."""
    arrivals = [Arrival(*task("RUNNING", number), number) for number in range(5)]
    recorded: list[Arrival] = []
    signs: list[int] = []

    def commit_arrivals(_: object, __: object, batch: list[Arrival]) -> list[Recorded]:
        if len(batch) > 1:
            raise RuntimeError
        recorded.append(batch[0])
        return [Recorded(batch[0].recorded_at_ns, Disposition.ACCEPTED)]

    monkeypatch.setattr(own_end, "commit_arrivals", commit_arrivals)
    answer = own_end._commit(  # noqa: SLF001 - what the process does with a batch
        object(),  # type: ignore[arg-type]
        arrivals,
        lambda: signs.append(len(recorded)),
    )
    assert answer == [Recorded(number, Disposition.ACCEPTED) for number in range(5)]
    assert recorded == arrivals
    assert signs == [0, 1, 2, 3, 4]

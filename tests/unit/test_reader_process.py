"""The serving process's end of the reader, when the reader has just ended."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.reader.process import ReaderProcess
from tests.unit.service.test_recording import storage_at


@asynccontextmanager
async def closed_reader(tmp_path: Path) -> AsyncIterator[ReaderProcess]:
    """Give a reader whose socket is closed, and which does not know of it yet."""
    storage_at(tmp_path / "spanwise.db").close()
    reader = ReaderProcess(f"sqlite:///{tmp_path / 'spanwise.db'}", 10**9, "error")
    await reader.start()
    running = reader._reader  # noqa: SLF001 - nothing else ends it at such a moment
    assert running is not None
    running.listener.cancel()
    os.kill(running.process.pid, signal.SIGKILL)
    running.requests.close()
    await running.requests.wait_closed()
    try:
        yield reader
    finally:
        await reader.close()


def test_a_stream_that_is_left_as_the_reader_ends_is_no_error(tmp_path: Path) -> None:
    """Nobody hears of what closing one raises, but the log."""
    complaints: list[object] = []

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
        async with closed_reader(tmp_path) as reader:
            stream = reader.stream("StreamExecutionSpan", b"")
            with pytest.raises(StoreUnavailable, match="the reader process ended"):
                await anext(stream)
            await stream.aclose()
            reader.prepare(ExecutionId("p", "d", "n"))
        assert not reader._waiting  # noqa: SLF001 - what would leak

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())
    assert complaints == []


def test_a_read_as_the_reader_ends_is_told_to_try_again(tmp_path: Path) -> None:
    """It is no bug of the server."""

    async def work() -> None:
        async with closed_reader(tmp_path) as reader:
            with pytest.raises(StoreUnavailable, match="the reader process ended"):
                await reader.read("GetExecutionSpan", b"")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())

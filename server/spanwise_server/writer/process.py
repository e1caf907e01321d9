"""The serving process's end of the writer."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence

import structlog

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.service.arrivals import Arrival, Verdict
from spanwise_server.writer.wire import LENGTH, decode_answer, encode_batch, encode_frame

_log = structlog.get_logger(__name__)


class WriterProcess:
    """A Committer in a process of its own, started when first needed and again when it ended.

    To be used from one event loop, one commit at a time.
    """

    def __init__(self, database_url: str, log_level: str) -> None:
        """Write to the database at `database_url`; log from `log_level` up."""
        self._hello = encode_frame((database_url, log_level))
        self._process: Process | None = None

    async def start(self) -> None:
        """Start the process, unless it runs. Its first commit does it otherwise, and waits."""
        if self._process is None:
            # The URL may hold a password, so it goes through the pipe and not into the arguments.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "spanwise_server.writer", stdin=PIPE, stdout=PIPE
            )
            _input(self._process).write(self._hello)

    async def commit(self, batch: Sequence[Arrival]) -> list[Verdict]:
        """See Committer."""
        try:
            await self.start()
            answer = await self._ask(encode_batch(batch))
        except (OSError, EOFError) as error:
            self._process = None
            _log.error("the writer process ended", error=repr(error))
            raise StoreUnavailable("the writer process ended; try again") from error
        return decode_answer(answer)

    async def close(self) -> None:
        """See Committer."""
        process, self._process = self._process, None
        if process is not None:
            _input(process).close()
            await process.wait()

    async def _ask(self, frame: bytes) -> bytes:
        process = self._process
        if process is None or process.stdout is None:
            raise EOFError
        writer = _input(process)
        writer.write(frame)
        await writer.drain()
        (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
        return await process.stdout.readexactly(length)


def _input(process: Process) -> asyncio.StreamWriter:
    if process.stdin is None:
        raise EOFError
    return process.stdin

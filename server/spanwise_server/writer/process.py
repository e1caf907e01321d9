"""The serving process's end of the writer."""

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog

from spanwise_server.child_process import (
    Child,
    await_end,
    encode_frame,
    receive_frame,
    start_child,
)
from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.service.arrivals import Arrival, Verdict
from spanwise_server.writer.wire import decode_answer, encode_batch

_log = structlog.get_logger(__name__)


class WriterProcess:
    """A Committer in a process of its own, started when first needed and again when it ended.

    To be used from one event loop, one commit at a time.
    """

    def __init__(self, database_url: str, log_level: str, worker: int | None = None) -> None:
        """Write to the database at `database_url`; log from `log_level` up, as that `worker`."""
        # Not in the arguments, which everybody can see: the URL may hold a password.
        self._hello = encode_frame((database_url, log_level, worker))
        self._writer: Child | None = None

    async def start(self) -> None:
        """Start the process, unless it runs. Its first commit does it otherwise, and waits."""
        if self._writer is None:
            self._writer = await start_child("spanwise_server.writer")
            self._writer.requests.write(self._hello)

    async def commit(self, batch: Sequence[Arrival]) -> list[Verdict]:
        """See Committer."""
        try:
            await self.start()
            answer = await self._ask(encode_batch(batch))
        except (OSError, EOFError, RuntimeError) as error:
            # RuntimeError: how uvloop says that the other end was closed before.
            _log.error("the writer process ended", error=repr(error))
            await self.close()
            raise StoreUnavailable("the writer process ended; try again") from error
        except asyncio.CancelledError:
            # Or close() would wait for a commit that hangs. Nothing is half done by this.
            if self._writer is not None:
                self._writer.process.kill()
            raise
        return decode_answer(answer)

    async def close(self) -> None:
        """See Committer."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.requests.close()
            await asyncio.to_thread(await_end, writer.process)

    async def _ask(self, frame: bytes) -> Any:
        if self._writer is None:
            raise EOFError
        _, answers, requests = self._writer
        requests.write(frame)
        await requests.drain()
        return await receive_frame(answers)

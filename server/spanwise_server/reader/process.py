"""The serving process's end of the reader."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

import structlog

from spanwise_server.child_process import await_end, encode_frame, receive_frame, start_child
from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.reader.wire import Answer, Request, Verb

_log = structlog.get_logger(__name__)


class _Reader(NamedTuple):
    process: "subprocess.Popen[bytes]"
    requests: asyncio.StreamWriter
    listener: "asyncio.Task[None]"


class ReaderProcess:
    """Reads in a process of its own, started when first needed and again when it ended.

    To be used from one event loop.
    """

    def __init__(
        self, database_url: str, stale_after_ns: int, log_level: str, worker: int | None = None
    ) -> None:
        """Read the database at `database_url`; log from `log_level` up, as that `worker`."""
        # Not in the arguments, which everybody can see: the URL may hold a password.
        self._hello = encode_frame((database_url, stale_after_ns, log_level, worker))
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reader: _Reader | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """Start the process, unless it runs. The first read does it otherwise, and waits."""
        async with self._starting:
            if self._reader is None:
                self._reader = await self._launch()

    async def read(self, name: str, payload: bytes) -> bytes:
        """Give the answer to a request.

        When the caller is cancelled, the reader is told: what it has not begun, or what waits for
        its turn, is not done. What is under way goes on, and its answer is dropped.

        Args:
            name: Name of the method, one of SpanReads.reads.
            payload: Request as it was received.

        Raises:
            SpanwiseError: What is wrong with the request, or that the store or the process is away.
            RuntimeError: It failed in a way that nobody foresaw.
        """
        await self.start()
        number = next(self._numbers)
        try:
            answer: bytes = await self._ask(Request(number, Verb.READ, name, payload))
        except asyncio.CancelledError:
            self._leave(number)
            raise
        return answer

    async def stream(self, name: str, payload: bytes) -> AsyncGenerator[bytes, None]:
        """Yield answers to a request, each of which is made when it is asked for.

        Takes and raises what read() does, with the name of one of SpanReads.streamed_reads.
        """
        await self.start()
        number = next(self._numbers)
        self._send(Request(number, Verb.OPEN, name, payload))
        try:
            while (answer := await self._ask(Request(number, Verb.NEXT, "", b""))) is not None:
                yield answer
        finally:
            self._leave(number)

    def prepare(self, execution_id: ExecutionId) -> None:
        """Have the tree of an execution that has ended kept, if the process runs."""
        with suppress(StoreUnavailable):
            self._send(Request(next(self._numbers), Verb.PREPARE, "", execution_id))

    async def close(self) -> None:
        """End the process. What it is about is dropped. Idempotent."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.listener.cancel()
            reader.requests.close()
            self._fail_waiting()
            await asyncio.to_thread(await_end, reader.process)

    def _leave(self, number: int) -> None:
        with suppress(StoreUnavailable):  # without its process, nothing is left to forget
            self._send(Request(number, Verb.CLOSE, "", b""))

    async def _ask(self, request: Request) -> Any:
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request.number] = answer
        try:
            self._send(request)
            return await answer
        finally:
            self._waiting.pop(request.number, None)

    def _send(self, request: Request) -> None:
        if self._reader is None:
            raise _ended()
        try:
            self._reader.requests.write(encode_frame(tuple(request)))
        except (OSError, RuntimeError) as error:
            # It has just ended, which _listen() is about to hear. RuntimeError is uvloop's word.
            raise _ended() from error

    async def _launch(self) -> _Reader:
        process, answers, requests = await start_child("spanwise_server.reader")
        requests.write(self._hello)
        listener = asyncio.create_task(self._listen(process, answers))
        return _Reader(process, requests, listener)

    async def _listen(
        self, process: "subprocess.Popen[bytes]", answers: asyncio.StreamReader
    ) -> None:
        try:
            while True:
                number, result = Answer(*await receive_frame(answers))
                waiting = self._waiting.get(number)
                if waiting is None or waiting.done():  # its caller was cancelled
                    continue
                if isinstance(result, Exception):
                    waiting.set_exception(result)
                else:
                    waiting.set_result(result)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            _log.error("the reader process ended", error=repr(error))
            if self._reader is not None and self._reader.process is process:
                self._reader.requests.close()
                self._reader = None
            self._fail_waiting()
            await asyncio.to_thread(process.wait)

    def _fail_waiting(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(_ended())


def _ended() -> StoreUnavailable:
    return StoreUnavailable("the reader process ended; try again")

"""The serving process's end of the writer."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import structlog

from spanwise_server.child_process import (
    END_S,
    Child,
    await_end,
    encode_frame,
    receive_frame,
    start_child,
)
from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.service.arrivals import Arrival, Verdict
from spanwise_server.writer.wire import ASK_FOR_SIGN, SIGN_OF_LIFE, decode_answer, encode_batch

_log = structlog.get_logger(__name__)

SIGN_EVERY_S = 2.0
"""From one look at whether the writer has said something to the next."""

MAX_MISSED_SIGNS = 20
"""Looks in a row that may find nothing: 40 s. A commit says nothing until it is done, and a slow
disk is not a dead one. The storage's own limits come first: 10 s for getting past other writers,
and 25 s for an answer of PostgreSQL."""

MORE_AT_START = 40
"""Further looks that may find nothing before the first sign of a process. It loads its code, which
takes as long as the machine is busy."""


class WriterProcess:
    """A Committer in a process of its own, started when first needed and again when it ended.

    One that hangs is killed, and another one is started when it has ended, never before: so there
    is one at a time. To be used from one event loop, one commit at a time.
    """

    def __init__(
        self,
        database_url: str,
        log_level: str,
        worker: int | None = None,
        *,
        note_trouble: Callable[[str], None] = lambda _: None,
        sign_every_s: float = SIGN_EVERY_S,
    ) -> None:
        """Write to a database.

        Args:
            database_url: Database.
            log_level: Lowest level that the process logs.
            worker: Number among the workers; None when it is alone.
            note_trouble: Told what is wrong when the process is found to hang, and an empty text
                when the one in its place gives a sign of life.
            sign_every_s: Seconds between two looks; MAX_MISSED_SIGNS of them make it hang.
        """
        # Not in the arguments, which everybody can see: the URL may hold a password.
        self._hello = encode_frame((database_url, log_level, worker))
        self._note_trouble = note_trouble
        self._sign_every_s = sign_every_s
        self._starting = asyncio.Lock()
        self._writer: Child | None = None
        self._watch: asyncio.Task[None] | None = None
        self._answer: asyncio.Future[Any] | None = None
        self._num_missed = 0
        self._max_missed = 0
        self._does_not_end = False  # although it was killed, because it hangs

    async def start(self) -> None:
        """Start the process, unless it runs. Its first commit does it otherwise, and waits."""
        async with self._starting:
            if self._writer is None:
                writer = await start_child("spanwise_server.writer")
                writer.requests.write(self._hello)
                self._writer, self._does_not_end = writer, False
                self._num_missed, self._max_missed = 0, MAX_MISSED_SIGNS + MORE_AT_START
                self._watch = asyncio.create_task(self._watch_over(writer))

    async def commit(self, batch: Sequence[Arrival]) -> list[Verdict]:
        """See Committer."""
        answer = self._answer = asyncio.get_running_loop().create_future()
        try:
            await self.start()
            self._send(encode_batch(batch))
            said = await answer
        except (OSError, EOFError, RuntimeError) as error:
            # It has just ended, which _watch_over() is about to hear. RuntimeError: uvloop's word.
            raise StoreUnavailable("the writer process ended; try again") from error
        except asyncio.CancelledError:
            # Or close() would wait for a commit that hangs. Nothing is half done by this.
            if self._writer is not None:
                self._writer.process.kill()
            raise
        finally:
            self._answer = None
        return decode_answer(said)

    async def close(self) -> None:
        """See Committer."""
        async with self._starting:  # a start that breaks off would leave a process behind
            if self._watch is not None:
                self._watch.cancel()
                await asyncio.wait([self._watch])
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.requests.close()
            await asyncio.to_thread(await_end, writer.process)

    def _send(self, frame: bytes) -> None:
        if self._writer is None:
            raise EOFError
        if self._does_not_end:
            raise StoreUnavailable(
                "the writer process hangs, and does not end although it was killed, as it is where"
                " a disk does not answer; look at the disk of the database, and try again then"
            )
        self._writer.requests.write(frame)

    async def _watch_over(self, writer: Child) -> None:
        """Hear what a process says to its end, which is brought about when it hangs."""
        hearing = asyncio.create_task(self._hear(writer))
        try:
            has_ended = await self._until_ended_or_hung(writer, hearing)
        finally:
            hearing.cancel()
        if has_ended:
            _log.error("the writer process ended", error=repr(hearing.exception()))
            await self._see_off(writer, "the writer process ended; try again")
            self._note_trouble("")
        else:
            await self._replace(writer)

    async def _replace(self, writer: Child) -> None:
        """Kill a process that hangs, and start another one when it has ended."""
        silent_s = self._num_missed * self._sign_every_s
        pid = writer.process.pid
        _log.error("the writer process hangs and is killed", pid=pid, silent_s=silent_s)
        self._note_trouble("the writer process hangs")
        text = (
            f"the writer process gave no sign of life for {silent_s:g} s and was killed; what was"
            " being stored may be there or not: send it again, and if that fails likewise, look at"
            " the disk or the server of the database"
        )
        writer.process.kill()
        ending = asyncio.create_task(self._see_off(writer, text))
        done, _ = await asyncio.wait([ending], timeout=END_S)
        if not done:
            self._does_not_end = True
            self._fail(text)
        await ending
        try:
            await self.start()
        except OSError as error:
            _log.error("the writer process cannot be started", error=repr(error))
            self._note_trouble("")  # the next commit tries again

    async def _until_ended_or_hung(self, writer: Child, hearing: "asyncio.Task[None]") -> bool:
        """Ask for signs of life, and say whether the process ended: else it hangs."""
        # Counted, not timed: a machine that slept for hours has held up both processes, and then
        # one sign is missing.
        while self._num_missed < self._max_missed:
            done, _ = await asyncio.wait([hearing], timeout=self._sign_every_s)
            if done:
                return True
            self._num_missed += 1
            with suppress(OSError, RuntimeError):  # it has just ended
                writer.requests.write(ASK_FOR_SIGN)
        return False

    async def _hear(self, writer: Child) -> None:
        """Take all that a process says. Ends by raising, when the process ends."""
        while True:
            said = await receive_frame(writer.answers)
            self._num_missed, self._max_missed = 0, MAX_MISSED_SIGNS
            if said is SIGN_OF_LIFE:
                self._note_trouble("")
            elif self._answer is not None and not self._answer.done():
                self._answer.set_result(said)

    async def _see_off(self, writer: Child, text: str) -> None:
        """Wait for the end of a process, and tell who waits for it. Then another may be started."""
        writer.requests.close()
        await asyncio.to_thread(await_end, writer.process)
        self._writer = None
        self._fail(text)

    def _fail(self, text: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(StoreUnavailable(text))

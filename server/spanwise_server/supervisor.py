"""Several workers on one address: starting them, watching over them, stopping them.

Each worker is a whole server in a process of its own (worker.py). They share the ports with
SO_REUSEPORT, and the system deals connections out among them. The supervisor serves nothing: it
holds the ports, so that they are one for all of them, brings back a worker that ended, and ends
one that hangs.
See docs/adr/014-workers-are-processes.md.
"""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import NamedTuple

import structlog

from spanwise_server.bootstrap import Served
from spanwise_server.config import Address, Settings, parse_address, parse_http_address
from spanwise_server.rpc.fronts.addresses import (
    GRPC_FLAG,
    HTTP_FLAG,
    AddressUnavailableError,
    check_address,
)
from spanwise_server.worker import SIGN_EVERY_S, SIGN_OF_LIFE, decode_word, encode_hello

_log = structlog.get_logger(__name__)

WORKER_COMMAND = (sys.executable, "-m", "spanwise_server.worker")

MAX_FAILED_STARTS = 3
"""Starts in a row that a worker may fail at. More would not help: what a worker needs at its start
is the address and its settings, and neither changes."""

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
"""Pauses before a worker that ended is started again: each twice as long as the one before, so that
one that ends again and again does not take the machine from the others."""

STEADY_S = 60.0
"""A worker that has served for so long ended for a new reason: the pauses begin anew."""

MAX_MISSED_SIGNS = 15
"""Signs of life in a row that may fail to come: half a minute. The event loop of a worker is never
held up for a second by itself, but all processes of a machine that swaps may be for many."""

STOP_MARGIN_S = 5.0
"""What a worker needs to stop besides the time that its calls may take: its last commits, and the
end of its processes."""


class WorkerFailedError(Exception):
    """A worker does not come up. The text says which and why."""


class _Worker(NamedTuple):
    process: Process
    words: asyncio.StreamReader
    link: asyncio.StreamWriter


class _End(NamedTuple):
    """How a worker ended.

    Attributes:
        failure: Why it did not come up; None when it did.
        exit_code: Of its process; None without one.
        served_s: Time from its first word to its end.
    """

    failure: str | None
    exit_code: int | None
    served_s: float


class Supervisor:
    """Runs `settings.workers` workers. To be used from one event loop, not that of uvloop.

    uvloop forks in Python where the standard loop does not.
    """

    def __init__(self, settings: Settings, announce: Callable[[], None]) -> None:
        """Run workers with `settings`, and call `announce` when all of them take calls."""
        self._settings = settings
        self._announce = announce
        self._stop = asyncio.Event()
        self._running: set[_Worker] = set()
        self._not_ready = set(range(1, settings.workers + 1))

    async def run(self) -> None:
        """Run the workers until stop(), and wait for their ends.

        Raises:
            WorkerFailedError: A worker does not come up. All others were stopped.
        """
        keepers = [asyncio.create_task(self._keep(number)) for number in sorted(self._not_ready)]
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait([*keepers, stopped], return_when=asyncio.FIRST_COMPLETED)
        self.stop()  # as well when one does not come up
        await stopped
        limit_s = self._settings.graceful_stop_s + STOP_MARGIN_S
        _, late = await asyncio.wait(keepers, timeout=limit_s)
        if late:
            _log.error("workers did not stop in time and are killed", num_workers=len(late))
            self.kill()
        await asyncio.gather(*keepers)

    def stop(self) -> None:
        """Let all workers stop gracefully. Idempotent."""
        self._stop.set()
        for worker in self._running:
            worker.link.close()  # its sign to stop, which it gets as well when this process dies

    @property
    def is_stopping(self) -> bool:
        """Whether stop() was called."""
        return self._stop.is_set()

    def kill(self) -> None:
        """End all workers at once. What they have answered with OK is committed."""
        for worker in self._running:
            _kill(worker)

    async def _keep(self, number: int) -> None:
        """Keep a worker running until stop()."""
        num_failed = 0
        pause_s = FIRST_PAUSE_S
        while not self._stop.is_set():
            end = await self._run_worker(number)
            if self._stop.is_set():
                return
            num_failed = 0 if end.failure is None else num_failed + 1
            if num_failed >= MAX_FAILED_STARTS:
                raise WorkerFailedError(
                    f"worker {number} failed at {num_failed} starts in a row: {end.failure}"
                )
            if end.served_s >= STEADY_S:
                pause_s = FIRST_PAUSE_S
            _log.error(
                "a worker ended and is started again",
                worker=number,
                exit_code=end.exit_code,
                failure=end.failure or "",
                pause_s=pause_s,
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._stop.wait()
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _run_worker(self, number: int) -> _End:
        """Run a worker once, until its process has ended."""
        loop = asyncio.get_running_loop()
        try:
            worker = await self._start(number)
        except OSError as error:
            return _End(f"its process cannot be started: {error}", None, 0.0)
        failure = await _first_word(number, worker)
        begun_s = loop.time()
        if failure is None:
            self._note_ready(number)
            await _next_word(number, worker, limit_s=SIGN_EVERY_S)  # its end: it has no second one
        exit_code = await worker.process.wait()
        self._running.discard(worker)
        worker.link.close()
        return _End(failure, exit_code, loop.time() - begun_s)

    async def _start(self, number: int) -> _Worker:
        ours, its = socket.socketpair()
        with its:
            try:
                # A process group of its own: Ctrl-C is for this process, which stops the workers.
                process = await asyncio.create_subprocess_exec(
                    *WORKER_COMMAND, stdin=its.fileno(), process_group=0
                )
            except OSError:
                ours.close()
                raise
        words, link = await asyncio.open_connection(sock=ours)
        worker = _Worker(process, words, link)
        self._running.add(worker)
        # Not in the arguments, which everybody can see: the database URL may hold a password.
        link.write(encode_hello(number, self._settings))
        if self._stop.is_set():
            link.close()
        return worker

    def _note_ready(self, number: int) -> None:
        if number in self._not_ready:
            self._not_ready.discard(number)
            if not self._not_ready:
                self._announce()
        else:
            _log.info("a worker is back", worker=number)


def _kill(worker: _Worker) -> None:
    with suppress(ProcessLookupError):
        worker.process.kill()  # also one that is stopped


async def _next_word(number: int, worker: _Worker, limit_s: float | None) -> bytes:
    """Wait for a line that is more than a sign of life; it is empty when the worker has ended.

    A worker that gives signs of life no more is killed.

    Args:
        number: Of the worker.
        worker: Worker.
        limit_s: Until when the first sign of life should come; None for any time, as a worker loads
            its code before.
    """
    num_missed = 0
    while True:
        try:
            async with asyncio.timeout(limit_s):
                line = await worker.words.readline()
        except TimeoutError:
            # Counted, not timed: a machine that slept for hours has held up both of them, and then
            # one sign is missing.
            num_missed += 1
            if num_missed == MAX_MISSED_SIGNS:
                _log.error("a worker hangs and is killed", worker=number, num_missed=num_missed)
                _kill(worker)
        except OSError:
            return b""
        else:
            if line != SIGN_OF_LIFE:
                return line
            limit_s, num_missed = SIGN_EVERY_S, 0


async def _first_word(number: int, worker: _Worker) -> str | None:
    """Wait until a worker takes calls: None. Or give the reason why it does not."""
    line = await _next_word(number, worker, limit_s=None)
    return decode_word(line) if line else "it ended before it took calls; its log may say why"


def supervise(settings: Settings, announce: Callable[[Served], None]) -> None:
    """Run workers until SIGTERM or SIGINT. A second signal ends all of them at once.

    Args:
        settings: Settings. The database has the tables of this version.
        announce: Called with the real addresses once all workers take calls.

    Raises:
        AddressUnavailableError: An address cannot be taken.
        WorkerFailedError: A worker does not come up.
    """
    http = parse_http_address(settings.http_address)
    with ExitStack() as held:
        served = Served(_hold(held, parse_address(settings.grpc_address), GRPC_FLAG), None)
        if http is not None:
            served = served._replace(http=_hold(held, http, HTTP_FLAG))
        addresses = {"grpc_address": str(served.grpc), "http_address": str(served.http or "none")}
        asyncio.run(_supervise(settings.model_copy(update=addresses), lambda: announce(served)))


def _hold(stack: ExitStack, address: Address, flag: str) -> Address:
    held, bound = hold_address(address, flag)
    stack.enter_context(held)
    return bound


async def _supervise(settings: Settings, announce: Callable[[], None]) -> None:
    supervisor = Supervisor(settings, announce)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _on_signal, number, supervisor)
    await supervisor.run()
    _log.info("stopped")


def _on_signal(number: signal.Signals, supervisor: Supervisor) -> None:
    if supervisor.is_stopping:
        supervisor.kill()
        _log.warning("stopped at once, without waiting for calls that run")
        os._exit(128 + number)
    supervisor.stop()


_claims: list[socket.socket] = []
"""Held as long as the process lives."""


def _claim(address: Address) -> None:
    """Keep other supervisors from an address on which nobody listens yet.

    A name of the system without a file, where it has such names (Linux); it goes with the process.
    """
    if sys.platform != "linux" or not address.port:
        return
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(f"\0spanwise/{address}")
    except OSError as error:
        claim.close()
        raise AddressUnavailableError(
            f"cannot serve on {address}: another server is starting there"
        ) from error
    _claims.append(claim)


def hold_address(address: Address, flag: str = GRPC_FLAG) -> tuple[socket.socket, Address]:
    """Bind an address in a way that workers may bind it as well, and give its real port.

    The socket does not listen, so it gets no connections.

    Raises:
        AddressUnavailableError: The address cannot be taken.
    """
    # First as one who does not share: two servers on one port would take calls from each other.
    check_address(*address, flag=flag)
    _claim(address)
    family, kind, _, _, target = socket.getaddrinfo(
        *address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    held = socket.socket(family, kind)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(target)
    except OSError as error:
        held.close()
        raise AddressUnavailableError(f"cannot serve on {address}: {error.strerror}") from error
    return held, Address(address.host, held.getsockname()[1])

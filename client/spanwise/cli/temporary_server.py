"""A server for the time of one command."""

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, Queue
from typing import IO, NamedTuple

from spanwise._errors import SpanwiseError

_PAGE = re.compile(r"spanwise serves its page on (\S+)")
_READY = re.compile(r"spanwise serves gRPC on (\S+)")
_START_TIMEOUT_S = 60.0  # a cold start of Python on a busy machine
_STOP_TIMEOUT_S = 10.0
_KEPT_LINES = 5


class ServerDidNotStart(SpanwiseError):
    """The server that a command wanted for itself did not start."""


class TemporaryServer(NamedTuple):
    """A server that runs.

    Attributes:
        endpoint: HOST:PORT of its gRPC address.
        page: Address of its page.
        process: Its process.
    """

    endpoint: str
    page: str
    process: "subprocess.Popen[str]"


@contextmanager
def temporary_server() -> Iterator[TemporaryServer]:
    """Run `spanwise serve` on free ports with a database that is removed afterwards.

    Raises:
        ServerDidNotStart: It ended, or was not ready in time. The message has its last words.
    """
    with tempfile.TemporaryDirectory(prefix="spanwise-") as directory:
        database_url = f"sqlite:///{directory}/demo.db"
        command = [sys.executable, "-m", "spanwise.cli", "serve"]
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            [
                *command,
                *("--grpc-address", "127.0.0.1:0"),
                *("--http-address", "127.0.0.1:0"),
                *("--database-url", database_url),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,  # Ctrl-C is for this process, which stops the server
            # The settings of a real server must not reach this one.
            env={name: value for name, value in os.environ.items() if "SPANWISE_" not in name},
        )
        try:
            endpoint, page = _wait_until_ready(process)
            yield TemporaryServer(endpoint, page, process)
        finally:
            _stop(process)


def _wait_until_ready(process: subprocess.Popen[str]) -> tuple[str, str]:
    lines: deque[str] = deque(maxlen=_KEPT_LINES)
    ready: Queue[tuple[str, str] | None] = Queue()
    # Goes on reading after that: a full pipe would stop the server.
    threading.Thread(target=_read_lines, args=(process.stderr, lines, ready), daemon=True).start()
    try:
        addresses = ready.get(timeout=_START_TIMEOUT_S)
    except Empty:
        addresses = None
    if addresses is None:
        said = "; ".join(lines) or "it said nothing"
        raise ServerDidNotStart(f"the server of the demo did not start: {said}")
    return addresses


def _read_lines(stream: IO[str], lines: deque[str], ready: "Queue[tuple[str, str] | None]") -> None:
    page = ""
    with stream:
        for line in stream:
            lines.append(line.strip())
            if found := _PAGE.search(line):
                page = found[1]
            if found := _READY.search(line):
                ready.put((found[1], page))
    ready.put(None)


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

"""A server as a process of its own, on a free port, and stubs for it."""

import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from flyteidl.service.admin_pb2_grpc import AdminServiceStub

from spanwise.v1 import identifiers_pb2
from spanwise.v1.event_service_pb2 import ListEventsRequest, LoggedEvent
from spanwise.v1.event_service_pb2_grpc import EventServiceStub
from spanwise.v1.span_service_pb2_grpc import SpanServiceStub
from spanwise.v1.workflow_service_pb2_grpc import WorkflowServiceStub
from tests.e2e.cli_process import TIMEOUT_S, command

ON_EACH_DATABASE = pytest.mark.parametrize("server", ["sqlite", "postgresql"], indirect=True)
"""Runs the tests of a module, as its pytestmark, on a server with each database."""

FRONT = os.environ.get("TEST_FRONT", "grpcio")
"""The front of every server that tests start: they hold for all of them."""

READY = "spanwise serves gRPC on "
PAGE = "spanwise serves its page on "
MIB = 2**20


class ServerProcess:
    """A running `spanwise serve`. Give it back with stop() or kill().

    Attributes:
        endpoint: HOST:PORT that it serves gRPC on.
        page: Address of its page; empty when it has none.
        process: The process.
    """

    def __init__(self, database: Path | str, *flags: str) -> None:
        """Start it on `database`, a SQLite file or a URL, and wait until it takes calls."""
        self._said: list[str] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        address = ("--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0")
        url = database if isinstance(database, str) else f"sqlite:///{database}"
        arguments = [*address, "--front", FRONT, "--database-url", url, *flags]
        self.process = subprocess.Popen(
            command("serve", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Reads to the end: a full pipe would stop the server.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.endpoint = self.wait_for(READY).removeprefix(READY)
            told = [line for line in self._said if line.startswith(PAGE)]
            self.page = told[0].removeprefix(PAGE).strip() if told else ""
        except BaseException:
            self.kill()
            raise

    def wait_for(self, beginning: str) -> str:
        """Wait for a line on standard error that begins so, and give it."""
        while (line := self._lines.get(timeout=TIMEOUT_S)) is not None:
            if line.startswith(beginning):
                return line
        raise AssertionError(f"the server ended before it said {beginning!r}:\n{self.said()}")

    def said(self) -> str:
        """Give all that it wrote to standard error up to now."""
        return "".join(self._said)

    @contextmanager
    def channel(self, **options: int) -> Iterator[grpc.Channel]:
        """Open a channel. Options are named as in gRPC, with _ for the dots."""
        named = [(f"grpc.{name}", value) for name, value in options.items()]
        with grpc.insecure_channel(self.endpoint, options=named) as channel:
            yield channel

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self) -> int:
        """Wait for its end, and give its exit code."""
        code = self.process.wait(TIMEOUT_S)
        self._reader.join(TIMEOUT_S)
        return code

    def stop(self) -> int:
        """Stop it gracefully, and give its exit code."""
        self.process.terminate()
        return self.wait()

    def kill(self) -> None:
        """Stop it as a power cut would. Idempotent."""
        self.process.kill()
        self.wait()

    def _read(self) -> None:
        stream = self.process.stderr
        if stream is None:
            raise TypeError("standard error is not a pipe")
        with stream:
            for line in stream:
                self._said.append(line)
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)


@contextmanager
def running_server(database: Path | str, *flags: str) -> Iterator[ServerProcess]:
    """Run a server for the time of a block."""
    server = ServerProcess(database, *flags)
    try:
        yield server
    finally:
        server.kill()


def unary(channel: grpc.Channel, path: str) -> "grpc.UnaryUnaryMultiCallable[bytes, bytes]":
    """Give a unary method that takes and gives bytes."""
    return channel.unary_unary(path)


def failure(error: grpc.RpcError) -> tuple[grpc.StatusCode, str]:
    """Give the status and the text of a failed call."""
    if not isinstance(error, grpc.Call):
        raise TypeError("the error is not that of a call")
    return error.code(), error.details() or ""


def whole_log(
    stubs: "Stubs", execution_id: identifiers_pb2.ExecutionId, *, include_payload: bool = False
) -> list[LoggedEvent]:
    """Give the log of an execution, of any size, in the order of receipt."""
    request = ListEventsRequest(
        execution_id=execution_id, page_size=1000, include_payload=include_payload
    )
    events: list[LoggedEvent] = []
    while True:
        page = stubs.events.ListEvents(request)
        events += page.events
        if not page.next_page_token:
            return events
        request.page_token = page.next_page_token


class Stubs:
    """Stubs of all services on one channel."""

    def __init__(self, channel: grpc.Channel) -> None:
        """Make them."""
        self.channel = channel
        self.admin = AdminServiceStub(channel)
        self.events = EventServiceStub(channel)
        self.spans = SpanServiceStub(channel)
        self.workflows = WorkflowServiceStub(channel)

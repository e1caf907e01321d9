"""A server that is taken away and comes back, and a source that sends to it."""

import queue
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc

from spanwise.v1.event_service_pb2 import (
    CreateExecutionEventRequest,
    CreateNodeEventRequest,
    CreateTaskEventRequest,
)
from spanwise_server.domain.events import PayloadType
from spanwise_server.service.arrivals import Arrival
from tests.e2e.harness import ServerProcess, Stubs, failure

MOST_IN_FLIGHT = 50
"""Calls that a source has open at once."""


class Restartable:
    """A server on ports that stay the same.

    Attributes:
        server: It, as it runs now.
    """

    def __init__(self, database: Path) -> None:
        """Start it."""
        self._database = database
        self._flags = (
            *("--grpc-address", f"127.0.0.1:{_free_port()}"),
            *("--http-address", f"127.0.0.1:{_free_port()}"),
        )
        self.server = self._start()

    def start_again(self) -> None:
        """Take it away as a power cut would, if it is there, and bring it back."""
        self.server.kill()
        self.server = self._start()

    def send(self, arrivals: Sequence[Arrival], for_s: float = 0.0) -> list[float]:
        """Send events as sources do, and wait until all are taken.

        Args:
            arrivals: Events, in their order; many calls may be open at once.
            for_s: Time that sending is spread over.

        Returns:
            When each was sent, in seconds since 1970.
        """
        sent_s = []
        in_flight: queue.SimpleQueue[grpc.Future[Any]] = queue.SimpleQueue()
        begin_s = time.time()
        with self.server.channel() as channel:
            calls = _calls(Stubs(channel))
            for number, arrival in enumerate(arrivals):
                if in_flight.qsize() >= MOST_IN_FLIGHT:
                    _check(in_flight.get())
                time.sleep(max(0.0, begin_s + number * for_s / len(arrivals) - time.time()))
                sent_s.append(time.time())
                assert arrival.payload_type is not None
                call, message = calls[arrival.payload_type]
                in_flight.put(call.future(message.FromString(arrival.payload)))
            while not in_flight.empty():
                _check(in_flight.get())
        return sent_s

    def _start(self) -> ServerProcess:
        return ServerProcess(self._database, *self._flags)


def _calls(stubs: Stubs) -> dict[PayloadType, tuple[Any, Any]]:
    events = stubs.events
    return {
        PayloadType.EXECUTION_EVENT: (events.CreateExecutionEvent, CreateExecutionEventRequest),
        PayloadType.NODE_EVENT: (events.CreateNodeEvent, CreateNodeEventRequest),
        PayloadType.TASK_EVENT: (events.CreateTaskEvent, CreateTaskEventRequest),
    }


def _check(call: "grpc.Future[Any]") -> None:
    """Wait for an answer: what comes twice, or after the end, is refused; what it says is kept."""
    error = call.exception()
    if error is not None:
        assert isinstance(error, grpc.RpcError)
        assert failure(error)[0] is grpc.StatusCode.ALREADY_EXISTS


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port

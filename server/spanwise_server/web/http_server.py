"""HTTP/1.1 on a socket, by uvicorn in the event loop that runs already.

The same loop takes events, so whoever speaks HTTP is bounded: in connections, and in the time that
a request may take to arrive and an answer to be taken.
"""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 512
"""Open at once. A browser has up to six for each of its windows, and files are shared with gRPC's
connections: 1,024 is the usual limit of a process."""

REQUEST_S = 10.0
"""How long a connection may be without a whole request: from its start, or from the answer before.
Also that long it is kept for another one."""

STUCK_S = 20.0
MIN_TAKEN_BYTES = 2**17
"""What a client must take in STUCK_S while more waits for it: 6.5 kB a second."""

MAX_HEAD_BYTES = 16 * 1024
"""Of a request line with its headers."""

_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n"
    b"content-length: 0\r\n\r\n"
)


class HttpServer:
    """Serves an application until it is stopped. To be used from one event loop."""

    def __init__(self, app: ASGIApp) -> None:
        """Serve `app`."""
        self._app = app
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self, listener: socket.socket) -> None:
        """Take connections from a socket that listens, which it owns from then on."""
        # Its records would be lines that any client can make the server write. The application
        # logs its own failures.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        config = uvicorn.Config(
            self._app,
            http=_BoundedProtocol,
            ws="none",
            lifespan="off",
            loop="none",
            interface="asgi3",
            workers=1,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=int(REQUEST_S),
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))

    async def stop(self, grace_s: float) -> None:
        """Take no more connections, let answers that are sent be finished, and close the port.

        Idempotent.

        Args:
            grace_s: Seconds after which those that are still sent are cut off.
        """
        server, serving = self._server, self._serving
        if server is None or serving is None:
            return
        server.config.timeout_graceful_shutdown = ceil(grace_s)
        server.should_exit = True
        await serving
        self._server = self._serving = None


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process."""
        yield


class _BoundedProtocol(H11Protocol):
    """A connection whose other end may be slow, and gets no more than its share."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arriving: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.write(_BUSY)
            transport.close()
            return
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timers()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before and self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None

    def on_response_complete(self) -> None:
        self._expect_request()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_taking()

    def resume_writing(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
        super().resume_writing()

    def _expect_request(self) -> None:
        # uvicorn's own timer is for connections without a byte: one at a time would do to hold it.
        if self._arriving is not None:
            self._arriving.cancel()
        self._arriving = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _expect_taking(self) -> None:
        left_bytes = self.transport.get_write_buffer_size()
        self._stuck = self.loop.call_later(STUCK_S, self._check_taking, left_bytes)

    def _check_taking(self, before_bytes: int) -> None:
        if before_bytes - self.transport.get_write_buffer_size() < MIN_TAKEN_BYTES:
            self.transport.abort()
        else:
            self._expect_taking()

    def _cancel_timers(self) -> None:
        for timer in (self._arriving, self._stuck):
            if timer is not None:
                timer.cancel()

"""Clients that are slow, stuck or many, on real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from spanwise_server.web import http_server
from spanwise_server.web.http_server import HttpServer

DEADLINE_S = 60
REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def small(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a word."""
    await answer(send, b"word")


async def large(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with more than sockets hold."""
    await answer(send, bytes(50_000_000))


async def answer(send: Send, body: bytes) -> None:
    """Send a whole answer."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


class Port:
    """A port that is served."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._opened: list[asyncio.StreamWriter] = []

    async def connect(self) -> Connection:
        """Open a connection that reads no more than it is asked to."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1024)
        self._opened.append(writer)
        return reader, writer

    async def close(self) -> None:
        """Close all connections."""
        for writer in self._opened:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def serving(app: ASGIApp, grace_s: float = 0) -> AsyncIterator[Port]:
    """Serve an application on a free port. Stops, and closes connections only then."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = Port(listener.getsockname()[1])
    server = HttpServer(app)
    await server.start(listener)
    try:
        yield port
    finally:
        await server.stop(grace_s)
        await port.close()


async def wait_until_cut(writer: asyncio.StreamWriter) -> None:
    """Wait until the server has given a connection up, without reading from it."""
    async with asyncio.timeout(DEADLINE_S):
        with suppress(ConnectionError):
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)


async def is_closed(connection: Connection) -> bool:
    """Wait until the server has closed a connection, whatever it sent before."""
    async with asyncio.timeout(DEADLINE_S):
        try:
            while await connection[0].read(65536):
                pass
        except ConnectionError:
            pass
    return True


@pytest.mark.parametrize("sent", [b"", b"GET", b"GET / HTTP/1.1\r\nhost: local"])
def test_a_request_that_does_not_come_is_not_waited_for(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether nothing comes or a part of it."""
    monkeypatch.setattr(http_server, "REQUEST_S", 0.1)

    async def run() -> None:
        async with serving(small) as port:
            connection = await port.connect()
            connection[1].write(sent)
            assert await is_closed(connection)

    asyncio.run(run())


def test_a_request_that_comes_byte_by_byte_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each byte gives no more time."""
    monkeypatch.setattr(http_server, "REQUEST_S", 0.3)

    async def run() -> None:
        async with serving(small) as port:
            connection = await port.connect()

            async def drip() -> None:
                while True:
                    connection[1].write(b"x")
                    await connection[1].drain()
                    await asyncio.sleep(0.01)

            dripping = asyncio.create_task(drip())
            assert await is_closed(connection)
            dripping.cancel()

    asyncio.run(run())


def test_a_connection_is_kept_for_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """And closed when none comes, as before the first."""
    monkeypatch.setattr(http_server, "REQUEST_S", 1.0)

    async def run() -> None:
        async with serving(small) as port:
            reader, writer = await port.connect()
            for _ in range(3):
                writer.write(REQUEST)
                assert (await reader.readuntil(b"word")).startswith(b"HTTP/1.1 200 ")
            writer.write(REQUEST + REQUEST)  # both at once
            await reader.readuntil(b"word")
            await reader.readuntil(b"word")
            assert await is_closed((reader, writer))

    asyncio.run(run())


def test_an_answer_that_nobody_takes_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the memory that it takes."""
    monkeypatch.setattr(http_server, "STUCK_S", 0.2)

    async def run() -> None:
        async with serving(large) as port:
            reader, writer = await port.connect()
            writer.write(REQUEST)
            await reader.readuntil(b"\r\n\r\n")
            await wait_until_cut(writer)

    asyncio.run(run())


def test_an_answer_that_is_taken_slowly_is_sent_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it goes on."""
    monkeypatch.setattr(http_server, "STUCK_S", 0.5)
    monkeypatch.setattr(http_server, "MIN_TAKEN_BYTES", 1)

    async def run() -> None:
        async with serving(large) as port:
            reader, writer = await port.connect()
            writer.write(REQUEST)
            await reader.readuntil(b"\r\n\r\n")
            received = 0
            while received < 50_000_000:
                received += len(await reader.readexactly(2_000_000))
                await asyncio.sleep(0.05)

    asyncio.run(run())


def test_connections_beyond_the_most_are_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an answer that says when to come back; one that leaves makes room."""
    monkeypatch.setattr(http_server, "MAX_CONNECTIONS", 2)

    async def run() -> None:
        async with serving(small) as port:
            held = [await port.connect() for _ in range(2)]
            for reader, writer in held:
                writer.write(REQUEST)
                await reader.readuntil(b"word")
            reader, _ = await port.connect()
            refused = await reader.read()
            assert refused.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after" in refused
            held[0][1].close()
            await held[0][1].wait_closed()
            async with asyncio.timeout(DEADLINE_S):
                while True:  # until the server has heard of it
                    reader, writer = await port.connect()
                    writer.write(REQUEST)
                    if (await reader.readline()).startswith(b"HTTP/1.1 200 "):
                        break

    asyncio.run(run())


@pytest.mark.parametrize("grace_s", [0, 60])
def test_a_stop_does_not_wait_for_those_who_say_nothing(grace_s: float) -> None:
    """However long it may take."""

    async def run() -> None:
        async with asyncio.timeout(DEADLINE_S / 2), serving(small, grace_s) as port:
            await port.connect()
            reader, writer = await port.connect()
            writer.write(REQUEST)
            await reader.readuntil(b"word")

    asyncio.run(run())


def test_a_stop_cuts_off_what_takes_too_long() -> None:
    """After its time."""
    begun = asyncio.Event()

    async def forever(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def run() -> None:
        async with serving(forever) as port:
            _, writer = await port.connect()
            writer.write(REQUEST)
            await begun.wait()

    asyncio.run(run())

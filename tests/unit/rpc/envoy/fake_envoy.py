"""A caller as the application inside Envoy sees one: events of ASGI in, events of ASGI out."""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, ParamSpec

from spanwise_server.rpc.fronts.envoy.asgi import BODY, DISCONNECT, START, Event, Scope

P = ParamSpec("P")

GRPC = (b"content-type", b"application/grpc")


def body(data: bytes, *, more: bool) -> Event:
    """Give a part of the body of a request."""
    return {"type": "http.request", "body": data, "more_body": more}


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Caller:
    """One request, and what was answered to it."""

    def __init__(self, *events: Event) -> None:
        """Send `events`; afterwards empty bodies at once, as pyvoy does, until gone."""
        self._events = list(events)
        self._is_gone = False
        self.sent: list[Event] = []

    def leave(self) -> None:
        """Go away."""
        self._is_gone = True

    async def receive(self) -> Event:
        """Give the next event."""
        await asyncio.sleep(0)
        if self._events:
            return self._events.pop(0)
        return {"type": DISCONNECT} if self._is_gone else body(b"", more=False)

    async def send(self, event: Event) -> None:
        """Take an event."""
        await asyncio.sleep(0)
        if self._is_gone:
            raise OSError("gone")
        self.sent.append(event)

    @property
    def headers(self) -> dict[bytes, bytes]:
        """Headers and trailers of the answer."""
        pairs = [pair for event in self.sent for pair in event.get("headers", ())]
        return dict(pairs)

    @property
    def http_status(self) -> int:
        """The status of HTTP."""
        (status,) = [event["status"] for event in self.sent if event["type"] == START]
        return int(status)

    @property
    def data(self) -> bytes:
        """The body of the answer."""
        return b"".join(event["body"] for event in self.sent if event["type"] == BODY)


def scope(path: str, headers: Iterable[tuple[bytes, bytes]] = (GRPC,)) -> Scope:
    """Give the scope of a request."""
    made: dict[str, Any] = {"type": "http", "path": path, "headers": list(headers)}
    return {**made, "client": ("127.0.0.1", 4711)}

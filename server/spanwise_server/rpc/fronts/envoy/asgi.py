"""The part of ASGI 3 that a gRPC call needs, with the extension http.response.trailers."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar

T = TypeVar("T")

Event = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

START = "http.response.start"
BODY = "http.response.body"
TRAILERS = "http.response.trailers"
DISCONNECT = "http.disconnect"


async def wait_for_envoy(awaitable: Awaitable[T]) -> T:
    """Give the result of a receive() or send() that Envoy completes.

    When the caller of this is cancelled, what it waited for is not: pyvoy 1.3 completes it all the
    same, and would log a traceback on finding it cancelled.
    """
    return await asyncio.shield(awaitable)

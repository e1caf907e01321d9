"""Notices as server-sent events (HTML, 9.2)."""

import asyncio
import json

from starlette.types import Receive, Scope, Send

from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.web.changes import Changes, FollowedExecution, Notice

STILL_HERE_S = 2.0
"""Between two signs of life. Whoever hears none for twice as long knows that the server is gone."""

_STILL_HERE = b": still here\n\n"

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would hold events back
]


class EventStream:
    """The answer that goes on until there is nothing more to tell."""

    def __init__(self, changes: Changes, execution_id: ExecutionId) -> None:
        """Tell of `changes` of an execution."""
        self._changes = changes
        self._execution_id = execution_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the last notice, an error, or the client's leave, as ASGI has it."""
        async with self._changes.follow(self._execution_id) as followed:
            await _answer(followed, scope, receive, send)


async def _answer(followed: FollowedExecution, scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
    if scope["method"] != "HEAD":
        gone = asyncio.create_task(until_gone(receive))
        try:
            await _send_events(followed, send, gone)
        finally:
            gone.cancel()
    await send({"type": "http.response.body", "body": b""})


async def _send_events(followed: FollowedExecution, send: Send, gone: "asyncio.Task[None]") -> None:
    sent: Notice | None = None
    while not gone.done():
        changed, notice = followed.changed, followed.notice
        if notice is not None and notice != sent:
            await _send_part(send, _encode(notice))
            sent = notice
        if followed.error is not None or (notice is not None and notice.is_last):
            return
        try:
            async with asyncio.timeout(STILL_HERE_S):
                await changed.wait()
        except TimeoutError:
            await _send_part(send, _STILL_HERE)


async def until_gone(receive: Receive) -> None:
    """Wait until the client has left, or has its whole answer."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_part(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


def _encode(notice: Notice) -> bytes:
    told = {"revision": notice.revision, "phase": notice.phase, "ended": notice.has_ended}
    return f"event: revision\ndata: {json.dumps(told)}\n\n".encode()

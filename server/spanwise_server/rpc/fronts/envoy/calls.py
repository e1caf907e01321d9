"""Calls in flight: what a handler sees of one, and who ends those that nobody waits for.

Envoy tells its Python of a caller that went away only when something is read or sent (pyvoy 1.3:
once the request has ended, receive() gives empty bodies at once instead of waiting for the end of
the connection). So calls that last are asked after, now and then; short ones pay nothing for it.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress

from google.rpc import code_pb2
from google.rpc.status_pb2 import Status

from spanwise_server.rpc.fronts.envoy.asgi import DISCONNECT, Headers, Receive, wait_for_envoy
from spanwise_server.rpc.fronts.envoy.framing import RequestBody
from spanwise_server.rpc.fronts.envoy.headers import decode_metadata
from spanwise_server.rpc.status import build_status

CHECK_INTERVAL_S = 0.25
"""How late a call may hear that its deadline passed, or that its caller went away."""


class EnvoyCall:
    """A Call of the Envoy front.

    Attributes:
        payload: See Call.
        request: The body of the request.
        verdict: The status to end with when the call is cancelled; None when nobody listens.
    """

    __slots__ = (
        "_began_s",
        "_client",
        "_deadline_s",
        "_headers",
        "_presence",
        "_receive",
        "_task",
        "payload",
        "request",
        "verdict",
    )

    def __init__(
        self,
        headers: Headers,
        client: tuple[str, int],
        timeout_s: float | None,
        receive: Receive,
        request: RequestBody,
    ) -> None:
        """Begin now, in the task that serves the call."""
        self.payload = b""
        self.request = request
        self.verdict: Status | None = None
        self._headers = headers
        self._client = client
        self._receive = receive
        self._began_s = time.monotonic()
        self._deadline_s = None if timeout_s is None else self._began_s + timeout_s
        self._task = asyncio.current_task()
        self._presence: asyncio.Task[None] | None = None

    @property
    def metadata(self) -> Mapping[str, str | bytes]:
        """See Call."""
        return decode_metadata(self._headers)

    @property
    def peer(self) -> str:
        """See Call."""
        return f"{self._client[0]}:{self._client[1]}"

    @property
    def remaining_s(self) -> float | None:
        """See Call."""
        if self._deadline_s is None:
            return None
        return max(0.0, self._deadline_s - time.monotonic())

    def give_up(self, status: Status) -> None:
        """Cancel the call, and answer it with `status`."""
        self.verdict = status
        self._cancel()

    def check(self, now_s: float) -> None:
        """Give the call up if its deadline passed; if it lasts, begin to look for its caller."""
        if self._deadline_s is not None and now_s >= self._deadline_s:
            self.give_up(build_status(code_pb2.DEADLINE_EXCEEDED, "the deadline passed", []))
        # Before the end of the request whoever reads it hears that the caller went away.
        elif (
            self._presence is None
            and self.request.has_ended
            and now_s - self._began_s >= CHECK_INTERVAL_S
        ):
            self._presence = asyncio.create_task(self._cancel_when_alone())

    def close(self) -> None:
        """End what was begun for the call."""
        if self._presence is not None:
            self._presence.cancel()

    async def ended(self, within_s: float) -> None:
        """Wait for the end of the call, but no longer than `within_s`."""
        if self._task is not None:
            await asyncio.wait((self._task,), timeout=within_s)

    async def _cancel_when_alone(self) -> None:
        while (await wait_for_envoy(self._receive()))["type"] != DISCONNECT:  # noqa: ASYNC110 - see above
            await asyncio.sleep(CHECK_INTERVAL_S)
        self._cancel()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class CallsInFlight:
    """All calls of a front that have not ended."""

    def __init__(self) -> None:
        """Begin with none."""
        self._calls: set[EnvoyCall] = set()
        self.add = self._calls.add
        self.discard = self._calls.discard

    async def check_for_ever(self) -> None:
        """Check all calls, again and again."""
        while True:
            await asyncio.sleep(CHECK_INTERVAL_S)
            now_s = time.monotonic()
            for call in tuple(self._calls):
                call.check(now_s)

    async def drain(self, grace_s: float, status: Status) -> None:
        """Wait until no call is left. Those left after `grace_s` are ended with `status`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self._all_ended()
        for call in tuple(self._calls):
            call.give_up(status)
        await self._all_ended()

    async def _all_ended(self) -> None:
        while self._calls:
            await next(iter(self._calls)).ended(CHECK_INTERVAL_S)

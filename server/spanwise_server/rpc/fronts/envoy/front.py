"""The front itself: an ASGI application that is a gRPC server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing, suppress

from google.rpc import code_pb2
from google.rpc.status_pb2 import Status

from spanwise_server.rpc.fronts.envoy.admin import EnvoyAdmin
from spanwise_server.rpc.fronts.envoy.asgi import (
    BODY,
    START,
    TRAILERS,
    Headers,
    Receive,
    Scope,
    Send,
    wait_for_envoy,
)
from spanwise_server.rpc.fronts.envoy.calls import CallsInFlight, EnvoyCall
from spanwise_server.rpc.fronts.envoy.framing import (
    ACCEPTED_ENCODINGS,
    RequestBody,
    encode_message,
    find_decompressor,
)
from spanwise_server.rpc.fronts.envoy.headers import (
    encode_status,
    parse_timeout,
    read_call_headers,
)
from spanwise_server.rpc.interceptors import CallFailed, Interceptors
from spanwise_server.rpc.methods import Method, StreamKind
from spanwise_server.rpc.status import build_status

_HEADERS = [
    (b"content-type", b"application/grpc"),
    (b"grpc-accept-encoding", ACCEPTED_ENCODINGS),
]
_BEGIN = {"type": START, "status": 200, "headers": _HEADERS, "trailers": True}
_END = {"type": BODY, "body": b""}
_OK = {"type": TRAILERS, "headers": [(b"grpc-status", b"0")]}

_STOPPING = build_status(code_pb2.UNAVAILABLE, "the server stops; try another one", [])


class _Answer:
    """The answer of a call, as it is sent. Messages wait until Envoy has room for them."""

    __slots__ = ("_has_begun", "_send")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False

    async def message(self, message: bytes) -> None:
        """Send one of several messages."""
        await self._begin()
        part = {"type": BODY, "body": encode_message(message), "more_body": True}
        await wait_for_envoy(self._send(part))

    async def finish(self) -> None:
        """End well."""
        await self._begin()
        await self._send(_END)
        await self._send(_OK)

    async def finish_with(self, message: bytes) -> None:
        """Send the only message, and end well."""
        await self._begin()
        await self._send({"type": BODY, "body": encode_message(message)})
        await self._send(_OK)

    async def fail(self, status: Status) -> None:
        """End with a status."""
        if self._has_begun:
            await self._send(_END)
            await self._send({"type": TRAILERS, "headers": encode_status(status)})
        else:
            await _send_whole(self._send, 200, [*_HEADERS, *encode_status(status)], b"")

    async def _begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            await self._send(_BEGIN)


_Serve = Callable[[EnvoyCall, _Answer], Awaitable[None]]


class EnvoyFront:
    """Serves method tables from inside Envoy. To be used from the event loop that Envoy runs."""

    def __init__(
        self,
        methods: Iterable[Method],
        interceptors: Interceptors,
        *,
        max_message_bytes: int,
        admin: EnvoyAdmin,
    ) -> None:
        """Bind `methods`; see OpenFront. `admin` speaks with the Envoy around."""
        self._serves = {method.path: _bind(method, interceptors) for method in methods}
        self._max_message_bytes = max_message_bytes
        self._admin = admin
        self._calls = CallsInFlight()
        self._checks: asyncio.Task[None] | None = None
        self._is_stopping = False

    async def start(self, host: str, port: int) -> int:
        """See Front. Envoy has taken the address; this waits until it takes calls."""
        self._checks = asyncio.create_task(self._calls.check_for_ever())
        return await self._admin.served_port()

    async def stop(self, grace_s: float | None) -> None:
        """See Front. Connections hear GOAWAY with their next answer, calls UNAVAILABLE."""
        self._is_stopping = True
        await self._admin.drain()
        await self._calls.drain(grace_s or 0.0, _STOPPING)
        await self._admin.wait_until_sent()
        if self._checks is not None:
            self._checks.cancel()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request: the application's part of ASGI."""
        told = read_call_headers(scope["headers"])
        if not told.content_type.startswith(b"application/grpc"):
            await _refuse_other_protocols(send)
            return
        answer = _Answer(send)
        with suppress(OSError):  # the caller went away in the middle of an answer
            try:
                serve = self._find(scope["path"])
                decompress = find_decompressor(told.encoding)
                timeout_s = _timeout_s(told.timeout)
            except CallFailed as failure:
                await answer.fail(failure.status)
                return
            request = RequestBody(receive, decompress, self._max_message_bytes)
            call = EnvoyCall(scope["headers"], scope["client"], timeout_s, receive, request)
            await self._run(serve, call, answer)

    async def _run(self, serve: _Serve, call: EnvoyCall, answer: _Answer) -> None:
        self._calls.add(call)
        try:
            await serve(call, answer)
        except CallFailed as failure:
            await answer.fail(failure.status)
        except asyncio.CancelledError:
            # The task is the call's alone, and ends here: nobody else needs to know.
            if call.verdict is not None:
                await answer.fail(call.verdict)
        finally:
            self._calls.discard(call)
            call.close()

    def _find(self, path: str) -> _Serve:
        if self._is_stopping:
            raise CallFailed(_STOPPING)
        serve = self._serves.get(path)
        if serve is None:
            raise CallFailed(build_status(code_pb2.UNIMPLEMENTED, f"{path} is not served", []))
        return serve


def _bind(method: Method, interceptors: Interceptors) -> _Serve:
    match method.kind:
        case StreamKind.UNARY:
            return _bind_unary(method, interceptors)
        case StreamKind.SERVER:
            return _bind_server_stream(method, interceptors)
        case StreamKind.BIDIRECTIONAL:
            return _bind_bidirectional(method, interceptors)


def _bind_unary(method: Method, interceptors: Interceptors) -> _Serve:
    serve = interceptors.unary(method)

    async def handle(call: EnvoyCall, answer: _Answer) -> None:
        call.payload = await call.request.only_message()
        await answer.finish_with(await serve(call.payload, call))

    return handle


def _bind_server_stream(method: Method, interceptors: Interceptors) -> _Serve:
    serve = interceptors.server_stream(method)

    async def handle(call: EnvoyCall, answer: _Answer) -> None:
        call.payload = await call.request.only_message()
        async with aclosing(serve(call.payload, call)) as messages:
            async for message in messages:
                await answer.message(message)
        await answer.finish()

    return handle


def _bind_bidirectional(method: Method, interceptors: Interceptors) -> _Serve:
    serve = interceptors.bidirectional(method)

    async def handle(call: EnvoyCall, answer: _Answer) -> None:
        async with (
            aclosing(call.request.messages()) as requests,
            aclosing(serve(requests, call)) as messages,
        ):
            async for message in messages:
                await answer.message(message)
        await answer.finish()

    return handle


def _timeout_s(text: bytes) -> float | None:
    if not text:
        return None
    try:
        return parse_timeout(text)
    except ValueError as error:
        raise CallFailed(build_status(code_pb2.INVALID_ARGUMENT, str(error), [])) from error


async def _refuse_other_protocols(send: Send) -> None:
    text = b"only gRPC is served here: content-type is not application/grpc\n"
    await _send_whole(send, 415, [(b"content-type", b"text/plain; charset=utf-8")], text)


async def _send_whole(send: Send, status: int, headers: Headers, body: bytes) -> None:
    await send({"type": START, "status": status, "headers": headers})
    await send({"type": BODY, "body": body})

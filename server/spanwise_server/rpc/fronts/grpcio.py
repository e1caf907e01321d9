"""The front of record: gRPC over HTTP/2 with grpcio's asyncio server.

Bytes go in and out of grpcio: a handler set decodes for itself, so that undecodable bytes become
INVALID_ARGUMENT with a text instead of grpcio's INTERNAL.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from typing import NoReturn, Optional, TypeAlias, cast

import grpc
import grpc.aio
from google.rpc.status_pb2 import Status

from spanwise_server.rpc.fronts.addresses import AddressUnavailableError, check_address
from spanwise_server.rpc.interceptors import ByteStream, CallFailed, Interceptors
from spanwise_server.rpc.methods import Method, StreamKind

_STATUS_CODES = {code.value[0]: code for code in grpc.StatusCode}

_DETAILS_KEY = "grpc-status-details-bin"
"""Trailer that carries google.rpc.Status, where clients of every language look for details."""

_OPTIONS = {
    # Calls that wait for the event loop. Beyond these numbers gRPC ends calls with CANCELLED, at
    # random from 1,000 on by default, and a sender takes that for a failed event. Work that waits
    # is bounded by the connections: each has at most as many calls as its sender has open.
    "grpc.server.max_pending_requests": 1_000_000,
    "grpc.server.max_pending_requests_hard_limit": 1_000_000,
    # Answers have no cap here; a client that wants one sets it for itself.
    "grpc.max_send_message_length": -1,
    # The sender's connections are long and mostly idle. flytekit pings every 30 s and Go clients
    # down to every 10 s, also without a call in flight; by default grpcio allows a ping every five
    # minutes and then closes the connection with GOAWAY "too_many_pings".
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.http2.min_recv_ping_interval_without_data_ms": 5_000,
    # Faster ones do no harm either: never punish.
    "grpc.http2.max_ping_strikes": 0,
}


class GrpcFront:
    """Serves method tables. To be used from one event loop."""

    def __init__(
        self,
        methods: Iterable[Method],
        interceptors: Interceptors,
        *,
        max_message_bytes: int,
        shares_port: bool = False,
    ) -> None:
        """Bind `methods`.

        Args:
            methods: Rows of all services.
            interceptors: What goes around their handlers.
            max_message_bytes: Cap of a request. A larger one gets RESOURCE_EXHAUSTED with
                "message larger than max" in its text, which FlytePropeller looks for.
            shares_port: Whether other processes of this server bind the same address. The system
                then deals connections out among them. Without it a second server fails instead.
        """
        options = {
            **_OPTIONS,
            "grpc.max_receive_message_length": max_message_bytes,
            "grpc.so_reuseport": int(shares_port),
        }
        self._shares_port = shares_port
        self._server = grpc.aio.server(options=list(options.items()))
        bound = {method.path: _bind(method, interceptors) for method in methods}
        self._server.add_generic_rpc_handlers((_Table(bound),))

    async def start(self, host: str, port: int) -> int:
        """Take calls, and give the port: a free one when 0 was asked for.

        Raises:
            AddressUnavailableError: The address cannot be taken.
        """
        if not self._shares_port:  # else whoever started these processes has checked it
            check_address(host, port)
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            bound = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise AddressUnavailableError(f"cannot serve on {address}: {error}") from error
        await self._server.start()
        return bound

    async def stop(self, grace_s: float | None) -> None:
        """Take no more calls, let those that run finish, and close the port.

        Args:
            grace_s: Seconds after which calls that still run are cancelled; None cancels at once.
        """
        await self._server.stop(grace_s)


# Generic in the type stubs alone.
_Bound: TypeAlias = "grpc.RpcMethodHandler[bytes, bytes]"


class _Table(grpc.GenericRpcHandler):
    def __init__(self, bound: Mapping[str, _Bound]) -> None:
        self._bound = bound

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Optional[_Bound]:  # noqa: UP045 - a text has no |
        return self._bound.get(handler_call_details.method)


_Context = grpc.aio.ServicerContext[bytes, bytes]


class _GrpcCall:
    """A Call of grpcio."""

    __slots__ = ("_context", "payload")

    def __init__(self, payload: bytes, context: _Context) -> None:
        self.payload = payload
        self._context = context

    @property
    def metadata(self) -> Mapping[str, str | bytes]:
        return dict(self._context.invocation_metadata() or ())

    @property
    def peer(self) -> str:
        return self._context.peer()

    @property
    def remaining_s(self) -> float | None:
        return self._context.time_remaining()


def _bind(method: Method, interceptors: Interceptors) -> _Bound:
    match method.kind:
        case StreamKind.UNARY:
            return _bind_unary(method, interceptors)
        case StreamKind.SERVER:
            return _bind_server_stream(method, interceptors)
        case StreamKind.BIDIRECTIONAL:
            return _bind_bidirectional(method, interceptors)


def _bind_unary(method: Method, interceptors: Interceptors) -> _Bound:
    serve = interceptors.unary(method)

    async def handle(payload: bytes, context: _Context) -> bytes:
        try:
            return await serve(payload, _GrpcCall(payload, context))
        except CallFailed as failure:
            await _abort(context, failure.status)

    return grpc.unary_unary_rpc_method_handler(handle)


def _bind_server_stream(method: Method, interceptors: Interceptors) -> _Bound:
    serve = interceptors.server_stream(method)

    async def handle(payload: bytes, context: _Context) -> ByteStream:
        try:
            async with aclosing(serve(payload, _GrpcCall(payload, context))) as answers:
                async for answer in answers:
                    yield answer
        except CallFailed as failure:
            await _abort(context, failure.status)

    return grpc.unary_stream_rpc_method_handler(handle)


def _bind_bidirectional(method: Method, interceptors: Interceptors) -> _Bound:
    serve = interceptors.bidirectional(method)

    async def handle(payloads: AsyncIterator[bytes], context: _Context) -> ByteStream:
        # grpcio's own generator, which it would leave to the garbage collector.
        received = cast("ByteStream", aiter(payloads))
        try:
            async with (
                aclosing(received) as requests,
                aclosing(serve(requests, _GrpcCall(b"", context))) as answers,
            ):
                async for answer in answers:
                    yield answer
        except CallFailed as failure:
            await _abort(context, failure.status)

    return grpc.stream_stream_rpc_method_handler(handle)


async def _abort(context: _Context, status: Status) -> NoReturn:
    await context.abort(
        _STATUS_CODES[status.code],
        status.message,
        ((_DETAILS_KEY, status.SerializeToString()),),
    )

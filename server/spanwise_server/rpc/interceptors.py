"""What stands around every handler, whatever the transport: decoding, encoding, errors.

Composed once when the server starts. A call that goes well pays for two calls of the codec and one
more coroutine, nothing else.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, cast

import structlog
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2
from google.rpc.status_pb2 import Status

from spanwise_server.domain.errors import CorruptRecord, InvalidQuery, SpanwiseError
from spanwise_server.rpc.codecs.requests import request_parser
from spanwise_server.rpc.methods import (
    BidirectionalHandler,
    Call,
    Method,
    ServerStreamHandler,
    UnaryHandler,
)
from spanwise_server.rpc.status import encode_status, internal_status
from spanwise_server.telemetry import Metrics

_log = structlog.get_logger(__name__)

_CANCELLED = code_pb2.Code.Name(code_pb2.CANCELLED)
"""Of a call whose caller left, or whose deadline passed. No status is sent: nobody waits for it."""

UnaryBytes = Callable[[bytes, Call], Awaitable[bytes]]
ByteStream = AsyncGenerator[bytes, None]
ServerStreamBytes = Callable[[bytes, Call], ByteStream]
BidirectionalBytes = Callable[[AsyncIterator[bytes], Call], ByteStream]


class CallFailed(Exception):
    """The status that a front is to end a call with."""

    def __init__(self, status: Status) -> None:
        """Keep the status; never OK."""
        super().__init__(status.message)
        self.status = status


class Interceptors:
    """Puts bytes on the outside of handlers, and CallFailed where they raise."""

    def __init__(self, metrics: Metrics) -> None:
        """Count failures in `metrics`."""
        self._metrics = metrics

    def unary(self, method: Method) -> UnaryBytes:
        """Wrap a handler of StreamKind.UNARY."""
        handler = cast("UnaryHandler", method.handler)
        parse = _parser(method.request_type)

        async def serve(payload: bytes, call: Call) -> bytes:
            try:
                answer = await handler(parse(payload), call)
                return answer.SerializeToString()
            except asyncio.CancelledError:
                self._metrics.count_failure(method.path, _CANCELLED)
                raise
            except Exception as error:
                raise self._fail(method, call, error) from error

        return serve

    def server_stream(self, method: Method) -> ServerStreamBytes:
        """Wrap a handler of StreamKind.SERVER."""
        handler = cast("ServerStreamHandler", method.handler)
        parse = _parser(method.request_type)

        async def serve(payload: bytes, call: Call) -> ByteStream:
            try:
                async with aclosing(handler(parse(payload), call)) as answers:
                    async for answer in answers:
                        yield answer.SerializeToString()
            except asyncio.CancelledError:
                self._metrics.count_failure(method.path, _CANCELLED)
                raise
            except Exception as error:
                raise self._fail(method, call, error) from error

        return serve

    def bidirectional(self, method: Method) -> BidirectionalBytes:
        """Wrap a handler of StreamKind.BIDIRECTIONAL."""
        handler = cast("BidirectionalHandler", method.handler)
        parse = _parser(method.request_type)

        async def serve(payloads: AsyncIterator[bytes], call: Call) -> ByteStream:
            try:
                async with (
                    aclosing(_parsed(payloads, parse, call)) as requests,
                    aclosing(handler(requests, call)) as answers,
                ):
                    async for answer in answers:
                        yield answer.SerializeToString()
            except asyncio.CancelledError:
                self._metrics.count_failure(method.path, _CANCELLED)
                raise
            except Exception as error:
                raise self._fail(method, call, error) from error

        return serve

    def _fail(self, method: Method, call: Call, error: Exception) -> CallFailed:
        if isinstance(error, SpanwiseError):
            status = encode_status(error)
            if isinstance(error, CorruptRecord):
                _log.error("a stored record cannot be read", method=method.path, exc_info=error)
        else:
            request_id = _request_id(call)
            status = internal_status(request_id)
            _log.error(
                "a call failed in a way that nobody foresaw",
                method=method.path,
                request_id=request_id,
                exc_info=error,
            )
        self._metrics.count_failure(method.path, code_pb2.Code.Name(cast("Any", status.code)))
        return CallFailed(status)


def _parser(message_type: type[Message]) -> Callable[[bytes], Message]:
    parse_request = request_parser(message_type)
    name = message_type.DESCRIPTOR.full_name

    def parse(payload: bytes) -> Message:
        try:
            return parse_request(payload)
        except DecodeError as error:
            raise InvalidQuery("request", f"its bytes are not a {name}") from error

    return parse


async def _parsed(
    payloads: AsyncIterator[bytes], parse: Callable[[bytes], Message], call: Call
) -> AsyncGenerator[Message, None]:
    async for payload in payloads:
        call.payload = payload
        yield parse(payload)


_MAX_REQUEST_ID_CHARS = 64


def _request_id(call: Call) -> str:
    """Give the id that the caller chose, if it can stand in a log, else a new one."""
    given = call.metadata.get("x-request-id")
    if isinstance(given, str) and given.isprintable() and 0 < len(given) <= _MAX_REQUEST_ID_CHARS:
        return given
    return secrets.token_hex(8)

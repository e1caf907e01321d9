"""Messages of gRPC inside the bodies of requests and answers.

Each has a byte that tells whether it is compressed, and its length in four bytes. Source:
grpc/doc/PROTOCOL-HTTP2.md and grpc/doc/compression.md.
"""

import asyncio
import struct
import zlib
from collections.abc import AsyncGenerator, Callable

from google.rpc import code_pb2

from spanwise_server.rpc.fronts.envoy.asgi import DISCONNECT, Receive, wait_for_envoy
from spanwise_server.rpc.interceptors import CallFailed
from spanwise_server.rpc.status import build_status

_PREFIX = struct.Struct(">BI")
_COMPRESSED = 1

_WINDOW_BITS = {b"gzip": 31, b"deflate": 15}  # of zlib, which takes either form of the same

ACCEPTED_ENCODINGS = b"identity,deflate,gzip"

Decompress = Callable[[bytes, int], bytes]
"""Gives what compressed bytes stand for, which is at most so many bytes."""


def encode_message(message: bytes) -> bytes:
    """Give a message with its prefix, uncompressed."""
    return _PREFIX.pack(0, len(message)) + message


def find_decompressor(encoding: bytes) -> Decompress:
    """Give how to read the compressed messages of a call with this grpc-encoding, perhaps empty.

    Raises:
        CallFailed: UNIMPLEMENTED, for an encoding that is not known here.
    """
    if encoding in {b"", b"identity"}:
        return _refuse_compressed
    window_bits = _WINDOW_BITS.get(encoding)
    if window_bits is None:
        name, known = encoding.decode("latin-1"), ACCEPTED_ENCODINGS.decode()
        raise _failed(code_pb2.UNIMPLEMENTED, f"grpc-encoding {name!r} is none of {known}")

    def decompress(compressed: bytes, max_bytes: int) -> bytes:
        engine = zlib.decompressobj(window_bits)
        try:
            message = engine.decompress(compressed, max_bytes + 1)
        except zlib.error as error:
            raise _malformed(f"a message is not in its grpc-encoding: {error}") from error
        if len(message) > max_bytes:
            raise _too_large("decompressed to more", max_bytes)
        if not engine.eof:
            raise _malformed("a compressed message ends too early")
        return message

    return decompress


class RequestBody:
    """The body of a request, from which messages are taken one by one.

    Attributes:
        has_ended: Whether the caller has said that nothing more will come.
    """

    __slots__ = ("_decompress", "_held", "_max_message_bytes", "_receive", "has_ended")

    def __init__(self, receive: Receive, decompress: Decompress, max_message_bytes: int) -> None:
        """Read from `receive`; messages have at most `max_message_bytes`, also uncompressed."""
        self._receive = receive
        self._decompress = decompress
        self._max_message_bytes = max_message_bytes
        self._held = bytearray()
        self.has_ended = False

    async def only_message(self) -> bytes:
        """Give the message of a request that has one, when the request has ended.

        Raises:
            CallFailed: It has none, or more, or its bytes are not those of a request.
            CancelledError: The caller went away.
        """
        message = await self.next_message()
        if message is None:
            raise _malformed("the request holds no message")
        if await self.next_message() is not None:
            raise _malformed("the request holds more than one message")
        return message

    async def messages(self) -> AsyncGenerator[bytes, None]:
        """Yield messages as they come; errors as in only_message()."""
        while (message := await self.next_message()) is not None:
            yield message

    async def next_message(self) -> bytes | None:
        """Give the next message, None after the last; errors as in only_message()."""
        held = self._held
        while True:
            if len(held) >= _PREFIX.size:
                flag, size = _PREFIX.unpack_from(held)
                if size > self._max_message_bytes:
                    raise _too_large(str(size), self._max_message_bytes)
                end = _PREFIX.size + size
                if len(held) >= end:
                    message = bytes(memoryview(held)[_PREFIX.size : end])
                    del held[:end]
                    return self._plain(flag, message)
            if self.has_ended:
                if held:
                    raise _malformed("the request ends in the middle of a message")
                return None
            await self._read_more()

    async def _read_more(self) -> None:
        event = await wait_for_envoy(self._receive())
        if event["type"] == DISCONNECT:
            raise asyncio.CancelledError
        self._held += event["body"]
        self.has_ended = not event["more_body"]

    def _plain(self, flag: int, message: bytes) -> bytes:
        if flag == 0:
            return message
        if flag == _COMPRESSED:
            return self._decompress(message, self._max_message_bytes)
        raise _malformed(f"a message begins with the byte {flag} instead of 0 or 1")


def _refuse_compressed(_compressed: bytes, _max_bytes: int) -> bytes:
    raise _malformed("a message is said to be compressed, but the call has no grpc-encoding")


def _malformed(text: str) -> CallFailed:
    return _failed(code_pb2.INVALID_ARGUMENT, text)


def _too_large(size: str, max_bytes: int) -> CallFailed:
    # FlytePropeller looks for "message larger than max".
    text = f"received message larger than max ({size} vs. {max_bytes})"
    return _failed(code_pb2.RESOURCE_EXHAUSTED, text)


def _failed(code: int, text: str) -> CallFailed:
    return CallFailed(build_status(code, text, []))

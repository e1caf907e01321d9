"""A load generator for unary gRPC calls that costs little itself.

It speaks as much HTTP/2 as that takes: requests are frames made beforehand, answers are counted by
their frames. A gRPC library as client would take as much of the two cores as the server that is
measured, and h2load sends one body over and over, which a sink takes for duplicates.
"""

import socket
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
_FRAME_HEAD = struct.Struct(">HBBBI")
_LARGE_WINDOW_BYTES = 2**30
_DEFAULT_WINDOW_BYTES = 65_535
_WINDOW_SETTING = struct.pack(">HI", 4, _LARGE_WINDOW_BYTES)


@dataclass
class LoadResult:
    """What a run gave.

    Attributes:
        seconds: Duration of the run.
        ok: Calls that were answered with a message.
        failed: Calls that were answered with a status only.
        latencies_s: Of every call, in the order of the answers.
    """

    seconds: float = 0.0
    ok: int = 0
    failed: int = 0
    latencies_s: list[float] = field(default_factory=list)

    @property
    def calls_per_s(self) -> float:
        """Answered calls a second."""
        return (self.ok + self.failed) / self.seconds


def run_load(port: int, path: str, bodies: Iterable[bytes], in_flight: int) -> LoadResult:
    """Send one call for each body over one connection to 127.0.0.1, at most `in_flight` at a time.

    Bodies are serialised messages of at most 16 kB. Gives up when an answer takes over 60 s.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        requests = list(_requests(path, bodies))  # before the clock starts
        return _Connection(connection).run(iter(requests), in_flight)


class _Request(NamedTuple):
    stream: int
    frames: bytes
    window_bytes: int


def _requests(path: str, bodies: Iterable[bytes]) -> Iterator[_Request]:
    headers = _header_block(path)
    for number, body in enumerate(bodies):
        stream = 2 * number + 1
        message = struct.pack(">BI", 0, len(body)) + body
        frames = _frame(_HEADERS, _END_HEADERS, stream, headers)
        frames += _frame(_DATA, _END_STREAM, stream, message)
        yield _Request(stream, frames, len(message))


class _Connection:
    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._window_bytes = _DEFAULT_WINDOW_BYTES
        self._sent_at: dict[int, float] = {}
        self._with_message: set[int] = set()
        self._result = LoadResult()
        self._out = bytearray(_PREFACE)
        self._out += _frame(_SETTINGS, 0, 0, _WINDOW_SETTING)
        grow = _LARGE_WINDOW_BYTES - _DEFAULT_WINDOW_BYTES
        self._out += _frame(_WINDOW_UPDATE, 0, 0, struct.pack(">I", grow))

    def run(self, requests: Iterator["_Request"], in_flight: int) -> LoadResult:
        started = time.perf_counter()
        pending = next(requests, None)
        buffer = bytearray()
        while pending is not None or self._sent_at:
            while (
                pending is not None
                and len(self._sent_at) < in_flight
                and self._window_bytes >= pending.window_bytes
            ):
                self._out += pending.frames
                self._window_bytes -= pending.window_bytes
                self._sent_at[pending.stream] = time.perf_counter()
                pending = next(requests, None)
            if self._out:
                self._socket.sendall(self._out)
                self._out.clear()
            received = self._socket.recv(2**18)
            if not received:
                raise ConnectionError("the server closed the connection in the middle of a run")
            buffer += received
            del buffer[: self._take_frames(buffer)]
        self._result.seconds = time.perf_counter() - started
        return self._result

    def _take_frames(self, buffer: bytearray) -> int:
        position = 0
        while len(buffer) - position >= 9:
            high, low, kind, flags, stream = _FRAME_HEAD.unpack_from(buffer, position)
            end = position + 9 + (high << 8 | low)
            if len(buffer) < end:
                break
            self._take_frame(kind, flags, stream, bytes(buffer[position + 9 : end]))
            position = end
        return position

    def _take_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == _DATA:
            self._with_message.add(stream)
        elif kind == _WINDOW_UPDATE and not stream:
            self._window_bytes += int.from_bytes(payload, "big")
        elif kind == _SETTINGS and not flags & _ACK:
            self._out += _frame(_SETTINGS, _ACK, 0, b"")
        elif kind == _PING and not flags & _ACK:
            self._out += _frame(_PING, _ACK, 0, payload)
        elif kind == _GOAWAY:
            raise ConnectionError("the server said GOAWAY in the middle of a run")
        if stream and (kind == _RST_STREAM or (kind in (_DATA, _HEADERS) and flags & _END_STREAM)):
            self._answered(stream)

    def _answered(self, stream: int) -> None:
        sent_at = self._sent_at.pop(stream, None)
        if sent_at is None:  # C-core resets a stream after its trailers
            return
        self._result.latencies_s.append(time.perf_counter() - sent_at)
        if stream in self._with_message:
            self._with_message.remove(stream)
            self._result.ok += 1
        else:
            self._result.failed += 1


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    size = len(payload)
    return _FRAME_HEAD.pack(size >> 8, size & 0xFF, kind, flags, stream) + payload


def _header_block(path: str) -> bytes:
    headers = (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "127.0.0.1"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("user-agent", "spanwise-bench"),
    )
    return b"".join(_literal(name.encode(), value.encode()) for name, value in headers)


def _literal(name: bytes, value: bytes) -> bytes:
    # A literal without indexing (RFC 7541, 6.2.2) leaves no state with the peer, so that every
    # call can send the same bytes.
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value

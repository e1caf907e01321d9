"""As much HTTP/2 as tests need that look at frames (RFC 9113)."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY = 0, 1, 4, 6, 7
ACK = END_STREAM = 1
END_HEADERS = 4


class Frame(NamedTuple):
    """A frame as it was received."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def encode_frame(kind: int, flags: int = 0, payload: bytes = b"", stream: int = 0) -> bytes:
    """Give a frame (section 4.1)."""
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags])
    return head + stream.to_bytes(4, "big") + payload


def read_frames(connection: socket.socket) -> Iterator[Frame]:
    """Give the frames that the server sends, until it closes the connection."""
    with connection.makefile("rb") as stream:
        while header := stream.read(9):
            payload = stream.read(int.from_bytes(header[:3], "big"))
            yield Frame(header[3], header[4], int.from_bytes(header[5:9], "big"), payload)


def encode_headers(*headers: tuple[bytes, bytes]) -> bytes:
    """Give headers as literals without indexing (RFC 7541, section 6.2.2)."""
    return b"".join(
        b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in headers
    )


def encode_call(path: bytes, message: bytes, stream: int, *more: tuple[bytes, bytes]) -> bytes:
    """Give the frames of a unary gRPC call, with more headers if given."""
    headers = encode_headers(
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", path),
        (b":authority", b"test"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        *more,
    )
    prefixed = bytes(1) + len(message).to_bytes(4, "big") + message
    return encode_frame(HEADERS, END_HEADERS, headers, stream) + encode_frame(
        DATA, END_STREAM, prefixed, stream
    )


@contextmanager
def connected(endpoint: str) -> Iterator[socket.socket]:
    """Open a connection of HTTP/2, patient for 60 s."""
    host, port = endpoint.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(PREFACE + encode_frame(SETTINGS))
        yield connection

"""Keep-alive: clients that ping an idle connection are not thrown out."""

import socket
import struct
from collections.abc import Iterator

from tests.e2e.harness import ServerProcess

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING, GOAWAY = 4, 6, 7
ACK = 1

NUM_PINGS = 100
"""A default server closes the connection at the third ping of five minutes without a call. Go
clients send one every 10 s, flytekit every 30 s: this is a quarter of an hour of the former."""


def frame(kind: int, flags: int = 0, payload: bytes = b"") -> bytes:
    """Give a frame of HTTP/2 on stream 0 (RFC 9113, section 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + bytes(4) + payload


def frames(connection: socket.socket) -> Iterator[tuple[int, int, bytes]]:
    """Give the frames that the server sends: kind, flags, payload."""
    with connection.makefile("rb") as stream:
        while header := stream.read(9):
            length = int.from_bytes(header[:3], "big")
            yield header[3], header[4], stream.read(length)


def test_a_client_that_pings_an_idle_connection_keeps_it(server: ServerProcess) -> None:
    """Every ping is answered, and none with GOAWAY "too_many_pings"."""
    host, port = server.endpoint.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(PREFACE + frame(SETTINGS))
        received = frames(connection)
        for number in range(NUM_PINGS):
            payload = struct.pack(">Q", number)
            connection.sendall(frame(PING, payload=payload))
            for kind, flags, content in received:
                assert kind != GOAWAY, content
                if (kind, flags, content) == (PING, ACK, payload):
                    break
            else:
                raise AssertionError("the server closed the connection")

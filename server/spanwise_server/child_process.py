"""Processes of this program beside the serving one, and what both ends say: frames over a socket.

A frame is its length in 8 bytes and a pickled value. Both ends are this program, at one version.
"""

import asyncio
import pickle
import signal
import socket
import struct
import subprocess
import sys
from io import BufferedRWPair
from typing import Any, NamedTuple, cast

_LENGTH = struct.Struct(">Q")

END_S = 2.0
"""How long a child may take to end after its socket was closed. It has nothing left to do then."""


class Child(NamedTuple):
    """A process that was started, and the serving process's end of its socket."""

    process: "subprocess.Popen[bytes]"
    answers: asyncio.StreamReader
    requests: asyncio.StreamWriter


async def start_child(module: str) -> Child:
    """Run a module in a process whose standard input is a socket to this one.

    It ends when the socket is closed, so it never outlives this process.
    """
    ours, its = socket.socketpair()
    # Not asyncio's own subprocesses: under uvloop they fork, which gRPC's threads object to.
    with its:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - a millisecond, and a module of ours
            [sys.executable, "-m", module], stdin=its.fileno(), stdout=subprocess.DEVNULL
        )
    answers, requests = await asyncio.open_connection(sock=ours)
    return Child(process, answers, requests)


def await_end(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of a child whose socket was closed, and kill one that hangs."""
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def open_own_end(buffer_bytes: int) -> BufferedRWPair:
    """Give the child's end of the socket, and let only its closing end the child.

    A terminal sends Ctrl-C to all its processes, and systemd sends SIGTERM likewise. The serving
    process closes the socket when it is done.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    own_end = socket.socket(fileno=sys.stdin.fileno())
    return cast("BufferedRWPair", own_end.makefile("rwb", buffering=buffer_bytes))


def encode_frame(value: Any) -> bytes:
    """Give the bytes of a frame."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


async def receive_frame(stream: asyncio.StreamReader) -> Any:
    """Wait for a frame and give its value.

    Raises:
        EOFError: The other end has closed the stream, or has ended.
    """
    (length,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    return _decode(await stream.readexactly(length))


def read_frame(stream: BufferedRWPair) -> Any:
    """Do what receive_frame() does, and block meanwhile."""
    (length,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    return _decode(_read(stream, length))


def _decode(body: bytes) -> Any:
    return pickle.loads(body)  # noqa: S301 - from our own process, over a socket that nobody else has


def _read(stream: BufferedRWPair, num_bytes: int) -> bytes:
    data = stream.read(num_bytes)
    if len(data) < num_bytes:
        raise EOFError
    return data

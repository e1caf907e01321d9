"""Method tables behind a real front and a real socket, in the process of the test."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import grpc.aio

from spanwise_server.rpc.fronts.grpcio import GrpcFront
from spanwise_server.rpc.interceptors import Interceptors
from spanwise_server.rpc.methods import Method
from spanwise_server.telemetry import Metrics

MIB = 2**20


@asynccontextmanager
async def serving(
    methods: Iterable[Method], *, metrics: Metrics | None = None, max_message_bytes: int = MIB
) -> AsyncIterator[grpc.aio.Channel]:
    """Serve `methods` on a free port and give a channel to it."""
    interceptors = Interceptors(metrics or Metrics())
    front = GrpcFront(methods, interceptors, max_message_bytes=max_message_bytes)
    port = await front.start("127.0.0.1", 0)
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await front.stop(None)


# The types of grpcio's stubs cannot tell what a method without serializer takes.


def unary(channel: grpc.aio.Channel, path: str) -> "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]":
    """Give a unary method that takes and gives bytes."""
    return channel.unary_unary(path)


def server_stream(
    channel: grpc.aio.Channel, path: str
) -> "grpc.aio.UnaryStreamMultiCallable[bytes, bytes]":
    """Give a method that takes bytes and streams bytes."""
    return channel.unary_stream(path)


def bidirectional(
    channel: grpc.aio.Channel, path: str
) -> "grpc.aio.StreamStreamMultiCallable[bytes, bytes]":
    """Give a method that streams bytes both ways."""
    return channel.stream_stream(path)

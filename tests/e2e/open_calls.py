"""Calls that a test holds open: of reflection, which answers each request of a stream."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from grpc_reflection.v1alpha.reflection_pb2 import (
    ServerReflectionRequest,
    ServerReflectionResponse,
)


class OpenCall:
    """A call that lasts until it is finished. Its server has answered once."""

    def __init__(self, channel: grpc.Channel) -> None:
        """Begin it."""
        self._requests: queue.SimpleQueue[ServerReflectionRequest | None] = queue.SimpleQueue()
        self.answers: Any = channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            request_serializer=ServerReflectionRequest.SerializeToString,
            response_deserializer=ServerReflectionResponse.FromString,
        )(iter(self._requests.get, None))
        self.ask()

    def ask(self) -> ServerReflectionResponse:
        """Send a request, and give its answer."""
        self._requests.put(ServerReflectionRequest(list_services=""))
        answer: ServerReflectionResponse = next(self.answers)
        return answer

    def finish(self) -> None:
        """Say that no more requests come."""
        self._requests.put(None)


@contextmanager
def open_call(channel: grpc.Channel) -> Iterator[OpenCall]:
    """Hold a call open for the time of a block."""
    call = OpenCall(channel)
    try:
        yield call
    finally:
        call.finish()

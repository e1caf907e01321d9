"""The yardstick: a gRPC server of the same shape that does nothing. Run as a module of its own."""

import asyncio
import sys
from typing import TypeAlias

import grpc
import uvloop
from flyteidl.admin import event_pb2
from google.protobuf.message import Message

from tests.benchmarks.task_events import METHOD

_Handler: TypeAlias = "grpc.RpcMethodHandler[event_pb2.TaskExecutionEventRequest, Message]"


class _Empty(grpc.GenericRpcHandler):
    def __init__(self) -> None:
        self._answer = event_pb2.TaskExecutionEventResponse()
        self._handler = grpc.unary_unary_rpc_method_handler(
            self._create_task_event,
            request_deserializer=event_pb2.TaskExecutionEventRequest.FromString,
            response_serializer=event_pb2.TaskExecutionEventResponse.SerializeToString,
        )

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "_Handler | None":
        return self._handler if handler_call_details.method == METHOD else None

    async def _create_task_event(
        self, _request: event_pb2.TaskExecutionEventRequest, _context: object
    ) -> event_pb2.TaskExecutionEventResponse:
        return self._answer


async def _serve() -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((_Empty(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"serves gRPC on 127.0.0.1:{port}", file=sys.stderr, flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.install()
    asyncio.run(_serve())

"""A small gRPC server with canned answers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

from spanwise.v1 import (
    event_service_pb2_grpc,
    span_service_pb2_grpc,
    workflow_service_pb2_grpc,
)


class Canned(
    span_service_pb2_grpc.SpanServiceServicer,
    event_service_pb2_grpc.EventServiceServicer,
    workflow_service_pb2_grpc.WorkflowServiceServicer,
):
    """Answers every method with the next canned answer and keeps the requests.

    An answer is a message, or a status code with a text. The requests are copies: a client may
    change its message for the next page.
    """

    def __init__(self, *answers: Any) -> None:
        self.requests: list[Any] = []
        self._answers = list(answers)

    def _answer(self, request: Any, context: grpc.ServicerContext) -> Any:
        copy = type(request)()
        copy.CopyFrom(request)
        self.requests.append(copy)
        answer = self._answers.pop(0)
        if isinstance(answer, tuple):
            context.abort(*answer)
        return answer

    GetExecutionSpan = ListExecutions = ListEvents = DiagnoseExecution = _answer
    CreateExecutionEvent = CreateNodeEvent = CreateTaskEvent = _answer
    RegisterWorkflow = GetWorkflow = BindExecution = _answer


@contextmanager
def running(canned: Canned) -> Iterator[str]:
    """Serve canned answers; gives HOST:PORT."""
    server = grpc.server(ThreadPoolExecutor(1))
    span_service_pb2_grpc.add_SpanServiceServicer_to_server(canned, server)
    event_service_pb2_grpc.add_EventServiceServicer_to_server(canned, server)
    workflow_service_pb2_grpc.add_WorkflowServiceServicer_to_server(canned, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()

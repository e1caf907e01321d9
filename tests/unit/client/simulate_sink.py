"""A small server of Flyte's event calls that remembers what it was sent."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from flyteidl.admin import event_pb2 as admin
from flyteidl.service import admin_pb2_grpc

Refusal = tuple[grpc.StatusCode, str]


def key_of(request: Any) -> bytes:
    """Give what tells requests apart."""
    return bytes(request.SerializeToString(deterministic=True))


def execution_name(request: Any) -> str:
    """Give the name of the execution that an event is of."""
    event = request.event
    if isinstance(request, admin.WorkflowExecutionEventRequest):
        return str(event.execution_id.name)
    if isinstance(request, admin.NodeExecutionEventRequest):
        return str(event.id.execution_id.name)
    return str(event.parent_node_execution_id.execution_id.name)


class Sink(admin_pb2_grpc.AdminServiceServicer):
    """Takes every event, and answers ALREADY_EXISTS to those that it has.

    Attributes:
        received: Every request in the order of arrival, those that were refused as well.
        taken: How often each was received and not refused.
        hold: Called with each request before it is answered. May block, or end the call.
    """

    def __init__(
        self,
        refuse: Callable[[Any, int], Refusal | None] | None = None,
    ) -> None:
        """Make one.

        Args:
            refuse: Gives what an event is refused with, from the request and the number of the
                call, from 0; None takes it.
        """
        self.received: list[Any] = []
        self.taken: Counter[bytes] = Counter()
        self._refuse = refuse or (lambda _request, _number: None)
        self.hold: Callable[[Any, grpc.ServicerContext], None] = lambda _request, _context: None
        self._lock = threading.Lock()

    def _answer(self, request: Any, context: grpc.ServicerContext) -> Any:
        with self._lock:
            refusal = self._refuse(request, len(self.received))
            self.received.append(request)
            if refusal is None:
                key = key_of(request)
                self.taken[key] += 1
                if self.taken[key] > 1:
                    refusal = (grpc.StatusCode.ALREADY_EXISTS, "have it")
        self.hold(request, context)
        if refusal is not None:
            context.abort(*refusal)
        return _RESPONSES[type(request)]()

    CreateWorkflowEvent = CreateNodeEvent = CreateTaskEvent = _answer


_RESPONSES: dict[type[Any], type[Any]] = {
    admin.WorkflowExecutionEventRequest: admin.WorkflowExecutionEventResponse,
    admin.NodeExecutionEventRequest: admin.NodeExecutionEventResponse,
    admin.TaskExecutionEventRequest: admin.TaskExecutionEventResponse,
}


@contextmanager
def serving(servicer: admin_pb2_grpc.AdminServiceServicer) -> Iterator[str]:
    """Serve it; gives HOST:PORT."""
    server = grpc.server(ThreadPoolExecutor(8))
    admin_pb2_grpc.add_AdminServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()

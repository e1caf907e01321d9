"""flyteidl.service.AdminService: the events that FlytePropeller sends, and Flyte's metrics.

Wire-compatible with FlyteAdmin for these methods; every other one is declared and says what to do.
"""

from functools import partial

from flyteidl.admin.event_pb2 import (
    NodeExecutionEventRequest,
    NodeExecutionEventResponse,
    TaskExecutionEventRequest,
    TaskExecutionEventResponse,
    WorkflowExecutionEventRequest,
    WorkflowExecutionEventResponse,
)
from flyteidl.service import admin_pb2

from spanwise_server.domain.events import PayloadType
from spanwise_server.rpc.codecs.flyte1 import decode_workflow_event
from spanwise_server.rpc.methods import Call, Handler, Method, service_methods
from spanwise_server.rpc.reader import Reader, answered_by, prepare_ended
from spanwise_server.service.event_sink import EventSink

_SERVICE = admin_pb2.DESCRIPTOR.services_by_name["AdminService"]


class AdminServicer:
    """Handlers of AdminService."""

    def __init__(self, sink: EventSink, reader: Reader) -> None:
        """Give events to `sink` and leave metrics to `reader`."""
        self._sink = sink
        self._reader = reader

    def methods(self) -> list[Method]:
        """Give the method table."""
        handlers: dict[str, Handler] = {
            "CreateWorkflowEvent": self._create_workflow_event,
            "CreateNodeEvent": self._create_node_event,
            "CreateTaskEvent": self._create_task_event,
            "GetExecutionMetrics": answered_by(self._reader, "GetExecutionMetrics"),
        }
        return service_methods(_SERVICE, handlers, _explain_unserved)

    async def _create_workflow_event(
        self, request: WorkflowExecutionEventRequest, call: Call
    ) -> WorkflowExecutionEventResponse:
        recorded = await self._sink.record(PayloadType.FLYTE1_WORKFLOW_EVENT, call.payload)
        prepare_ended(
            self._reader, recorded.sequence, partial(decode_workflow_event, request, call.payload)
        )
        return WorkflowExecutionEventResponse()

    async def _create_node_event(
        self, request: NodeExecutionEventRequest, call: Call
    ) -> NodeExecutionEventResponse:
        await self._sink.record(PayloadType.FLYTE1_NODE_EVENT, call.payload)
        return NodeExecutionEventResponse()

    async def _create_task_event(
        self, request: TaskExecutionEventRequest, call: Call
    ) -> TaskExecutionEventResponse:
        await self._sink.record(PayloadType.FLYTE1_TASK_EVENT, call.payload)
        return TaskExecutionEventResponse()


def _explain_unserved(method: str) -> str:
    return (
        f"spanwise does not serve AdminService.{method}. It takes execution events"
        " (CreateWorkflowEvent, CreateNodeEvent, CreateTaskEvent) and answers GetExecutionMetrics;"
        f" point whatever calls {method} at FlyteAdmin"
    )

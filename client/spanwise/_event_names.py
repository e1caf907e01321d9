"""What events of a log name besides their own execution."""

from contextlib import suppress
from typing import NamedTuple

from google.protobuf.message import DecodeError

from spanwise._identifiers import ExecutionId
from spanwise.v1 import event_service_pb2, identifiers_pb2


class EventNames(NamedTuple):
    """Names in one event. `child` is an execution that it started, `workflow` what it runs."""

    child: ExecutionId | None = None
    workflow: str = ""


def names_in(event: event_service_pb2.LoggedEvent) -> EventNames:
    """Give what an event names, which must come with its payload.

    Of an event of Flyte nothing without the package flyteidl, and nothing of a payload that cannot
    be read.
    """
    with suppress(DecodeError, ImportError):
        match event.payload_type:
            case "spanwise.v1.CreateExecutionEventRequest":
                execution = event_service_pb2.CreateExecutionEventRequest.FromString(event.payload)
                return EventNames(workflow=workflow_text(execution.event.workflow_id))
            case "spanwise.v1.CreateNodeEventRequest":
                node = event_service_pb2.CreateNodeEventRequest.FromString(event.payload)
                return EventNames(_child(node.event.child_execution_id))
            case "flyteidl.admin.NodeExecutionEventRequest":
                from flyteidl.admin import event_pb2  # noqa: PLC0415 - optional, slow to import

                request = event_pb2.NodeExecutionEventRequest.FromString(event.payload)
                child = request.event.workflow_node_metadata.execution_id
                return EventNames(
                    _child(
                        identifiers_pb2.ExecutionId(
                            project=child.project, domain=child.domain, name=child.name
                        )
                    )
                )
    return EventNames()


def workflow_text(workflow_id: identifiers_pb2.EntityVersion) -> str:
    """Give PROJECT/DOMAIN/NAME/VERSION, without what is empty."""
    parts = (workflow_id.project, workflow_id.domain, workflow_id.name, workflow_id.version)
    return "/".join(filter(None, parts))


def _child(execution_id: identifiers_pb2.ExecutionId) -> ExecutionId | None:
    return ExecutionId.from_message(execution_id) if execution_id.name else None

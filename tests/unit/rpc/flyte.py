"""Builders of Flyte 1 event requests, filled in as FlytePropeller does."""

from typing import Any

from flyteidl.admin.event_pb2 import (
    NodeExecutionEventRequest,
    TaskExecutionEventRequest,
    WorkflowExecutionEventRequest,
)
from flyteidl.core.execution_pb2 import NodeExecution, TaskExecution, WorkflowExecution
from flyteidl.core.identifier_pb2 import (
    Identifier,
    NodeExecutionIdentifier,
    ResourceType,
    WorkflowExecutionIdentifier,
)
from flyteidl.event.event_pb2 import (
    NodeExecutionEvent,
    TaskExecutionEvent,
    WorkflowExecutionEvent,
)
from google.protobuf.timestamp_pb2 import Timestamp

T0 = 1_700_000_000
"""Seconds of the moment that tests count from."""

EXECUTION = WorkflowExecutionIdentifier(project="flytesnacks", domain="development", name="f1a2b3")
NODE = NodeExecutionIdentifier(node_id="n0", execution_id=EXECUTION)
TASK = Identifier(
    resource_type=ResourceType.TASK,
    project="flytesnacks",
    domain="development",
    name="workflows.train",
    version="v1",
)


def at(seconds: float) -> Timestamp:
    """Give a moment after T0."""
    return Timestamp(seconds=T0 + int(seconds), nanos=round(seconds % 1 * 1e9))


def workflow_event(**fields: Any) -> WorkflowExecutionEventRequest:
    """Give a RUNNING event of EXECUTION at T0, changed by `fields`."""
    usual: dict[str, Any] = {
        "execution_id": EXECUTION,
        "producer_id": "propeller",
        "phase": WorkflowExecution.RUNNING,
        "occurred_at": at(0),
    }
    return WorkflowExecutionEventRequest(event=WorkflowExecutionEvent(**{**usual, **fields}))


def node_event(**fields: Any) -> NodeExecutionEventRequest:
    """Give a QUEUED event of NODE at T0, changed by `fields`."""
    usual: dict[str, Any] = {
        "id": NODE,
        "producer_id": "propeller",
        "phase": NodeExecution.QUEUED,
        "occurred_at": at(0),
        "reported_at": at(0.5),
        "spec_node_id": "n0",
        "node_name": "train",
        "event_version": 1,
    }
    return NodeExecutionEventRequest(event=NodeExecutionEvent(**{**usual, **fields}))


def task_event(**fields: Any) -> TaskExecutionEventRequest:
    """Give a QUEUED event of attempt 0 of TASK in NODE at T0, changed by `fields`."""
    usual: dict[str, Any] = {
        "task_id": TASK,
        "parent_node_execution_id": NODE,
        "producer_id": "propeller",
        "phase": TaskExecution.QUEUED,
        "occurred_at": at(0),
        "reported_at": at(0.5),
        "task_type": "python-task",
        "event_version": 1,
    }
    return TaskExecutionEventRequest(event=TaskExecutionEvent(**{**usual, **fields}))

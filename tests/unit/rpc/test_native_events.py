"""Native events inward."""

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import event_pb2, identifiers_pb2, phase_pb2
from spanwise.v1.event_service_pb2 import (
    CreateExecutionEventRequest,
    CreateNodeEventRequest,
    CreateTaskEventRequest,
)
from spanwise_server.domain.errors import InvalidEvent
from spanwise_server.domain.events import (
    CacheStatus,
    Details,
    ErrorKind,
    Event,
    ExecutionError,
    ExecutionFacts,
    Log,
    NodeFacts,
    PayloadType,
    Reason,
    Severity,
    Subtask,
    TaskFacts,
)
from spanwise_server.domain.identifiers import EntityKind, EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.rpc.codecs.native import (
    decode_execution_event,
    decode_node_event,
    decode_task_event,
)

SECOND_NS = 10**9
EXECUTION = identifiers_pb2.ExecutionId(project="p", domain="d", name="run", org="acme")
NODE = identifiers_pb2.NodeId(execution_id=EXECUTION, node_id="a0")
TASK = identifiers_pb2.EntityVersion(project="p", domain="d", name="train", version="v1")
ERROR = event_pb2.ExecutionError(
    code="OOM", message="out of memory", kind=event_pb2.ERROR_KIND_USER, error_uri="s3://e"
)
RUNNING = phase_pb2.PHASE_RUNNING


def decode_execution(event: event_pb2.ExecutionEvent) -> Event:
    request = CreateExecutionEventRequest(event=event)
    return decode_execution_event(event, request.SerializeToString())


def decode_node(event: event_pb2.NodeEvent) -> Event:
    request = CreateNodeEventRequest(event=event)
    return decode_node_event(event, request.SerializeToString())


def decode_task(event: event_pb2.TaskEvent) -> Event:
    request = CreateTaskEventRequest(event=event)
    return decode_task_event(event, request.SerializeToString())


def test_an_execution_event_is_decoded_whole() -> None:
    """With its reasons, and with the execution that started it."""
    event = event_pb2.ExecutionEvent(
        execution_id=EXECUTION,
        phase=RUNNING,
        occurred_at=Timestamp(seconds=10),
        reported_at=Timestamp(seconds=11),
        producer_id="cluster-a",
        reasons=[
            event_pb2.Reason(
                occurred_at=Timestamp(seconds=9),
                message="quota reached",
                severity=event_pb2.SEVERITY_WARNING,
                source="admission",
                count=3,
            ),
            event_pb2.Reason(message=""),
            event_pb2.Reason(message="plain"),
        ],
        error=ERROR,
        workflow_id=TASK,
        parent_node_id=identifiers_pb2.NodeId(
            execution_id=identifiers_pb2.ExecutionId(name="parent"), node_id="a9"
        ),
    )
    payload = CreateExecutionEventRequest(event=event).SerializeToString()
    assert decode_execution(event) == Event(
        execution_id=ExecutionId("p", "d", "run"),
        kind=EntityKind.EXECUTION,
        node_id="",
        task_id=EntityVersion(),
        retry_attempt=0,
        phase=Phase.RUNNING,
        phase_version=0,
        occurred_at_ns=10 * SECOND_NS,
        reported_at_ns=11 * SECOND_NS,
        producer_id="cluster-a",
        qualities=EventQuality.NONE,
        reasons=(
            Reason("quota reached", 9 * SECOND_NS, Severity.WARNING, "admission", 3),
            Reason("plain"),
            Reason("OOM: out of memory", severity=Severity.ERROR),
        ),
        facts=ExecutionFacts(
            org="acme",
            workflow_id=EntityVersion("p", "d", "train", "v1"),
            parent_execution_id=ExecutionId("", "", "parent"),
            parent_node_id="a9",
        ),
        details=Details(error=ExecutionError("OOM", "out of memory", ErrorKind.USER, "s3://e")),
        payload_type=PayloadType.EXECUTION_EVENT,
        payload=payload,
    )


def test_a_node_event_is_decoded_whole() -> None:
    """With all that it says of its place, and the nodes that it waited for."""
    event = event_pb2.NodeEvent(
        node_id=NODE,
        phase=RUNNING,
        occurred_at=Timestamp(seconds=10),
        parent_node_id="a1",
        spec_node_id="train",
        node_name="Train",
        retry_group="1",
        kind=event_pb2.NODE_KIND_GATE,
        target_id=TASK,
        cache_status=event_pb2.CACHE_STATUS_MISS,
        child_execution_id=EXECUTION,
        upstream_node_ids=["a2", "a3"],
        group="epochs",
    )
    decoded = decode_node(event)
    assert (decoded.kind, decoded.node_id) == (EntityKind.NODE, "a0")
    assert decoded.facts == NodeFacts(
        parent_node_id="a1",
        spec_node_id="train",
        node_name="Train",
        retry_group="1",
        kind=NodeKind.GATE,
        target_id=EntityVersion("p", "d", "train", "v1"),
        cache_status=CacheStatus.MISS,
        child_execution_id=ExecutionId("p", "d", "run"),
        group="epochs",
    )
    assert decoded.details == Details(upstream_node_ids=("a2", "a3"))
    assert decoded.qualities is EventQuality.NONE


def test_a_task_event_is_decoded_whole() -> None:
    """With logs and sub-tasks."""
    event = event_pb2.TaskEvent(
        task_attempt_id=identifiers_pb2.TaskAttemptId(node_id=NODE, task_id=TASK, retry_attempt=2),
        phase=RUNNING,
        phase_version=4,
        occurred_at=Timestamp(seconds=10),
        task_type="spark",
        logs=[event_pb2.Log(name="all", uri="http://l"), event_pb2.Log(name="none")],
        subtasks=[
            event_pb2.Subtask(
                index=1,
                retry_attempt=1,
                external_id="pod-1",
                phase=phase_pb2.PHASE_QUEUED,
                cache_status=event_pb2.CACHE_STATUS_HIT,
                logs=[event_pb2.Log(name="1", uri="http://l/1")],
            )
        ],
        external_id="driver",
        interruptible=True,
    )
    decoded = decode_task(event)
    assert (decoded.kind, decoded.node_id) == (EntityKind.TASK_ATTEMPT, "a0")
    assert decoded.task_id == EntityVersion("p", "d", "train", "v1")
    assert (decoded.retry_attempt, decoded.phase_version) == (2, 4)
    assert decoded.facts == TaskFacts(task_type="spark", interruptible=True)
    assert decoded.details == Details(
        logs=(Log("all", "http://l"),),
        subtasks=(
            Subtask(1, 1, "pod-1", Phase.QUEUED, CacheStatus.HIT, (Log("1", "http://l/1"),)),
        ),
        external_id="driver",
    )


def test_parts_that_are_optional_are_not_missed() -> None:
    """A source without projects, domains and task definitions is as good as any."""
    node = identifiers_pb2.NodeId(
        execution_id=identifiers_pb2.ExecutionId(name="run"), node_id="a0"
    )
    event = event_pb2.TaskEvent(
        task_attempt_id=identifiers_pb2.TaskAttemptId(node_id=node),
        phase=RUNNING,
        occurred_at=Timestamp(seconds=10),
    )
    decoded = decode_task(event)
    assert (decoded.qualities, decoded.details) == (EventQuality.NONE, None)


def test_what_is_odd_is_flagged() -> None:
    """And the event is taken all the same."""
    decoded = decode_node(
        event_pb2.NodeEvent(
            node_id=identifiers_pb2.NodeId(execution_id=EXECUTION, node_id="x" * 300),
            phase=99,  # type: ignore[arg-type]
            reported_at=Timestamp(nanos=-1),
        )
    )
    assert decoded.phase is Phase.UNSPECIFIED
    assert decoded.qualities == (
        EventQuality.MISSING_TIMESTAMP
        | EventQuality.UNKNOWN_PHASE
        | EventQuality.TIMESTAMP_OUT_OF_RANGE
        | EventQuality.UNUSUAL_TEXT
    )


def test_an_event_must_name_its_entity() -> None:
    """The error names the field that is empty."""
    with pytest.raises(InvalidEvent) as execution:
        decode_execution(event_pb2.ExecutionEvent())
    with pytest.raises(InvalidEvent) as node:
        decode_node(event_pb2.NodeEvent(node_id=identifiers_pb2.NodeId(execution_id=EXECUTION)))
    with pytest.raises(InvalidEvent) as task:
        decode_task(event_pb2.TaskEvent())
    assert [error.value.field for error in (execution, node, task)] == [
        "event.execution_id.name",
        "event.node_id.node_id",
        "event.task_attempt_id.node_id.execution_id.name",
    ]

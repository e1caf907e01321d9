"""Flyte 1 events inward: what FlytePropeller says, and what is odd about it."""

from typing import Any

import pytest
from flyteidl.admin.event_pb2 import (
    NodeExecutionEventRequest,
    TaskExecutionEventRequest,
    WorkflowExecutionEventRequest,
)
from flyteidl.core import catalog_pb2, execution_pb2, identifier_pb2
from flyteidl.core.execution_pb2 import NodeExecution, TaskExecution, WorkflowExecution
from flyteidl.event import event_pb2
from google.protobuf.timestamp_pb2 import Timestamp

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
from spanwise_server.rpc.codecs.flyte1 import (
    decode_node_event,
    decode_task_event,
    decode_workflow_event,
)
from spanwise_server.rpc.codecs.payloads import decode_payload
from tests.unit.rpc.flyte import EXECUTION, T0, at, node_event, task_event, workflow_event

SECOND_NS = 10**9
T0_NS = T0 * SECOND_NS
EXECUTION_ID = ExecutionId("flytesnacks", "development", "f1a2b3")
TASK_ID = EntityVersion("flytesnacks", "development", "workflows.train", "v1")


def decode_workflow(**fields: Any) -> Event:
    request = workflow_event(**fields)
    return decode_workflow_event(request, request.SerializeToString())


def decode_node(**fields: Any) -> Event:
    request = node_event(**fields)
    return decode_node_event(request, request.SerializeToString())


def decode_task(**fields: Any) -> Event:
    request = task_event(**fields)
    return decode_task_event(request, request.SerializeToString())


def node_facts(**fields: Any) -> NodeFacts:
    facts = decode_node(**fields).facts
    assert isinstance(facts, NodeFacts)
    return facts


def test_a_workflow_event_is_decoded_whole() -> None:
    """It has no reported_at in Flyte 1, and org is a fact, not identity."""
    request = workflow_event()
    request.event.execution_id.org = "acme"
    payload = request.SerializeToString()
    assert decode_workflow_event(request, payload) == Event(
        execution_id=EXECUTION_ID,
        kind=EntityKind.EXECUTION,
        node_id="",
        task_id=EntityVersion(),
        retry_attempt=0,
        phase=Phase.RUNNING,
        phase_version=0,
        occurred_at_ns=T0_NS,
        reported_at_ns=None,
        producer_id="propeller",
        qualities=EventQuality.NONE,
        reasons=(),
        facts=ExecutionFacts(org="acme"),
        details=None,
        payload_type=PayloadType.FLYTE1_WORKFLOW_EVENT,
        payload=payload,
    )


def test_a_node_event_is_decoded_whole() -> None:
    """With its place in the tree and in the template."""
    request = node_event(
        parent_node_metadata=event_pb2.ParentNodeExecutionMetadata(node_id="n9"), retry_group="1"
    )
    payload = request.SerializeToString()
    assert decode_node_event(request, payload) == Event(
        execution_id=EXECUTION_ID,
        kind=EntityKind.NODE,
        node_id="n0",
        task_id=EntityVersion(),
        retry_attempt=0,
        phase=Phase.QUEUED,
        phase_version=0,
        occurred_at_ns=T0_NS,
        reported_at_ns=T0_NS + SECOND_NS // 2,
        producer_id="propeller",
        qualities=EventQuality.NONE,
        reasons=(),
        facts=NodeFacts(parent_node_id="n9", spec_node_id="n0", node_name="train", retry_group="1"),
        details=None,
        payload_type=PayloadType.FLYTE1_NODE_EVENT,
        payload=payload,
    )


def test_a_task_event_is_decoded_whole() -> None:
    """With attempt, version and type."""
    metadata = event_pb2.TaskExecutionMetadata(
        instance_class=event_pb2.TaskExecutionMetadata.INTERRUPTIBLE
    )
    request = task_event(retry_attempt=2, phase_version=3, metadata=metadata)
    payload = request.SerializeToString()
    assert decode_task_event(request, payload) == Event(
        execution_id=EXECUTION_ID,
        kind=EntityKind.TASK_ATTEMPT,
        node_id="n0",
        task_id=TASK_ID,
        retry_attempt=2,
        phase=Phase.QUEUED,
        phase_version=3,
        occurred_at_ns=T0_NS,
        reported_at_ns=T0_NS + SECOND_NS // 2,
        producer_id="propeller",
        qualities=EventQuality.NONE,
        reasons=(),
        facts=TaskFacts(task_type="python-task", interruptible=True),
        details=None,
        payload_type=PayloadType.FLYTE1_TASK_EVENT,
        payload=payload,
    )


def test_every_logged_payload_decodes_to_the_event_that_was_recorded() -> None:
    """The log is the truth that projections are rebuilt from."""
    for event in (decode_workflow(), decode_node(), decode_task()):
        assert decode_payload(event.payload_type, event.payload) == event


@pytest.mark.parametrize(
    "request_of_nothing",
    [
        WorkflowExecutionEventRequest(),
        workflow_event(execution_id=identifier_pb2.WorkflowExecutionIdentifier(project="p")),
    ],
)
def test_a_workflow_event_must_name_an_execution(
    request_of_nothing: WorkflowExecutionEventRequest,
) -> None:
    """There is nothing to store it under."""
    with pytest.raises(InvalidEvent, match=r"event\.execution_id\.name"):
        decode_workflow_event(request_of_nothing, b"")


@pytest.mark.parametrize("part", ["execution_id.name", "node_id"])
def test_node_and_task_events_must_name_an_execution_and_a_node(part: str) -> None:
    """The error names the field that is empty."""
    node_id = {
        "execution_id.name": identifier_pb2.NodeExecutionIdentifier(node_id="n0"),
        "node_id": identifier_pb2.NodeExecutionIdentifier(execution_id=EXECUTION),
    }[part]
    with pytest.raises(InvalidEvent) as node:
        decode_node(id=node_id)
    with pytest.raises(InvalidEvent) as task:
        decode_task(parent_node_execution_id=node_id)
    assert node.value.field == f"event.id.{part}"
    assert task.value.field == f"event.parent_node_execution_id.{part}"


@pytest.mark.parametrize("request_type", [NodeExecutionEventRequest, TaskExecutionEventRequest])
def test_an_empty_request_is_invalid(request_type: type) -> None:
    """All of it is missing."""
    decode = decode_node_event if request_type is NodeExecutionEventRequest else decode_task_event
    with pytest.raises(InvalidEvent):
        decode(request_type(), b"")


def test_a_missing_occurred_at_is_flagged() -> None:
    """FlyteAdmin refuses it, which would fail somebody's node."""
    for event in (
        decode_workflow(occurred_at=None),
        decode_node(occurred_at=None),
        decode_task(occurred_at=None),
    ):
        assert event.occurred_at_ns is None
        assert event.qualities == EventQuality.MISSING_TIMESTAMP


@pytest.mark.parametrize("field", ["occurred_at", "reported_at"])
@pytest.mark.parametrize("timestamp", [Timestamp(seconds=2**62), Timestamp(seconds=9, nanos=-1)])
def test_a_bad_timestamp_is_flagged(field: str, timestamp: Timestamp) -> None:
    """Wherever it stands."""
    assert decode_node(**{field: timestamp}).qualities == EventQuality.TIMESTAMP_OUT_OF_RANGE
    assert decode_task(**{field: timestamp}).qualities == EventQuality.TIMESTAMP_OUT_OF_RANGE


def test_a_bad_timestamp_of_a_reason_is_flagged() -> None:
    """The reason stands at the bound that it was moved to."""
    reason = event_pb2.EventReason(reason="x", occurred_at=Timestamp(seconds=-(2**62)))
    assert decode_task(reasons=[reason]).qualities == EventQuality.TIMESTAMP_OUT_OF_RANGE


@pytest.mark.parametrize("number", [0, 99])
def test_an_unknown_phase_is_flagged(number: int) -> None:
    """UNDEFINED, and whatever a later Flyte adds."""
    for event in (
        decode_workflow(phase=number),
        decode_node(phase=number),
        decode_task(phase=number),
    ):
        assert event.phase is Phase.UNSPECIFIED
        assert event.qualities == EventQuality.UNKNOWN_PHASE


@pytest.mark.parametrize("text", ["x" * 256, "a\0b"])
def test_an_unusual_id_is_flagged_and_kept(text: str) -> None:
    """Longer than FlyteAdmin's columns, or with a NUL."""
    node_id = identifier_pb2.NodeExecutionIdentifier(node_id=text, execution_id=EXECUTION)
    event = decode_node(id=node_id)
    assert (event.node_id, event.qualities) == (text, EventQuality.UNUSUAL_TEXT)
    event = decode_task(parent_node_execution_id=node_id)
    assert (event.node_id, event.qualities) == (text, EventQuality.UNUSUAL_TEXT)
    execution_id = identifier_pb2.WorkflowExecutionIdentifier(project="p", domain="d", name=text)
    event = decode_workflow(execution_id=execution_id)
    assert (event.execution_id.name, event.qualities) == (text, EventQuality.UNUSUAL_TEXT)


def test_a_nul_in_a_reason_is_flagged() -> None:
    """A length is not: reasons may be long."""
    assert decode_task(reason="a\0b").qualities == EventQuality.UNUSUAL_TEXT
    assert decode_task(reason="x" * 10_000).qualities == EventQuality.NONE


def test_a_missing_project_is_flagged() -> None:
    """FlyteAdmin requires it."""
    execution_id = identifier_pb2.WorkflowExecutionIdentifier(domain="d", name="n")
    assert decode_workflow(execution_id=execution_id).qualities == EventQuality.INCOMPLETE


def test_a_missing_task_id_is_flagged() -> None:
    """ArrayNode sends none for sub-nodes that are not tasks."""
    event = decode_task(task_id=None)
    assert (event.task_id, event.qualities) == (EntityVersion(), EventQuality.INCOMPLETE)


def test_reasons_keep_their_own_times_and_order() -> None:
    """The list of the sender is not chronological; an unset time is that of the event."""
    reasons = [
        event_pb2.EventReason(reason="task submitted"),
        event_pb2.EventReason(reason="Pulling image", occurred_at=at(-3)),
        event_pb2.EventReason(reason="", occurred_at=at(1)),
        event_pb2.EventReason(reason="no time", occurred_at=Timestamp(seconds=-62_135_596_800)),
    ]
    assert decode_task(reasons=reasons, reason="Pulling image").reasons == (
        Reason("task submitted"),
        Reason("Pulling image", T0_NS - 3 * SECOND_NS),
        Reason("no time"),
    )


def test_the_deprecated_reason_counts_without_a_list() -> None:
    """With the time of its event."""
    assert decode_task(reason="task submitted").reasons == (Reason("task submitted"),)


def flyte_error(**fields: Any) -> execution_pb2.ExecutionError:
    return execution_pb2.ExecutionError(
        code="OOMKilled",
        message="out of memory",
        kind=execution_pb2.ExecutionError.USER,
        **fields,
    )


@pytest.mark.parametrize("decode", [decode_workflow, decode_node, decode_task])
def test_an_error_is_a_detail_and_a_reason(decode: Any) -> None:
    """Of every kind of event, in any phase."""
    event = decode(error=flyte_error(error_uri="s3://x"))
    error = ExecutionError("OOMKilled", "out of memory", ErrorKind.USER, "s3://x")
    assert event.details == Details(error=error)
    assert event.reasons == (Reason("OOMKilled: out of memory", severity=Severity.ERROR),)


def test_an_error_with_a_time_and_a_worker_is_a_reason_of_that_time_and_worker() -> None:
    """Distributed tasks say which worker failed first."""
    event = decode_task(error=flyte_error(timestamp=at(7), worker="worker-3"))
    (reason,) = event.reasons
    assert (reason.occurred_at_ns, reason.source) == (T0_NS + 7 * SECOND_NS, "worker-3")


def test_an_empty_error_is_no_reason() -> None:
    """There is nothing to read."""
    event = decode_workflow(error=execution_pb2.ExecutionError())
    assert event.reasons == ()
    assert event.details == Details(error=ExecutionError())


def test_other_outputs_are_no_details() -> None:
    """They stay in the payload, which is not read again for them."""
    assert decode_node(output_uri="s3://bucket/outputs.pb").details is None


def cache(status: Any, **fields: Any) -> event_pb2.TaskNodeMetadata:
    return event_pb2.TaskNodeMetadata(cache_status=status, **fields)


CATALOG_KEY = catalog_pb2.CatalogMetadata(
    dataset_id=identifier_pb2.Identifier(name="workflows.prepare", version="1-abc"),
    source_task_execution=identifier_pb2.TaskExecutionIdentifier(
        node_execution_id=identifier_pb2.NodeExecutionIdentifier(
            node_id="n3",
            execution_id=identifier_pb2.WorkflowExecutionIdentifier(
                project="p", domain="d", name="earlier"
            ),
        ),
        retry_attempt=1,
    ),
)


def test_a_cache_hit_says_where_the_result_came_from() -> None:
    """It is the first and only event of its node."""
    event = decode_node(
        phase=NodeExecution.SUCCEEDED,
        task_node_metadata=cache(catalog_pb2.CACHE_HIT, catalog_key=CATALOG_KEY),
    )
    assert isinstance(event.facts, NodeFacts)
    assert (event.facts.cache_status, event.facts.kind) == (CacheStatus.HIT, NodeKind.TASK)
    (reason,) = event.reasons
    assert reason == Reason(
        "cache hit: workflows.prepare 1-abc, from p/d/earlier node n3 attempt 1",
        severity=Severity.INFO,
        source="catalog",
    )


@pytest.mark.parametrize("name", ["CACHE_LOOKUP_FAILURE", "CACHE_PUT_FAILURE"])
def test_a_failure_of_the_cache_is_a_warning(name: str) -> None:
    """The node runs all the same, only longer."""
    status = catalog_pb2.CatalogCacheStatus.Value(name)
    (reason,) = decode_node(task_node_metadata=cache(status)).reasons
    assert (reason.severity, reason.source) == (Severity.WARNING, "catalog")


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (event_pb2.TaskNodeMetadata(), CacheStatus.UNSPECIFIED),
        (event_pb2.TaskNodeMetadata(catalog_key=CATALOG_KEY), CacheStatus.DISABLED),
        (cache(catalog_pb2.CACHE_MISS), CacheStatus.MISS),
        (cache(99), CacheStatus.UNSPECIFIED),
    ],
)
def test_a_cache_status_of_zero_says_nothing_without_a_key(
    metadata: event_pb2.TaskNodeMetadata, expected: CacheStatus
) -> None:
    """0 is CACHE_DISABLED and also what a sender leaves unset."""
    assert node_facts(task_node_metadata=metadata).cache_status is expected


def test_a_held_cache_reservation_is_a_reason() -> None:
    """It explains why a node waits."""
    metadata = event_pb2.TaskNodeMetadata(
        reservation_status=catalog_pb2.CatalogReservation.RESERVATION_EXISTS
    )
    (reason,) = decode_node(task_node_metadata=metadata).reasons
    assert "cache reservation" in reason.message


def test_a_skipped_node_says_why() -> None:
    """Its only event carries no text."""
    (reason,) = decode_node(phase=NodeExecution.SKIPPED).reasons
    assert reason.message.startswith("skipped")


DYNAMIC = event_pb2.TaskNodeMetadata(
    dynamic_workflow=event_pb2.DynamicWorkflowNodeMetadata(dynamic_job_spec_uri="s3://x")
)
LAUNCHED = event_pb2.WorkflowNodeMetadata(
    execution_id=identifier_pb2.WorkflowExecutionIdentifier(project="p", domain="d", name="child")
)


def target(kind: int) -> identifier_pb2.Identifier:
    return identifier_pb2.Identifier(resource_type=kind, name="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, NodeKind.UNSPECIFIED),
        ({"target_entity": target(identifier_pb2.TASK)}, NodeKind.TASK),
        ({"target_entity": target(identifier_pb2.LAUNCH_PLAN)}, NodeKind.LAUNCH_PLAN),
        ({"target_entity": target(identifier_pb2.WORKFLOW)}, NodeKind.SUBWORKFLOW),
        ({"task_node_metadata": event_pb2.TaskNodeMetadata()}, NodeKind.TASK),
        ({"workflow_node_metadata": LAUNCHED}, NodeKind.LAUNCH_PLAN),
        ({"task_node_metadata": DYNAMIC, "is_parent": True}, NodeKind.DYNAMIC),
        ({"is_dynamic": True, "is_parent": True}, NodeKind.DYNAMIC),
        ({"is_array": True, "is_parent": True}, NodeKind.ARRAY),
        ({"is_array": True, "target_entity": target(identifier_pb2.TASK)}, NodeKind.ARRAY),
        ({"is_parent": True}, NodeKind.SUBWORKFLOW),
        ({"spec_node_id": "start-node"}, NodeKind.START),
        ({"spec_node_id": "end-node"}, NodeKind.END),
        ({"spec_node_id": "my-end-node"}, NodeKind.UNSPECIFIED),
    ],
)
def test_the_kind_of_a_node_is_read_from_what_its_kind_sends(
    fields: dict[str, Any], expected: NodeKind
) -> None:
    """Gates and branches send nothing of their own."""
    assert node_facts(**fields).kind is expected


@pytest.mark.parametrize(
    ("node_id", "expected"),
    [
        ("start-node", NodeKind.START),
        ("end-node", NodeKind.END),
        ("n0-0-start-node", NodeKind.START),
        ("n0-12-end-node", NodeKind.END),
        ("my-start-node", NodeKind.UNSPECIFIED),
    ],
)
def test_start_and_end_are_told_by_the_node_id_without_a_spec_id(
    node_id: str, expected: NodeKind
) -> None:
    """Older senders and ABORTED events leave the spec id out."""
    identifier = identifier_pb2.NodeExecutionIdentifier(node_id=node_id, execution_id=EXECUTION)
    assert node_facts(id=identifier, spec_node_id="").kind is expected


def test_a_launched_execution_is_a_fact() -> None:
    """It links the two trees."""
    facts = node_facts(workflow_node_metadata=LAUNCHED)
    assert facts.child_execution_id == ExecutionId("p", "d", "child")


def test_the_older_form_of_a_parent_is_its_node() -> None:
    """Senders of event version 0 name the parent task."""
    parent = event_pb2.ParentTaskExecutionMetadata(
        id=identifier_pb2.TaskExecutionIdentifier(
            node_execution_id=identifier_pb2.NodeExecutionIdentifier(node_id="n7")
        )
    )
    assert node_facts(parent_task_metadata=parent).parent_node_id == "n7"


def test_logs_and_external_resources_are_details() -> None:
    """A log without an address is dropped; a sub-task of unknown phase is kept."""
    resources = [
        event_pb2.ExternalResourceInfo(
            external_id="pod-n0",
            index=4,
            retry_attempt=1,
            phase=TaskExecution.SUCCEEDED,
            cache_status=catalog_pb2.CACHE_HIT,
            logs=[execution_pb2.TaskLog(uri="http://l/4", name="pod-4")],
        ),
        event_pb2.ExternalResourceInfo(index=5, phase=99),  # type: ignore[arg-type]
    ]
    event = decode_task(
        phase=TaskExecution.RUNNING,
        logs=[execution_pb2.TaskLog(uri="http://l", name="all"), execution_pb2.TaskLog(name="x")],
        metadata=event_pb2.TaskExecutionMetadata(
            generated_name="pod", external_resources=resources
        ),
    )
    assert event.details == Details(
        logs=(Log("all", "http://l"),),
        subtasks=(
            Subtask(
                4, 1, "pod-n0", Phase.SUCCEEDED, CacheStatus.HIT, (Log("pod-4", "http://l/4"),)
            ),
            Subtask(5, 0, "", Phase.UNSPECIFIED, CacheStatus.UNSPECIFIED, ()),
        ),
        external_id="pod",
    )


def test_unknown_fields_stay_in_the_payload() -> None:
    """A later Flyte may say more than this version reads."""
    unknown = b"\xf2\x3f\x05later"  # field 1022
    payload = task_event().SerializeToString() + unknown
    event = decode_payload(PayloadType.FLYTE1_TASK_EVENT, payload)
    assert (event.payload, event.qualities) == (payload, EventQuality.NONE)


def test_phases_of_each_kind_have_their_own_numbers() -> None:
    """3 is SUCCEEDING for workflows and SUCCEEDED for nodes and tasks."""
    assert decode_workflow(phase=WorkflowExecution.SUCCEEDING).phase is Phase.SUCCEEDING
    assert decode_node(phase=NodeExecution.SUCCEEDED).phase is Phase.SUCCEEDED
    assert decode_task(phase=TaskExecution.SUCCEEDED).phase is Phase.SUCCEEDED

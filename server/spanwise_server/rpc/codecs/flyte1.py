"""Codec of Flyte 1 events: flyteidl.admin.*EventRequest inward.

Accepts whatever names an entity, and flags what is odd: a refusal can fail somebody's workflow (see
rpc/status.py). What is not read here stays in the payload.

Source: flyteidl 1.16 event/event.proto; what the sender puts where: flytepropeller v1.16
controller/nodes/transformers.go and controller/nodes/task/transformer.go.
"""

import re
from collections.abc import Sequence

from flyteidl.admin.event_pb2 import (
    NodeExecutionEventRequest,
    TaskExecutionEventRequest,
    WorkflowExecutionEventRequest,
)
from flyteidl.core.execution_pb2 import TaskLog
from flyteidl.core.identifier_pb2 import (
    Identifier,
    NodeExecutionIdentifier,
    WorkflowExecutionIdentifier,
)
from flyteidl.event.event_pb2 import (
    ExternalResourceInfo,
    NodeExecutionEvent,
    TaskExecutionEvent,
    TaskExecutionMetadata,
    TaskNodeMetadata,
)

from spanwise_server.domain.errors import InvalidEvent
from spanwise_server.domain.events import (
    CacheStatus,
    Details,
    Event,
    ExecutionError,
    ExecutionFacts,
    Log,
    NodeFacts,
    PayloadType,
    Subtask,
    TaskFacts,
)
from spanwise_server.domain.identifiers import EntityKind, EntityVersion, ExecutionId
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.rpc.codecs.attempt_ids import (
    AttemptId,
    AttemptIds,
    attempt_id,
    judge_attempt,
)
from spanwise_server.rpc.codecs.flyte1_enums import (
    CACHE_STATUSES,
    EXECUTION_PHASES,
    NODE_PHASES,
    TARGET_KINDS,
    TASK_PHASES,
)
from spanwise_server.rpc.codecs.flyte1_reasons import (
    decode_error,
    error_reasons,
    node_reasons,
    task_reasons,
)
from spanwise_server.rpc.codecs.flyte1_workflows import decode_closure, decode_identifier
from spanwise_server.rpc.codecs.qualities import (
    INCOMPLETE,
    NOTHING_ODD,
    UNKNOWN_PHASE,
    judge_reason_times,
    judge_texts,
    unite,
)
from spanwise_server.rpc.codecs.timestamps import decode_occurred_at, decode_times

# Looking a member up in its enum costs 50 ns.
_INTERRUPTIBLE = TaskExecutionMetadata.INTERRUPTIBLE
_TASK_ATTEMPT = EntityKind.TASK_ATTEMPT
_TASK_EVENT = PayloadType.FLYTE1_TASK_EVENT

_NO_TASK = EntityVersion()


def decode_workflow_event(request: WorkflowExecutionEventRequest, payload: bytes) -> Event:
    """Give the event of a CreateWorkflowEvent request.

    Args:
        request: The decoded request.
        payload: The request as it was received.

    Raises:
        InvalidEvent: It names no execution.
    """
    event = request.event
    execution_id = _decode_execution_id(event.execution_id)
    if not execution_id.name:
        raise _missing("event.execution_id.name")
    occurred_at_ns, odd_occurred = decode_occurred_at(event)
    phase, odd_phase = _decode_phase(EXECUTION_PHASES, event.phase)
    error = decode_error(event)
    reasons = error_reasons(event, error)
    return Event(
        execution_id=execution_id,
        kind=EntityKind.EXECUTION,
        node_id="",
        task_id=_NO_TASK,
        retry_attempt=0,
        phase=phase,
        phase_version=0,
        occurred_at_ns=occurred_at_ns,
        reported_at_ns=None,
        producer_id=event.producer_id,
        qualities=unite(
            odd_occurred,
            odd_phase,
            _incomplete(execution_id),
            judge_texts(payload, (*execution_id, event.producer_id), reasons),
            judge_reason_times(reasons),
        ),
        reasons=reasons,
        facts=ExecutionFacts(org=event.execution_id.org),
        details=Details(error=error) if error is not None else None,
        payload_type=PayloadType.FLYTE1_WORKFLOW_EVENT,
        payload=payload,
    )


def decode_node_event(request: NodeExecutionEventRequest, payload: bytes) -> Event:
    """Give the event of a CreateNodeEvent request.

    Where the event brings the workflow that a dynamic node made, its details are there without it:
    to read 10,000 nodes takes 50 ms, for which no sender should wait. See complete_node_event.

    Args:
        request: The decoded request.
        payload: The request as it was received.

    Raises:
        InvalidEvent: It names no execution or no node.
    """
    event = request.event
    execution_id = _decode_execution_id(event.id.execution_id)
    node_id = event.id.node_id
    _require_node(execution_id, node_id, "event.id")
    occurred_at_ns, reported_at_ns, odd_times = decode_times(event)
    phase, odd_phase = _decode_phase(NODE_PHASES, event.phase)
    metadata = event.task_node_metadata if event.HasField("task_node_metadata") else None
    facts = _decode_node_facts(event, metadata)
    error = decode_error(event)
    reasons = error_reasons(event, error) + node_reasons(phase, facts.cache_status, metadata)
    ids = (
        *execution_id,
        node_id,
        event.producer_id,
        facts.parent_node_id,
        facts.spec_node_id,
        facts.node_name,
        facts.retry_group,
        *facts.target_id,
    )
    return Event(
        execution_id=execution_id,
        kind=EntityKind.NODE,
        node_id=node_id,
        task_id=_NO_TASK,
        retry_attempt=0,
        phase=phase,
        phase_version=0,
        occurred_at_ns=occurred_at_ns,
        reported_at_ns=reported_at_ns,
        producer_id=event.producer_id,
        qualities=unite(
            odd_times,
            odd_phase,
            _incomplete(execution_id),
            judge_texts(payload, ids, reasons),
            judge_reason_times(reasons),
        ),
        reasons=reasons,
        facts=facts,
        details=Details(error=error) if error is not None or _has_workflow(metadata) else None,
        payload_type=PayloadType.FLYTE1_NODE_EVENT,
        payload=payload,
    )


def complete_node_event(request: NodeExecutionEventRequest, event: Event) -> Event:
    """Give what decode_node_event gave of a request, with the workflow that a dynamic node made."""
    metadata = request.event.task_node_metadata
    if event.details is None or not _has_workflow(metadata):
        return event
    workflow = decode_closure(metadata.dynamic_workflow.compiled_workflow)
    return event._replace(details=event.details._replace(workflow=workflow))


def decode_task_event(request: TaskExecutionEventRequest, payload: bytes) -> Event:
    """Give the event of a CreateTaskEvent request.

    Args:
        request: The decoded request.
        payload: The request as it was received.

    Raises:
        InvalidEvent: It names no execution or no node.
    """
    event = request.event
    attempt = _attempt_ids.get(
        event.parent_node_execution_id.SerializeToString(),
        event.task_id.SerializeToString(),
    )
    occurred_at_ns, reported_at_ns, odd_times = decode_times(event)
    phase, odd_phase = _decode_phase(TASK_PHASES, event.phase)
    error = decode_error(event)
    reasons = task_reasons(event, error)
    metadata = event.metadata
    producer_id, task_type = event.producer_id, event.task_type
    # By position, as names would take as long as the rest of this function.
    return new_tuple(
        Event,
        (
            attempt.execution_id,
            _TASK_ATTEMPT,
            attempt.node_id,
            attempt.task_id,
            event.retry_attempt,
            phase,
            event.phase_version,
            occurred_at_ns,
            reported_at_ns,
            producer_id,
            unite(
                odd_times,
                odd_phase,
                INCOMPLETE if attempt.has_empty_texts else NOTHING_ODD,
                judge_attempt(attempt, payload, (producer_id, task_type), reasons),
                judge_reason_times(reasons),
            ),
            reasons,
            new_tuple(TaskFacts, (task_type, metadata.instance_class == _INTERRUPTIBLE)),
            _decode_task_details(event, metadata, error),
            _TASK_EVENT,
            payload,
        ),
    )


def _parse_attempt_id(node: bytes, task: bytes) -> AttemptId:
    parent = NodeExecutionIdentifier.FromString(node)
    execution_id = _decode_execution_id(parent.execution_id)
    _require_node(execution_id, parent.node_id, "event.parent_node_execution_id")
    task_id = decode_identifier(Identifier.FromString(task))
    return attempt_id(execution_id, parent.node_id, task_id, 0)


_attempt_ids = AttemptIds(_parse_attempt_id)


def _decode_execution_id(message: WorkflowExecutionIdentifier) -> ExecutionId:
    return ExecutionId(message.project, message.domain, message.name)


def _decode_phase(table: dict[int, Phase], number: int) -> tuple[Phase, EventQuality]:
    phase = table.get(number)
    if phase is None:
        return Phase.UNSPECIFIED, UNKNOWN_PHASE
    return phase, NOTHING_ODD


def _require_node(execution_id: ExecutionId, node_id: str, path: str) -> None:
    if not execution_id.name:
        raise _missing(f"{path}.execution_id.name")
    if not node_id:
        raise _missing(f"{path}.node_id")


def _missing(field: str) -> InvalidEvent:
    return InvalidEvent(field, "is empty, so there is nothing to store the event under")


def _incomplete(parts: tuple[str, ...]) -> EventQuality:
    return INCOMPLETE if "" in parts else NOTHING_ODD


def _decode_node_facts(event: NodeExecutionEvent, metadata: TaskNodeMetadata | None) -> NodeFacts:
    child = None
    if event.HasField("workflow_node_metadata"):
        execution = event.workflow_node_metadata.execution_id
        child = _decode_execution_id(execution) if execution.name else None
    # parent_task_metadata is the older form: the node that runs the parent task contains this one.
    parent = event.parent_node_metadata.node_id or (
        event.parent_task_metadata.id.node_execution_id.node_id
    )
    return NodeFacts(
        parent_node_id=parent,
        spec_node_id=event.spec_node_id,
        node_name=event.node_name,
        retry_group=event.retry_group,
        kind=_decode_kind(event, metadata),
        target_id=decode_identifier(event.target_entity),
        cache_status=_decode_cache_status(metadata),
        child_execution_id=child,
    )


_NESTED_MARKER = re.compile(r"-[0-9]+-(start|end)-node\Z")
"""Id of a start or end node below another node: <parent node id>-<parent attempt>-<spec id>."""

_MARKERS = {"start": NodeKind.START, "end": NodeKind.END}


def _decode_kind(event: NodeExecutionEvent, metadata: TaskNodeMetadata | None) -> NodeKind:
    """Give the kind of a node as far as its event tells; gates and branches say nothing.

    Source: flytepropeller v1.16 controller/nodes/transformers.go: which fields each kind sets.
    """
    spec_node_id = event.spec_node_id or event.id.node_id
    if spec_node_id in {"start-node", "end-node"}:
        return _MARKERS[spec_node_id.removesuffix("-node")]
    if event.is_array:
        return NodeKind.ARRAY
    if event.is_dynamic or (metadata is not None and metadata.HasField("dynamic_workflow")):
        return NodeKind.DYNAMIC
    if event.HasField("workflow_node_metadata"):
        return NodeKind.LAUNCH_PLAN
    target = TARGET_KINDS.get(event.target_entity.resource_type)
    if target is not None:
        return target
    if metadata is not None:
        return NodeKind.TASK
    if not event.spec_node_id and (marker := _NESTED_MARKER.search(event.id.node_id)):
        return _MARKERS[marker[1]]
    # Arrays and dynamic nodes are parents too, but they were told apart above.
    return NodeKind.SUBWORKFLOW if event.is_parent else NodeKind.UNSPECIFIED


def _has_workflow(metadata: TaskNodeMetadata | None) -> bool:
    return metadata is not None and metadata.dynamic_workflow.HasField("compiled_workflow")


def _decode_cache_status(metadata: TaskNodeMetadata | None) -> CacheStatus:
    # 0 is CACHE_DISABLED and also what a sender leaves unset; a catalog key tells the two apart, as
    # in flyteadmin v1.16 transformers/node_execution.go.
    if metadata is None or not (metadata.cache_status or metadata.HasField("catalog_key")):
        return CacheStatus.UNSPECIFIED
    return CACHE_STATUSES.get(metadata.cache_status, CacheStatus.UNSPECIFIED)


def _decode_task_details(
    event: TaskExecutionEvent, metadata: TaskExecutionMetadata, error: ExecutionError | None
) -> Details | None:
    resources = metadata.external_resources
    if error is None and not resources and not event.logs:
        return None
    return Details(
        error=error,
        logs=_decode_logs(event.logs),
        subtasks=tuple([_decode_subtask(resource) for resource in resources]),
        external_id=metadata.generated_name,
    )


def _decode_logs(logs: Sequence[TaskLog]) -> tuple[Log, ...]:
    return tuple([Log(log.name, log.uri) for log in logs if log.uri])


def _decode_subtask(resource: ExternalResourceInfo) -> Subtask:
    cache_status = CacheStatus.UNSPECIFIED
    if resource.cache_status:
        cache_status = CACHE_STATUSES.get(resource.cache_status, CacheStatus.UNSPECIFIED)
    return Subtask(
        ordinal=resource.index,
        retry_attempt=resource.retry_attempt,
        external_id=resource.external_id,
        phase=TASK_PHASES.get(resource.phase, Phase.UNSPECIFIED),
        cache_status=cache_status,
        logs=_decode_logs(resource.logs),
    )

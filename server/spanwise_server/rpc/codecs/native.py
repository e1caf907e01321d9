"""Codec of native events: spanwise.v1 Create…EventRequest inward.

Accepts whatever names an entity, and flags what is odd. Source: protos/spanwise/v1/event.proto.
"""

from collections.abc import Iterable

from spanwise.v1 import event_pb2, identifiers_pb2
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
from spanwise_server.rpc.codecs.qualities import (
    NOTHING_ODD,
    UNKNOWN_PHASE,
    judge_reason_times,
    judge_texts,
    unite,
)
from spanwise_server.rpc.codecs.timestamps import (
    decode_optional,
    decode_times,
)

# Numbers of the wire and of the domain are equal. A number that is missing here is of the future.
_PHASES = {int(phase): phase for phase in Phase if phase is not Phase.UNSPECIFIED}
_SEVERITIES = {int(severity): severity for severity in Severity}
_ERROR_KINDS = {int(kind): kind for kind in ErrorKind}
_CACHE_STATUSES = {int(status): status for status in CacheStatus}
_NODE_KINDS = {int(kind): kind for kind in NodeKind}

_NO_TASK = EntityVersion()

# Looking a member up in its enum costs 50 ns.
_NO_SEVERITY = Severity.UNSPECIFIED
_TASK_ATTEMPT = EntityKind.TASK_ATTEMPT
_TASK_EVENT = PayloadType.TASK_EVENT


def decode_execution_id(message: identifiers_pb2.ExecutionId) -> ExecutionId:
    """Give the identity of an execution; org is no part of it."""
    return ExecutionId(message.project, message.domain, message.name)


def decode_entity(message: identifiers_pb2.EntityVersion) -> EntityVersion:
    """Give the identity of a task, a workflow or a launch plan."""
    return EntityVersion(message.project, message.domain, message.name, message.version)


def decode_execution_event(event: event_pb2.ExecutionEvent, payload: bytes) -> Event:
    """Give the event of a CreateExecutionEvent request.

    Args:
        event: The event in the request.
        payload: The request.

    Raises:
        InvalidEvent: It names no execution.
    """
    execution_id = decode_execution_id(event.execution_id)
    _require(execution_id.name, "event.execution_id.name")
    occurred_at_ns, reported_at_ns, odd_times = decode_times(event)
    phase, odd_phase = _decode_phase(event.phase)
    error = _decode_error(event)
    reasons = _decode_reasons(event.reasons, error)
    parent = event.parent_node_id
    facts = ExecutionFacts(
        org=event.execution_id.org,
        workflow_id=decode_entity(event.workflow_id),
        parent_execution_id=_decode_optional_execution(parent.execution_id),
        parent_node_id=parent.node_id,
    )
    ids = (*execution_id, event.producer_id, facts.org, *facts.workflow_id, facts.parent_node_id)
    return Event(
        execution_id=execution_id,
        kind=EntityKind.EXECUTION,
        node_id="",
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
            judge_texts(payload, ids, reasons),
            judge_reason_times(reasons),
        ),
        reasons=reasons,
        facts=facts,
        details=Details(error=error) if error is not None else None,
        payload_type=PayloadType.EXECUTION_EVENT,
        payload=payload,
    )


def decode_node_event(event: event_pb2.NodeEvent, payload: bytes) -> Event:
    """Give the event of a CreateNodeEvent request.

    Args:
        event: The event in the request.
        payload: The request.

    Raises:
        InvalidEvent: It names no execution or no node.
    """
    execution_id = decode_execution_id(event.node_id.execution_id)
    node_id = event.node_id.node_id
    _require(execution_id.name, "event.node_id.execution_id.name")
    _require(node_id, "event.node_id.node_id")
    occurred_at_ns, reported_at_ns, odd_times = decode_times(event)
    phase, odd_phase = _decode_phase(event.phase)
    error = _decode_error(event)
    reasons = _decode_reasons(event.reasons, error)
    facts = _decode_node_facts(event)
    upstream = tuple(event.upstream_node_ids)
    ids = (
        *execution_id,
        node_id,
        event.producer_id,
        facts.parent_node_id,
        facts.spec_node_id,
        facts.node_name,
        facts.retry_group,
        facts.group,
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
            judge_texts(payload, ids, reasons),
            judge_reason_times(reasons),
        ),
        reasons=reasons,
        facts=facts,
        details=Details(error=error, upstream_node_ids=upstream) if error or upstream else None,
        payload_type=PayloadType.NODE_EVENT,
        payload=payload,
    )


def decode_task_event(event: event_pb2.TaskEvent, payload: bytes) -> Event:
    """Give the event of a CreateTaskEvent request.

    Args:
        event: The event in the request.
        payload: The request.

    Raises:
        InvalidEvent: It names no execution or no node.
    """
    attempt = decode_attempt_id(event.task_attempt_id)
    occurred_at_ns, reported_at_ns, odd_times = decode_times(event)
    phase, odd_phase = _decode_phase(event.phase)
    error = _decode_error(event)
    reasons = _decode_reasons(event.reasons, error)
    producer_id, task_type = event.producer_id, event.task_type
    # By position, as names would take as long as the rest of this function.
    return new_tuple(
        Event,
        (
            attempt.execution_id,
            _TASK_ATTEMPT,
            attempt.node_id,
            attempt.task_id,
            attempt.retry_attempt,
            phase,
            event.phase_version,
            occurred_at_ns,
            reported_at_ns,
            producer_id,
            unite(
                odd_times,
                odd_phase,
                judge_attempt(attempt, payload, (producer_id, task_type), reasons),
                judge_reason_times(reasons),
            ),
            reasons,
            new_tuple(TaskFacts, (task_type, event.interruptible)),
            _decode_task_details(event, error),
            _TASK_EVENT,
            payload,
        ),
    )


def decode_attempt_id(message: identifiers_pb2.TaskAttemptId) -> AttemptId:
    """Give the identity of an attempt.

    Raises:
        InvalidEvent: It names no execution or no node.
    """
    return _attempt_ids.get(message.SerializeToString())


def _parse_attempt_id(encoded: bytes) -> AttemptId:
    message = identifiers_pb2.TaskAttemptId.FromString(encoded)
    node = message.node_id
    execution_id = decode_execution_id(node.execution_id)
    _require(execution_id.name, "event.task_attempt_id.node_id.execution_id.name")
    _require(node.node_id, "event.task_attempt_id.node_id.node_id")
    task_id = decode_entity(message.task_id)
    return attempt_id(execution_id, node.node_id, task_id, message.retry_attempt)


_attempt_ids = AttemptIds(_parse_attempt_id)


def _require(text: str, field: str) -> None:
    if not text:
        raise InvalidEvent(field, "is empty, so there is nothing to store the event under")


def _decode_phase(number: int) -> tuple[Phase, EventQuality]:
    phase = _PHASES.get(number)
    if phase is None:
        return Phase.UNSPECIFIED, UNKNOWN_PHASE
    return phase, NOTHING_ODD


def _decode_optional_execution(message: identifiers_pb2.ExecutionId) -> ExecutionId | None:
    return decode_execution_id(message) if message.name else None


def _decode_reasons(
    messages: Iterable[event_pb2.Reason], error: ExecutionError | None
) -> tuple[Reason, ...]:
    # By position and in one go, for each event has several.
    reasons = tuple(
        [
            new_tuple(
                Reason,
                (
                    text,
                    decode_optional(message, "occurred_at"),
                    _SEVERITIES.get(message.severity, _NO_SEVERITY),
                    message.source,
                    message.count or 1,
                ),
            )
            for message in messages
            if (text := message.message)
        ]
    )
    if error is None:
        return reasons
    return (*reasons, Reason(error.text, severity=Severity.ERROR)) if error.text else reasons


def _decode_error(
    event: event_pb2.ExecutionEvent | event_pb2.NodeEvent | event_pb2.TaskEvent,
) -> ExecutionError | None:
    if not event.HasField("error"):
        return None
    error = event.error
    kind = _ERROR_KINDS.get(error.kind, ErrorKind.UNSPECIFIED)
    return ExecutionError(error.code, error.message, kind, error.error_uri)


def _decode_node_facts(event: event_pb2.NodeEvent) -> NodeFacts:
    return NodeFacts(
        parent_node_id=event.parent_node_id,
        spec_node_id=event.spec_node_id,
        node_name=event.node_name,
        retry_group=event.retry_group,
        kind=_NODE_KINDS.get(event.kind, NodeKind.UNSPECIFIED),
        target_id=decode_entity(event.target_id),
        cache_status=_decode_cache_status(event.cache_status),
        child_execution_id=_decode_optional_execution(event.child_execution_id),
        group=event.group,
    )


def _decode_cache_status(number: int) -> CacheStatus:
    return _CACHE_STATUSES.get(number, CacheStatus.UNSPECIFIED)


def _decode_task_details(
    event: event_pb2.TaskEvent, error: ExecutionError | None
) -> Details | None:
    if error is None and not event.logs and not event.subtasks:
        return None
    return Details(
        error=error,
        logs=_decode_logs(event.logs),
        subtasks=tuple(_decode_subtask(subtask) for subtask in event.subtasks),
        external_id=event.external_id,
    )


def _decode_logs(messages: Iterable[event_pb2.Log]) -> tuple[Log, ...]:
    return tuple(Log(message.name, message.uri) for message in messages if message.uri)


def _decode_subtask(message: event_pb2.Subtask) -> Subtask:
    return Subtask(
        ordinal=message.index,
        retry_attempt=message.retry_attempt,
        external_id=message.external_id,
        phase=_PHASES.get(message.phase, Phase.UNSPECIFIED),
        cache_status=_decode_cache_status(message.cache_status),
        logs=_decode_logs(message.logs),
    )

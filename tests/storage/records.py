"""Short ways to write records of one execution, "run"."""

from spanwise_server.domain.events import (
    Disposition,
    ExecutionFacts,
    NodeFacts,
    PayloadType,
    Severity,
    TaskFacts,
)
from spanwise_server.domain.identifiers import (
    EntityKind,
    EntityVersion,
    ExecutionId,
    attempt_key,
    execution_key,
    node_key,
    root_key,
    workflow_key,
)
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.transitions import EntityState, Moment
from spanwise_server.domain.workflows import WorkflowFormat
from spanwise_server.storage.records import (
    AttemptRecord,
    BindingRecord,
    EventRecord,
    ExecutionRecord,
    LoggedKey,
    NodeRecord,
    ReasonRecord,
    WorkflowRecord,
)

RUN = ExecutionId("flytesnacks", "development", "run")
KEY = execution_key(RUN)
OTHER_KEY = execution_key(RUN._replace(name="other"))
TASK_ID = EntityVersion("flytesnacks", "development", "train", "v1")
NODE_KEY = node_key(KEY, "n0")
ATTEMPT_KEY = attempt_key(KEY, "n0", TASK_ID, 0)
ROOT_KEY = root_key(KEY)


def running_since(time_ns: int) -> EntityState:
    """Give the state of an entity with one event."""
    moment = Moment(time_ns, time_ns + 1, Phase.RUNNING, 0)
    return EntityState(time_ns, time_ns, moment, None, time_ns)


def ended(from_ns: int, to_ns: int, phase: Phase = Phase.SUCCEEDED) -> EntityState:
    """Give the state of an entity that ran and ended."""
    return running_since(from_ns)._replace(
        last_occurred_at_ns=to_ns, ended=Moment(to_ns, to_ns + 1, phase, 0)
    )


def event(sequence: int, *, execution: bytes = KEY, occurred_at_ns: int = 10) -> EventRecord:
    """Give an event of the attempt."""
    return EventRecord(
        execution_key=execution,
        sequence=sequence,
        entity_key=ATTEMPT_KEY,
        kind=EntityKind.TASK_ATTEMPT,
        phase=Phase.RUNNING,
        phase_version=0,
        occurred_at_ns=occurred_at_ns,
        reported_at_ns=occurred_at_ns + 1,
        recorded_at_ns=occurred_at_ns + 2,
        producer_id="propeller",
        disposition=Disposition.ACCEPTED,
        refusal="",
        qualities=EventQuality.NONE,
        has_details=False,
        payload_type=PayloadType.FLYTE1_TASK_EVENT,
        payload=b"\x00payload",
    )


def logged_key(record: EventRecord) -> LoggedKey:
    """Give what find_logged() knows an event by."""
    return LoggedKey(
        record.execution_key,
        record.entity_key,
        record.phase,
        record.phase_version,
        record.occurred_at_ns,
    )


def execution(
    execution_id: ExecutionId = RUN, *, first_seen_ns: int = 10, state: EntityState | None = None
) -> ExecutionRecord:
    """Give an execution; a placeholder unless it has a state."""
    return ExecutionRecord(
        execution_key(execution_id), execution_id, first_seen_ns, ExecutionFacts(), state
    )


def node(node_id: str = "n0", *, state: EntityState | None = None) -> NodeRecord:
    """Give a node; a placeholder unless it has a state."""
    return NodeRecord(KEY, node_key(KEY, node_id), node_id, NodeFacts(), state)


def attempt(retry_attempt: int = 0, *, state: EntityState | None = None) -> AttemptRecord:
    """Give an attempt of the node."""
    return AttemptRecord(
        execution_key=KEY,
        attempt_key=attempt_key(KEY, "n0", TASK_ID, retry_attempt),
        node_key=NODE_KEY,
        task_id=TASK_ID,
        retry_attempt=retry_attempt,
        facts=TaskFacts("python-task", interruptible=True),
        state=state or running_since(10),
    )


def reason(digest: int = 1, *, message: str = "pulling image") -> ReasonRecord:
    """Give a reason of the attempt."""
    return ReasonRecord(
        execution_key=KEY,
        entity_key=ATTEMPT_KEY,
        digest=digest,
        occurred_at_ns=10,
        ordinal=0,
        phase=Phase.RUNNING,
        phase_version=0,
        severity=Severity.INFO,
        occurrences=1,
        source="kubelet",
        message=message,
    )


def workflow(name: str = "train_all", *, payload: bytes = b"\x00graph") -> WorkflowRecord:
    """Give a registered workflow."""
    workflow_id = EntityVersion("flytesnacks", "development", name, "v1")
    return WorkflowRecord(
        workflow_key(workflow_id), workflow_id, WorkflowFormat.NATIVE, 10, payload
    )


def binding(execution: bytes, runs: WorkflowRecord) -> BindingRecord:
    """Give what somebody said that an execution runs."""
    return BindingRecord(execution, runs.workflow_key, runs.workflow_id)

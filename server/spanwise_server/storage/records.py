"""The records that storage takes and gives: what they mean is decided by domain and service."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.events import (
    Disposition,
    ExecutionFacts,
    NodeFacts,
    PayloadType,
    Severity,
    TaskFacts,
)
from spanwise_server.domain.identifiers import EntityKind, EntityVersion, ExecutionId
from spanwise_server.domain.known import EntityEvents, KnownAttempt, KnownNode
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.spans import Mark
from spanwise_server.domain.transitions import EntityState
from spanwise_server.domain.workflows import WorkflowFormat

EntityRef = tuple[bytes, int]
"""Key of an execution and key of one of its entities."""


class EventRecord(NamedTuple):
    """One received event. Appended once, never changed.

    Attributes:
        execution_key: Execution.
        sequence: Position inside the execution, from 1, without gaps, in the order of commits.
        entity_key: Entity that it is about.
        kind: Kind of that entity.
        phase: Phase after it.
        phase_version: Version inside the phase.
        occurred_at_ns: Time at the source; recorded_at_ns where the source gave none.
        reported_at_ns: Time of sending; None where the source gave none.
        recorded_at_ns: Time of receipt.
        producer_id: Who sent it; may be empty.
        disposition: What became of it.
        refusal: Why it was refused; empty otherwise.
        qualities: What is odd about it.
        has_details: Whether its payload says something that only the payload keeps
            (domain.events.Details).
        payload_type: Which message payload is.
        payload: The request as it was received. Opaque to storage.
    """

    execution_key: bytes
    sequence: int
    entity_key: int
    kind: EntityKind
    phase: Phase
    phase_version: int
    occurred_at_ns: int
    reported_at_ns: int | None
    recorded_at_ns: int
    producer_id: str
    disposition: Disposition
    refusal: str
    qualities: EventQuality
    has_details: bool
    payload_type: PayloadType
    payload: bytes


class ExecutionRecord(NamedTuple):
    """One execution, as listing needs it.

    Attributes:
        execution_key: Key.
        execution_id: Identity.
        first_seen_ns: occurred_at of the first event that named it, in the order of receipt.
        facts: What its own events said.
        state: Fold over its own events; None for a placeholder, which only events of its nodes and
            tasks named.
    """

    execution_key: bytes
    execution_id: ExecutionId
    first_seen_ns: int
    facts: ExecutionFacts
    state: EntityState | None


class NodeRecord(NamedTuple):
    """One node. `state` None marks a placeholder, which only events of other entities named."""

    execution_key: bytes
    node_key: int
    node_id: str
    facts: NodeFacts
    state: EntityState | None


class AttemptRecord(NamedTuple):
    """One attempt of a task."""

    execution_key: bytes
    attempt_key: int
    node_key: int
    task_id: EntityVersion
    retry_attempt: int
    facts: TaskFacts
    state: EntityState


class ReasonRecord(NamedTuple):
    """One distinct reason of an entity: text under a phase and version.

    Attributes:
        execution_key: Execution.
        entity_key: Entity.
        digest: reason_key of what makes it distinct; the key inside the entity.
        occurred_at_ns: Earliest time that any event gave for it.
        ordinal: Least place, from 0, that it had among the reasons of any event. Pod times are
            whole seconds, within which the order of the sender is all there is.
        phase: Phase of the event that brought it.
        phase_version: Version of the event that brought it.
        severity: Highest grade that any event gave.
        occurrences: Highest count that any event gave.
        source: Who says so; the greatest text that any event gave.
        message: Text.
    """

    execution_key: bytes
    entity_key: int
    digest: int
    occurred_at_ns: int
    ordinal: int
    phase: Phase
    phase_version: int
    severity: Severity
    occurrences: int
    source: str
    message: str


class LoggedKey(NamedTuple):
    """What makes an event of an entity the same event again."""

    execution_key: bytes
    entity_key: int
    phase: Phase
    phase_version: int
    occurred_at_ns: int


class DetailPayload(NamedTuple):
    """Payload of an event with details, with what the event's place in time is."""

    entity_key: int
    occurred_at_ns: int
    payload_type: PayloadType
    payload: bytes


class WorkflowRecord(NamedTuple):
    """One registered definition of a workflow.

    Attributes:
        workflow_key: Key.
        workflow_id: Identity.
        format: Which message payload is.
        recorded_at_ns: Time of registration; of the latest one.
        payload: The definition as it was received. Opaque to storage.
    """

    workflow_key: bytes
    workflow_id: EntityVersion
    format: WorkflowFormat
    recorded_at_ns: int
    payload: bytes


class ExecutionVersion(NamedTuple):
    """What tells whether anything about an execution has changed.

    Attributes:
        last_sequence: Highest sequence of its events; 0 without any.
        workflow_key: Workflow that it runs, as far as is said.
        registered_at_ns: When that one was last registered; None: it is not.
        last_recorded_at_ns: When its last event was received; 0 without any. Sequences begin again
            when an execution was deleted and more events of it come.
    """

    last_sequence: int
    workflow_key: bytes
    registered_at_ns: int | None
    last_recorded_at_ns: int


class KeptTree(NamedTuple):
    """A span tree that was built once and is kept as it is sent, without its chunks.

    Attributes:
        execution_key: Execution.
        generation: Tells the chunks of this tree from those of an earlier one.
        maker: Which program built it. Another one may build another tree.
        kept_at_ns: When it was built.
        basis: What it was made of, for whoever compares. Opaque to storage.
        chunk_spans: How many spans each chunk has. Opaque to storage.
    """

    execution_key: bytes
    generation: int
    maker: str
    kept_at_ns: int
    basis: bytes
    chunk_spans: bytes


class KeptChunk(NamedTuple):
    """A part of a kept tree.

    Attributes:
        execution_key: Execution.
        generation: That of the tree.
        number: Place in the tree, from 0, without gaps.
        outline: Shape of the part. Opaque to storage.
        payload: Spans. Opaque to storage.
    """

    execution_key: bytes
    generation: int
    number: int
    outline: bytes
    payload: bytes


class ExecutionHistory(NamedTuple):
    """Everything that is known of one execution. No order is promised inside the parts.

    Events and reasons may be packed: each time one asks for those of an entity, they are made anew.

    Attributes:
        execution: Its row.
        nodes: Its nodes. What state they are in, their events tell.
        attempts: Their attempts, likewise.
        events: Its events by entity; an event that was not said to be sent at another time was sent
            when it occurred. Entities without events have no entry.
        producer_ids: Who sent any of them.
        marks: Its reasons by entity. Entities without reasons have no entry.
        details: Payloads of the events that have details.
        workflow: The one that the execution is bound to, else the one that its facts name; None
            when that one is not registered.
        version: Version that this is.
    """

    execution: ExecutionRecord
    nodes: Sequence[KnownNode]
    attempts: Sequence[KnownAttempt]
    events: Mapping[int, EntityEvents]
    producer_ids: frozenset[str]
    marks: Mapping[int, Sequence[Mark]]
    details: Sequence[DetailPayload]
    workflow: WorkflowRecord | None
    version: ExecutionVersion


class FinishedAttempt(NamedTuple):
    """How long one attempt took that has ended.

    Attributes:
        execution_key: Execution.
        attempt_key: Attempt, inside the execution.
        task_id: What it ran.
        retry_attempt: Its number, from 0.
        created_at_ns: Its first event.
        started_at_ns: Its first RUNNING event, which a wrong clock may put after the end; None when
            there was none, or when a version stored it that did not keep this time (`spanwise
            rebuild` mends that).
        ended_at_ns: Its end at the source.
        reported_end_ns: When the end was sent.
        phase: Terminal phase.
    """

    execution_key: bytes
    attempt_key: int
    task_id: EntityVersion
    retry_attempt: int
    created_at_ns: int
    started_at_ns: int | None
    ended_at_ns: int
    reported_end_ns: int
    phase: Phase


class ExecutionAge(NamedTuple):
    """What retention asks of an execution.

    Attributes:
        execution_key: Key.
        project: Project.
        domain: Domain.
        ended_at_ns: Its end at the source; None while it is open, and for a placeholder.
        phase: Phase that it ended in; None likewise.
    """

    execution_key: bytes
    project: str
    domain: str
    ended_at_ns: int | None
    phase: Phase | None


class DeletedPart(NamedTuple):
    """What one step of a deletion did.

    Attributes:
        num_rows: Rows that it deleted, of all tables.
        num_events: Events among them.
        is_complete: Whether nothing of the execution is left.
    """

    num_rows: int
    num_events: int
    is_complete: bool


class TableSize(NamedTuple):
    """How large one table is.

    Attributes:
        table: Its name.
        num_rows: Its rows.
        size_bytes: What it takes, with its indexes; None where the database does not tell.
    """

    table: str
    num_rows: int
    size_bytes: int | None


class Statistics(NamedTuple):
    """What a database holds.

    Attributes:
        tables: Its tables, the largest first.
        used_bytes: What it holds takes, as ReadTransaction.get_used_bytes() gives it.
        file_bytes: What it takes on the disk, free space included.
        num_executions: Executions by phase; UNSPECIFIED stands for placeholders.
        oldest_start_ns: Start of the execution that started first; None without any.
        oldest_event_ns: recorded_at of the oldest event; None without any.
        newest_event_ns: recorded_at of the newest event; None without any.
        payload_bytes: What the payloads of events take as they are stored; an estimate.
        daily_events: Events that were recorded in each of the last days, the latest day first.
    """

    tables: Sequence[TableSize]
    used_bytes: int
    file_bytes: int
    num_executions: Mapping[Phase, int]
    oldest_start_ns: int | None
    oldest_event_ns: int | None
    newest_event_ns: int | None
    payload_bytes: int
    daily_events: Sequence[int]


class LogSize(NamedTuple):
    """How large the log of an execution is. Payloads are counted as they are stored."""

    num_events: int
    payload_bytes: int


class LoggedEvent(NamedTuple):
    """An event of the log with the names of its entity. `payload` may be empty if not asked for."""

    record: EventRecord
    node_id: str
    retry_attempt: int


class BindingRecord(NamedTuple):
    """What somebody said that an execution runs. Neither need be known."""

    execution_key: bytes
    workflow_key: bytes
    workflow_id: EntityVersion


class ListedExecution(NamedTuple):
    """An execution in a list.

    `workflow_id` is the one that it is bound to, else the one that its own events name; empty where
    neither is known.
    """

    record: ExecutionRecord
    workflow_id: EntityVersion


class WorkflowName(NamedTuple):
    """A workflow in any version."""

    project: str
    domain: str
    name: str


class WorkflowPeriod(NamedTuple):
    """A workflow, and a time in which executions of it were created.

    `from_ns` is inclusive, `before_ns` exclusive.
    """

    workflow: WorkflowName
    from_ns: int
    before_ns: int


class FinishedExecution(NamedTuple):
    """An execution that succeeded: what it ran, when it was created, and when it ended."""

    execution_key: bytes
    workflow: WorkflowName
    created_at_ns: int
    ended_at_ns: int


class ExecutionFilter(NamedTuple):
    """Which executions to list. An empty or None part lets all pass.

    `started_from_ns` is inclusive, `started_before_ns` exclusive.
    """

    project: str = ""
    domain: str = ""
    phases: frozenset[Phase] = frozenset()
    started_from_ns: int | None = None
    started_before_ns: int | None = None

"""Events as the domain sees them: neutral, decoded, with times in nanoseconds.

Tuples rather than dataclasses: some are made for every event that arrives and every row that is
read.
"""

from enum import IntEnum
from typing import NamedTuple

from spanwise_server.domain.identifiers import (
    EntityKind,
    EntityVersion,
    ExecutionId,
    attempt_key,
    execution_key,
    node_key,
    root_key,
)
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.workflows import WorkflowDefinition

MIN_TIME_NS = -(2**63)
MAX_TIME_NS = 2**63 - 1
"""Bounds of a stored time: 1677-09-21 to 2262-04-11, the range of a signed 64-bit integer of
nanoseconds."""

# Looking a member up in its enum costs 50 ns.
_NODE = EntityKind.NODE
_TASK_ATTEMPT = EntityKind.TASK_ATTEMPT


class Severity(IntEnum):
    """Grade of a reason (spanwise.v1.Severity)."""

    UNSPECIFIED = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


class ErrorKind(IntEnum):
    """Whose mistake an error is (spanwise.v1.ErrorKind)."""

    UNSPECIFIED = 0
    USER = 1
    SYSTEM = 2


class CacheStatus(IntEnum):
    """Outcome of a cache look-up (spanwise.v1.CacheStatus)."""

    UNSPECIFIED = 0
    DISABLED = 1
    MISS = 2
    HIT = 3
    POPULATED = 4
    LOOKUP_FAILURE = 5
    PUT_FAILURE = 6
    SKIPPED = 7
    EVICTED = 8


class Disposition(IntEnum):
    """What became of an event in the log (spanwise.v1.Disposition)."""

    ACCEPTED = 1
    LATE = 2
    DUPLICATE = 3
    REFUSED = 4


class PayloadType(IntEnum):
    """Which message an event came in. The numbers are stored: none is ever given to another one."""

    FLYTE1_WORKFLOW_EVENT = 1
    FLYTE1_NODE_EVENT = 2
    FLYTE1_TASK_EVENT = 3
    EXECUTION_EVENT = 4
    NODE_EVENT = 5
    TASK_EVENT = 6


class Reason(NamedTuple):
    """One timestamped explanation. `occurred_at_ns` None: the time of the event that carries it."""

    message: str
    occurred_at_ns: int | None = None
    severity: Severity = Severity.UNSPECIFIED
    source: str = ""
    occurrences: int = 1


class ExecutionError(NamedTuple):
    """Why something failed."""

    code: str = ""
    message: str = ""
    kind: ErrorKind = ErrorKind.UNSPECIFIED
    error_uri: str = ""

    @property
    def text(self) -> str:
        """The error as a reason: "code: message", one of them, or nothing."""
        return ": ".join(part for part in (self.code, self.message) if part)


class Log(NamedTuple):
    """Link to output."""

    name: str
    uri: str


class Subtask(NamedTuple):
    """State of one part of an attempt, as one event tells it."""

    ordinal: int
    retry_attempt: int
    external_id: str
    phase: Phase
    cache_status: CacheStatus
    logs: tuple[Log, ...]


class ExecutionFacts(NamedTuple):
    """What an execution event says beside its phase. Empty parts say nothing."""

    org: str = ""
    workflow_id: EntityVersion = EntityVersion()
    parent_execution_id: ExecutionId | None = None
    parent_node_id: str = ""


class NodeFacts(NamedTuple):
    """What a node event says about the place and kind of its node. Empty parts say nothing."""

    parent_node_id: str = ""
    spec_node_id: str = ""
    node_name: str = ""
    retry_group: str = ""
    kind: NodeKind = NodeKind.UNSPECIFIED
    target_id: EntityVersion = EntityVersion()
    cache_status: CacheStatus = CacheStatus.UNSPECIFIED
    child_execution_id: ExecutionId | None = None
    group: str = ""


class TaskFacts(NamedTuple):
    """What a task event says about its attempt. Empty parts say nothing."""

    task_type: str = ""
    interruptible: bool = False


class Details(NamedTuple):
    """What an event carries that is read back from its payload: it may be large, or is rare.

    `workflow` is what a dynamic node made.
    """

    error: ExecutionError | None = None
    logs: tuple[Log, ...] = ()
    subtasks: tuple[Subtask, ...] = ()
    upstream_node_ids: tuple[str, ...] = ()
    external_id: str = ""
    workflow: WorkflowDefinition | None = None


class Event(NamedTuple):
    """One event, decoded.

    Attributes:
        execution_id: Execution that it belongs to.
        kind: Kind of entity that it is about.
        node_id: Node that it is about or that holds the attempt; empty for an execution.
        task_id: Definition that an attempt runs; parts may be empty.
        retry_attempt: Number of the attempt, from 0; 0 for executions and nodes.
        phase: Phase after the event.
        phase_version: Version inside the phase, from 0; 0 for executions and nodes.
        occurred_at_ns: Time at the source; None when the source gave none.
        reported_at_ns: Time of sending; None when the source gave none.
        producer_id: Who sent it; may be empty.
        qualities: What is odd about it.
        reasons: Reasons in it, in the order of the source.
        facts: What it says about its entity.
        details: What is read back from the payload; None when there is nothing of that kind.
        payload_type: Which message `payload` is.
        payload: The request as it was received, byte for byte.
    """

    execution_id: ExecutionId
    kind: EntityKind
    node_id: str
    task_id: EntityVersion
    retry_attempt: int
    phase: Phase
    phase_version: int
    occurred_at_ns: int | None
    reported_at_ns: int | None
    producer_id: str
    qualities: EventQuality
    reasons: tuple[Reason, ...]
    facts: ExecutionFacts | NodeFacts | TaskFacts
    details: Details | None
    payload_type: PayloadType
    payload: bytes

    def keys(self) -> tuple[bytes, int]:
        """Give the key of the execution and, inside it, the key of the entity."""
        execution = execution_key(self.execution_id)
        if self.kind is _TASK_ATTEMPT:
            return execution, attempt_key(execution, self.node_id, self.task_id, self.retry_attempt)
        if self.kind is _NODE:
            return execution, node_key(execution, self.node_id)
        return execution, root_key(execution)

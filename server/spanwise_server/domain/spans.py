"""Spans: the tree that an execution is rebuilt as. Built by span_builder.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from spanwise_server.domain.events import CacheStatus, ExecutionError, Log, Severity
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality


class Operation(IntEnum):
    """What the time of an operation span was spent on (spanwise.v1.Operation)."""

    UNSPECIFIED = 0
    WORKFLOW_SETUP = 1
    WORKFLOW_TEARDOWN = 2
    NODE_SETUP = 3
    NODE_TEARDOWN = 4
    NODE_TRANSITION = 5
    NODE_RESET = 6
    NODE_IDLE = 7
    TASK_SETUP = 8
    TASK_RUNTIME = 9
    TASK_TEARDOWN = 10
    QUEUED = 11
    WAITING_FOR_RESOURCES = 12
    INITIALIZING = 13
    SCHEDULING = 14
    SCALE_UP = 15
    VOLUME_ATTACH = 16
    IMAGE_PULL = 17
    IMAGE_PULL_BACKOFF = 18
    CONTAINER_START = 19
    CRASH_BACKOFF = 20
    QUOTA_WAIT = 21
    CACHE_RESERVATION = 22
    EVICTION = 23
    ADMISSION = 24
    PLUGIN_SETUP = 25


class PhaseInterval(NamedTuple):
    """One stay in one phase. `end_ns` None: still in it. A terminal phase has no length."""

    phase: Phase
    start_ns: int
    end_ns: int | None
    phase_version: int


class Mark(NamedTuple):
    """A reason as it stands on a span.

    `ordinal` is its place among the reasons of its event; `operation` what its text says that the
    time goes into, UNSPECIFIED where the text is not known.
    """

    occurred_at_ns: int
    ordinal: int
    message: str
    phase: Phase
    phase_version: int
    severity: Severity
    source: str
    occurrences: int
    operation: Operation = Operation.UNSPECIFIED


class OperationTotal(NamedTuple):
    """The time of one operation in a span and everything below it.

    `sum_ns` counts parallel work each time, `union_ns` once.
    """

    operation: Operation
    sum_ns: int
    union_ns: int
    num_spans: int


class Totals(NamedTuple):
    """Sums of a span.

    `self_ns` is the part of `wall_ns` that no child covers; `operations` is ascending.
    """

    wall_ns: int
    self_ns: int
    operations: tuple[OperationTotal, ...]


class ExecutionSubject(NamedTuple):
    """What the span of an execution stands for."""

    execution_id: ExecutionId
    org: str
    workflow_id: EntityVersion


class NodeSubject(NamedTuple):
    """What the span of a node stands for."""

    node_id: str
    spec_node_id: str
    retry_group: str
    kind: NodeKind
    target_id: EntityVersion
    cache_status: CacheStatus
    upstream_node_ids: tuple[str, ...]
    group: str


class TaskAttemptSubject(NamedTuple):
    """What the span of a task attempt stands for."""

    task_id: EntityVersion
    retry_attempt: int
    task_type: str
    logs: tuple[Log, ...]
    interruptible: bool


class SubtaskSubject(NamedTuple):
    """What the span of a part of an attempt stands for."""

    ordinal: int
    retry_attempt: int
    external_id: str
    cache_status: CacheStatus
    logs: tuple[Log, ...]


class OperationSubject(NamedTuple):
    """What the span of an operation stands for.

    `node_id` is the node that a NODE_TRANSITION leads to; empty for other operations.
    """

    operation: Operation
    node_id: str = ""


Subject = ExecutionSubject | NodeSubject | TaskAttemptSubject | SubtaskSubject | OperationSubject


class ClosureTimes(NamedTuple):
    """The times of FlyteAdmin's closure, which its metrics are defined on. None: unset there.

    Attributes:
        created_ns: occurred_at of the first event.
        started_ns: occurred_at of the RUNNING event.
        ran_until_ns: started_at plus duration: occurred_at of the terminal event.
        updated_ns: reported_at of the last event that changed anything (occurred_at for
            executions).
    """

    created_ns: int
    started_ns: int | None
    ran_until_ns: int | None
    updated_ns: int


@dataclass(slots=True)
class Span:
    """A stretch of time of an execution. Made by the builder; a part is filled in later.

    Attributes:
        span_id: Signed 64-bit id, the same whenever the same execution is read.
        name: Name for people.
        subject: What it stands for.
        start_ns: Start.
        end_ns: End, never before the start; None while the span is open.
        phase: Last phase; UNSPECIFIED for operations and placeholders.
        phase_intervals: Every stay in a phase, in the order of time.
        marks: Reasons, in the order of time.
        qualities: What is inferred, missing or odd.
        error: Why it failed; None when it did not.
        last_event_ns: Latest occurred_at of its own events; None without any.
        closure: FlyteAdmin's times; None for operations and placeholders.
        producer_ids: Who reported it, ascending; for executions only.
        end_upstream_ids: Nodes in it that the end of its workflow waits for, ascending. None where
            the definition of that workflow is not known.
        children: What it contains, in the order of start.
        totals: Sums; None until they are computed, and for operations.
        last_heard_ns: Latest occurred_at of its own events and of those of everything below it;
            None until it is judged (liveness.py), without any, for operations and after its end.
    """

    span_id: int
    name: str
    subject: Subject
    start_ns: int
    end_ns: int | None
    phase: Phase = Phase.UNSPECIFIED
    phase_intervals: tuple[PhaseInterval, ...] = ()
    marks: tuple[Mark, ...] = ()
    qualities: SpanQuality = SpanQuality.NONE
    error: ExecutionError | None = None
    last_event_ns: int | None = None
    closure: ClosureTimes | None = None
    producer_ids: tuple[str, ...] = ()
    end_upstream_ids: tuple[str, ...] | None = None
    children: Sequence["Span"] = ()
    totals: Totals | None = None
    last_heard_ns: int | None = None

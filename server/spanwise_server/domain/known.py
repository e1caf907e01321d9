"""What is known of one execution: the input of the span builder, as storage gives it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spanwise_server.domain.events import Details, ExecutionFacts, NodeFacts, TaskFacts
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.spans import Mark
from spanwise_server.domain.transitions import Moment
from spanwise_server.domain.workflows import WorkflowDefinition


class KnownNode(NamedTuple):
    """A node that some event named."""

    key: int
    node_id: str
    facts: NodeFacts


class KnownAttempt(NamedTuple):
    """An attempt that has events."""

    key: int
    node_key: int
    task_id: EntityVersion
    retry_attempt: int
    facts: TaskFacts


class EntityEvents(NamedTuple):
    """The events of one entity: moments in any order, and the union of what is odd of them."""

    moments: Sequence[Moment]
    qualities: EventQuality


class TimedDetails(NamedTuple):
    """Details of one event, with its place in time."""

    occurred_at_ns: int
    details: Details


class KnownExecution(NamedTuple):
    """Everything that is known of one execution.

    Attributes:
        key: Key of the execution.
        execution_id: Its identity.
        facts: What its own events say.
        nodes: Its nodes, in any order.
        attempts: Their attempts, in any order.
        events: Events by entity key. An entity without an entry is a placeholder.
        marks: Reasons by entity key, in any order.
        details: Details by entity key, in the order of time.
        producer_ids: Who reported any of it.
        workflow: What it runs, if that is known.
    """

    key: bytes
    execution_id: ExecutionId
    facts: ExecutionFacts
    nodes: Sequence[KnownNode]
    attempts: Sequence[KnownAttempt]
    events: Mapping[int, EntityEvents]
    marks: Mapping[int, Sequence[Mark]]
    details: Mapping[int, Sequence[TimedDetails]]
    producer_ids: frozenset[str]
    workflow: WorkflowDefinition | None = None

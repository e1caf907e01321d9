"""Short ways to write down what is known of an execution."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from spanwise_server.domain.events import Details, ExecutionFacts, NodeFacts, Severity, TaskFacts
from spanwise_server.domain.identifiers import (
    EntityVersion,
    ExecutionId,
    attempt_key,
    execution_key,
    node_key,
    root_key,
)
from spanwise_server.domain.known import (
    EntityEvents,
    KnownAttempt,
    KnownExecution,
    KnownNode,
    TimedDetails,
)
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.span_builder import build_span_tree
from spanwise_server.domain.spans import Mark, Operation, OperationSubject, Span
from spanwise_server.domain.transitions import Moment
from spanwise_server.domain.workflows import WorkflowDefinition

SECOND_NS = 10**9
EXECUTION_ID = ExecutionId("flytesnacks", "development", "run")
KEY = execution_key(EXECUTION_ID)
TASK_ID = EntityVersion("flytesnacks", "development", "train", "v1")

Stay = tuple[Phase, float] | tuple[Phase, float, float]
"""A phase, when it occurred and when it was reported, in seconds from the start."""


def moments(*stays: Stay) -> list[Moment]:
    """Give moments; one that is not said to be reported later was reported at once."""
    return [
        Moment(round(stay[1] * SECOND_NS), round(stay[-1] * SECOND_NS), stay[0], 0)
        for stay in stays
    ]


@dataclass
class Life:
    """What is known of one execution, gathered step by step."""

    nodes: dict[str, NodeFacts] = field(default_factory=dict)
    attempts: list[KnownAttempt] = field(default_factory=list)
    events: dict[int, list[Moment]] = field(default_factory=lambda: defaultdict(list))
    marks: dict[int, list[Mark]] = field(default_factory=lambda: defaultdict(list))
    details: dict[int, list[TimedDetails]] = field(default_factory=lambda: defaultdict(list))
    producers: set[str] = field(default_factory=set)
    workflow: WorkflowDefinition | None = None

    def execution(self, *stays: Stay) -> "Life":
        """Add events of the execution."""
        self.events[root_key(KEY)] += moments(*stays)
        return self

    def node(self, node_id: str, *stays: Stay, facts: NodeFacts | None = None) -> "Life":
        """Add a node; without stays it is a placeholder."""
        self.nodes[node_id] = facts or self.nodes.get(node_id, NodeFacts())
        if stays:
            self.events[node_key(KEY, node_id)] += moments(*stays)
        return self

    def attempt(
        self, node_id: str, number: int, *stays: Stay, details: Sequence[Details] = ()
    ) -> "Life":
        """Add an attempt of a node, and the node as a placeholder when it is not there."""
        self.nodes.setdefault(node_id, NodeFacts())
        key = attempt_key(KEY, node_id, TASK_ID, number)
        self.attempts.append(
            KnownAttempt(key, node_key(KEY, node_id), TASK_ID, number, TaskFacts("python-task"))
        )
        own = moments(*stays)
        self.events[key] += own
        self.details[key] += [
            TimedDetails(moment.occurred_at_ns, each)
            for moment, each in zip(own, details, strict=False)
        ]
        return self

    def reason(self, key: int, at: float, message: str, ordinal: int = 0) -> "Life":
        """Add a reason of an entity."""
        at_ns = round(at * SECOND_NS)
        mark = Mark(at_ns, ordinal, message, Phase.QUEUED, 0, Severity.UNSPECIFIED, "", 1)
        self.marks[key].append(mark)
        return self

    def known(self) -> KnownExecution:
        """Give it as the builder takes it."""
        return KnownExecution(
            key=KEY,
            execution_id=EXECUTION_ID,
            facts=ExecutionFacts(),
            nodes=[
                KnownNode(node_key(KEY, name), name, facts) for name, facts in self.nodes.items()
            ],
            attempts=self.attempts,
            events={key: EntityEvents(own, EventQuality.NONE) for key, own in self.events.items()},
            marks=self.marks,
            details=self.details,
            producer_ids=frozenset(self.producers),
            workflow=self.workflow,
        )

    def tree(self) -> Span:
        """Build the tree."""
        return build_span_tree(self.known())


def walk(span: Span) -> Iterator[Span]:
    """Give a span and everything below it, in pre-order."""
    yield span
    for child in span.children:
        yield from walk(child)


def named(root: Span, name: str) -> Span:
    """Give the first span of a name."""
    return next(span for span in walk(root) if span.name == name)


def operations(span: Span) -> dict[Operation, tuple[float, float | None]]:
    """Give the operations right below a span, with their bounds in seconds."""
    return {
        child.subject.operation: bounds(child)
        for child in span.children
        if isinstance(child.subject, OperationSubject)
    }


def bounds(span: Span) -> tuple[float, float | None]:
    """Give start and end in seconds."""
    end = None if span.end_ns is None else span.end_ns / SECOND_NS
    return span.start_ns / SECOND_NS, end


def phases(span: Span) -> list[tuple[Phase, float, float | None]]:
    """Give the stays of a span, in seconds."""
    return [
        (
            stay.phase,
            stay.start_ns / SECOND_NS,
            None if stay.end_ns is None else stay.end_ns / SECOND_NS,
        )
        for stay in span.phase_intervals
    ]


def names(spans: Iterable[Span]) -> list[str]:
    """Give the names of spans."""
    return [span.name for span in spans]

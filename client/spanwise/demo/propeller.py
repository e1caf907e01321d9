"""FlytePropeller, as far as the samples need it: its clock, its pace, and what it sends."""

from dataclasses import dataclass, field
from typing import NamedTuple

from flyteidl.core import execution_pb2
from flyteidl.event import event_pb2

from spanwise._identifiers import ExecutionId
from spanwise.demo.chance import Chance
from spanwise.demo.ids import Place
from spanwise.demo.messages import EventRequest, Messages
from spanwise.demo.plot import Workflow

Range = tuple[float, float]
"""Least and most seconds."""


def duration_ns(seconds: float) -> int:
    """Give a duration in nanoseconds, in whole microseconds."""
    return int(seconds * 1_000_000) * 1_000


class Pace(NamedTuple):
    """How quickly propeller gets round to things.

    Attributes:
        transition_s: From the end of the last upstream to a node.
        setup_s: From a node to what it runs: reading its inputs, creating its pod.
        notice_s: From what a pod does to the event that tells it.
        teardown_s: From the end of what a node runs to the end of the node.
    """

    transition_s: Range = (0.2, 0.9)
    setup_s: Range = (0.05, 0.3)
    notice_s: Range = (0.3, 1.2)
    teardown_s: Range = (0.1, 0.6)


class Sent(NamedTuple):
    """A request, and when it is sent."""

    at_ns: int
    request: EventRequest


@dataclass(frozen=True, slots=True)
class Record:
    """What happened in an execution and in those that it started.

    Attributes:
        sent: What was sent, in no order.
        workflows: What each execution runs, in the order of their start.
    """

    sent: list[Sent] = field(default_factory=list)
    workflows: dict[ExecutionId, Workflow] = field(default_factory=dict)


class Propeller:
    """Sends the events of one execution.

    Attributes:
        execution_id: The execution.
        messages: Builds its events.
        chance: Picks how long things take.
        pace: How quickly it gets round to things.
        record: Takes down what happens.
    """

    def __init__(
        self, execution_id: ExecutionId, chance: Chance, pace: Pace, record: Record
    ) -> None:
        self.execution_id = execution_id
        self.messages = Messages(execution_id)
        self.chance = chance
        self.pace = pace
        self.record = record

    def for_child(self, name: str) -> "Propeller":
        """Give the one that sends the events of an execution that this one starts."""
        child_id = self.execution_id._replace(name=name)
        return Propeller(child_id, self.chance, self.pace, self.record)


class Line:
    """Events one after the other. What runs at once has a line each.

    Attributes:
        propeller: Who sends them.
        messages: Builds them.
        pace: How quickly propeller gets round to things.
        now_ns: Its clock.
    """

    def __init__(self, propeller: Propeller, now_ns: int) -> None:
        self.propeller = propeller
        self.messages = propeller.messages
        self.pace = propeller.pace
        self.now_ns = now_ns

    def wait(self, seconds: Range) -> int:
        """Let some time pass and give the moment then."""
        self.now_ns += duration_ns(self.propeller.chance.between(*seconds))
        return self.now_ns

    def build(self) -> int:
        """Let the time pass that an event takes to be built, and give its reported_at."""
        return self.wait((0.005, 0.02))

    def send(self, request: EventRequest) -> None:
        """Send now."""
        self.propeller.record.sent.append(Sent(self.now_ns, request))


class NodeLine(Line):
    """The events of one node, and of what it runs itself.

    Attributes:
        place: Where the node stands.
        facts: What every event of the node says from now on.
    """

    def __init__(self, propeller: Propeller, now_ns: int, place: Place, name: str) -> None:
        super().__init__(propeller, now_ns)
        self.place = place
        self.facts = event_pb2.NodeExecutionEvent()
        self._name = name

    def queue(self) -> None:
        """Say that the node is QUEUED. The event has the moment before the inputs are read."""
        occurred_ns = self.now_ns
        self.report("QUEUED", occurred_ns, self.wait((0.02, 0.06)))

    def run(self) -> None:
        """Say that the node is RUNNING."""
        occurred_ns = self.wait((0.005, 0.02))
        self.report("RUNNING", occurred_ns, self.build())

    def succeed(self) -> None:
        """Say that the node has SUCCEEDED, after a while."""
        occurred_ns = self.wait(self.pace.teardown_s)
        self.report("SUCCEEDED", occurred_ns, self.build())

    def fail(self, error: execution_pb2.ExecutionError) -> None:
        """Say that the node has FAILED, after a while."""
        self.facts.error.CopyFrom(error)
        occurred_ns = self.wait(self.pace.teardown_s)
        self.report("FAILED", occurred_ns, self.build())

    def report(
        self,
        phase: str,
        occurred_ns: int,
        reported_ns: int,
        metadata: event_pb2.TaskNodeMetadata | None = None,
    ) -> None:
        """Send an event of the node, with metadata that only this one has."""
        request = self.messages.node(self.place, self._name, phase, occurred_ns, reported_ns)
        request.event.MergeFrom(self.facts)
        if metadata is not None:
            request.event.task_node_metadata.CopyFrom(metadata)
        self.send(request)

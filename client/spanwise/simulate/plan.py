"""What is simulated: executions, and the events of each, made when they are needed.

Pure: the same arguments give the same events, byte for byte, whoever sends them and when.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from spanwise._identifiers import ExecutionId
from spanwise._times import SECOND_NS
from spanwise.demo.chance import Chance
from spanwise.demo.ids import fnv1a
from spanwise.demo.propeller import Pace, Propeller, Record, Sent
from spanwise.demo.workflows import begin_execution, end_execution, fail_execution, run_nodes
from spanwise.simulate.shapes import Shapes

SHARD_KEYS = 32
"""Keys that executions are spread over, and so the most propellers that can share them.

Source: flytepropeller v1.16 apis/flyteworkflow/v1alpha1 (ShardKeyspaceSize) and
compiler/transformers/k8s/workflow.go.
"""

_FAILING = 25
"""Of so many executions, about one fails."""

_GAP_S = 3.0
"""Between the starts of two executions."""


class Strand(NamedTuple):
    """Events that come one after the other.

    Attributes:
        stage: Strands of one stage happen at the same time; those of the next one come later.
        size: Node executions that end in it, without start-nodes and end-nodes.
        sent: The events in the order of sending, with their simulated times.
    """

    stage: int
    size: int
    sent: tuple[Sent, ...]


@dataclass(frozen=True, slots=True)
class Simulation:
    """A number of executions.

    Attributes:
        seed: Picks everything.
        start_ns: Start of the first execution, in nanoseconds since the epoch.
        nodes: Node executions of each, at least 1: those of tasks and of whatever holds others,
            without start-nodes, end-nodes and the nodes of executions that launch plans start.
        project: Project of all of them.
        domain: Domain of all of them.
    """

    seed: int
    start_ns: int
    nodes: int
    project: str
    domain: str

    def execution(self, number: int) -> "SimulatedExecution":
        """Give one of the executions, by its number from 0. There is no last one."""
        # Those of another seed, start or size must not look like other events of these.
        origin = f"{self.seed}/{self.start_ns}/{self.nodes}"
        digest = hashlib.sha256(origin.encode()).hexdigest()
        name = f"sim-{digest[:8]}-{number}"
        return SimulatedExecution(
            execution_id=ExecutionId(self.project, self.domain, name),
            seed=int.from_bytes(hashlib.sha256(f"{digest}/{number}".encode()).digest()),
            start_ns=self.start_ns + int(number * _GAP_S) * SECOND_NS,
            nodes=self.nodes,
        )


@dataclass(frozen=True, slots=True)
class SimulatedExecution:
    """One execution, and those that its launch plans start.

    Attributes:
        execution_id: Its id. It begins with sim-, and is another one for each seed.
        seed: Picks what happens in it.
        start_ns: Its start, in nanoseconds since the epoch.
        nodes: How many node executions it has; see Simulation.
    """

    execution_id: ExecutionId
    seed: int
    start_ns: int
    nodes: int

    def shard(self, shards: int) -> int:
        """Give which of so many propellers handles it, from 0; see SHARD_KEYS."""
        return fnv1a(self.execution_id.name, 32) % SHARD_KEYS * shards // SHARD_KEYS

    def strands(self) -> Iterator[Strand]:
        """Make the events, strand by strand, each when it is asked for. None is kept."""
        yield from _Teller(self).strands()


class _Teller:
    """Lets an execution happen."""

    def __init__(self, execution: SimulatedExecution) -> None:
        chance = Chance(execution.seed)
        self._record = Record()
        self._propeller = Propeller(execution.execution_id, chance, Pace(), self._record)
        self._shapes = Shapes(chance)
        self._now_ns = execution.start_ns + int(chance.between(0, 1) * SECOND_NS)
        self._fails = not chance.below(_FAILING)
        self._room = execution.nodes
        self._stage = 0

    def strands(self) -> Iterator[Strand]:
        """Give what happens."""
        self._now_ns = begin_execution(self._propeller, self._now_ns)
        yield self._strand(0)
        while self._room > self._fails:
            yield from self._next_stage()
        if self._fails:
            yield self._failure()
        else:
            end_execution(self._propeller, self._now_ns)
        self._stage += 1
        yield self._strand(0)

    def _next_stage(self) -> Iterator[Strand]:
        self._stage += 1
        stage = self._shapes.stage(self._room - self._fails)
        self._room -= stage.size
        # A stage is one node, with whatever is in it, or several tasks.
        size = stage.size // len(stage.nodes)
        for end_ns in run_nodes(self._propeller, stage.nodes, self._now_ns):
            self._now_ns = max(self._now_ns, end_ns)
            yield self._strand(size)

    def _failure(self) -> Strand:
        self._stage += 1
        node = self._shapes.failure()
        (self._now_ns,) = run_nodes(self._propeller, (node,), self._now_ns)
        strand = self._strand(1)
        # The last of it tells that the node has failed, and why.
        error = strand.sent[-1].request.event.error
        fail_execution(self._propeller, error, self._now_ns)
        return strand

    def _strand(self, size: int) -> Strand:
        # The sort is stable: what is sent in one moment keeps the order in which it was told.
        sent = tuple(sorted(self._record.sent, key=lambda each: each.at_ns))
        self._record.sent.clear()
        return Strand(self._stage, size, sent)

"""The entities of one execution as they are settled: the execution itself, its nodes and attempts.

They are settled in steps (settling.py), each of which fills in some of the attributes.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

from spanwise_server.domain.events import NodeFacts
from spanwise_server.domain.history import Life
from spanwise_server.domain.known import KnownAttempt
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.operations import Block
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import Span
from spanwise_server.domain.workflows import GraphNode, WorkflowDefinition, WorkflowGraph


@dataclass(slots=True)
class Attempt:
    """An attempt: its life, and its end where that had to be inferred."""

    known: KnownAttempt
    life: Life
    end_ns: int | None
    qualities: SpanQuality

    @property
    def block(self) -> Block:
        """Its bounds."""
        return Block(self.life.start_ns, self.end_ns)


class Scope(NamedTuple):
    """What is known about how the nodes inside an entity are connected.

    `graph` is the workflow that they are nodes of, one of those in `definition`.
    """

    definition: WorkflowDefinition
    graph: WorkflowGraph


@dataclass(slots=True, eq=False)
class Entity:
    """The execution, or a node of it.

    Attributes:
        key: Key of the entity, and id of its span.
        node_id: Id of the node; empty for the execution.
        facts: What is known of a node beside its life.
        life: Its life; None for a placeholder.
        qualities: What is inferred, missing or odd about it.
        kind: What the node does, as far as is known.
        start_ns: Start.
        end_ns: End; None while it is open.
        attempts: Attempts of its task, in the order of start.
        children: Nodes that it contains, in the order of start.
        scope: How its children are connected; None when that is not known.
        spec: The node in the definition of its workflow; None when that is not known.
        upstream_ids: Nodes that it waited for, ascending.
        upstream_end_ns: When the last of them ended; None when that is not known.
        end_upstream_ids: Children that the end of the workflow inside waits for, ascending; None
            when that is not known.
        child_execution: The execution that a launch plan node started, if it is shown inside it.
        span: Its span, once it was made.
    """

    key: int
    node_id: str
    facts: NodeFacts
    life: Life | None
    qualities: SpanQuality = SpanQuality.NONE
    kind: NodeKind = NodeKind.UNSPECIFIED
    start_ns: int = 0
    end_ns: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    children: list["Entity"] = field(default_factory=list)
    scope: Scope | None = None
    spec: GraphNode | None = None
    upstream_ids: tuple[str, ...] = ()
    upstream_end_ns: int | None = None
    end_upstream_ids: tuple[str, ...] | None = None
    child_execution: Optional["Entity"] = None
    span: Span | None = None

    @property
    def block(self) -> Block:
        """Its bounds."""
        return Block(self.start_ns, self.end_ns)

    @property
    def spec_id(self) -> str:
        """Id of the node in the definition of its workflow; on the top level, its only id."""
        return self.facts.spec_node_id or self.node_id

    @property
    def is_start(self) -> bool:
        """Whether it marks the start of a workflow."""
        return self.kind is NodeKind.START

    @property
    def is_end(self) -> bool:
        """Whether it marks the end of a workflow."""
        return self.kind is NodeKind.END

    @property
    def is_marker(self) -> bool:
        """Whether it marks the start or the end of a workflow, and does nothing else."""
        return self.kind in (NodeKind.START, NodeKind.END)

    def families(self) -> Iterable[list["Entity"]]:
        """Give its children in the order of start, apart by the attempt of it that made them."""
        families: dict[str, list[Entity]] = defaultdict(list)
        for child in self.children:
            families[child.facts.retry_group].append(child)
        return families.values()

"""Definitions of workflows: which nodes there are, and which one waits for which."""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.node_kinds import NodeKind

END_NODE_ID = "end-node"
"""Spec node id of the end of every workflow; its upstreams are what the workflow waits for."""


class WorkflowFormat(IntEnum):
    """Which message a registered definition came in. The numbers are stored: none is reused."""

    NATIVE = 1
    FLYTE1_COMPILED_CLOSURE = 2


class GraphNode(NamedTuple):
    """A node as its workflow defines it. Empty parts are not known.

    `upstream_ids` are ids of nodes of the same workflow, ascending; "start-node" is its start.
    """

    kind: NodeKind
    name: str
    target_id: EntityVersion
    upstream_ids: tuple[str, ...]


class WorkflowGraph(NamedTuple):
    """One workflow.

    Attributes:
        nodes: By spec node id. Nodes of which a branch picks one are among them, without upstreams.
        failure_node_id: Node that runs after a failure, which is among `nodes`; empty: none.
    """

    nodes: Mapping[str, GraphNode]
    failure_node_id: str = ""


class WorkflowDefinition(NamedTuple):
    """A workflow with all that it runs inside the same execution.

    Attributes:
        workflow_id: Its identity.
        primary: The workflow itself.
        sub_workflows: What its subworkflow nodes run, at any level, by target.
    """

    workflow_id: EntityVersion
    primary: WorkflowGraph
    sub_workflows: Mapping[EntityVersion, WorkflowGraph]

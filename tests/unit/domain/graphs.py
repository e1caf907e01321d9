"""Short ways to write down definitions of workflows."""

from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.workflows import GraphNode, WorkflowDefinition, WorkflowGraph

NOTHING = EntityVersion()


def target(name: str) -> EntityVersion:
    """Name something that a node runs."""
    return EntityVersion("flytesnacks", "development", name, "v1")


def spec(
    *upstream_ids: str, kind: NodeKind = NodeKind.TASK, runs: EntityVersion = NOTHING
) -> GraphNode:
    """Define a node that waits for others."""
    return GraphNode(kind, "", runs, upstream_ids)


def definition(
    sub_workflows: dict[EntityVersion, WorkflowGraph] | None = None,
    *,
    failure_node: str = "",
    **nodes: GraphNode,
) -> WorkflowDefinition:
    """Define a workflow of nodes by id; "_" in an id stands for "-"."""
    primary = graph(failure_node=failure_node, **nodes)
    return WorkflowDefinition(target("main"), primary, sub_workflows or {})


def graph(*, failure_node: str = "", **nodes: GraphNode) -> WorkflowGraph:
    """Define the nodes of a workflow by id; "_" in an id stands for "-"."""
    return WorkflowGraph(
        {node_id.replace("_", "-"): node for node_id, node in nodes.items()}, failure_node
    )

"""Codec of compiled workflows of Flyte 1: flyteidl.core.CompiledWorkflowClosure inward.

Source: flyteidl 1.16 core/compiler.proto and core/workflow.proto.
"""

from collections.abc import Iterable

from flyteidl.core.compiler_pb2 import CompiledWorkflow, CompiledWorkflowClosure
from flyteidl.core.identifier_pb2 import Identifier
from flyteidl.core.workflow_pb2 import BranchNode, Node

from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.workflows import (
    END_NODE_ID,
    GraphNode,
    WorkflowDefinition,
    WorkflowGraph,
)

_MARKERS = {"start-node": NodeKind.START, "end-node": NodeKind.END}
"""Kinds of the nodes that the compiler adds, by their fixed ids."""

_NO_TARGET = EntityVersion()


def decode_closure(closure: CompiledWorkflowClosure) -> WorkflowDefinition | None:
    """Give the definition in a closure, or None where its workflow has no nodes.

    A closure need not hang together: what cannot be made out is left empty. Of two nodes with one
    id the first counts. A dynamic task is a TASK: only its events tell what it is.
    """
    primary = _decode_graph(closure.primary)
    if not primary.nodes:
        return None
    return WorkflowDefinition(
        workflow_id=decode_identifier(closure.primary.template.id),
        primary=primary,
        sub_workflows={
            decode_identifier(workflow.template.id): _decode_graph(workflow)
            for workflow in closure.sub_workflows
        },
    )


def _decode_graph(workflow: CompiledWorkflow) -> WorkflowGraph:
    template = workflow.template
    upstream = workflow.connections.upstream
    # An entry that is asked for is made in a map of messages, hence the dictionary.
    upstream_ids = {node_id: tuple(sorted(ids.ids)) for node_id, ids in upstream.items()}
    nodes: dict[str, GraphNode] = {}
    inside: list[Node] = []
    _add_nodes(template.nodes, upstream_ids, nodes, inside)
    if nodes and END_NODE_ID in upstream_ids:
        # The end may have connections without being listed, and FlyteAdmin's metrics go by these.
        _add_nodes([Node(id=END_NODE_ID)], upstream_ids, nodes, inside)
    failure_node_id = template.failure_node.id
    if failure_node_id:
        _add_nodes([template.failure_node], upstream_ids, nodes, inside)
    while inside:
        level, inside = inside, []
        _add_nodes(level, {}, nodes, inside)
    return WorkflowGraph(nodes, failure_node_id)


def _add_nodes(
    messages: Iterable[Node],
    upstream_ids: dict[str, tuple[str, ...]],
    nodes: dict[str, GraphNode],
    inside: list[Node],
) -> None:
    """Add to `nodes`, and to `inside` what their branches hold."""
    for message in messages:
        node_id = message.id
        if node_id in nodes:
            continue
        kind, target_id = _decode_target(message)
        if kind is NodeKind.BRANCH:
            inside += _nodes_of_branch(message.branch_node)
        nodes[node_id] = GraphNode(
            _MARKERS.get(node_id, kind),
            message.metadata.name,
            target_id,
            upstream_ids.get(node_id, ()),
        )


def _decode_target(message: Node) -> tuple[NodeKind, EntityVersion]:
    match message.WhichOneof("target"):
        case "task_node":
            return NodeKind.TASK, decode_identifier(message.task_node.reference_id)
        case "workflow_node":
            reference = message.workflow_node
            if reference.WhichOneof("reference") == "launchplan_ref":
                return NodeKind.LAUNCH_PLAN, decode_identifier(reference.launchplan_ref)
            return NodeKind.SUBWORKFLOW, decode_identifier(reference.sub_workflow_ref)
        case "branch_node":
            return NodeKind.BRANCH, _NO_TARGET
        case "gate_node":
            return NodeKind.GATE, _NO_TARGET
        case "array_node":
            # What it runs is the target of the one node inside it, which is no array itself.
            inner = message.array_node.node
            is_array = inner.WhichOneof("target") == "array_node"
            return NodeKind.ARRAY, _NO_TARGET if is_array else _decode_target(inner)[1]
        case _:
            return NodeKind.UNSPECIFIED, _NO_TARGET


def _nodes_of_branch(branch: BranchNode) -> list[Node]:
    block = branch.if_else
    nodes = [block.case.then_node, *(other.then_node for other in block.other), block.else_node]
    return [node for node in nodes if node.id]


def decode_identifier(message: Identifier) -> EntityVersion:
    """Give the definition that an identifier names, whatever its type."""
    return EntityVersion(message.project, message.domain, message.name, message.version)

"""Codec of native definitions of workflows: spanwise.v1.Workflow inward and outward.

Source: protos/spanwise/v1/workflow.proto.
"""

from collections.abc import Iterable
from typing import NamedTuple

from spanwise.v1.identifiers_pb2 import EntityVersion as EntityVersionMessage
from spanwise.v1.workflow_pb2 import Workflow, WorkflowNode
from spanwise_server.domain.errors import InvalidWorkflow
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.workflows import GraphNode, WorkflowDefinition, WorkflowGraph
from spanwise_server.rpc.codecs.native import decode_entity
from spanwise_server.rpc.codecs.native_spans import fill_entity

START_NODE_ID = "start-node"
"""What a node may wait for without its being among the nodes: the start of the workflow."""

_KINDS = {int(kind): kind for kind in NodeKind}


def decode_workflow(message: Workflow) -> WorkflowDefinition:
    """Give a definition.

    Raises:
        InvalidWorkflow: It contradicts itself: an id is missing, is there twice or is waited for
            without being there.
    """
    return WorkflowDefinition(
        workflow_id=_require_id(message.workflow_id, "workflow.workflow_id"),
        primary=_decode_graph(message, "workflow"),
        sub_workflows=_decode_sub_workflows(message.sub_workflows),
    )


def encode_workflow(definition: WorkflowDefinition) -> Workflow:
    """Give the message of a definition. Cases of branches stand among the other nodes."""
    message = Workflow()
    fill_entity(message.workflow_id, definition.workflow_id)
    _fill_graph(message, definition.primary)
    for workflow_id, graph in definition.sub_workflows.items():
        below = message.sub_workflows.add()
        fill_entity(below.workflow_id, workflow_id)
        _fill_graph(below, graph)
    return message


def _decode_sub_workflows(messages: Iterable[Workflow]) -> dict[EntityVersion, WorkflowGraph]:
    found: dict[EntityVersion, WorkflowGraph] = {}
    for number, message in enumerate(messages):
        path = f"workflow.sub_workflows[{number}]"
        workflow_id = _require_id(message.workflow_id, f"{path}.workflow_id")
        if workflow_id in found:
            raise InvalidWorkflow(
                f"{path}.workflow_id", f"{workflow_id.name!r} is there twice; give it once"
            )
        if message.sub_workflows:
            raise InvalidWorkflow(
                f"{path}.sub_workflows", "give all sub-workflows in the outermost workflow"
            )
        found[workflow_id] = _decode_graph(message, path)
    return found


def _require_id(message: EntityVersionMessage, path: str) -> EntityVersion:
    if not message.name:
        raise InvalidWorkflow(f"{path}.name", "is empty; name the workflow")
    return decode_entity(message)


class _Place(NamedTuple):
    """A node with the path of it in the request, and whether a branch picks it."""

    message: WorkflowNode
    path: str
    is_case: bool


def _decode_graph(message: Workflow, path: str) -> WorkflowGraph:
    places = [
        _Place(node, f"{path}.nodes[{number}]", is_case=False)
        for number, node in enumerate(message.nodes)
    ]
    failure_node_id = ""
    if message.HasField("failure_node"):
        failure_node_id = message.failure_node.node_id
        places.append(_Place(message.failure_node, f"{path}.failure_node", is_case=False))
    nodes: dict[str, GraphNode] = {}
    for place in places:  # grows while it is walked
        node_id = place.message.node_id
        if not node_id:
            raise InvalidWorkflow(f"{place.path}.node_id", "is empty; every node has an id")
        if node_id in nodes:
            raise InvalidWorkflow(
                f"{place.path}.node_id",
                f"{node_id!r} is the id of another node as well; ids are unique in a workflow",
            )
        nodes[node_id] = _decode_node(place)
        places += [
            _Place(case, f"{place.path}.cases[{number}]", is_case=True)
            for number, case in enumerate(place.message.cases)
        ]
    _require_upstreams(places, nodes)
    return WorkflowGraph(nodes, failure_node_id)


def _decode_node(place: _Place) -> GraphNode:
    message, path, is_case = place
    kind = _KINDS.get(message.kind, NodeKind.UNSPECIFIED)
    if message.cases:
        if kind not in {NodeKind.BRANCH, NodeKind.UNSPECIFIED}:
            raise InvalidWorkflow(
                f"{path}.cases", f"{message.node_id!r} has cases, but is no branch; set its kind"
            )
        kind = NodeKind.BRANCH
    if kind is NodeKind.SUBWORKFLOW and not message.target_id.name:
        raise InvalidWorkflow(
            f"{path}.target_id.name",
            f"is empty; name the workflow that the subworkflow node {message.node_id!r} runs",
        )
    if is_case and message.upstream_node_ids:
        raise InvalidWorkflow(
            f"{path}.upstream_node_ids",
            f"{message.node_id!r} waits for its branch alone; give them to the branch",
        )
    return GraphNode(
        kind,
        message.name,
        decode_entity(message.target_id),
        tuple(sorted(set(message.upstream_node_ids))),
    )


def _require_upstreams(places: Iterable[_Place], nodes: dict[str, GraphNode]) -> None:
    for message, path, _ in places:
        for number, upstream_id in enumerate(message.upstream_node_ids):
            if upstream_id not in nodes and upstream_id != START_NODE_ID:
                raise InvalidWorkflow(
                    f"{path}.upstream_node_ids[{number}]",
                    f"{message.node_id!r} waits for {upstream_id!r}, which is no node of this"
                    " workflow",
                )


def _fill_graph(message: Workflow, graph: WorkflowGraph) -> None:
    for node_id, node in graph.nodes.items():
        is_failure = node_id == graph.failure_node_id
        filled = message.failure_node if is_failure else message.nodes.add()
        filled.node_id = node_id
        filled.name = node.name
        filled.kind = int(node.kind)  # type: ignore[assignment]
        fill_entity(filled.target_id, node.target_id)
        filled.upstream_node_ids.extend(node.upstream_ids)

"""Native definitions of workflows: they come back as they went in, and mistakes are explained."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.v1.identifiers_pb2 import EntityVersion as EntityVersionMessage
from spanwise.v1.workflow_pb2 import Workflow, WorkflowNode
from spanwise_server.domain.errors import InvalidWorkflow
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.workflows import GraphNode, WorkflowDefinition, WorkflowGraph
from spanwise_server.rpc.codecs.native_workflows import decode_workflow, encode_workflow

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
ids = st.builds(EntityVersion, texts, texts, names, texts)


@st.composite
def graphs(draw: st.DrawFn) -> WorkflowGraph:
    node_ids = draw(st.lists(names, unique=True, max_size=5))
    upstream = st.sets(st.sampled_from([*node_ids, "start-node"]), max_size=3)
    nodes = {}
    for node_id in node_ids:
        kind = draw(st.sampled_from(NodeKind))
        target = ids if kind is NodeKind.SUBWORKFLOW else st.just(EntityVersion()) | ids
        upstream_ids = tuple(sorted(draw(upstream)))
        nodes[node_id] = GraphNode(kind, draw(texts), draw(target), upstream_ids)
    return WorkflowGraph(nodes, draw(st.sampled_from(["", *node_ids])))


definitions = st.builds(
    WorkflowDefinition, ids, graphs(), st.dictionaries(ids, graphs(), max_size=3)
)


@given(definition=definitions)
def test_a_definition_comes_back(definition: WorkflowDefinition) -> None:
    payload = encode_workflow(definition).SerializeToString()
    assert decode_workflow(Workflow.FromString(payload)) == definition


NAMED = EntityVersionMessage(name="w")


def workflow(*nodes: WorkflowNode) -> Workflow:
    return Workflow(workflow_id=NAMED, nodes=nodes)


def test_cases_stand_beside_their_branch() -> None:
    inner = WorkflowNode(node_id="inner", cases=[WorkflowNode(node_id="a")])
    graph = decode_workflow(
        workflow(
            WorkflowNode(node_id="n0"),
            WorkflowNode(
                node_id="pick",
                kind=int(NodeKind.BRANCH),  # type: ignore[arg-type]
                cases=[inner, WorkflowNode(node_id="b")],
                upstream_node_ids=["n0"],
            ),
            WorkflowNode(node_id="n1", upstream_node_ids=["pick", "start-node", "pick"]),
        )
    ).primary
    assert {node_id: node.upstream_ids for node_id, node in graph.nodes.items()} == {
        "n0": (),
        "pick": ("n0",),
        "n1": ("pick", "start-node"),
        "inner": (),
        "b": (),
        "a": (),
    }
    assert graph.nodes["inner"].kind is NodeKind.BRANCH


def test_a_kind_of_the_future_is_no_mistake() -> None:
    future = WorkflowNode(node_id="n0", kind=99)  # type: ignore[arg-type]
    assert decode_workflow(workflow(future)).primary.nodes["n0"].kind is NodeKind.UNSPECIFIED


BELOW = Workflow(workflow_id=EntityVersionMessage(name="below"))

MISTAKES: list[tuple[Workflow, str, str]] = [
    (Workflow(), "workflow.workflow_id.name", "is empty"),
    (workflow(WorkflowNode()), "workflow.nodes[0].node_id", "is empty"),
    (
        workflow(WorkflowNode(node_id="n0"), WorkflowNode(node_id="n0")),
        "workflow.nodes[1].node_id",
        "'n0' is the id of another node",
    ),
    (
        workflow(
            WorkflowNode(node_id="n0", cases=[WorkflowNode(node_id="a")]),
            WorkflowNode(node_id="a"),
        ),
        "workflow.nodes[0].cases[0].node_id",
        "'a' is the id of another node",
    ),
    (
        Workflow(
            workflow_id=NAMED,
            nodes=[WorkflowNode(node_id="n0")],
            failure_node=WorkflowNode(node_id="n0"),
        ),
        "workflow.failure_node.node_id",
        "'n0' is the id of another node",
    ),
    (
        workflow(WorkflowNode(node_id="n0", upstream_node_ids=["start-node", "n9"])),
        "workflow.nodes[0].upstream_node_ids[1]",
        "'n0' waits for 'n9', which is no node",
    ),
    (
        workflow(WorkflowNode(node_id="n0", kind=int(NodeKind.SUBWORKFLOW))),  # type: ignore[arg-type]
        "workflow.nodes[0].target_id.name",
        "the subworkflow node 'n0'",
    ),
    (
        workflow(
            WorkflowNode(
                node_id="n0",
                kind=int(NodeKind.TASK),  # type: ignore[arg-type]
                cases=[WorkflowNode(node_id="a")],
            )
        ),
        "workflow.nodes[0].cases",
        "'n0' has cases, but is no branch",
    ),
    (
        workflow(
            WorkflowNode(node_id="n0", cases=[WorkflowNode(node_id="a", upstream_node_ids=["n0"])])
        ),
        "workflow.nodes[0].cases[0].upstream_node_ids",
        "'a' waits for its branch alone",
    ),
    (
        Workflow(workflow_id=NAMED, sub_workflows=[Workflow()]),
        "workflow.sub_workflows[0].workflow_id.name",
        "is empty",
    ),
    (
        Workflow(workflow_id=NAMED, sub_workflows=[BELOW, BELOW]),
        "workflow.sub_workflows[1].workflow_id",
        "'below' is there twice",
    ),
    (
        Workflow(
            workflow_id=NAMED,
            sub_workflows=[Workflow(workflow_id=BELOW.workflow_id, sub_workflows=[BELOW])],
        ),
        "workflow.sub_workflows[0].sub_workflows",
        "in the outermost workflow",
    ),
]


@pytest.mark.parametrize(("message", "field", "reason"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_named_with_its_place(message: Workflow, field: str, reason: str) -> None:
    with pytest.raises(InvalidWorkflow, match=reason) as caught:
        decode_workflow(message)
    assert caught.value.field == field

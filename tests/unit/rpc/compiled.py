"""Builders of compiled workflows of Flyte 1, as FlyteAdmin gives them."""

from flyteidl.core.compiler_pb2 import CompiledWorkflow, CompiledWorkflowClosure, ConnectionSet
from flyteidl.core.identifier_pb2 import Identifier, ResourceType
from flyteidl.core.workflow_pb2 import (
    ArrayNode,
    BranchNode,
    GateNode,
    IfBlock,
    IfElseBlock,
    Node,
    NodeMetadata,
    TaskNode,
    WorkflowNode,
    WorkflowTemplate,
)

from tests.unit.rpc.wire import field


def identifier(name: str, kind: int = ResourceType.TASK) -> Identifier:
    """Give the id of a definition."""
    return Identifier(
        resource_type=kind,  # type: ignore[arg-type] # any number
        project="flytesnacks",
        domain="development",
        name=name,
        version="v1",
    )


def task(node_id: str, name: str = "") -> Node:
    """Give a node that runs the task "work"."""
    return Node(
        id=node_id,
        metadata=NodeMetadata(name=name),
        task_node=TaskNode(reference_id=identifier("work")),
    )


def sub_workflow(node_id: str, name: str) -> Node:
    """Give a node that runs a workflow inside the execution."""
    reference = identifier(name, ResourceType.WORKFLOW)
    return Node(id=node_id, workflow_node=WorkflowNode(sub_workflow_ref=reference))


def launch_plan(node_id: str, name: str) -> Node:
    """Give a node that launches another execution."""
    reference = identifier(name, ResourceType.LAUNCH_PLAN)
    return Node(id=node_id, workflow_node=WorkflowNode(launchplan_ref=reference))


def gate(node_id: str) -> Node:
    """Give a node that waits for somebody."""
    return Node(id=node_id, gate_node=GateNode())


def array(node_id: str, inner: Node) -> Node:
    """Give a node that runs another one many times."""
    return Node(id=node_id, array_node=ArrayNode(node=inner))


def branch(node_id: str, case: Node, *others: Node, otherwise: Node | None = None) -> Node:
    """Give a node that picks another one."""
    block = IfElseBlock(
        case=IfBlock(then_node=case),
        other=[IfBlock(then_node=other) for other in others],
        else_node=otherwise,
    )
    return Node(id=node_id, branch_node=BranchNode(if_else=block))


def workflow(
    name: str, *nodes: Node, upstream: dict[str, list[str]], failure: Node | None = None
) -> CompiledWorkflow:
    """Give one compiled workflow."""
    return CompiledWorkflow(
        template=WorkflowTemplate(
            id=identifier(name, ResourceType.WORKFLOW), nodes=nodes, failure_node=failure
        ),
        connections=ConnectionSet(
            upstream={
                node_id: ConnectionSet.IdList(ids=upstream_ids)
                for node_id, upstream_ids in upstream.items()
            }
        ),
    )


def closure(primary: CompiledWorkflow, *sub_workflows: CompiledWorkflow) -> CompiledWorkflowClosure:
    """Give a closure."""
    return CompiledWorkflowClosure(primary=primary, sub_workflows=sub_workflows)


def deep_closure(levels: int = 60) -> bytes:
    """Give a closure of branches inside branches, too deep for Python's protobuf."""
    node = task("n0").SerializeToString()
    for number in range(levels):
        # Node.branch_node, BranchNode.if_else, IfElseBlock.case, IfBlock.then_node
        node = field(1, f"b{number}".encode()) + field(8, field(1, field(1, field(2, node))))
    template_id = field(1, identifier("deep", ResourceType.WORKFLOW).SerializeToString())
    # CompiledWorkflowClosure.primary, CompiledWorkflow.template, WorkflowTemplate.nodes
    return field(1, field(1, template_id + field(4, node)))


def chain() -> CompiledWorkflowClosure:
    """Give the workflow "train_all" of two tasks, one after the other."""
    return closure(
        workflow(
            "train_all",
            Node(id="start-node"),
            task("n0", "prepare"),
            task("n1", "train"),
            Node(id="end-node"),
            upstream={"n0": ["start-node"], "n1": ["n0"], "end-node": ["n1"]},
        )
    )

"""Compiled workflows as Flyte registers them, made from the cases of its metrics."""

from flyteidl.core.compiler_pb2 import CompiledWorkflow, CompiledWorkflowClosure
from flyteidl.core.workflow_pb2 import Node as FlyteNode

from spanwise_server.domain.node_kinds import NodeKind
from tests.metric_cases import END_ID, START_ID, Execution, Node, Times, Workflow
from tests.unit.rpc import compiled

_FOO = Workflow((Node("foo", NodeKind.TASK, Times(0, 0)),))
"""What a subworkflow node runs of which the case does not say it."""


def compiled_closure(execution: Execution, name: str) -> CompiledWorkflowClosure:
    """Give the workflow of an execution, with the sub-workflows that it runs."""
    sub_workflows = [
        compiled_workflow(node.inside or _FOO, _name_inside(node, name))
        for node in execution.workflow.nodes
        if node.kind is NodeKind.SUBWORKFLOW
    ]
    return compiled.closure(compiled_workflow(execution.workflow, name), *sub_workflows)


def compiled_workflow(workflow: Workflow, name: str) -> CompiledWorkflow:
    """Give one workflow with its start and its end, whether or not they have run."""
    nodes = [node for node in workflow.nodes if node.kind is not NodeKind.START]
    templates = [_template(node, name) for node in nodes]
    upstream = {node.spec_id: list(node.upstream) for node in nodes}
    upstream[END_ID] = list(workflow.end_upstream)
    start, end = FlyteNode(id=START_ID), FlyteNode(id=END_ID)
    return compiled.workflow(name, start, *templates, end, upstream=upstream)


def _template(node: Node, name: str) -> FlyteNode:
    match node.kind:
        case NodeKind.SUBWORKFLOW:
            return compiled.sub_workflow(node.spec_id, _name_inside(node, name))
        case NodeKind.LAUNCH_PLAN:
            return compiled.launch_plan(node.spec_id, "launched")
        case NodeKind.BRANCH:
            bar, baz, foo = map(compiled.task, ("bar", "baz", "foo"))
            return compiled.branch(node.spec_id, bar, baz, otherwise=foo)
        case NodeKind.GATE:
            return compiled.gate(node.spec_id)
        case _:
            return compiled.task(node.spec_id)


def _name_inside(node: Node, name: str) -> str:
    return f"{name}.{node.spec_id}"

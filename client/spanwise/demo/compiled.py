"""Flyte's definition of a workflow of the samples: what its compiler would give.

Source: flyteidl 1.16 core/compiler.proto and core/workflow.proto; flytepropeller v1.16
pkg/compiler: start-node and end-node are nodes of every template, and the edges stand in the
connections, in both directions.
"""

from collections import defaultdict
from collections.abc import Iterator

from flyteidl.core import compiler_pb2, condition_pb2, literals_pb2, tasks_pb2, workflow_pb2

from spanwise.demo.messages import Messages
from spanwise.demo.plot import (
    ArrayNode,
    BranchNode,
    CachedNode,
    DynamicNode,
    GateNode,
    LaunchPlanNode,
    Node,
    SubworkflowNode,
    Task,
    TaskNode,
    Workflow,
    display_name,
)


class Compiler:
    """Compiles workflows of one project and domain."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def closure(
        self, workflow: Workflow, version: str | None = None
    ) -> compiler_pb2.CompiledWorkflowClosure:
        """Give a workflow with everything that it runs in the same execution.

        Args:
            workflow: The workflow. What a dynamic node in it will make is not known to it.
            version: Its version, if that is not the one of all samples.
        """
        closure = compiler_pb2.CompiledWorkflowClosure(primary=self._compiled(workflow))
        if version is not None:
            closure.primary.template.id.version = version
        tasks: dict[str, Task] = {}
        for node in _nodes_inside(workflow):
            if isinstance(node, SubworkflowNode):
                closure.sub_workflows.append(self._compiled(node.workflow))
            elif isinstance(node, TaskNode | CachedNode | DynamicNode | ArrayNode):
                tasks[node.task.name] = node.task
        closure.tasks.extend(self._compiled_task(task) for task in tasks.values())
        return closure

    def _compiled(self, workflow: Workflow) -> compiler_pb2.CompiledWorkflow:
        upstream: dict[str, list[str]] = {}
        for node in workflow.nodes:
            upstream[node.spec_id] = list(node.upstream or ("start-node",))
        waited_for = {spec_id for node in workflow.nodes for spec_id in node.upstream}
        upstream["end-node"] = [
            node.spec_id for node in workflow.nodes if node.spec_id not in waited_for
        ]
        downstream: defaultdict[str, list[str]] = defaultdict(list)
        for spec_id, before in upstream.items():
            for other in before:
                downstream[other].append(spec_id)
        ids = compiler_pb2.ConnectionSet.IdList
        return compiler_pb2.CompiledWorkflow(
            template=workflow_pb2.WorkflowTemplate(
                id=self._messages.identifier("WORKFLOW", workflow.name),
                nodes=[
                    workflow_pb2.Node(id="start-node"),
                    workflow_pb2.Node(id="end-node"),
                    *map(self._node, workflow.nodes),
                ],
            ),
            connections=compiler_pb2.ConnectionSet(
                upstream={spec_id: ids(ids=before) for spec_id, before in upstream.items()},
                downstream={spec_id: ids(ids=after) for spec_id, after in downstream.items()},
            ),
        )

    def _node(self, node: Node) -> workflow_pb2.Node:
        compiled = workflow_pb2.Node(
            id=node.spec_id,
            metadata=workflow_pb2.NodeMetadata(name=display_name(node)),
            upstream_node_ids=node.upstream,
        )
        match node:
            case TaskNode() | CachedNode() | DynamicNode():
                compiled.task_node.reference_id.CopyFrom(self._messages.task_id(node.task))
            case ArrayNode():
                item = compiled.array_node.node.task_node
                item.reference_id.CopyFrom(self._messages.task_id(node.task))
            case SubworkflowNode():
                workflow_id = self._messages.identifier("WORKFLOW", node.workflow.name)
                compiled.workflow_node.sub_workflow_ref.CopyFrom(workflow_id)
            case LaunchPlanNode():
                plan_id = self._messages.identifier("LAUNCH_PLAN", node.workflow.name)
                compiled.workflow_node.launchplan_ref.CopyFrom(plan_id)
            case BranchNode():
                compiled.branch_node.if_else.CopyFrom(self._choice(node))
            case GateNode():
                compiled.gate_node.approve.signal_id = node.name
        return compiled

    def _choice(self, node: BranchNode) -> workflow_pb2.IfElseBlock:
        condition = condition_pb2.BooleanExpression(
            comparison=condition_pb2.ComparisonExpression(
                operator=condition_pb2.ComparisonExpression.GTE,
                left_value=condition_pb2.Operand(var=node.variable),
                right_value=condition_pb2.Operand(
                    primitive=literals_pb2.Primitive(float_value=node.threshold)
                ),
            )
        )
        case = workflow_pb2.IfBlock(condition=condition, then_node=self._node(node.taken))
        return workflow_pb2.IfElseBlock(case=case, else_node=self._node(node.other))

    def _compiled_task(self, task: Task) -> compiler_pb2.CompiledTask:
        return compiler_pb2.CompiledTask(
            template=tasks_pb2.TaskTemplate(
                id=self._messages.task_id(task),
                type="python-task",
                metadata=tasks_pb2.TaskMetadata(interruptible=task.is_interruptible),
                container=tasks_pb2.Container(image=task.image.name),
            )
        )


def _nodes_inside(workflow: Workflow) -> Iterator[Node]:
    """Give all nodes of a workflow, of its subworkflows and of its branches."""
    for node in workflow.nodes:
        yield node
        if isinstance(node, SubworkflowNode):
            yield from _nodes_inside(node.workflow)
        elif isinstance(node, BranchNode):
            yield from (node.taken, node.other)

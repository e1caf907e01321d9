"""How a workflow is sent: its nodes in the order in which they come to their turn.

A node starts when the last one that it waits for has ended. What start-node and end-node of each
level send, and which event of a container comes before which of its children, is propeller's own
order. Source: flytepropeller v1.16 controller/nodes/executor.go, controller/workflow/executor.go,
nodes/subworkflow/handler.go and nodes/branch/handler.go.
"""

from collections.abc import Iterable, Iterator

from flyteidl.core import execution_pb2, identifier_pb2

from spanwise.demo.array_nodes import run_array_node
from spanwise.demo.dynamic_nodes import run_dynamic_task
from spanwise.demo.ids import Place, place_below
from spanwise.demo.launch_plan_nodes import end_after_child, start_child
from spanwise.demo.plot import (
    ArrayNode,
    BranchNode,
    CachedNode,
    DynamicNode,
    GateNode,
    LaunchPlanNode,
    Node,
    SubworkflowNode,
    TaskNode,
    Workflow,
    display_name,
)
from spanwise.demo.propeller import Line, NodeLine, Propeller
from spanwise.demo.task_nodes import find_in_cache, run_task_node


def run_execution(propeller: Propeller, workflow: Workflow, start_ns: int) -> int:
    """Send the events of an execution and give its end."""
    propeller.record.workflows[propeller.execution_id] = workflow
    now_ns = begin_execution(propeller, start_ns)
    return end_execution(propeller, max(run_nodes(propeller, workflow.nodes, now_ns)))


def begin_execution(propeller: Propeller, start_ns: int) -> int:
    """Send the first events of an execution, and give when its nodes may start."""
    line = Line(propeller, start_ns)
    line.send(propeller.messages.workflow("RUNNING", line.now_ns))
    return _start_node(propeller, None, line.now_ns)


def run_nodes(propeller: Propeller, nodes: Iterable[Node], ready_ns: int) -> Iterator[int]:
    """Send nodes of an execution one after the other, and give the end of each.

    Args:
        propeller: Who sends them.
        nodes: Each after the ones that it waits for.
        ready_ns: Start of those that wait for none of them.
    """
    return _run_level(propeller, None, nodes, ready_ns)


def end_execution(propeller: Propeller, now_ns: int) -> int:
    """Send that an execution has SUCCEEDED, once its nodes have ended, and give its end."""
    line = Line(propeller, _end_node(propeller, None, now_ns))
    line.send(propeller.messages.workflow("SUCCEEDING", line.now_ns))
    line.wait((0.05, 0.2))
    line.send(propeller.messages.workflow("SUCCEEDED", line.now_ns))
    return line.now_ns


def fail_execution(propeller: Propeller, error: execution_pb2.ExecutionError, now_ns: int) -> int:
    """Send that an execution has FAILED, once a node of it has, and give its end."""
    line = Line(propeller, now_ns)
    for phase in ("FAILING", "FAILED"):
        line.wait((0.05, 0.2))
        request = propeller.messages.workflow(phase, line.now_ns)
        request.event.error.CopyFrom(error)
        line.send(request)
    return line.now_ns


def _run_level(
    propeller: Propeller,
    parent: Place | None,
    nodes: Iterable[Node],
    ready_ns: int,
    *,
    is_dynamic: bool = False,
) -> Iterator[int]:
    ends: dict[str, int] = {}
    for node in nodes:
        upstream_ns = max((ends[spec_id] for spec_id in node.upstream), default=ready_ns)
        line = _line_of(propeller, parent, node, upstream_ns, is_dynamic=is_dynamic)
        line.wait(propeller.pace.transition_s)
        ends[node.spec_id] = _run_node(line, node)
        yield ends[node.spec_id]


def _end_node(
    propeller: Propeller, parent: Place | None, now_ns: int, *, is_dynamic: bool = False
) -> int:
    place = place_below(parent, "end-node", is_dynamic=is_dynamic)
    line = NodeLine(propeller, now_ns, place, "end-node")
    line.wait(propeller.pace.transition_s)
    line.queue()
    line.report("SUCCEEDED", line.wait((0.02, 0.08)), line.build())
    return line.now_ns


def _run_inside(line: NodeLine, workflow: Workflow, *, is_dynamic: bool = False) -> None:
    """Send the nodes of a workflow that a node runs, up to its end-node."""
    ends = _run_level(
        line.propeller, line.place, workflow.nodes, line.now_ns, is_dynamic=is_dynamic
    )
    line.now_ns = _end_node(line.propeller, line.place, max(ends), is_dynamic=is_dynamic)


def _start_node(
    propeller: Propeller, parent: Place | None, now_ns: int, *, is_dynamic: bool = False
) -> int:
    place = place_below(parent, "start-node", is_dynamic=is_dynamic)
    line = NodeLine(propeller, now_ns, place, "start-node")
    line.report("SUCCEEDED", line.wait((0.02, 0.08)), line.build())
    return line.now_ns


def _line_of(
    propeller: Propeller, parent: Place | None, node: Node, now_ns: int, *, is_dynamic: bool
) -> NodeLine:
    place = place_below(parent, node.spec_id, is_dynamic=is_dynamic)
    line = NodeLine(propeller, now_ns, place, display_name(node))
    target = _target(propeller, node)
    if target is not None:
        line.facts.target_entity.CopyFrom(target)
    return line


def _target(propeller: Propeller, node: Node) -> identifier_pb2.Identifier | None:
    match node:
        case TaskNode() | CachedNode() | DynamicNode():
            return propeller.messages.task_id(node.task)
        case LaunchPlanNode():
            return propeller.messages.identifier("LAUNCH_PLAN", node.workflow.name)
        case _:
            return None


def _run_node(line: NodeLine, node: Node) -> int:
    """Send the events of a node and give its end."""
    _begin(line, node)
    return _go_on(line, node)


def _begin(line: NodeLine, node: Node) -> None:
    if isinstance(node, CachedNode):
        find_in_cache(line, node)
        return
    line.facts.is_parent = isinstance(node, SubworkflowNode)
    line.facts.is_array = isinstance(node, ArrayNode)
    line.queue()


def _go_on(line: NodeLine, node: Node) -> int:
    match node:
        case CachedNode():
            pass  # its first event was its last
        case TaskNode():
            run_task_node(line, node)
        case ArrayNode():
            run_array_node(line, node)
        case DynamicNode():
            _run_dynamic(line, node)
        case SubworkflowNode():
            _run_subworkflow(line, node)
        case LaunchPlanNode():
            child = start_child(line)
            child_start_ns = line.wait((0.5, 2))
            end_after_child(line, run_execution(child, node.workflow, child_start_ns))
        case BranchNode():
            _run_branch(line, node)
        case GateNode():
            line.run()
            line.wait((node.idle_s, node.idle_s))
            line.succeed()
    return line.now_ns


def _run_dynamic(line: NodeLine, node: DynamicNode) -> None:
    workflow = run_dynamic_task(line, node)
    line.now_ns = _start_node(line.propeller, line.place, line.now_ns, is_dynamic=True)
    _run_inside(line, workflow, is_dynamic=True)
    line.succeed()


def _run_subworkflow(line: NodeLine, node: SubworkflowNode) -> None:
    line.wait(line.pace.setup_s)
    # The start of the workflow comes first, then the node is said to run.
    line.now_ns = _start_node(line.propeller, line.place, line.now_ns)
    line.run()
    _run_inside(line, node.workflow)
    line.succeed()


def _run_branch(line: NodeLine, node: BranchNode) -> None:
    child = _line_of(line.propeller, line.place, node.taken, line.now_ns, is_dynamic=False)
    child.wait(line.pace.setup_s)
    # The node that was chosen is queued in the round in which it is chosen, before the branch is
    # said to run. The other one gets no event at all.
    _begin(child, node.taken)
    line.now_ns = child.now_ns
    line.run()
    child.now_ns = line.now_ns
    line.now_ns = _go_on(child, node.taken)
    line.succeed()

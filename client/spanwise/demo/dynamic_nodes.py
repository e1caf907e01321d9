"""How a dynamic node is sent: a task that makes a workflow, and then that workflow.

When its task has SUCCEEDED, the node is DYNAMIC_RUNNING, with the compiled workflow in the event;
after that come the nodes of that workflow, as children of this one. Source: flytepropeller v1.16
controller/nodes/dynamic/handler.go and dynamic_workflow.go.
"""

from flyteidl.event import event_pb2

from spanwise.demo.compiled import Compiler
from spanwise.demo.plot import DynamicNode, Workflow
from spanwise.demo.propeller import NodeLine
from spanwise.demo.task_nodes import run_attempts


def run_dynamic_task(line: NodeLine, node: DynamicNode) -> Workflow:
    """Send the events of a dynamic node up to DYNAMIC_RUNNING, and give what it then runs."""
    run_attempts(line, node.task, (node.pod,))
    workflow = Workflow(f"dynamic_{line.place.spec_id}", node.nodes)
    compiled = Compiler(line.messages).closure(workflow, line.propeller.chance.version())
    occurred_ns = line.wait((0.4, 1.2))
    line.facts.is_dynamic = True
    line.facts.is_parent = True
    metadata = event_pb2.TaskNodeMetadata(
        dynamic_workflow=event_pb2.DynamicWorkflowNodeMetadata(
            id=compiled.primary.template.id,
            compiled_workflow=compiled,
            dynamic_job_spec_uri=line.messages.futures_uri(line.place),
        )
    )
    line.report("DYNAMIC_RUNNING", occurred_ns, line.build(), metadata)
    return workflow

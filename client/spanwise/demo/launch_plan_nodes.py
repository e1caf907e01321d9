"""How a node is sent that runs a launch plan: as an execution of its own.

The node is RUNNING, with the id of the child execution, once that was created. The child's events
are its own. Propeller asks for its state every now and then, so the node ends a while after it.
Source: flytepropeller v1.16 controller/nodes/subworkflow/launchplan.go and
subworkflow/launchplan/adminconfig.go.
"""

from spanwise.demo.ids import child_execution_name
from spanwise.demo.propeller import NodeLine, Propeller

_POLL_S = (4.0, 26.0)
"""Half a minute lies between two looks at a child, so this much is left after its end."""


def start_child(line: NodeLine) -> Propeller:
    """Send that the node is RUNNING a child execution, and give what sends the child's events."""
    name = child_execution_name(line.propeller.execution_id.name, line.place.node_id, 0)
    line.wait((0.1, 0.5))
    line.facts.workflow_node_metadata.execution_id.CopyFrom(line.messages.execution_id(name))
    line.run()
    return line.propeller.for_child(name)


def end_after_child(line: NodeLine, child_end_ns: int) -> None:
    """Send that the node has SUCCEEDED, once propeller has looked at the child again."""
    line.now_ns = child_end_ns
    line.wait(_POLL_S)
    line.succeed()

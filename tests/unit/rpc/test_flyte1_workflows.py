"""Compiled workflows of Flyte 1 become definitions."""

from flyteidl.core.compiler_pb2 import CompiledWorkflowClosure
from flyteidl.core.execution_pb2 import NodeExecution
from flyteidl.core.workflow_pb2 import Node
from flyteidl.event.event_pb2 import DynamicWorkflowNodeMetadata, TaskNodeMetadata

from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.workflows import GraphNode, WorkflowDefinition, WorkflowGraph
from spanwise_server.rpc.codecs.flyte1_workflows import decode_closure
from spanwise_server.rpc.codecs.payloads import decode_event, decode_payload
from tests.unit.rpc import compiled, flyte
from tests.unit.rpc.wire import field

NOTHING = EntityVersion()


def named(name: str) -> EntityVersion:
    return EntityVersion("flytesnacks", "development", name, "v1")


def definition_of(closure: CompiledWorkflowClosure) -> WorkflowDefinition:
    definition = decode_closure(closure)
    assert definition is not None
    return definition


def nodes_of(*nodes: Node, upstream: dict[str, list[str]] | None = None) -> WorkflowGraph:
    workflow = compiled.workflow("w", *nodes, upstream=upstream or {})
    return definition_of(compiled.closure(workflow)).primary


def kinds_of(*nodes: Node) -> dict[str, tuple[NodeKind, str]]:
    return {
        node_id: (node.kind, node.target_id.name)
        for node_id, node in nodes_of(*nodes).nodes.items()
    }


def test_a_closure_gives_nodes_and_what_they_wait_for() -> None:
    assert definition_of(compiled.chain()) == WorkflowDefinition(
        named("train_all"),
        WorkflowGraph(
            {
                "start-node": GraphNode(NodeKind.START, "", NOTHING, ()),
                "n0": GraphNode(NodeKind.TASK, "prepare", named("work"), ("start-node",)),
                "n1": GraphNode(NodeKind.TASK, "train", named("work"), ("n0",)),
                "end-node": GraphNode(NodeKind.END, "", NOTHING, ("n1",)),
            }
        ),
        {},
    )


def test_the_target_gives_the_kind() -> None:
    assert kinds_of(
        compiled.task("a"),
        compiled.sub_workflow("b", "below"),
        compiled.launch_plan("c", "plan"),
        compiled.gate("d"),
        compiled.array("e", compiled.task("e-inner")),
        compiled.array("f", compiled.launch_plan("f-inner", "plan")),
        compiled.array("g", compiled.array("g-inner", compiled.task("g-inner-inner"))),
        Node(id="h"),
    ) == {
        "a": (NodeKind.TASK, "work"),
        "b": (NodeKind.SUBWORKFLOW, "below"),
        "c": (NodeKind.LAUNCH_PLAN, "plan"),
        "d": (NodeKind.GATE, ""),
        "e": (NodeKind.ARRAY, "work"),
        "f": (NodeKind.ARRAY, "plan"),
        "g": (NodeKind.ARRAY, ""),
        "h": (NodeKind.UNSPECIFIED, ""),
    }


def test_several_upstreams_are_in_ascending_order() -> None:
    graph = nodes_of(
        *map(compiled.task, ("n0", "n1", "n2")), upstream={"n2": ["n1", "start-node", "n0"]}
    )
    assert graph.nodes["n2"].upstream_ids == ("n0", "n1", "start-node")


def test_connections_of_nodes_that_are_not_there_are_left_out() -> None:
    assert nodes_of(compiled.task("n0"), upstream={"n9": ["n0"]}).nodes.keys() == {"n0"}


def test_the_end_is_there_as_soon_as_it_is_connected() -> None:
    """Teardowns begin with what it waits for, listed among the nodes or not."""
    graph = nodes_of(compiled.task("n0"), upstream={"end-node": ["n0"]})
    assert graph.nodes["end-node"] == GraphNode(NodeKind.END, "", NOTHING, ("n0",))


def test_what_a_branch_picks_stands_beside_it_without_upstreams() -> None:
    inner = compiled.branch("inner", compiled.task("e"), otherwise=compiled.task("f"))
    outer = compiled.branch(
        "outer", compiled.task("a"), compiled.task("b"), compiled.task("c"), otherwise=inner
    )
    graph = nodes_of(outer, upstream={"outer": ["start-node"], "a": ["outer"]})
    assert graph.nodes.keys() == {"outer", "a", "b", "c", "inner", "e", "f"}
    assert graph.nodes["outer"] == GraphNode(NodeKind.BRANCH, "", NOTHING, ("start-node",))
    assert graph.nodes["inner"] == GraphNode(NodeKind.BRANCH, "", NOTHING, ())
    assert graph.nodes["a"].upstream_ids == ()


def test_a_failure_node_is_among_the_nodes() -> None:
    workflow = compiled.workflow(
        "w", compiled.task("n0"), upstream={}, failure=compiled.task("fn0", "clean_up")
    )
    graph = definition_of(compiled.closure(workflow)).primary
    assert graph.failure_node_id == "fn0"
    assert graph.nodes["fn0"] == GraphNode(NodeKind.TASK, "clean_up", named("work"), ())


def test_sub_workflows_are_found_by_what_nodes_run() -> None:
    below = compiled.workflow("below", compiled.task("n0"), upstream={"n0": ["start-node"]})
    top = compiled.workflow("top", compiled.sub_workflow("n0", "below"), upstream={})
    definition = definition_of(compiled.closure(top, below))
    target = definition.primary.nodes["n0"].target_id
    assert definition.sub_workflows[target].nodes["n0"].upstream_ids == ("start-node",)


def test_of_two_nodes_with_one_id_the_first_counts() -> None:
    graph = nodes_of(compiled.task("n0", "first"), compiled.task("n0", "second"))
    assert graph.nodes["n0"].name == "first"


def test_a_closure_without_nodes_is_no_definition() -> None:
    assert decode_closure(CompiledWorkflowClosure()) is None
    empty = compiled.workflow("w", upstream={"n0": ["n1"]})
    assert decode_closure(compiled.closure(empty)) is None


def dynamic_event(closure: CompiledWorkflowClosure | None) -> bytes:
    dynamic = DynamicWorkflowNodeMetadata(compiled_workflow=closure)
    request = flyte.node_event(
        phase=NodeExecution.DYNAMIC_RUNNING,
        is_dynamic=True,
        task_node_metadata=TaskNodeMetadata(dynamic_workflow=dynamic),
    )
    return request.SerializeToString()


def test_the_event_of_a_dynamic_node_brings_what_it_made() -> None:
    payload = dynamic_event(compiled.chain())
    details = decode_payload(PayloadType.FLYTE1_NODE_EVENT, payload).details
    assert details is not None
    assert details.workflow == decode_closure(compiled.chain())


def test_on_its_arrival_the_event_only_says_that_it_has_a_workflow() -> None:
    arrived = decode_event(PayloadType.FLYTE1_NODE_EVENT, dynamic_event(compiled.chain()))
    assert arrived.details is not None
    assert arrived.details.workflow is None


def test_an_event_without_a_workflow_has_no_details() -> None:
    payload = dynamic_event(None)
    assert decode_event(PayloadType.FLYTE1_NODE_EVENT, payload).details is None
    assert decode_payload(PayloadType.FLYTE1_NODE_EVENT, payload).details is None


def test_an_empty_workflow_in_an_event_is_none() -> None:
    payload = dynamic_event(CompiledWorkflowClosure())
    details = decode_payload(PayloadType.FLYTE1_NODE_EVENT, payload).details
    assert details is not None
    assert details.workflow is None


def test_a_workflow_that_is_nested_too_deep_to_read_is_left_out() -> None:
    # NodeExecutionEventRequest.event, task_node_metadata, dynamic_workflow, compiled_workflow.
    deep = field(2, field(14, field(16, field(2, compiled.deep_closure()))))
    payload = flyte.node_event().SerializeToString() + deep
    event = decode_payload(PayloadType.FLYTE1_NODE_EVENT, payload)
    assert event.details is None
    assert event.payload == payload


def test_a_workflow_as_deep_as_python_reads_is_read() -> None:
    closure = CompiledWorkflowClosure.FromString(compiled.deep_closure(levels=20))
    assert len(definition_of(closure).primary.nodes) == 21

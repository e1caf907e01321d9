"""Registered workflows give trees their edges: client and stock stubs against a real server."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from flyteidl.core.compiler_pb2 import CompiledWorkflowClosure
from flyteidl.core.workflow_pb2 import Node
from flyteidl.event.event_pb2 import DynamicWorkflowNodeMetadata, TaskNodeMetadata

from spanwise import Client, InvalidRequest, RequestRejected, WorkflowNotFound
from spanwise.v1 import event_pb2, event_service_pb2, phase_pb2, workflow_service_pb2
from spanwise.v1.identifiers_pb2 import EntityVersion
from spanwise.v1.workflow_pb2 import Workflow, WorkflowNode
from tests.e2e import cli_process
from tests.e2e.flyte_run import OK, Run
from tests.e2e.harness import MIB, ServerProcess, Stubs, failure, running_server, unary
from tests.unit.rpc import compiled
from tests.unit.rpc.flyte import at
from tests.unit.rpc.wire import field


def fork(name: str) -> CompiledWorkflowClosure:
    """Give a workflow of two nodes that each wait for its start alone."""
    return compiled.closure(
        compiled.workflow(
            name,
            Node(id="start-node"),
            compiled.task("n0"),
            compiled.task("n1"),
            upstream={"n0": ["start-node"], "n1": ["start-node"]},
        )
    )


def run_one_after_the_other(stubs: Stubs) -> Run:
    """Play an execution whose times look as if n1 had waited for n0."""
    played = Run(stubs)
    played.workflow("RUNNING", 0)
    for node_id, start, end in (("start-node", 0, 1), ("n0", 1, 10), ("n1", 10, 20)):
        played.node(node_id, "QUEUED", start)
        played.node(node_id, "SUCCEEDED", end)
    return played


def waited_for(played: Run) -> dict[str, list[str]]:
    """Give what each node waited for."""
    return {
        span.node.node_id: list(span.node.upstream_node_ids)
        for span in played.spans()
        if span.HasField("node")
    }


@pytest.fixture
def client(server: ServerProcess) -> Iterator[Client]:
    with Client(server.endpoint) as client:
        yield client


def test_a_bound_execution_has_the_edges_of_its_workflow(stubs: Stubs, client: Client) -> None:
    played = run_one_after_the_other(stubs)
    assert waited_for(played)["n1"] == ["n0"]  # inferred from times
    workflow_id = client.register_workflow(fork("bound"))
    client.bind_execution(f"flytesnacks/development/{played.name}", workflow_id)
    assert waited_for(played) == {"start-node": [], "n0": ["start-node"], "n1": ["start-node"]}


def test_binding_and_registering_come_in_any_order(stubs: Stubs, client: Client) -> None:
    closure = fork("late")
    template_id = closure.primary.template.id
    workflow_id = EntityVersion(
        project=template_id.project,
        domain=template_id.domain,
        name=template_id.name,
        version=template_id.version,
    )
    with_name = Run(stubs, name="bound-first")
    client.bind_execution("flytesnacks/development/bound-first", workflow_id)
    assert with_name.workflow("RUNNING", 0) is OK
    with_name.node("n0", "QUEUED", 1)
    with_name.node("n0", "SUCCEEDED", 5)
    with_name.node("n1", "QUEUED", 6)
    assert waited_for(with_name)["n1"] == ["n0"]
    client.register_workflow(closure.SerializeToString())
    assert waited_for(with_name)["n1"] == []


def test_an_execution_whose_event_names_its_workflow_needs_no_binding(
    stubs: Stubs, client: Client
) -> None:
    workflow_id = client.register_workflow(
        Workflow(
            workflow_id=EntityVersion(project="ml", name="named", version="v1"),
            nodes=[
                WorkflowNode(node_id="n0"),
                WorkflowNode(node_id="n1"),
                WorkflowNode(node_id="start-node"),
            ],
        )
    )
    played = run_one_after_the_other(stubs)
    event = event_pb2.ExecutionEvent(
        execution_id=played.id,
        workflow_id=workflow_id,
        phase=phase_pb2.PHASE_QUEUED,
        occurred_at=at(0),
    )
    stubs.events.CreateExecutionEvent(event_service_pb2.CreateExecutionEventRequest(event=event))
    assert waited_for(played)["n1"] == []


def test_what_a_dynamic_node_made_is_read_from_its_event(stubs: Stubs) -> None:
    played = Run(stubs)
    played.workflow("RUNNING", 0)
    made = DynamicWorkflowNodeMetadata(compiled_workflow=fork("made"))
    played.node("dyn", "QUEUED", 0)
    played.node(
        "dyn",
        "DYNAMIC_RUNNING",
        2,
        is_dynamic=True,
        is_parent=True,
        task_node_metadata=TaskNodeMetadata(dynamic_workflow=made),
    )
    for spec_id, start, end in (("n0", 3, 10), ("n1", 10, 20)):
        inside = {"spec_node_id": spec_id, "parent_node_metadata": {"node_id": "dyn"}}
        played.node(f"dyn-0-{spec_id}", "QUEUED", start, **inside)
        played.node(f"dyn-0-{spec_id}", "SUCCEEDED", end, **inside)
    assert waited_for(played)["dyn-0-n1"] == []


def test_a_definition_survives_a_crash_and_a_rebuild(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        played = run_one_after_the_other(Stubs(channel))
        with Client(server.endpoint) as client:
            workflow_id = client.register_workflow(fork("kept"))
            client.bind_execution(f"flytesnacks/development/{played.name}", workflow_id)
        server.kill()
    cli_process.told("rebuild", "--database-url", f"sqlite:///{database}")
    with running_server(database) as server, server.channel() as channel:
        again = Run(Stubs(channel), name=played.name)
        assert waited_for(again)["n1"] == ["start-node"]
        with Client(server.endpoint) as client:
            assert client.get_workflow(workflow_id).workflow_id == workflow_id


def test_mistakes_are_explained_to_users_of_the_client(client: Client) -> None:
    unknown = EntityVersion(project="ml", domain="d", name="unknown", version="v1")
    with pytest.raises(WorkflowNotFound, match="workflow ml/d/unknown/v1"):
        client.get_workflow(unknown)
    with pytest.raises(RequestRejected, match="has no nodes"):
        client.register_workflow(b"")
    with pytest.raises(InvalidRequest, match="not a WorkflowTemplate"):
        client.register_workflow(fork("w").primary.template)
    with pytest.raises(InvalidRequest, match="not a str"):
        client.register_workflow("train_all")  # type: ignore[arg-type]


def test_a_definition_may_be_as_large_as_an_event(stubs: Stubs) -> None:
    large = fork("large")
    large.primary.template.nodes[1].metadata.name = "x" * (6 * MIB)
    request = workflow_service_pb2.RegisterWorkflowRequest(
        flyte_compiled_workflow=large.SerializeToString()
    )
    registered = stubs.workflows.RegisterWorkflow(request).workflow_id
    answer = stubs.workflows.GetWorkflow(
        workflow_service_pb2.GetWorkflowRequest(workflow_id=registered)
    )
    assert len(answer.workflow.nodes[1].name) == 6 * MIB


def test_cases_that_are_nested_too_deep_are_no_failure_of_the_server(stubs: Stubs) -> None:
    node = WorkflowNode(node_id="deepest").SerializeToString()
    for number in range(200):
        name = f"n{number}".encode()
        node = field(1, name) + field(6, node)  # WorkflowNode.node_id and cases
    request = field(1, field(2, node))
    with pytest.raises(grpc.RpcError) as caught:
        unary(stubs.channel, "/spanwise.v1.WorkflowService/RegisterWorkflow")(request)
    assert failure(caught.value)[0] is grpc.StatusCode.INVALID_ARGUMENT

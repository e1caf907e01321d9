"""Definitions through the service, over a real store: what is refused, and how it is explained."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import grpc
import grpc.aio
import pytest
from flyteidl.core.compiler_pb2 import CompiledWorkflowClosure
from google.protobuf.message import Message

from spanwise.v1.identifiers_pb2 import EntityVersion, ExecutionId
from spanwise.v1.workflow_pb2 import Workflow, WorkflowNode
from spanwise.v1.workflow_service_pb2 import (
    BindExecutionRequest,
    GetWorkflowRequest,
    GetWorkflowResponse,
    RegisterWorkflowRequest,
    RegisterWorkflowResponse,
)
from spanwise_server.rpc.codecs.workflow_payloads import decode_definition
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.rpc.workflow_service import WorkflowServicer
from spanwise_server.service.workflow_registry import WorkflowRegistry
from spanwise_server.storage.api import Storage
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.migrations import upgrade
from tests.unit.rpc import compiled
from tests.unit.rpc.in_process import serving, unary

INVALID_ARGUMENT, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND

TRAIN = EntityVersion(project="ml", domain="production", name="train", version="v1")
RUN = ExecutionId(project="ml", domain="production", name="run-42")


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    url = f"sqlite:///{tmp_path_factory.mktemp('workflows')}/spanwise.db"
    upgrade(url)
    storage = open_storage(url)
    yield storage
    storage.close()


def call(storage: Storage, method: str, *requests: Message) -> list[bytes]:
    """Call a method once for each request."""

    async def run() -> list[bytes]:
        pool = QueryPool()
        servicer = WorkflowServicer(WorkflowRegistry(storage, decode_definition), pool)
        async with serving(servicer.methods()) as channel:
            stub = unary(channel, f"/spanwise.v1.WorkflowService/{method}")
            answers = [await stub(request.SerializeToString()) for request in requests]
        pool.close()
        return answers

    return asyncio.run(run())


def register(storage: Storage, definition: Workflow | CompiledWorkflowClosure) -> EntityVersion:
    if isinstance(definition, Workflow):
        request = RegisterWorkflowRequest(workflow=definition)
    else:
        payload = definition.SerializeToString()
        request = RegisterWorkflowRequest(flyte_compiled_workflow=payload)
    [answer] = call(storage, "RegisterWorkflow", request)
    return RegisterWorkflowResponse.FromString(answer).workflow_id


def get(storage: Storage, workflow_id: EntityVersion) -> Workflow:
    [answer] = call(storage, "GetWorkflow", GetWorkflowRequest(workflow_id=workflow_id))
    return GetWorkflowResponse.FromString(answer).workflow


def branching(name: str) -> Workflow:
    """Give a workflow that picks one of two nodes."""
    cases = [WorkflowNode(node_id="a"), WorkflowNode(node_id="b")]
    return Workflow(
        workflow_id=TRAIN,
        nodes=[
            WorkflowNode(node_id="n0", name=name),
            WorkflowNode(node_id="n1", cases=cases, upstream_node_ids=["n0"]),
        ],
    )


def test_a_native_definition_comes_back_as_it_was_given(storage: Storage) -> None:
    assert register(storage, branching("prepare")) == TRAIN
    assert get(storage, TRAIN) == branching("prepare")


def test_registering_again_replaces(storage: Storage) -> None:
    register(storage, branching("prepare"))
    register(storage, branching("prepare better"))
    assert get(storage, TRAIN) == branching("prepare better")


def test_a_definition_of_flyte_comes_back_in_our_words(storage: Storage) -> None:
    workflow_id = register(storage, compiled.chain())
    assert workflow_id.name == "train_all"
    workflow = get(storage, workflow_id)
    assert workflow.workflow_id == workflow_id
    assert {node.node_id: list(node.upstream_node_ids) for node in workflow.nodes} == {
        "start-node": [],
        "n0": ["start-node"],
        "n1": ["n0"],
        "end-node": ["n1"],
    }


def test_an_execution_can_be_bound_before_anything_is_known_of_it(storage: Storage) -> None:
    request = BindExecutionRequest(execution_id=RUN, workflow_id=TRAIN)
    assert call(storage, "BindExecution", request, request) == [b"", b""]


def flyte(payload: bytes) -> RegisterWorkflowRequest:
    return RegisterWorkflowRequest(flyte_compiled_workflow=payload)


NAMELESS = compiled.chain()
NAMELESS.primary.template.ClearField("id")

REFUSALS: list[tuple[str, Message, grpc.StatusCode, str]] = [
    ("RegisterWorkflow", RegisterWorkflowRequest(), INVALID_ARGUMENT, "definition: is not set"),
    (
        "RegisterWorkflow",
        RegisterWorkflowRequest(workflow=Workflow()),
        INVALID_ARGUMENT,
        "workflow.workflow_id.name: is empty",
    ),
    (
        "RegisterWorkflow",
        RegisterWorkflowRequest(
            workflow=Workflow(
                workflow_id=TRAIN,
                nodes=[WorkflowNode(node_id="n0", upstream_node_ids=["n9"])],
            )
        ),
        INVALID_ARGUMENT,
        "workflow.nodes[0].upstream_node_ids[0]: 'n0' waits for 'n9'",
    ),
    (
        "RegisterWorkflow",
        flyte(b"\xff"),
        INVALID_ARGUMENT,
        "flyte_compiled_workflow: its bytes are not a flyteidl.core.CompiledWorkflowClosure",
    ),
    (
        "RegisterWorkflow",
        flyte(compiled.deep_closure()),
        INVALID_ARGUMENT,
        "nested deeper than the 100 levels",
    ),
    ("RegisterWorkflow", flyte(b""), INVALID_ARGUMENT, "flyte_compiled_workflow: has no nodes"),
    (
        "RegisterWorkflow",
        flyte(NAMELESS.SerializeToString()),
        INVALID_ARGUMENT,
        "flyte_compiled_workflow.primary.template.id.name: is empty",
    ),
    ("GetWorkflow", GetWorkflowRequest(), INVALID_ARGUMENT, "workflow_id.name: is empty"),
    (
        "GetWorkflow",
        GetWorkflowRequest(workflow_id=EntityVersion(name="train", version="v2")),
        NOT_FOUND,
        "nobody registered the workflow //train/v2",
    ),
    (
        "BindExecution",
        BindExecutionRequest(workflow_id=TRAIN),
        INVALID_ARGUMENT,
        "execution_id.name: is empty",
    ),
    (
        "BindExecution",
        BindExecutionRequest(execution_id=RUN),
        INVALID_ARGUMENT,
        "workflow_id.name: is empty",
    ),
]


@pytest.mark.parametrize(("method", "request_", "code", "text"), REFUSALS)
def test_a_refusal_says_what_to_do(
    storage: Storage, method: str, request_: Message, code: grpc.StatusCode, text: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        call(storage, method, request_)
    assert caught.value.code() is code
    assert text in (caught.value.details() or "")


def test_a_refused_definition_leaves_the_one_before(storage: Storage, tmp_path: Path) -> None:
    register(storage, branching("prepare"))
    broken = branching("broken")
    broken.nodes.add(node_id="n0")
    with pytest.raises(grpc.aio.AioRpcError):
        register(storage, broken)
    assert get(storage, TRAIN) == branching("prepare")

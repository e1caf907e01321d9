"""The cap of a request: compiled dynamic workflows fit, more is told in known words."""

from pathlib import Path

import grpc
import pytest
from flyteidl.core.compiler_pb2 import CompiledWorkflowClosure
from flyteidl.event.event_pb2 import DynamicWorkflowNodeMetadata, TaskNodeMetadata

from spanwise.v1 import event_service_pb2, identifiers_pb2
from tests.e2e.harness import MIB, Stubs, failure, running_server, unary
from tests.unit.rpc.flyte import EXECUTION, node_event

SEEN_IN_PRODUCTION = 5_873_232
"""Bytes of a node event of a real dynamic workflow with a large fan-out."""


def dynamic_node_event(size: int) -> bytes:
    """Give a node event of exactly `size` bytes that carries a compiled dynamic workflow."""
    closure = CompiledWorkflowClosure()
    metadata = TaskNodeMetadata(
        dynamic_workflow=DynamicWorkflowNodeMetadata(compiled_workflow=closure)
    )
    event = node_event(task_node_metadata=metadata, is_dynamic=True, is_parent=True)
    template = event.event.task_node_metadata.dynamic_workflow.compiled_workflow.primary.template
    template.id.name = "x" * (size - 1000)
    # Then pad to the byte; lengths of lengths have settled by now.
    template.id.name += "x" * (size - event.ByteSize())
    payload: bytes = event.SerializeToString()
    assert len(payload) == size
    return payload


def create_node_event(stubs: Stubs, payload: bytes) -> None:
    """Send a node event."""
    unary(stubs.channel, "/flyteidl.service.AdminService/CreateNodeEvent")(payload)


def test_a_large_dynamic_workflow_is_taken_by_default(stubs: Stubs) -> None:
    """With gRPC's usual cap of 4 MiB the sender would fail the user's node."""
    payload = dynamic_node_event(SEEN_IN_PRODUCTION)
    create_node_event(stubs, payload)
    request = event_service_pb2.ListEventsRequest(
        execution_id=identifiers_pb2.ExecutionId(
            project=EXECUTION.project, domain=EXECUTION.domain, name=EXECUTION.name
        ),
        include_payload=True,
    )
    assert [event.payload for event in stubs.events.ListEvents(request).events] == [payload]


def test_a_message_above_the_cap_is_told_in_the_words_that_the_sender_looks_for(
    tmp_path: Path,
) -> None:
    """And one below it is taken."""
    flags = ("--max-message-bytes", str(4 * MIB))
    with (
        running_server(tmp_path / "spanwise.db", *flags) as server,
        server.channel(max_send_message_length=-1) as channel,
    ):
        stubs = Stubs(channel)
        create_node_event(stubs, dynamic_node_event(4 * MIB))
        with pytest.raises(grpc.RpcError) as failed:
            create_node_event(stubs, dynamic_node_event(4 * MIB + 1))
        code, text = failure(failed.value)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "message larger than max" in text

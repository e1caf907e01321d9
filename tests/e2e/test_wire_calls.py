"""What travels in a call: statuses, metadata, compression, size, deadlines. On every front."""

import socket
import time
from collections.abc import Iterator

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest
from grpc_status import rpc_status

from spanwise.v1 import event_service_pb2, identifiers_pb2, span_service_pb2
from tests.e2e import http2
from tests.e2e.flyte_run import Run
from tests.e2e.harness import MIB, ServerProcess, Stubs, failure, unary
from tests.e2e.test_message_cap import create_node_event, dynamic_node_event
from tests.e2e.wire_servers import wire, wire_server  # noqa: F401 - fixtures
from tests.unit.rpc.flyte import EXECUTION, task_event

CREATE_TASK_EVENT = "/flyteidl.service.AdminService/CreateTaskEvent"


def get_missing(stubs: Stubs, name: str) -> grpc.RpcError:
    """Ask for an execution that nobody reported, and give the error."""
    request = span_service_pb2.GetExecutionSpanRequest(execution_id={"name": name})
    with pytest.raises(grpc.RpcError) as failed:
        stubs.spans.GetExecutionSpan(request)
    return failed.value


def logged(stubs: Stubs, name: str) -> list[bytes]:
    """Give the payloads of an execution's events."""
    execution_id = identifiers_pb2.ExecutionId(
        project=EXECUTION.project, domain=EXECUTION.domain, name=name
    )
    request = event_service_pb2.ListEventsRequest(execution_id=execution_id, include_payload=True)
    return [event.payload for event in stubs.events.ListEvents(request).events]


def padded_task_event(name: str, size: int) -> bytes:
    """Give a task event of an execution of its own with a reason of so many bytes."""
    node = {"node_id": "n0", "execution_id": {"project": "p", "domain": "d", "name": name}}
    payload: bytes = task_event(
        parent_node_execution_id=node, reason="x" * size
    ).SerializeToString()
    return payload


def test_a_text_of_any_characters_arrives(wire: Stubs) -> None:  # noqa: F811
    """Percent-encoded on the wire, also what looks encoded already."""
    name = "räksmörgås 50%25 ✓\n\x7f"
    code, text = failure(get_missing(wire, name))
    assert code is grpc.StatusCode.NOT_FOUND
    assert name in text


def test_details_arrive_where_clients_look_for_them(wire: Stubs) -> None:  # noqa: F811
    """In grpc-status-details-bin, with the same code and text as the status itself."""
    error = get_missing(wire, "räksmörgås")
    assert isinstance(error, grpc.Call)
    status = rpc_status.from_call(error)
    assert status is not None
    assert (grpc.StatusCode.NOT_FOUND, status.message) == failure(error)
    resource = error_details_pb2.ResourceInfo()
    assert any(detail.Unpack(resource) for detail in status.details)
    assert resource.resource_name.endswith("räksmörgås")


def test_binary_metadata_of_every_byte_is_taken(wire: Stubs) -> None:  # noqa: F811
    metadata: tuple[tuple[str, str | bytes], ...] = (
        ("every-bin", bytes(range(256))),
        ("every-bin", b""),
        ("x-request-id", "of mine"),
    )
    unary(wire.channel, CREATE_TASK_EVENT)(padded_task_event("binary", 1), metadata=metadata)


@pytest.mark.parametrize(
    "compression", [grpc.Compression.Gzip, grpc.Compression.Deflate], ids=["gzip", "deflate"]
)
def test_a_compressed_request_is_stored_as_what_it_stands_for(
    compression: grpc.Compression,
    wire: Stubs,  # noqa: F811
) -> None:
    run = Run(wire)
    event = task_event(
        parent_node_execution_id={"node_id": "n0", "execution_id": run.flyte_id},
        reason="x" * 100_000,
    )
    wire.admin.CreateTaskEvent(event, compression=compression)
    assert logged(wire, run.name) == [event.SerializeToString()]


def test_a_request_that_unpacks_to_more_than_the_cap_is_refused(wire: Stubs) -> None:  # noqa: F811
    """It would take the memory that the cap is to save."""
    payload = padded_task_event("bomb", 64 * MIB)
    with pytest.raises(grpc.RpcError) as failed:
        unary(wire.channel, CREATE_TASK_EVENT)(payload, compression=grpc.Compression.Gzip)
    code, text = failure(failed.value)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "message larger than max" in text


def test_messages_of_64_mib_go_both_ways(wire: Stubs) -> None:  # noqa: F811
    """As large as the default cap of a request."""
    payload = dynamic_node_event(64 * MIB)
    create_node_event(wire, payload)
    assert logged(wire, EXECUTION.name) == [payload]


def test_a_call_ends_at_its_deadline(wire: Stubs) -> None:  # noqa: F811
    """A watch has an answer first, and no end of its own."""
    run = Run(wire)
    run.task("n0", "RUNNING", 0)
    request = span_service_pb2.WatchExecutionSpanRequest(execution_id=run.id)
    answers = wire.spans.WatchExecutionSpan(request, timeout=3)
    next(answers)
    with pytest.raises(grpc.RpcError) as failed:
        list(answers)
    assert failure(failed.value)[0] is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_server_keeps_deadlines_for_callers_that_do_not(
    wire_server: ServerProcess,  # noqa: F811
    wire: Stubs,  # noqa: F811
) -> None:
    """A caller that only names a deadline, and then waits, hears of it."""
    run = Run(wire)
    run.task("n0", "RUNNING", 0)
    request = span_service_pb2.WatchExecutionSpanRequest(execution_id=run.id).SerializeToString()
    path = b"/spanwise.v1.SpanService/WatchExecutionSpan"
    with http2.connected(wire_server.endpoint) as connection:
        connection.sendall(http2.encode_call(path, request, 1, (b"grpc-timeout", b"2S")))
        assert has_ended(connection, stream=1)


def has_ended(connection: socket.socket, stream: int) -> bool:
    """Say whether the server ends a stream before it closes the connection."""
    rst_stream = 3
    return any(
        frame.stream == stream
        and (
            frame.kind == rst_stream
            or (frame.kind == http2.HEADERS and frame.flags & http2.END_STREAM)
        )
        for frame in http2.read_frames(connection)
    )


def test_a_slow_reader_of_a_stream_gets_every_answer(wire: Stubs) -> None:  # noqa: F811
    """More than the windows of a connection hold; the server waits meanwhile."""
    num_requests = 400
    symbol = "flyteidl.service.AdminService"  # some 50 kB of descriptors

    def requests() -> Iterator[ServerReflectionRequest]:
        for _ in range(num_requests):
            yield ServerReflectionRequest(file_containing_symbol=symbol)

    call = wire.channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=ServerReflectionRequest.SerializeToString,
        response_deserializer=len,
    )(requests())
    sizes = []
    for size in call:
        sizes.append(size)
        if len(sizes) % 100 == 0:
            time.sleep(0.1)  # slow: this is what is tested, and nothing waits for it
    assert len(sizes) == num_requests
    assert len(set(sizes)) == 1

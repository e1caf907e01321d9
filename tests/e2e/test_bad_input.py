"""Bad input: a clean status or OK with a flag, never UNKNOWN or INTERNAL."""

import random
from collections.abc import Callable

import grpc
import pytest
from flyteidl.admin.event_pb2 import TaskExecutionEventRequest
from flyteidl.admin.execution_pb2 import WorkflowExecutionGetMetricsRequest
from flyteidl.core.identifier_pb2 import NodeExecutionIdentifier, WorkflowExecutionIdentifier
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import event_service_pb2, identifiers_pb2, span_service_pb2
from tests.e2e.harness import Stubs, failure, unary
from tests.unit.rpc.flyte import TASK, node_event, task_event, workflow_event

EVENT_METHODS = [
    "/flyteidl.service.AdminService/CreateWorkflowEvent",
    "/flyteidl.service.AdminService/CreateNodeEvent",
    "/flyteidl.service.AdminService/CreateTaskEvent",
    "/spanwise.v1.EventService/CreateExecutionEvent",
    "/spanwise.v1.EventService/CreateNodeEvent",
    "/spanwise.v1.EventService/CreateTaskEvent",
]
METHODS = [
    *EVENT_METHODS,
    "/flyteidl.service.AdminService/GetExecutionMetrics",
    "/spanwise.v1.EventService/ListEvents",
    "/spanwise.v1.SpanService/GetExecutionSpan",
    "/spanwise.v1.SpanService/ListExecutions",
]
CLEAN = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.UNIMPLEMENTED,
}


def call(stubs: Stubs, method: str, payload: bytes) -> grpc.StatusCode:
    """Send bytes as a request and give the status."""
    return answer_of(unary(stubs.channel, method), payload)


def answer_of(stub: Callable[..., object], request: object) -> grpc.StatusCode:
    """Call a method and give the status."""
    try:
        stub(request)
    except grpc.RpcError as error:
        return failure(error)[0]
    return grpc.StatusCode.OK


@pytest.mark.parametrize("method", METHODS)
def test_random_bytes_get_a_clean_status(method: str, stubs: Stubs) -> None:
    """Most are no message; some are one that says little."""
    source = random.Random(method)
    for _ in range(100):
        payload = source.randbytes(source.randrange(1, 200))
        assert call(stubs, method, payload) in CLEAN


@pytest.mark.parametrize("method", EVENT_METHODS)
def test_an_empty_event_is_an_invalid_argument(method: str, stubs: Stubs) -> None:
    """It names nothing, and no retry can mend that."""
    assert call(stubs, method, b"") is grpc.StatusCode.INVALID_ARGUMENT


def execution_id(name: str) -> WorkflowExecutionIdentifier:
    return WorkflowExecutionIdentifier(project="p", domain="d", name=name)


def node_id(name: str, node: str = "n0") -> NodeExecutionIdentifier:
    return NodeExecutionIdentifier(node_id=node, execution_id=execution_id(name))


def qualities(stubs: Stubs, name: str) -> list[set[str]]:
    """Give the flags of the logged events of an execution."""
    request = event_service_pb2.ListEventsRequest(
        execution_id=identifiers_pb2.ExecutionId(project="p", domain="d", name=name)
    )
    prefix = "EVENT_QUALITY_"
    return [
        {
            event_service_pb2.EventQuality.Name(number).removeprefix(prefix)
            for number in event.qualities
        }
        for event in stubs.events.ListEvents(request).events
    ]


def tree(stubs: Stubs, name: str) -> span_service_pb2.GetExecutionSpanResponse:
    """Give the span tree of an execution."""
    request = span_service_pb2.GetExecutionSpanRequest(
        execution_id=identifiers_pb2.ExecutionId(project="p", domain="d", name=name)
    )
    answer: span_service_pb2.GetExecutionSpanResponse = stubs.spans.GetExecutionSpan(request)
    return answer


@pytest.mark.parametrize("text", ["x" * 10_000, "ü" * 10_000, "nul\0nul", "\u202e\x1b[31m"])
def test_an_event_with_an_odd_id_is_kept(text: str, stubs: Stubs) -> None:
    """With all of its text, and found under it."""
    stubs.admin.CreateWorkflowEvent(workflow_event(execution_id=execution_id(text)))
    stubs.admin.CreateNodeEvent(node_event(id=node_id(text, text)))
    task_id = type(TASK)(project=text, domain=text, name=text, version=text)
    task = task_event(parent_node_execution_id=node_id(text, text), task_id=task_id)
    stubs.admin.CreateTaskEvent(task)
    spans = tree(stubs, text).spans
    assert [span.WhichOneof("subject") for span in spans[:3]] == [
        "execution",
        "node",
        "task_attempt",
    ]
    assert spans[0].execution.execution_id.name == text
    assert spans[1].node.node_id == text
    assert spans[2].task_attempt.task_id.version == text
    is_odd = len(text) > 255 or "\0" in text
    assert qualities(stubs, text) == [{"UNUSUAL_TEXT"} if is_odd else set()] * 3


@pytest.mark.parametrize("text", ["x" * 10_000, "日" * 10_000, "a\0b"])
def test_an_odd_id_that_is_not_known_is_not_found(text: str, stubs: Stubs) -> None:
    """A long id must not make the trailers too large for the client."""
    code = answer_of(
        stubs.spans.GetExecutionSpan,
        span_service_pb2.GetExecutionSpanRequest(
            execution_id=identifiers_pb2.ExecutionId(project=text, name=text)
        ),
    )
    assert code is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    ("label", "timestamp", "quality"),
    [
        ("year-1", Timestamp(seconds=-62_135_596_799), "TIMESTAMP_OUT_OF_RANGE"),
        (
            "year-9999",
            Timestamp(seconds=253_402_300_799, nanos=999_999_999),
            "TIMESTAMP_OUT_OF_RANGE",
        ),
        ("lowest", Timestamp(seconds=-(2**63), nanos=-(2**31)), "TIMESTAMP_OUT_OF_RANGE"),
        ("highest", Timestamp(seconds=2**63 - 1, nanos=2**31 - 1), "TIMESTAMP_OUT_OF_RANGE"),
        ("negative-nanos", Timestamp(seconds=100, nanos=-5), "TIMESTAMP_OUT_OF_RANGE"),
        ("go-zero", Timestamp(seconds=-62_135_596_800), "MISSING_TIMESTAMP"),
        ("unset", None, "MISSING_TIMESTAMP"),
    ],
)
def test_an_event_with_an_odd_time_is_kept(
    label: str, timestamp: Timestamp | None, quality: str, stubs: Stubs
) -> None:
    """And the tree around it can still be read, in both renderings."""
    stubs.admin.CreateWorkflowEvent(
        workflow_event(execution_id=execution_id(label), occurred_at=timestamp)
    )
    stubs.admin.CreateNodeEvent(node_event(id=node_id(label), occurred_at=timestamp))
    stubs.admin.CreateTaskEvent(
        task_event(parent_node_execution_id=node_id(label), occurred_at=timestamp)
    )
    stubs.admin.CreateTaskEvent(
        task_event(parent_node_execution_id=node_id(label), phase=2, reported_at=timestamp)
    )
    assert {quality} in qualities(stubs, label)
    assert len(tree(stubs, label).spans) >= 3
    request = WorkflowExecutionGetMetricsRequest(id=execution_id(label), depth=-1)
    assert stubs.admin.GetExecutionMetrics(request).span.workflow_id.name == label


@pytest.mark.parametrize("number", [0, 99, -1, 2**31 - 1])
def test_an_event_of_an_unknown_phase_is_kept(number: int, stubs: Stubs) -> None:
    """A later Flyte may have more phases."""
    name = f"phase{number}"
    stubs.admin.CreateNodeEvent(node_event(id=node_id(name), phase=number))
    assert qualities(stubs, name) == [{"UNKNOWN_PHASE"}]
    assert len(tree(stubs, name).spans) >= 2


def test_a_payload_is_kept_byte_for_byte(stubs: Stubs) -> None:
    """With fields that this version does not know, and in the order of the sender."""
    request = task_event(parent_node_execution_id=node_id("bytes"))
    payload = b"\xf2\x3f\x05later" + request.SerializeToString()
    assert call(stubs, EVENT_METHODS[2], payload) is grpc.StatusCode.OK
    listed = stubs.events.ListEvents(
        event_service_pb2.ListEventsRequest(
            execution_id=identifiers_pb2.ExecutionId(project="p", domain="d", name="bytes"),
            include_payload=True,
        )
    )
    (event,) = listed.events
    assert event.payload == payload
    assert event.payload_type == TaskExecutionEventRequest.DESCRIPTOR.full_name


@pytest.mark.parametrize(
    ("method", "request_message", "field"),
    [
        ("GetExecutionSpan", span_service_pb2.GetExecutionSpanRequest(), "execution_id.name"),
        ("ListExecutions", span_service_pb2.ListExecutionsRequest(page_size=-1), "page_size"),
        ("ListExecutions", span_service_pb2.ListExecutionsRequest(page_token="x"), "page_token"),  # noqa: S106
        ("ListExecutions", span_service_pb2.ListExecutionsRequest(phases=[99]), "phases"),  # type: ignore[list-item]
    ],
)
def test_a_bad_query_names_its_field(
    method: str, request_message: object, field: str, stubs: Stubs
) -> None:
    """Rather than to answer something else."""
    with pytest.raises(grpc.RpcError) as failed:
        getattr(stubs.spans, method)(request_message)
    code, text = failure(failed.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert field in text

"""Client against a server with canned answers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from spanwise import Client, EventReceipt, ExecutionId, InvalidRequest, ServerFailed
from spanwise._client import channel_options
from spanwise._times import to_timestamp
from spanwise.v1 import (
    event_pb2,
    event_service_pb2,
    identifiers_pb2,
    phase_pb2,
    span_service_pb2,
)
from tests.unit.client.canned_server import Canned, running
from tests.unit.client.spans import T0_NS, example

_GetResponse = span_service_pb2.GetExecutionSpanResponse
_RUN = identifiers_pb2.ExecutionId(project="p", domain="d", name="n")


def test_a_tree_comes_back_with_the_moment_it_was_drawn_for() -> None:
    """One call for an execution that fits into a message."""
    canned = Canned(_GetResponse(spans=example(), as_of=to_timestamp(T0_NS)))
    with running(canned) as endpoint, Client(endpoint) as client:
        root = client.get_execution_span("p/d/n", as_of=T0_NS + 5, depth=0)
    assert len(list(root)) == 2
    assert (root.as_of_ns, root.is_truncated) == (T0_NS, False)
    request = canned.requests[0]
    assert request.execution_id == _RUN
    assert request.as_of == to_timestamp(T0_NS + 5)
    assert request.selection.HasField("depth")


def test_pages_of_a_tree_are_put_together() -> None:
    """Each request after the first one repeats it with the token."""
    root, child = example()
    canned = Canned(
        _GetResponse(spans=[root], next_page_token="more"),  # noqa: S106 - a place in a list
        _GetResponse(spans=[child], truncated=True),
    )
    with running(canned) as endpoint, Client(endpoint) as client:
        whole = client.get_execution_span(ExecutionId("p", "d", "n"))
    assert len(whole.children) == 1
    assert whole.is_truncated
    first, second = canned.requests
    assert (first.page_token, second.page_token) == ("", "more")
    assert not first.HasField("as_of")
    assert not first.selection.HasField("depth")
    second.page_token = ""
    assert first == second


def test_an_answer_without_spans_is_a_failure_of_the_server() -> None:
    """Not an IndexError."""
    with (
        running(Canned(_GetResponse())) as endpoint,
        Client(endpoint) as client,
        pytest.raises(ServerFailed),
    ):
        client.get_execution_span("p/d/n")


def test_executions_are_listed_page_by_page() -> None:
    """A page is fetched when the one before is used up."""
    summary = span_service_pb2.ExecutionSummary(execution_id=_RUN)
    answer = span_service_pb2.ListExecutionsResponse
    canned = Canned(
        answer(executions=[summary, summary], next_page_token="2"),  # noqa: S106 - as above
        answer(executions=[summary]),
    )
    with running(canned) as endpoint, Client(endpoint) as client:
        found = client.list_executions(
            "p",
            "d",
            phases=["failed"],
            started_after=datetime(2023, 1, 1, 10, tzinfo=UTC),
            search="Train",
            slower_than_usual=True,
        )
        assert next(found) == summary
        assert len(canned.requests) == 1
        assert len(list(found)) == 2
    request = canned.requests[0]
    assert (request.project, request.domain) == ("p", "d")
    assert list(request.phases) == [phase_pb2.PHASE_FAILED]
    assert (request.search, request.slower_than_usual) == ("Train", True)
    assert request.started_after == to_timestamp(T0_NS)


def test_events_are_listed_in_either_order() -> None:
    """With or without payload."""
    event = event_service_pb2.LoggedEvent(sequence=1, payload=b"\0")
    answer = event_service_pb2.ListEventsResponse(events=[event])
    canned = Canned(answer, answer)
    with running(canned) as endpoint, Client(endpoint) as client:
        assert list(client.list_events("p/d/n", order="occurred", include_payload=True)) == [event]
        list(client.list_events("p/d/n"))
    first, second = canned.requests
    assert (first.order, first.include_payload) == (event_service_pb2.EVENT_ORDER_OCCURRED, True)
    assert (second.order, second.include_payload) == (event_service_pb2.EVENT_ORDER_RECORDED, False)


@pytest.mark.parametrize("kind", ["execution", "node", "task"])
def test_events_are_sent_and_the_receipt_says_where_they_went(kind: str) -> None:
    """One method for each kind of event."""
    name = f"Create{kind.capitalize()}EventResponse"
    answer = getattr(event_service_pb2, name)(
        sequence=7, disposition=event_service_pb2.DISPOSITION_LATE
    )
    event: Any = getattr(event_pb2, f"{kind.capitalize()}Event")(producer_id="test")
    canned = Canned(answer)
    with running(canned) as endpoint, Client(endpoint) as client:
        receipt = getattr(client, f"create_{kind}_event")(event)
    assert receipt == EventReceipt(7, "LATE") == (7, "LATE")
    assert canned.requests[0].event == event


@pytest.mark.parametrize(
    "endpoint",
    [
        *("", "http://127.0.0.1:8089", "host name:1", "127.0.0.1:8089\n", "\udcff:1"),
        *("localhost", "localhost:", ":8089", "localhost:http", "::1", "localhost:8089/"),
    ],
)
def test_a_bad_endpoint_is_told_at_once(endpoint: str) -> None:
    """Before anything is sent."""
    with pytest.raises(InvalidRequest):
        Client(endpoint)


@pytest.mark.parametrize("endpoint", ["localhost:8089", "[::1]:8089", "spanwise.flyte.svc:80"])
def test_an_endpoint_is_host_and_port(endpoint: str) -> None:
    """Also where the host is an address of IPv6."""
    with Client(endpoint) as client:
        assert client.endpoint == endpoint


def test_bad_arguments_are_invalid_requests() -> None:
    """Whichever method; nothing is sent."""
    canned = Canned()
    with running(canned) as endpoint, Client(endpoint) as client:
        with pytest.raises(InvalidRequest):
            client.get_execution_span("nonsense")
        with pytest.raises(InvalidRequest):
            client.get_execution_span("p/d/n", depth=-1)
        with pytest.raises(InvalidRequest):
            client.get_execution_span(ExecutionId("p", "d", ""))
        with pytest.raises(InvalidRequest):
            client.list_executions("\udcff")
        with pytest.raises(InvalidRequest):
            client.list_executions(phases=["sleeping"])
        with pytest.raises(InvalidRequest):
            client.list_events("p/d/n", order="random")  # type: ignore[arg-type]
    assert canned.requests == []


def test_a_closed_client_says_so() -> None:
    """And may be closed again."""
    client = Client("127.0.0.1:1")
    client.close()
    client.close()
    with pytest.raises(InvalidRequest, match="closed"):
        client.get_execution_span("p/d/n")


def test_this_machine_is_reached_without_a_proxy() -> None:
    """gRPC would send even loopback through http_proxy."""  # noqa: D403 - its name
    assert ("grpc.enable_http_proxy", 0) in channel_options("127.0.0.1:8089")
    assert ("grpc.enable_http_proxy", 0) not in channel_options("spanwise.example.com:443")

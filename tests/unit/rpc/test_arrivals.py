"""What arrives: requests, and batches of events."""

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from spanwise.v1 import event_pb2, identifiers_pb2
from spanwise.v1.event_service_pb2 import (
    CreateEventsRequest,
    CreateExecutionEventRequest,
    CreateNodeEventRequest,
    CreateTaskEventRequest,
    Event,
    ReceivedEvent,
)
from spanwise_server.domain.errors import InvalidEvent
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.quality import EventQuality
from spanwise_server.rpc.codecs.arrivals import decode_arrival, split_arrival
from spanwise_server.rpc.codecs.payloads import decode_event, payload_name
from spanwise_server.service.arrivals import Arrival
from spanwise_server.service.projections import Received
from tests.unit.rpc import flyte

NOW_NS = 1_700_000_000_000_000_000
EXECUTION = identifiers_pb2.ExecutionId(project="p", domain="d", name="run")
NODE = identifiers_pb2.NodeId(execution_id=EXECUTION, node_id="n0")
ATTEMPT = identifiers_pb2.TaskAttemptId(
    node_id=NODE, task_id=identifiers_pb2.EntityVersion(name="t", version="v1"), retry_attempt=2
)

texts = st.text(max_size=300)
reasons = st.lists(st.builds(event_pb2.Reason, message=texts, count=st.integers(0, 3)), max_size=3)
executions = st.builds(
    event_pb2.ExecutionEvent,
    execution_id=st.just(EXECUTION),
    phase=st.integers(0, 20),
    reasons=reasons,
    producer_id=texts,
)
nodes = st.builds(
    event_pb2.NodeEvent, node_id=st.just(NODE), phase=st.integers(0, 20), node_name=texts
)
tasks = st.builds(
    event_pb2.TaskEvent,
    task_attempt_id=st.just(ATTEMPT),
    phase=st.integers(0, 20),
    occurred_at=st.builds(Timestamp, seconds=st.integers(-1, 2**40), nanos=st.integers(-1, 10**9)),
    reasons=reasons,
    producer_id=texts,
    task_type=texts,
)


def batch(*events: Event) -> Arrival:
    return Arrival(None, CreateEventsRequest(events=events).SerializeToString(), NOW_NS)


def received(name: str, payload: bytes, recorded_at: Timestamp | None = None) -> Event:
    message = ReceivedEvent(payload_type=name, payload=payload, recorded_at=recorded_at)
    return Event(received_event=message)


@given(executions, nodes, tasks)
def test_event_of_a_batch_is_what_its_own_request_would_be(
    execution: event_pb2.ExecutionEvent, node: event_pb2.NodeEvent, task: event_pb2.TaskEvent
) -> None:
    events = (
        Event(execution_event=execution),
        Event(node_event=node),
        Event(task_event=task),
    )
    requests = (
        (PayloadType.EXECUTION_EVENT, CreateExecutionEventRequest(event=execution)),
        (PayloadType.NODE_EVENT, CreateNodeEventRequest(event=node)),
        (PayloadType.TASK_EVENT, CreateTaskEventRequest(event=task)),
    )
    assert list(decode_arrival(batch(*events))) == [
        Received(decode_event(kind, request.SerializeToString()), NOW_NS)
        for kind, request in requests
    ]


def test_event_that_was_received_before_keeps_its_bytes_and_its_time() -> None:
    request = flyte.task_event()
    payload = request.SerializeToString() + b"\x98\x06\x01"  # and a field that nobody knows
    name = payload_name(PayloadType.FLYTE1_TASK_EVENT)
    events = batch(received(name, payload, Timestamp(seconds=5)), received(name, payload))
    event = decode_event(PayloadType.FLYTE1_TASK_EVENT, payload)
    assert event.payload == payload
    assert list(decode_arrival(events)) == [
        Received(event, 5_000_000_000),
        Received(event, NOW_NS),
    ]


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (Event(), "event"),
        (Event(task_event=event_pb2.TaskEvent()), "event.task_attempt_id"),
        (Event(node_event=event_pb2.NodeEvent()), "event.node_id"),
        (Event(execution_event=event_pb2.ExecutionEvent()), "event.execution_id"),
        (received("made.Up", b""), "received_event.payload_type"),
        (received(payload_name(PayloadType.NODE_EVENT), b"\xff"), "request"),
    ],
)
def test_event_that_cannot_be_stored_stands_as_its_reason_among_the_others(
    event: Event, field: str
) -> None:
    good = Event(node_event=event_pb2.NodeEvent(node_id=NODE))
    first, second, third = decode_arrival(batch(good, event, good))
    assert isinstance(second, InvalidEvent)
    assert second.field.startswith(field)
    assert isinstance(first, Received)
    assert first == third


@given(st.lists(tasks, max_size=4))
def test_split_batch_has_the_events_of_the_whole_one(events: list[event_pb2.TaskEvent]) -> None:
    whole = batch(*(Event(task_event=event) for event in events))
    parts = split_arrival(whole)
    assert len(parts) == len(events)
    assert [each for part in parts for each in decode_arrival(part)] == list(decode_arrival(whole))


def test_single_request_is_not_split() -> None:
    arrival = Arrival(PayloadType.TASK_EVENT, b"", NOW_NS)
    assert split_arrival(arrival) == [arrival]


@pytest.mark.parametrize("length", [255, 256, 100_000])
@pytest.mark.parametrize("field", ["producer_id", "task_type", "node_id"])
def test_long_text_of_an_attempt_is_flagged_each_time(length: int, field: str) -> None:
    event = event_pb2.TaskEvent(task_attempt_id=ATTEMPT)
    holder = event.task_attempt_id.node_id if field == "node_id" else event
    setattr(holder, field, "x" * length)
    for _ in range(2):
        (decoded,) = decode_arrival(batch(Event(task_event=event)))
        assert isinstance(decoded, Received)
        is_flagged = EventQuality.UNUSUAL_TEXT in decoded.event.qualities
        assert is_flagged == (length > 255)

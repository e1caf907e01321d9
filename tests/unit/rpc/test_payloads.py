"""Payloads: whatever bytes arrive, decoding gives an event or one of two errors."""

from collections.abc import Callable
from typing import Any

from flyteidl.admin import event_pb2 as admin_event_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from spanwise.v1 import event_pb2, event_service_pb2, identifiers_pb2
from spanwise_server.domain.errors import CorruptRecord, InvalidEvent
from spanwise_server.domain.events import MAX_TIME_NS, MIN_TIME_NS, Event, PayloadType
from spanwise_server.rpc.codecs import flyte1, native
from spanwise_server.rpc.codecs.payloads import decode_payload, payload_name
from tests.unit.rpc import flyte

Decoder = Callable[[Any, bytes], Event]


def of_request(decode: Decoder) -> Decoder:
    """Give what decodes the request of an event instead of the event."""
    return lambda request, payload: decode(request.event, payload)


CODECS: list[tuple[type[Message], Decoder]] = [
    (admin_event_pb2.WorkflowExecutionEventRequest, flyte1.decode_workflow_event),
    (admin_event_pb2.NodeExecutionEventRequest, flyte1.decode_node_event),
    (admin_event_pb2.TaskExecutionEventRequest, flyte1.decode_task_event),
    (event_service_pb2.CreateExecutionEventRequest, of_request(native.decode_execution_event)),
    (event_service_pb2.CreateNodeEventRequest, of_request(native.decode_node_event)),
    (event_service_pb2.CreateTaskEventRequest, of_request(native.decode_task_event)),
]
EXECUTION = identifiers_pb2.ExecutionId(name="run")
NODE = identifiers_pb2.NodeId(execution_id=EXECUTION, node_id="a0")
ATTEMPT = identifiers_pb2.TaskAttemptId(node_id=NODE)

NAMED: dict[type[Message], Message] = {
    admin_event_pb2.WorkflowExecutionEventRequest: flyte.workflow_event(),
    admin_event_pb2.NodeExecutionEventRequest: flyte.node_event(),
    admin_event_pb2.TaskExecutionEventRequest: flyte.task_event(),
    event_service_pb2.CreateExecutionEventRequest: event_service_pb2.CreateExecutionEventRequest(
        event=event_pb2.ExecutionEvent(execution_id=EXECUTION)
    ),
    event_service_pb2.CreateNodeEventRequest: event_service_pb2.CreateNodeEventRequest(
        event=event_pb2.NodeEvent(node_id=NODE)
    ),
    event_service_pb2.CreateTaskEventRequest: event_service_pb2.CreateTaskEventRequest(
        event=event_pb2.TaskEvent(task_attempt_id=ATTEMPT)
    ),
}
"""Requests that name an entity."""

MAX_DEPTH = 6
"""Deeper messages are literals and compiled workflows, which no codec looks into."""

MAX_FIELDS = 8
"""Of one message; more make no other case."""

SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_ENUM: st.integers(-(2**31), 2**31 - 1) | st.integers(0, 16),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(),
    FieldDescriptor.CPPTYPE_FLOAT: st.floats(width=32),
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
}
TEXTS = st.sampled_from(["", "n0", "start-node", "x" * 300, "a\0b", "ü" * 130]) | st.text(
    st.characters(exclude_categories=["Cs"])
)


def fill(draw: st.DrawFn, message: Message, depth: int) -> None:
    """Fill some fields of a message at random."""
    descriptor = message.DESCRIPTOR
    numbers = sorted(descriptor.fields_by_number)
    chosen = draw(st.sets(st.sampled_from(numbers), max_size=MAX_FIELDS)) if numbers else set()
    for number in sorted(chosen):
        field = descriptor.fields_by_number[number]
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map or (field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE and depth == 0):
            continue
        fill_field(draw, message, field, depth)


def fill_field(draw: st.DrawFn, message: Message, field: Any, depth: int) -> None:
    """Fill one field at random."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        target = getattr(message, field.name)
        if field.is_repeated:
            for _ in range(draw(st.integers(0, 2))):
                fill(draw, target.add(), depth - 1)
        else:
            target.SetInParent()
            fill(draw, target, depth - 1)
        return
    is_bytes = field.type == FieldDescriptor.TYPE_BYTES
    value = SCALARS.get(field.cpp_type, st.binary() if is_bytes else TEXTS)
    if field.is_repeated:
        getattr(message, field.name).extend(draw(st.lists(value, max_size=2)))
    else:
        setattr(message, field.name, draw(value))


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Give a request of any of the event types, filled at random."""
    message = draw(st.sampled_from(CODECS))[0]()
    fill(draw, message, MAX_DEPTH)
    if draw(st.booleans()):  # or hardly any would name its entity
        message.MergeFrom(NAMED[type(message)])
    return message


@given(messages())
def test_any_message_is_an_event_or_names_nothing(message: Message) -> None:
    """And what is stored of it fits into the store."""
    payload = message.SerializeToString()
    decode = dict(CODECS)[type(message)]
    try:
        event = decode(message, payload)
    except InvalidEvent:
        return
    assert event.execution_id.name
    assert event.payload is payload
    times = [event.occurred_at_ns, event.reported_at_ns]
    times += [reason.occurred_at_ns for reason in event.reasons]
    assert all(time is None or MIN_TIME_NS <= time <= MAX_TIME_NS for time in times)
    assert all(reason.message and reason.occurrences >= 1 for reason in event.reasons)
    assert decode_payload(event.payload_type, payload) == event


@given(st.sampled_from(PayloadType), st.binary(max_size=200))
def test_any_bytes_are_an_event_or_a_corrupt_record(
    payload_type: PayloadType, payload: bytes
) -> None:
    """Nothing else is raised."""
    try:
        event = decode_payload(payload_type, payload)
    except CorruptRecord:
        return
    assert event.payload == payload


def test_every_kind_of_payload_has_a_codec_and_its_own_name() -> None:
    """And the numbers that are stored do not change."""
    names = {int(kind): payload_name(kind) for kind in PayloadType}
    assert names == {
        1: "flyteidl.admin.WorkflowExecutionEventRequest",
        2: "flyteidl.admin.NodeExecutionEventRequest",
        3: "flyteidl.admin.TaskExecutionEventRequest",
        4: "spanwise.v1.CreateExecutionEventRequest",
        5: "spanwise.v1.CreateNodeEventRequest",
        6: "spanwise.v1.CreateTaskEventRequest",
    }

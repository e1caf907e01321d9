"""Requests that are nested deeper than Python's protobuf parses."""

from collections.abc import Callable
from typing import Any

import pytest
from flyteidl.core.literals_pb2 import LiteralMap
from flyteidl.event import event_pb2
from google.protobuf.message import DecodeError, Message
from google.protobuf.struct_pb2 import Struct
from google.protobuf.wrappers_pb2 import StringValue
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import PayloadType
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.requests import prune, request_parser
from tests.unit.rpc.flyte import node_event, task_event, workflow_event
from tests.unit.rpc.wire import field

LEVELS = 200


def nest(numbers: tuple[int, ...]) -> bytes:
    """Give a message that holds itself LEVELS deep, by way of these fields."""
    content = b""
    for _ in range(LEVELS):
        for number in reversed(numbers):
            content = field(number, content)
    return content


DEEP_LITERALS = field(1, field(2, nest((2, 1))))
"""A list of lists of lists: Literal.collection and LiteralCollection.literals, again and again."""

DEEP_STRUCT = nest((1, 2, 5))
"""Struct.fields, its value, Value.struct_value."""


@pytest.mark.parametrize("deep", [(LiteralMap, DEEP_LITERALS), (Struct, DEEP_STRUCT)])
def test_python_does_not_parse_what_these_tests_send(deep: tuple[type[Message], bytes]) -> None:
    """Otherwise they would show nothing."""
    message_type, content = deep
    with pytest.raises(DecodeError):
        message_type.FromString(content)


@pytest.mark.parametrize(
    ("kind", "build", "path", "content"),
    [
        (PayloadType.FLYTE1_WORKFLOW_EVENT, workflow_event, (2, 7), DEEP_LITERALS),
        (PayloadType.FLYTE1_NODE_EVENT, node_event, (2, 15), DEEP_LITERALS),
        (PayloadType.FLYTE1_TASK_EVENT, task_event, (2, 11), DEEP_STRUCT),
    ],
)
def test_a_deep_event_is_taken_as_if_it_were_flat(
    kind: PayloadType, build: Callable[[], Message], path: tuple[int, int], content: bytes
) -> None:
    """And its payload is kept whole."""
    flat = build()
    payload = flat.SerializeToString() + field(path[0], field(path[1], content))
    event = decode_payload(kind, payload)
    expected = decode_payload(kind, flat.SerializeToString())
    assert event == expected._replace(payload=payload)


def test_what_stands_beside_the_deep_part_is_read() -> None:
    """The state of a plugin is deep, the reasons and sub-tasks around it are not."""
    resource = event_pb2.ExternalResourceInfo(external_id="pod-3", index=3)
    request = task_event(reason="Pulling image")
    deep_resource = field(2, resource.SerializeToString() + field(8, DEEP_STRUCT))
    payload = request.SerializeToString() + field(2, field(16, deep_resource))
    event = decode_payload(PayloadType.FLYTE1_TASK_EVENT, payload)
    assert event.details is not None
    assert [subtask.external_id for subtask in event.details.subtasks] == ["pod-3"]
    assert [reason.message for reason in event.reasons] == ["Pulling image"]


def test_other_requests_are_parsed_as_they_are() -> None:
    """Nothing in them can be that deep."""
    assert request_parser(StringValue) == StringValue.FromString


MESSAGES: st.SearchStrategy[Any] = st.builds(
    event_pb2.TaskExecutionEvent,
    retry_attempt=st.integers(0, 2**32 - 1),
    producer_id=st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
    reason=st.text(st.characters(exclude_categories=["Cs"])),
    event_version=st.integers(-(2**31), 2**31 - 1),
)


@given(MESSAGES)
def test_pruning_leaves_everything_else_as_it_is(message: event_pb2.TaskExecutionEvent) -> None:
    """Byte for byte."""
    payload = message.SerializeToString()
    assert prune(payload, {}) == payload
    without_reason = event_pb2.TaskExecutionEvent.FromString(prune(payload, {13: None}))
    message.ClearField("reason")
    assert without_reason == message


@given(st.binary(max_size=100))
def test_pruning_of_any_bytes_gives_bytes_or_a_decode_error(payload: bytes) -> None:
    """Whatever stands in them."""
    try:
        pruned = prune(payload, {1: None, 2: {1: None}})
    except DecodeError:
        return
    assert len(pruned) <= len(payload)

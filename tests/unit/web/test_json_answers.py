"""Answers as JSON."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from spanwise.v1.span_service_pb2 import DiagnoseExecutionResponse, GetExecutionSpanResponse
from spanwise_server.domain.errors import InvalidQuery
from spanwise_server.web.endpoints import ENDPOINTS, METHODS
from spanwise_server.web.json_answers import encode_json, json_reads, read_name
from spanwise_server.web.parameters import is_repeated

TIMES = ("google.protobuf.Timestamp", "google.protobuf.Duration")

SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(),
}


@st.composite
def filled(draw: st.DrawFn, message_type: type[Message]) -> Message:
    """Draw a message with some of its fields, at any depth."""
    message = message_type()
    if message_type.DESCRIPTOR.full_name in TIMES:
        drawn: Any = message
        drawn.seconds, drawn.nanos = draw(st.integers(0, 2**33)), draw(st.integers(0, 10**9 - 1))
        return message
    fields = [field for field in message_type.DESCRIPTOR.fields if draw(st.booleans())]
    for field in fields:
        count = draw(st.integers(1, 2)) if is_repeated(field) else 1  # type: ignore[arg-type]
        for _ in range(count):
            value = draw(values(field))
            if is_repeated(field):  # type: ignore[arg-type]
                getattr(message, field.name).append(value)
            elif isinstance(value, Message):
                getattr(message, field.name).CopyFrom(value)
            else:
                setattr(message, field.name, value)
    return message


def values(field: Any) -> st.SearchStrategy[Any]:
    """Give values of a field, also numbers of enums that are not known yet."""
    if field.message_type is not None:
        return filled(GetMessageClass(field.message_type))
    if field.enum_type is not None:
        return st.one_of(
            st.sampled_from([each.number for each in field.enum_type.values]), st.just(999)
        )
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return st.binary() if field.type == FieldDescriptor.TYPE_BYTES else st.text()
    return SCALARS[field.cpp_type]


def in_proto3_json(message: Message) -> dict[str, Any]:
    """Give what protobuf's own mapping says, with hexadecimal digits for bytes."""
    found = MessageToDict(message)
    for field, value in message.ListFields():
        items = list(value) if is_repeated(field) else [value]
        if field.type == FieldDescriptor.TYPE_BYTES:
            changed: list[Any] = [each.hex() for each in items]
        elif field.message_type is not None and field.message_type.full_name not in TIMES:
            changed = [in_proto3_json(each) for each in items]
        else:
            continue
        found[field.json_name] = changed if is_repeated(field) else changed[0]
    return found


@given(
    st.sampled_from([endpoint.method for endpoint in ENDPOINTS]).flatmap(
        lambda method: filled(GetMessageClass(METHODS[method].output_type))
    )
)
def test_answers_are_proto3_json_with_hexadecimal_bytes(message: Message) -> None:
    """Whatever is in them."""
    assert json.loads(encode_json(message)) == in_proto3_json(message)


def test_an_answer_in_full() -> None:
    """As a reader of the documentation expects it."""
    answer = GetExecutionSpanResponse(truncated=True)
    span = answer.spans.add(span_id=bytes(range(8)), name="né")
    span.start_time.FromNanoseconds(1_700_000_000_000_000_001)
    assert (
        encode_json(answer)
        == (
            '{"spans":[{"spanId":"0001020304050607","name":"né",'
            '"startTime":"2023-11-14T22:13:20.000000001Z"}],"truncated":true}'
        ).encode()
    )


def reads_of(method: str, read: Callable[[bytes], bytes]) -> Any:
    """Give the reads for JSON over one read, and over none that is called for the others."""
    return json_reads({endpoint.method: read for endpoint in ENDPOINTS} | {method: read})


def test_a_read_answers_as_it_is_and_with_gzip() -> None:
    """Both say the same."""
    answer = DiagnoseExecutionResponse(approximate=True)
    reads = reads_of("DiagnoseExecution", lambda _: answer.SerializeToString())
    plain = reads[read_name("DiagnoseExecution", with_gzip=False)](b"")
    compressed = reads[read_name("DiagnoseExecution", with_gzip=True)](b"")
    assert json.loads(plain) == {"approximate": True}
    assert gzip.decompress(compressed) == plain


def test_what_is_wrong_with_a_request_is_raised_as_it_is() -> None:
    """Whoever asked puts it into an answer."""

    def refuse(payload: bytes) -> bytes:
        raise InvalidQuery("depth", payload.decode())

    read = reads_of("GetExecutionSpan", refuse)[read_name("GetExecutionSpan", with_gzip=True)]
    with pytest.raises(InvalidQuery, match="deep"):
        read(b"deep")

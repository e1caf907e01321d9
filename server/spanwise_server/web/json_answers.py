"""Answers of calls as JSON. Made in the reader process: a large one takes a while.

The mapping is that of proto3 (protobuf.dev, "ProtoJSON Format"): names in lowerCamelCase, 64-bit
integers and times as strings, enums by name, nothing for what is unset. It departs from it in one
point: bytes, which are ids of spans, are lower-case hexadecimal digits, as OTLP has them in JSON.
"""

import gzip
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from spanwise_server.web.endpoints import ENDPOINTS, METHODS
from spanwise_server.web.parameters import is_repeated

GZIP_LEVEL = 4
"""Half of the time of the usual 6, and a twentieth more bytes."""

Read = Callable[[bytes], bytes]
Encode = Callable[[Any], Any]


def read_name(method: str, *, with_gzip: bool) -> str:
    """Give the name of the read that answers a call with JSON."""
    return f"{method}.json.gz" if with_gzip else f"{method}.json"


def json_reads(reads: Mapping[str, Read]) -> Mapping[str, Read]:
    """Give for each call of the API a read that answers with JSON, and one that compresses it.

    Args:
        reads: Reads that answer with messages, by name of call.
    """
    answers = {}
    for endpoint in ENDPOINTS:
        answer = _json_read(endpoint.method, reads[endpoint.method])
        answers[read_name(endpoint.method, with_gzip=False)] = answer
        answers[read_name(endpoint.method, with_gzip=True)] = _compressed(answer)
    return answers


def _json_read(method: str, read: Read) -> Read:
    parse = GetMessageClass(METHODS[method].output_type).FromString
    return lambda payload: encode_json(parse(read(payload)))


def _compressed(read: Read) -> Read:
    return lambda payload: gzip.compress(read(payload), GZIP_LEVEL, mtime=0)


def encode_json(message: Message) -> bytes:
    """Give a message as JSON in UTF-8."""
    value = _encode_message(message)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _encode_message(message: Message) -> Any:
    table = _table(cast("Descriptor", message.DESCRIPTOR))
    encoded = {}
    for field, value in message.ListFields():
        name, encode = table[field.number]
        encoded[name] = encode(value)
    return encoded


_tables: dict[str, dict[int, tuple[str, Encode]]] = {}
"""By full name of message and number of field: its name, and what encodes it."""


def _table(descriptor: Descriptor) -> dict[int, tuple[str, Encode]]:
    found = _tables.get(descriptor.full_name)
    if found is None:
        found = _tables[descriptor.full_name] = {
            field.number: (field.json_name, _encoder(field)) for field in descriptor.fields
        }
    return found


def _encoder(field: FieldDescriptor) -> Encode:
    encode = _single_encoder(field)
    if is_repeated(field):
        return lambda values: [encode(value) for value in values]
    return encode


def _single_encoder(field: FieldDescriptor) -> Encode:
    if field.message_type is not None:
        if field.message_type.GetOptions().map_entry:
            raise TypeError(f"{field.full_name} is a map, which no answer has had so far")
        if field.message_type.full_name in _WITH_FORM_OF_THEIR_OWN:
            return lambda value: value.ToJsonString()
        return _encode_message
    if field.enum_type is not None:
        names = {value.number: value.name for value in field.enum_type.values}
        return lambda number: names.get(number, number)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return bytes.hex
    if field.cpp_type in (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64):
        return str
    if field.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return _encode_float
    return _as_it_is


_WITH_FORM_OF_THEIR_OWN = ("google.protobuf.Timestamp", "google.protobuf.Duration")


def _encode_float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def _as_it_is(value: Any) -> Any:
    return value

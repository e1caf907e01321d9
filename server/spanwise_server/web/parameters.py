"""Parameters of an address, read into the request of a call."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, unquote_to_bytes

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1.identifiers_pb2 import ExecutionId
from spanwise_server.domain.errors import InvalidQuery

MAX_PARAMETERS = 100

_SHOWN_CHARS = 100
"""Of a value in the text of an error."""

M = TypeVar("M", bound=Message)


def decode_segment(segment: str | bytes) -> str:
    """Give the text of a part of a path, whatever characters it stands for.

    Raises:
        InvalidQuery: It stands for no text.
    """
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError as error:
        raise InvalidQuery("path", f"{_shown(segment)} is not UTF-8, percent-encoded") from error


def read_parameters(query: bytes, known: Iterable[str]) -> list[tuple[str, str]]:
    """Give the parameters of a query string that have a value, in their order.

    Raises:
        InvalidQuery: One is not known, there are too many, or they are not text.
    """
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError as error:
        raise InvalidQuery(
            "query", f"{_shown(query)}: up to {MAX_PARAMETERS} parameters in percent-encoded UTF-8"
        ) from error
    allowed = list(known)
    for name, _ in pairs:
        if name not in allowed:
            there_are = f"there are {', '.join(allowed)}" if allowed else "there are none"
            raise InvalidQuery(_clip(name), f"is no parameter here; {there_are}")
    return [(name, value) for name, value in pairs if value]


def fill_request(
    request: Message, pairs: Iterable[tuple[str, str]], fields: Mapping[str, str]
) -> None:
    """Set the fields of a request that parameters name.

    Args:
        request: Request.
        pairs: Names and values of parameters.
        fields: Path of the field by name of parameter.

    Raises:
        InvalidQuery: A value does not fit, or a parameter is there twice that has one value.
    """
    seen = set()
    for name, value in pairs:
        *outer, last = fields[name].split(".")
        message = request
        for part in outer:
            message = getattr(message, part)
        field = cast("FieldDescriptor", message.DESCRIPTOR.fields_by_name[last])
        if name in seen and not is_repeated(field):
            raise InvalidQuery(name, "is there more than once")
        seen.add(name)
        _set(message, field, name, value)


def _set(message: Message, field: FieldDescriptor, name: str, text: str) -> None:
    if field.message_type is not None:
        read: Callable[[str], Any] = _MESSAGES[field.message_type.full_name]
        form = _MESSAGE_FORMS[field.message_type.full_name]
    elif field.enum_type is not None:
        names = enum_names(field.enum_type)
        read, form = _enum_reader(field.enum_type, names), f"one of {', '.join(names)}"
    else:
        read, form = _SCALARS[field.cpp_type], _SCALAR_FORMS[field.cpp_type]
        if field.type == FieldDescriptor.TYPE_BYTES:
            read, form = _read_hex, "hexadecimal digits, two for each byte"
    try:
        value = read(text)
        if is_repeated(field):
            getattr(message, field.name).append(value)
        elif isinstance(value, Message):
            getattr(message, field.name).CopyFrom(value)
        else:
            setattr(message, field.name, value)
    except (ValueError, KeyError, OverflowError) as error:
        raise InvalidQuery(name, f"is {_shown(text)}; write {form}") from error


def is_repeated(field: FieldDescriptor) -> bool:
    """Tell whether a field is a list. Descriptors say so themselves from protobuf 6 on."""
    return bool(field.default_value == [])


def enum_names(enum: EnumDescriptor) -> dict[str, int]:
    """Give the values of an enum by their names without the prefix that all of them have."""
    prefix = _prefix(enum)
    return {value.name.removeprefix(prefix): value.number for value in enum.values if value.number}


def _prefix(enum: EnumDescriptor) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum.name).upper() + "_"


def _enum_reader(enum: EnumDescriptor, names: Mapping[str, int]) -> Callable[[str], int]:
    return lambda text: names[text.upper().removeprefix(_prefix(enum))]


def _read_bool(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.lower()]


def _read_integer(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,20}", text, re.ASCII):
        raise ValueError
    return int(text)


def _read_hex(text: str) -> bytes:
    if not re.fullmatch(r"([0-9a-fA-F]{2})*", text):
        raise ValueError
    return bytes.fromhex(text)


def _read_time(text: str) -> Timestamp:
    if not text.isascii():
        raise ValueError
    time = Timestamp()
    time.FromJsonString(text)
    return time


def _read_execution_id(text: str) -> ExecutionId:
    project, domain, name = map(decode_segment, text.split("/"))
    return ExecutionId(project=project, domain=domain, name=name)


_INTEGER_FORM = "a whole number"

_SCALARS: Mapping[int, Callable[[str], Any]] = {
    FieldDescriptor.CPPTYPE_BOOL: _read_bool,
    FieldDescriptor.CPPTYPE_INT32: _read_integer,
    FieldDescriptor.CPPTYPE_INT64: _read_integer,
    FieldDescriptor.CPPTYPE_UINT32: _read_integer,
    FieldDescriptor.CPPTYPE_STRING: str,
}

_SCALAR_FORMS: Mapping[int, str] = {
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_INT32: f"{_INTEGER_FORM} up to {2**31 - 1}",
    FieldDescriptor.CPPTYPE_INT64: f"{_INTEGER_FORM} up to {2**63 - 1}",
    FieldDescriptor.CPPTYPE_UINT32: f"{_INTEGER_FORM} from 0 to {2**32 - 1}",
    FieldDescriptor.CPPTYPE_STRING: "text",
}

_MESSAGES: Mapping[str, Callable[[str], Message]] = {
    Timestamp.DESCRIPTOR.full_name: _read_time,
    ExecutionId.DESCRIPTOR.full_name: _read_execution_id,
}

_MESSAGE_FORMS: Mapping[str, str] = {
    Timestamp.DESCRIPTOR.full_name: "a time in RFC 3339, for instance 2026-01-31T10:00:00.5Z",
    ExecutionId.DESCRIPTOR.full_name: "PROJECT/DOMAIN/NAME, with %2F for a slash inside of a part",
}


def _shown(value: str | bytes) -> str:
    text = value if isinstance(value, str) else value.decode("ascii", "backslashreplace")
    return repr(_clip(text))


def _clip(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"

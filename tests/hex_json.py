"""Messages in the JSON of the HTTP API: proto3's, but with hexadecimal digits for bytes."""

import base64
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

M = TypeVar("M", bound=Message)


def from_hex_json(message_type: type[M], value: dict[str, Any]) -> M:
    """Read a message. Fails on names that it does not have."""
    return ParseDict(_to_base64(message_type.DESCRIPTOR, value), message_type())


def _to_base64(descriptor: Any, value: dict[str, Any]) -> dict[str, Any]:
    fields = {field.json_name: field for field in descriptor.fields}
    return {name: _convert(fields[name], inner) for name, inner in value.items()}


def _convert(field: FieldDescriptor, value: Any) -> Any:
    if isinstance(value, list):
        return [_convert(field, each) for each in value]
    if field.type == FieldDescriptor.TYPE_BYTES:
        return base64.b64encode(bytes.fromhex(value)).decode()
    inner: Descriptor | None = field.message_type
    return _to_base64(inner, value) if isinstance(value, dict) else value

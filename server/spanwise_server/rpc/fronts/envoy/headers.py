"""Headers and trailers of gRPC: timeout, metadata, status.

Source: grpc/doc/PROTOCOL-HTTP2.md.
"""

import base64
import binascii
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

from google.rpc.status_pb2 import Status

from spanwise_server.rpc.fronts.envoy.asgi import Headers

_TIMEOUT = re.compile(rb"(\d{1,8})([HMSmun])")
_UNIT_S = {b"H": 3600.0, b"M": 60.0, b"S": 1.0, b"m": 1e-3, b"u": 1e-6, b"n": 1e-9}

_BINARY_SUFFIX = "-bin"

_PLAIN = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")
"""Characters of a message that travel as they are; others go percent-encoded, as UTF-8."""


class CallHeaders(NamedTuple):
    """What a caller tells of a call beside its metadata. Empty stands for untold."""

    content_type: bytes
    timeout: bytes
    encoding: bytes


def read_call_headers(headers: Headers) -> CallHeaders:
    """Give what `headers` tell."""
    content_type, timeout, encoding = b"", b"", b""
    for name, value in headers:
        if name == b"content-type":
            content_type = value
        elif name == b"grpc-timeout":
            timeout = value
        elif name == b"grpc-encoding":
            encoding = value
    return CallHeaders(content_type, timeout, encoding)


def parse_timeout(text: bytes) -> float:
    """Give the seconds of a grpc-timeout.

    Raises:
        ValueError: It is not one.
    """
    match = _TIMEOUT.fullmatch(text)
    if match is None:
        raise ValueError("grpc-timeout is 1 to 8 digits and one of H, M, S, m, u, n")
    return int(match[1]) * _UNIT_S[match[2]]


def decode_metadata(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str | bytes]:
    """Give headers as metadata: of a repeated key the last value, what is not base64 left out."""
    metadata: dict[str, str | bytes] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if not name.endswith(_BINARY_SUFFIX):
            metadata[name] = value
            continue
        last = value.rpartition(",")[2].strip().rstrip("=")
        try:
            metadata[name] = base64.b64decode(last + "=" * (-len(last) % 4), validate=True)
        except binascii.Error:
            metadata.pop(name, None)
    return metadata


def encode_status(status: Status) -> Headers:
    """Give a status as trailers, with its details where clients of every language look for them."""
    headers = [(b"grpc-status", b"%d" % status.code)]
    if status.message:
        headers.append((b"grpc-message", quote(status.message, safe=_PLAIN).encode("ascii")))
    if status.code:
        details = base64.b64encode(status.SerializeToString()).rstrip(b"=")
        headers.append((b"grpc-status-details-bin", details))
    return headers

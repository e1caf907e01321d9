"""Messages inside of bodies: however the bytes are cut, and whatever is wrong with them."""

import asyncio
import gzip
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from google.rpc import code_pb2
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.rpc.fronts.envoy.asgi import Event
from spanwise_server.rpc.fronts.envoy.framing import (
    RequestBody,
    encode_message,
    find_decompressor,
)
from spanwise_server.rpc.interceptors import CallFailed
from tests.unit.rpc.envoy.fake_envoy import Caller, body

CAP = 1000


def read_all(parts: Sequence[Event], encoding: bytes = b"") -> list[bytes]:
    """Give the messages of a body that comes in parts."""

    async def read() -> list[bytes]:
        request = RequestBody(Caller(*parts).receive, find_decompressor(encoding), CAP)
        return [message async for message in request.messages()]

    return asyncio.run(read())


def failure_of(read: Callable[[], object]) -> tuple[int, str]:
    """Give the status of a read that fails."""
    with pytest.raises(CallFailed) as failed:
        read()
    return failed.value.status.code, failed.value.status.message


def compressed(data: bytes) -> bytes:
    """Give a message whose prefix says that it is compressed."""
    return b"\x01" + len(data).to_bytes(4, "big") + data


@given(
    st.lists(st.binary(max_size=50), max_size=5),
    st.lists(st.integers(0, 300), max_size=8),
    st.booleans(),
)
def test_messages_are_the_same_however_the_bytes_are_cut(
    messages: list[bytes],
    cuts: list[int],
    ends_with_data: bool,
) -> None:
    data = b"".join(map(encode_message, messages))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    parts = [body(piece, more=True) for piece in pieces]
    parts.append(body(parts.pop()["body"] if ends_with_data else b"", more=False))
    assert read_all(parts) == messages


@pytest.mark.parametrize(
    ("encoding", "compress"), [(b"gzip", gzip.compress), (b"deflate", zlib.compress)]
)
def test_compressed_messages_are_unpacked_up_to_the_cap(
    encoding: bytes, compress: Callable[[bytes], bytes]
) -> None:
    """And plain ones may stand between them."""
    fits, too_large = compress(b"x" * CAP), compress(b"x" * (CAP + 1))
    data = compressed(fits) + encode_message(b"plain")
    assert read_all([body(data, more=False)], encoding) == [b"x" * CAP, b"plain"]
    code, text = failure_of(lambda: read_all([body(compressed(too_large), more=False)], encoding))
    assert code == code_pb2.RESOURCE_EXHAUSTED
    assert "message larger than max" in text


def test_a_message_above_the_cap_is_refused_before_it_has_come() -> None:
    code, text = failure_of(lambda: read_all([body(bytes(3) + b"\x03\xe9", more=True)]))
    assert code == code_pb2.RESOURCE_EXHAUSTED
    assert text == "received message larger than max (1001 vs. 1000)"


# mtime: with that of now, the cases had other names in each process that collects them.
GZIPPED = gzip.compress(b"abc", mtime=0)


@pytest.mark.parametrize(
    ("data", "encoding", "part"),
    [
        (encode_message(b"abc")[:-1], b"", "in the middle"),
        (b"\x00\x00", b"", "in the middle"),
        (b"\x02" + bytes(4), b"", "0 or 1"),
        (compressed(GZIPPED), b"", "no grpc-encoding"),
        (compressed(b"not gzip"), b"gzip", "not in its grpc-encoding"),
        (compressed(GZIPPED[:-1]), b"gzip", "too early"),
    ],
)
def test_bytes_that_are_no_messages_are_refused(data: bytes, encoding: bytes, part: str) -> None:
    """As the caller's fault, in words that say what is wrong."""
    code, text = failure_of(lambda: read_all([body(data, more=False)], encoding))
    assert code == code_pb2.INVALID_ARGUMENT
    assert part in text


def test_an_unknown_encoding_is_unimplemented_and_the_known_ones_are_told() -> None:
    code, text = failure_of(lambda: find_decompressor(b"snappy"))
    assert code == code_pb2.UNIMPLEMENTED
    assert "snappy" in text
    assert "gzip" in text

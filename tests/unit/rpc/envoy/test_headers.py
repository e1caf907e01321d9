"""Headers of gRPC: what callers write is read, and what is written is plain ASCII."""

import base64
from urllib.parse import unquote

import pytest
from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.rpc.fronts.envoy.headers import (
    decode_metadata,
    encode_status,
    parse_timeout,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (b"1H", 3600),
        (b"2M", 120),
        (b"3S", 3),
        (b"4m", 0.004),
        (b"5u", 5e-6),
        (b"6n", 6e-9),
        (b"99999999H", 99_999_999 * 3600),
    ],
)
def test_a_timeout_is_read_in_every_unit(text: bytes, seconds: float) -> None:
    assert parse_timeout(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", [b"", b"1", b"S", b"-1S", b"1.5S", b"123456789S", b"1s", b"1S "])
def test_what_is_no_timeout_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="grpc-timeout"):
        parse_timeout(text)


@given(st.binary(), st.booleans())
def test_binary_metadata_is_read_with_padding_and_without(value: bytes, padded: bool) -> None:
    encoded = base64.b64encode(value)
    headers = [(b"key-bin", encoded if padded else encoded.rstrip(b"="))]
    assert decode_metadata(headers) == {"key-bin": value}


@given(st.binary(min_size=1), st.binary(min_size=1))
def test_of_a_repeated_binary_key_the_last_value_counts(first: bytes, last: bytes) -> None:
    """Also where something on the way has joined the two."""
    one, two = base64.b64encode(first), base64.b64encode(last)
    assert decode_metadata([(b"k-bin", one), (b"k-bin", two)]) == {"k-bin": last}
    assert decode_metadata([(b"k-bin", one + b", " + two)]) == {"k-bin": last}


def test_what_is_not_base64_is_left_out() -> None:
    assert decode_metadata([(b"k-bin", b"?"), (b"k", b"v")]) == {"k": "v"}


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 16))
def test_a_status_is_plain_ascii_and_reads_back(text: str, code: int) -> None:
    status = Status(code=code, message=text)
    headers = dict(encode_status(status))
    assert all(0x20 <= byte < 0x7F for value in headers.values() for byte in value)
    assert headers[b"grpc-status"] == b"%d" % code
    assert unquote(headers.get(b"grpc-message", b"").decode()) == text
    details = headers[b"grpc-status-details-bin"]
    assert Status.FromString(base64.b64decode(details + b"=" * (-len(details) % 4))) == status

"""Payloads as they lie in the database."""

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import PayloadType
from spanwise_server.storage.sql import packing
from spanwise_server.storage.sql.packing import kind_of, pack, unpack
from tests.unit.rpc.flyte import task_event

KINDS = st.sampled_from(PayloadType)
PAYLOADS = st.binary(max_size=300) | st.builds(bytes.__mul__, st.binary(), st.integers(0, 1_000))
TASK_EVENT = task_event(input_uri="s3://bucket/metadata/propeller/f1a2b3/n0/data/inputs.pb")

PACKED_HEX = (
    "28b52ffd20cd3503007384109d9a1d4a82aec57af22588fbdd358710ea0fd0173c070e1ae020ca10"
    "58ac275f8240ab01ee77d7aba5e16cf36416c01a064f43103cb0b0fee08387201040cb3a253809fc"
    "89a06285f5e70a8f06e126f24be39cfb07b3aa3b79d797389ec1f68a29e80a"
)
"""TASK_EVENT as it was stored when the dictionary was new."""

DICTIONARY_SHA256 = "808a4760e960b684252a5b0909e88b77d5feb2156b128a4eeec993296f485f60"


@given(KINDS, PAYLOADS)
def test_every_payload_comes_back_byte_by_byte(kind: PayloadType, payload: bytes) -> None:
    number, packed = pack(kind, payload)
    assert unpack(number, bytes(packed)) == payload
    assert kind_of(number) == kind


@given(KINDS, PAYLOADS)
def test_no_payload_grows(kind: PayloadType, payload: bytes) -> None:
    _, packed = pack(kind, payload)
    assert len(packed) <= len(payload)


@given(KINDS, PAYLOADS)
def test_what_earlier_versions_stored_is_read_as_it_is(kind: PayloadType, payload: bytes) -> None:
    assert unpack(int(kind), payload) == payload
    assert kind_of(int(kind)) == kind


def test_numbers_fit_their_column() -> None:
    largest = max(pack(kind, bytes(1_000))[0] for kind in PayloadType)
    assert largest < 2**15


def test_a_short_event_takes_less_than_two_thirds() -> None:
    payload = TASK_EVENT.SerializeToString()
    _, packed = pack(PayloadType.FLYTE1_TASK_EVENT, payload)
    assert len(packed) < len(payload) * 2 / 3


def test_what_was_packed_with_the_dictionary_that_is_released_is_read() -> None:
    stored = bytes.fromhex(PACKED_HEX)
    assert unpack(256 + 5, stored) == TASK_EVENT.SerializeToString()


def test_the_dictionary_that_is_released_never_changes() -> None:
    content = (Path(packing.__file__).parent / "payloads.1.zdict").read_bytes()
    assert sha256(content).hexdigest() == DICTIONARY_SHA256


@pytest.mark.parametrize("number", [256 + 1, 512 + 1])
def test_bytes_that_nobody_packed_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=r"packed|decompressed"):
        unpack(number, b"no such frame")


def test_several_threads_pack_at_once() -> None:
    payloads = [f"{number} ".encode() * number for number in range(1, 400)]

    def there_and_back(payload: bytes) -> bytes:
        number, packed = pack(1, payload)
        return unpack(number, bytes(packed))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(there_and_back, payloads)) == payloads

"""Payloads as they lie in the database: compressed, where that makes them smaller.

Events are short and alike: a dictionary that knows how they begin takes them to a quarter, for two
microseconds each. How a payload is packed stands in the number of its kind, above the bits that the
kind needs, so it takes no space of its own and rows of earlier versions are read as they are.
"""

import threading
from pathlib import Path

import zstandard

from spanwise_server.storage.sql.dialect import binary

_KIND_BITS = 8
_KIND_MASK = (1 << _KIND_BITS) - 1
_AS_IT_IS = 0
_DICTIONARY_1 = 1  # zstd with payloads.1.zdict

_LEVEL = 1
"""Higher ones save three bytes more of an event and take up to twice as long (measured)."""

_MIN_BYTES = 64
"""Shorter payloads are left alone: there is nothing to gain."""

_DICTIONARY = zstandard.ZstdCompressionDict(
    (Path(__file__).parent / "payloads.1.zdict").read_bytes()
)
_DICTIONARY.precompute_compress(level=_LEVEL)


class _Codecs(threading.local):
    """What compresses and decompresses, for each thread its own: they cannot be shared."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(
            level=_LEVEL, dict_data=_DICTIONARY, write_dict_id=False
        )
        self.decompressor = zstandard.ZstdDecompressor(dict_data=_DICTIONARY)


_codecs = _Codecs()


def pack(kind: int, payload: bytes) -> tuple[int, bytearray]:
    """Give the number and the bytes to store for a payload and the number of its kind."""
    if len(payload) >= _MIN_BYTES:
        packed = _codecs.compressor.compress(payload)
        if len(packed) < len(payload):
            return _DICTIONARY_1 << _KIND_BITS | kind, binary(packed)
    return int(kind), binary(payload)


def unpack(number: int, payload: bytes) -> bytes:
    """Give a payload as it was before it was stored.

    Raises:
        ValueError: It cannot have been stored like this.
    """
    packing = number >> _KIND_BITS
    if packing == _AS_IT_IS:
        return payload
    if packing != _DICTIONARY_1:
        raise ValueError(f"payloads are not packed in way {packing}")
    try:
        return _codecs.decompressor.decompress(payload)
    except zstandard.ZstdError as error:
        raise ValueError("a payload cannot be decompressed") from error


def kind_of(number: int) -> int:
    """Give the number of the kind of a payload out of the number that is stored."""
    return number & _KIND_MASK

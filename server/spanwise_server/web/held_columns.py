"""Columns that were made, compressed, in memory."""

import json
import time
import zlib
from typing import Any, NamedTuple

from spanwise_server.service.kept_trees import PartedTree, StoredTree
from spanwise_server.service.keyed_turns import KeyedTurns
from spanwise_server.service.latest import Latest
from spanwise_server.web.columns import HEAD_BYTES, encode_columns

MAX_HELD_BYTES = 2**26
"""Of columns in memory: those of ten executions of 200,000 spans."""

LEVEL = 1
"""Of gzip. Higher ones take several times as long for a tenth less."""

_GZIP = 16 + zlib.MAX_WBITS


class HeldColumns(NamedTuple):
    """Columns of an execution.

    Attributes:
        fingerprint: That of the tree that they show.
        execution_keys: Executions that they depend on.
        stale_at_ns: When another span will be stale; None for never.
        revision: As in the header.
        phase: Name of the phase of the execution.
        has_ended: Whether it has an end.
        num_spans: Number of spans.
        compressed: Columns as gzip writes them.
    """

    fingerprint: str
    execution_keys: frozenset[bytes]
    stale_at_ns: int | None
    revision: str
    phase: str
    has_ended: bool
    num_spans: int
    compressed: bytes

    def shows(self, fingerprint: str, as_of_ns: int) -> bool:
        """Tell whether they are what would be made of the tree of that fingerprint at a moment."""
        is_same = self.fingerprint == fingerprint
        return is_same and (self.stale_at_ns is None or as_of_ns < self.stale_at_ns)


class ColumnStore:
    """Makes columns of trees, and holds the latest. Blocking; safe for several threads.

    Attributes:
        turns: Taken while columns of the execution of a key are made.
    """

    def __init__(self, stale_after_ns: int) -> None:
        """Hold none. Spans are stale after a silence of `stale_after_ns`."""
        self._stale_after_ns = stale_after_ns
        self._latest: Latest[HeldColumns] = Latest(MAX_HELD_BYTES)
        self.turns = KeyedTurns()

    def find(self, key: bytes) -> HeldColumns | None:
        """Give the columns of the execution of that key that were made last, if they are held."""
        return self._latest.find(key)

    def make(self, key: bytes, tree: PartedTree, as_of_ns: int) -> HeldColumns:
        """Give columns of a tree, and hold them in the place of those before.

        Those that are held, or were kept with the tree, are not made again.

        Args:
            key: Key of the execution.
            tree: Its tree.
            as_of_ns: Moment that the tree was built for.
        """
        with self.turns.take(key):
            held = self.find(key)
            if held is not None and held.shows(tree.fingerprint, as_of_ns):
                return held
            compressed = tree.read_columns() if isinstance(tree, StoredTree) else b""
            stale_at_ns = None
            if not compressed:
                pieces, silent_since_ns = encode_columns(tree, as_of_ns)
                compressed = compress(pieces)
                if silent_since_ns is not None:
                    stale_at_ns = silent_since_ns + self._stale_after_ns + 1
            header = read_header(compressed)
            held = HeldColumns(
                tree.fingerprint,
                tree.execution_keys,
                stale_at_ns,
                header["revision"],
                header["phase"],
                header["end_ns"] is not None,
                header["num_spans"],
                compressed,
            )
            self._latest.hold(key, held, len(compressed))
            return held

    def make_compressed(self, key: bytes, tree: PartedTree) -> bytes:
        """Give columns of a tree that is the same at every moment, as make() does."""
        return self.make(key, tree, time.time_ns()).compressed

    def drop(self, key: bytes) -> None:
        """Forget what is held of an execution."""
        self._latest.drop(key)


def compress(pieces: list[bytes]) -> bytes:
    """Give pieces as one stream of gzip, the same bytes at any time; the list is used up."""
    writer = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
    pieces.reverse()
    compressed = []
    while pieces:
        compressed.append(writer.compress(pieces.pop()))
    return b"".join([*compressed, writer.flush()])


def read_header(compressed: bytes) -> dict[str, Any]:
    """Give the header of compressed columns without decompressing what follows it."""
    reader = zlib.decompressobj(_GZIP)
    head = reader.decompress(compressed, HEAD_BYTES)
    size_bytes = int.from_bytes(head[-4:], "little")
    text = reader.decompress(reader.unconsumed_tail, size_bytes)
    header: dict[str, Any] = json.loads(text)
    return header

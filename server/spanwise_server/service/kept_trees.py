"""Span trees in parts, as they are sent, and how those of finished executions are kept.

A tree of tens of thousands of nodes takes seconds to build and hardly any time to send. So its
parts go into the database once the execution has ended, for every process to read. What is kept
counts only while the versions of everything in it are those that it was made of: an event, a
registration or a binding that any process took is never missed.
"""

import secrets
import struct
import time
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from itertools import accumulate
from typing import NamedTuple, Protocol

import zstandard

from spanwise_server.domain.errors import CorruptRecord, StoreUnavailable
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import ExecutionVersion, KeptChunk, KeptTree

LEVEL = 1
"""Of zstd. It takes a quarter of the time of zlib's lowest one, for a third less."""

COLUMNS_CHUNK_BYTES = 2**19
"""Of a chunk of columns: about what one of spans takes, compressed."""

ID_START_BYTES = 3
"""Of the beginning of a span's id, which tells where in a tree it may be. Ids are hashes: among
600,000, those of 50,000 nodes, one look-up in 28 finds a place too many."""

_ID_STARTS_CHUNK_BYTES = ID_START_BYTES * 2**17

_FETCHED_CHUNKS = 16
"""Chunks of one statement: a few megabytes. Of the first one it is one, which may be enough."""

_VERSION = struct.Struct("<16sq16sqq")
_UNKNOWN = -1


class TreePart(NamedTuple):
    """A stretch of a tree in pre-order.

    Attributes:
        payload: Its spans, encoded.
        depths: For each span the levels between it and the root of the tree.
        descendants: For each span the number of spans below it, which follow it at once.
        id_starts: For each span the first ID_START_BYTES of its id. Empty where the tree was kept,
            which has those of all parts in one place.
    """

    payload: bytes
    depths: "array[int]"
    descendants: "array[int]"
    id_starts: bytes = b""


class TreeBasis(NamedTuple):
    """What a tree was made of.

    Attributes:
        execution_keys: The execution, those that it started, at any level, and those that are named
            there and may still come.
        versions: Versions of the known ones of them.
    """

    execution_keys: frozenset[bytes]
    versions: Mapping[bytes, ExecutionVersion]

    def encode(self) -> bytes:
        """Give the same bytes for the same basis."""
        return b"".join(
            _VERSION.pack(key, _UNKNOWN, b"", 0, 0)
            if (version := self.versions.get(key)) is None
            else _VERSION.pack(
                key,
                version.last_sequence,
                version.workflow_key,
                version.registered_at_ns or 0,
                version.last_recorded_at_ns,
            )
            for key in sorted(self.execution_keys)
        )

    @property
    def fingerprint(self) -> str:
        """Tells this basis from any other one of its execution, in 16 characters."""
        return _fingerprint(self.encode())


class PartedTree(Protocol):
    """A tree in parts."""

    @property
    def fingerprint(self) -> str:
        """Tells this tree from any other one of its execution."""

    @property
    def execution_keys(self) -> frozenset[bytes]:
        """Give the executions that it depends on, as those of a TreeBasis."""

    @property
    def starts(self) -> Sequence[int]:
        """Give the place in the tree of the first span of each part, and that after the last."""

    def parts(self, first: int) -> Iterator[TreePart]:
        """Give the parts from number `first` on."""

    def find_places(self, span_id: bytes) -> Iterator[int]:
        """Give the places of spans whose ids begin as this one, ascending. They are few."""


class BuiltTree:
    """A PartedTree in memory, where it is packed: that takes a fifth of the bytes, or less."""

    def __init__(self, basis: TreeBasis, parts: Iterable[TreePart]) -> None:
        """Take the parts of a tree as they are made."""
        self.basis = basis
        self.fingerprint = basis.fingerprint
        self.execution_keys = basis.execution_keys
        self._packed = [part._replace(payload=_pack(part.payload)) for part in parts]
        self.starts = _starts([len(part.depths) for part in self._packed])
        self.size_bytes = sum(map(_size_bytes, self._packed))

    def parts(self, first: int) -> Iterator[TreePart]:
        """See PartedTree."""
        for part in self._packed[first:]:
            yield part._replace(payload=_unpack(part.payload))

    def find_places(self, span_id: bytes) -> Iterator[int]:
        """See PartedTree."""
        for before, part in zip(self.starts, self._packed, strict=False):
            for index in _find_start(part.id_starts, span_id):
                yield before + index

    def packed_parts(self) -> Iterator[TreePart]:
        """Give all parts as they are kept: the payload of each is packed."""
        yield from self._packed


class StoredTree:
    """A PartedTree that is read part by part. Blocking."""

    def __init__(self, storage: Storage, record: KeptTree) -> None:
        """Read the chunks of `record` from `storage`."""
        self.fingerprint = _fingerprint(record.basis)
        self._storage = storage
        self._record = record

    @cached_property
    def execution_keys(self) -> frozenset[bytes]:
        """See PartedTree."""
        return _execution_keys(self._record.basis)

    @cached_property
    def starts(self) -> Sequence[int]:
        """See PartedTree."""
        return _starts([size for size in self._chunk_spans if size])

    @property
    def num_chunks(self) -> int:
        """Give the number of chunks: of its parts, of beginnings of ids, and of its columns."""
        return len(self._chunk_spans)

    @cached_property
    def _first_of_columns(self) -> int:
        id_bytes = self.starts[-1] * ID_START_BYTES
        return len(self.starts) - 1 + -(-id_bytes // _ID_STARTS_CHUNK_BYTES)

    @cached_property
    def _chunk_spans(self) -> "array[int]":
        return array("I", self._record.chunk_spans)

    def read_columns(self) -> bytes:
        """Give the columns that were kept with it; empty where there are none.

        Raises as parts().
        """
        chunks = self._chunks(self._first_of_columns, self.num_chunks)
        return b"".join([chunk.payload for chunk in chunks])

    def parts(self, first: int) -> Iterator[TreePart]:
        """See PartedTree.

        Raises:
            StoreUnavailable: The tree was replaced or removed meanwhile.
        """
        return map(_to_part, self._chunks(first, len(self.starts) - 1))

    def find_places(self, span_id: bytes) -> Iterator[int]:
        """See PartedTree. Raises as parts()."""
        before = 0
        for chunk in self._chunks(len(self.starts) - 1, self._first_of_columns):
            for index in _find_start(chunk.payload, span_id):
                yield before + index
            before += len(chunk.payload) // ID_START_BYTES

    def _chunks(self, first: int, end: int) -> Iterator[KeptChunk]:
        limit = 1
        while first < end:
            with self._storage.read() as reader:
                chunks = reader.list_kept_chunks(
                    self._record.execution_key, self._record.generation, first=first, limit=limit
                )
            if [chunk.number for chunk in chunks] != list(range(first, first + limit)):
                raise StoreUnavailable("the execution changed while it was read; read it again")
            yield from chunks
            first += limit
            limit = min(_FETCHED_CHUNKS, end - first)


class KeptTrees:
    """Keeps trees in the database. Blocking; safe for several threads and processes."""

    def __init__(
        self,
        storage: Storage,
        maker: str,
        make_columns: Callable[[bytes, PartedTree], bytes] | None = None,
    ) -> None:
        """Keep trees in `storage`, and know only those that the program `maker` built.

        With a tree the columns are kept that `make_columns` gives for it and its execution.
        """
        self._storage = storage
        self._maker = maker
        self._make_columns = make_columns

    def find(self, execution_key: bytes) -> StoredTree | None:
        """Give the kept tree of an execution if it is the one that would be built now."""
        with self._storage.read() as reader:
            record = reader.get_kept_tree(execution_key)
            if record is None or record.maker != self._maker:
                return None
            keys = _execution_keys(record.basis)
            basis = TreeBasis(keys, reader.get_versions(keys))
            num_chunks = reader.count_kept_chunks(execution_key, record.generation)
        found = StoredTree(self._storage, record)
        if basis.encode() != record.basis or num_chunks != found.num_chunks:
            return None
        return found

    def keep(self, execution_key: bytes, tree: BuiltTree) -> None:
        """Keep a tree in the place of the one before. Each part is a transaction of its own.

        Ends early when something in it is no longer what it was made of: nobody would find it, and
        what was deleted meanwhile must not come back.

        Raises:
            StoreUnavailable: The database is away. Nothing changes for readers.
            WriteConflict: Other writers did not let it through. As above.
        """
        generation = secrets.randbits(62)
        sequences = {
            key: version.last_sequence
            for key, version in tree.basis.versions.items()
            if version.last_sequence
        }
        columns = self._make_columns(execution_key, tree) if self._make_columns else b""
        sizes = [end - start for start, end in zip(tree.starts, tree.starts[1:], strict=False)]
        for number, (outline, payload) in enumerate(_contents(tree, columns)):
            chunk = KeptChunk(execution_key, generation, number, outline, payload)
            if not self._storage.write(partial(_add_chunk, chunk, sequences)):
                return
            if number == len(sizes):
                sizes.append(0)  # a chunk without spans
        record = KeptTree(
            execution_key,
            generation,
            self._maker,
            time.time_ns(),
            tree.basis.encode(),
            array("I", sizes).tobytes(),
        )
        self._storage.write(partial(_put_tree, record, len(sizes), sequences))


def _put_tree(
    record: KeptTree,
    num_chunks: int,
    sequences: Mapping[bytes, int],
    transaction: WriteTransaction,
) -> None:
    """Store the row of a tree if all of its chunks are there, and executions as they were.

    Another process that kept the same tree meanwhile has removed what was there of this one.
    """
    key, generation = record.execution_key, record.generation
    if (
        _lock_unchanged(transaction, key, sequences)
        and transaction.count_kept_chunks(key, generation) == num_chunks
    ):
        transaction.put_kept_tree(record)


def _add_chunk(
    chunk: KeptChunk, sequences: Mapping[bytes, int], transaction: WriteTransaction
) -> bool:
    """Store a chunk if executions have still the last events that they had, and say whether."""
    if not _lock_unchanged(transaction, chunk.execution_key, sequences):
        return False
    transaction.add_kept_chunk(chunk)
    return True


def _lock_unchanged(
    transaction: WriteTransaction, execution_key: bytes, sequences: Mapping[bytes, int]
) -> bool:
    """Keep writers of executions out, and say whether their last events are still these."""
    transaction.lock_executions({execution_key, *sequences})
    return transaction.get_last_sequences(sequences) == sequences


def _starts(sizes: Collection[int]) -> list[int]:
    return list(accumulate(sizes, initial=0))


def _fingerprint(basis: bytes) -> str:
    return sha256(basis).hexdigest()[:16]


def _execution_keys(basis: bytes) -> frozenset[bytes]:
    return frozenset(key for key, *_ in _VERSION.iter_unpack(basis))


def _size_bytes(part: TreePart) -> int:
    payload, depths, descendants, id_starts = part
    outline_bytes = len(depths) * depths.itemsize + len(descendants) * descendants.itemsize
    return len(payload) + outline_bytes + len(id_starts)


def _pack(content: bytes) -> bytes:
    # Each has its own: they are not made for several threads.
    return zstandard.ZstdCompressor(LEVEL).compress(content)


def _unpack(packed: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(packed)


def _find_start(id_starts: bytes, span_id: bytes) -> Iterator[int]:
    """Give which of the beginnings of ids are that of this one."""
    wanted = span_id[:ID_START_BYTES]
    found = id_starts.find(wanted)
    while found >= 0:
        if found % ID_START_BYTES == 0:  # and not the end of one and the beginning of the next
            yield found // ID_START_BYTES
        found = id_starts.find(wanted, found + 1)


def _contents(tree: BuiltTree, columns: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Give outlines and payloads of all chunks of a tree, in their order."""
    id_starts = bytearray()
    for part in tree.packed_parts():
        id_starts += part.id_starts
        yield _encode_part(part)
    # Neither of the two would get smaller: hashes, and what is compressed already.
    for content, chunk_bytes in (
        (bytes(id_starts), _ID_STARTS_CHUNK_BYTES),
        (columns, COLUMNS_CHUNK_BYTES),
    ):
        for start in range(0, len(content), chunk_bytes):
            yield b"", content[start : start + chunk_bytes]


def _encode_part(part: TreePart) -> tuple[bytes, bytes]:
    """Give the outline and the payload of the chunk of a part whose payload is packed."""
    outline = part.depths.tobytes() + part.descendants.tobytes()
    return _pack(outline), part.payload


def _to_part(chunk: KeptChunk) -> TreePart:
    try:
        outline = array("I", _unpack(chunk.outline))
        payload = _unpack(chunk.payload)
    except (zstandard.ZstdError, ValueError) as error:
        raise CorruptRecord("a chunk of a kept tree cannot be decoded") from error
    half = len(outline) // 2
    return TreePart(payload, outline[:half], outline[half:])

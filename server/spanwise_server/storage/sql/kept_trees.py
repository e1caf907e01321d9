"""The tables of kept span trees: their rows, and the statements on them."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Delete,
    Insert,
    LargeBinary,
    Select,
    bindparam,
    delete,
    func,
    select,
)

from spanwise_server.storage.records import KeptChunk, KeptTree
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.compiling import limited
from spanwise_server.storage.sql.connection import Connection, Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import decode
from spanwise_server.storage.sql.schema import KEPT_CHUNKS, KEPT_TREES

TREE_COLUMNS = (
    KEPT_TREES.c.execution_key,
    KEPT_TREES.c.generation,
    KEPT_TREES.c.maker,
    KEPT_TREES.c.kept_at_ns,
    KEPT_TREES.c.basis,
    KEPT_TREES.c.chunk_spans,
)

CHUNK_COLUMNS = (
    KEPT_CHUNKS.c.execution_key,
    KEPT_CHUNKS.c.generation,
    KEPT_CHUNKS.c.number,
    KEPT_CHUNKS.c.outline,
    KEPT_CHUNKS.c.payload,
)


def tree_to_row(record: KeptTree) -> Row:
    """Give the values of TREE_COLUMNS."""
    execution_key, generation, maker, kept_at_ns, basis, chunk_spans = record
    return (
        binary(execution_key),
        generation,
        maker,
        kept_at_ns,
        binary(basis),
        binary(chunk_spans),
    )


def trees_from_rows(rows: Iterable[Row]) -> list[KeptTree]:
    """Read rows of TREE_COLUMNS."""
    return decode("kept_trees", KeptTree._make, rows)


def chunk_to_row(record: KeptChunk) -> Row:
    """Give the values of CHUNK_COLUMNS."""
    execution_key, generation, number, outline, payload = record
    return binary(execution_key), generation, number, binary(outline), binary(payload)


def chunks_from_rows(rows: Iterable[Row]) -> list[KeptChunk]:
    """Read rows of CHUNK_COLUMNS."""
    return decode("kept_chunks", KeptChunk._make, rows)


def insert_chunk(database: Database) -> Insert:
    """Insert a chunk. Parameters: CHUNK_COLUMNS."""
    return dialect.insert(database, KEPT_CHUNKS, CHUNK_COLUMNS)


def insert_or_replace_tree(database: Database) -> Insert:
    """Insert or replace a tree. Parameters: TREE_COLUMNS."""
    return dialect.insert_or_replace(database, KEPT_TREES, TREE_COLUMNS)


def delete_other_chunks() -> Delete:
    """Delete the chunks of other trees of an execution. Parameters: execution_key, generation."""
    return delete(KEPT_CHUNKS).where(
        KEPT_CHUNKS.c.execution_key == bindparam("execution_key", type_=LargeBinary),
        KEPT_CHUNKS.c.generation != bindparam("generation", type_=BigInteger),
    )


GENERATION = ("execution_key", "generation")
"""Parameters that name the chunks of a tree."""


def select_number_of_chunks() -> Select[Any]:
    """Count the chunks of a tree. Parameters: GENERATION."""
    return select(func.count()).where(
        KEPT_CHUNKS.c.execution_key == bindparam("execution_key", type_=LargeBinary),
        KEPT_CHUNKS.c.generation == bindparam("generation", type_=BigInteger),
    )


def count_chunks(connection: Connection, text: str, key: bytes, generation: int) -> int:
    """Give what select_number_of_chunks(), which became `text`, counts."""
    [(num_chunks,)] = connection.fetch_all(text, (binary(key), generation))
    return int(num_chunks)


def select_tree() -> Select[Any]:
    """Read the tree of an execution. Parameter: execution_key. Rows: TREE_COLUMNS."""
    return select(*TREE_COLUMNS).where(
        KEPT_TREES.c.execution_key == bindparam("execution_key", type_=LargeBinary)
    )


def select_chunks() -> Select[Any]:
    """Read chunks of a tree, in order.

    Parameters: execution_key, generation, first, limit. Rows: CHUNK_COLUMNS.
    """
    return limited(
        select(*CHUNK_COLUMNS)
        .where(
            KEPT_CHUNKS.c.execution_key == bindparam("execution_key", type_=LargeBinary),
            KEPT_CHUNKS.c.generation == bindparam("generation", type_=BigInteger),
            KEPT_CHUNKS.c.number >= bindparam("first", type_=BigInteger),
        )
        .order_by(KEPT_CHUNKS.c.number)
    )

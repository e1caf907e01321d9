"""Everything in which databases differ, except how they report errors (errors.py).

Each function branches on the database; mypy points at all of them when one is added.
"""

from collections.abc import Collection, Sequence
from enum import Enum
from typing import Any, assert_never

from sqlalchemy import (
    URL,
    Column,
    ColumnElement,
    Dialect,
    FromClause,
    Insert,
    Select,
    Table,
    bindparam,
    func,
    make_url,
    or_,
    tuple_,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError


class Database(Enum):
    """A kind of database that spanwise can keep its data in. The value is its name in URLs."""

    SQLITE = "sqlite"


def parse_url(text: str) -> tuple[Database, URL]:
    """Split a database URL into the kind of database and the rest.

    Raises:
        ValueError: It is no URL, or names a database that is not supported.
    """
    try:
        url = make_url(text)
    except ArgumentError as exc:
        # The text may hold a password, so it is not repeated.
        raise ValueError("the database URL cannot be read: write sqlite:///PATH") from exc
    try:
        return Database(url.get_backend_name()), url
    except ValueError as exc:
        raise ValueError(
            f"databases of the kind {url.get_backend_name()!r} are not supported:"
            " write sqlite:///PATH"
        ) from exc


def compiler(database: Database) -> Dialect:
    """Give what turns a SQLAlchemy statement into the text that the driver takes."""
    if database is Database.SQLITE:
        return sqlite.dialect(paramstyle="qmark")
    assert_never(database)


def binary(value: bytes) -> bytearray:
    """Give bytes as a parameter.

    For every database: pysqlite binds a bytearray directly, but searches for an adapter first for
    bytes, at 0.4 µs a value; for other drivers, it makes no difference.
    """
    return bytearray(value)


def begin_write(database: Database) -> str:
    """Give the statement that opens a writing transaction."""
    if database is Database.SQLITE:
        # Takes the write lock at once. A deferred transaction would take it at its first write,
        # and all of its work would be lost when another process wrote since its first read.
        return "BEGIN IMMEDIATE"
    assert_never(database)


def begin_read(database: Database) -> str:
    """Give the statement that opens a transaction that reads one snapshot."""
    if database is Database.SQLITE:
        return "BEGIN DEFERRED"
    assert_never(database)


def begin_migration(database: Database) -> str:
    """Give the statement that keeps every other writer and migration out until the commit."""
    if database is Database.SQLITE:
        return "BEGIN EXCLUSIVE"
    assert_never(database)


def insert(database: Database, table: Table, columns: Sequence[Column[Any]]) -> Insert:
    """Build the insert of one row. It fails when the key is there."""
    return _insert(database, table, columns)


def insert_missing(database: Database, table: Table, columns: Sequence[Column[Any]]) -> Insert:
    """Build the insert of one row that does nothing when the key is there."""
    return _insert(database, table, columns).on_conflict_do_nothing()


def insert_or_replace(database: Database, table: Table, columns: Sequence[Column[Any]]) -> Insert:
    """Build the insert of one row, which takes the place of a row that has the key."""
    if database is Database.SQLITE:
        # Without other indexes, this only writes into the one tree, at half the cost of the
        # general form below.
        return _insert(database, table, columns).prefix_with("OR REPLACE")
    assert_never(database)


def insert_or_update(
    database: Database,
    table: Table,
    columns: Sequence[Column[Any]],
    *,
    keep: Collection[Column[Any]],
) -> Insert:
    """Build the insert of one row, or an update of all columns but `keep` when the key is there."""
    statement = _insert(database, table, columns)
    return statement.on_conflict_do_update(
        index_elements=table.primary_key.columns,
        set_={
            column.name: statement.excluded[column.name]
            for column in columns
            if not column.primary_key and column not in keep
        },
    )


def insert_or_merge(
    database: Database,
    table: Table,
    columns: Sequence[Column[Any]],
    *,
    least: Sequence[Column[Any]],
    greatest: Sequence[Column[Any]],
) -> Insert:
    """Build the insert of one row, or a merge into the row that has the key.

    The merge keeps the lesser values of `least`, the greater ones of `greatest`, and the rest as it
    is. A row that would not change is not written.
    """
    statement = _insert(database, table, columns)
    new = statement.excluded
    changes = or_(
        *(new[column.name] < column for column in least),
        *(new[column.name] > column for column in greatest),
    )
    return statement.on_conflict_do_update(
        index_elements=table.primary_key.columns,
        set_={column.name: lesser(database, column, new[column.name]) for column in least}
        | {column.name: greater(database, column, new[column.name]) for column in greatest},
        where=changes,
    )


def join_each(database: Database, outer: FromClause, table: Table, keys: Select[Any]) -> FromClause:
    """Join to each row of `outer` the rows of `table` that a select about it gives the keys of.

    Args:
        database: Kind of database.
        outer: What is joined to.
        table: What is joined.
        keys: Gives primary keys of `table`; refers to `outer`; may have an order and a limit.
    """
    if database is Database.SQLITE:
        # SQLite knows no LATERAL, but runs the select once for each row and then seeks the keys.
        return outer.join(table, tuple_(*table.primary_key.columns).in_(keys))
    assert_never(database)


def lesser(database: Database, one: ColumnElement[Any], other: ColumnElement[Any]) -> Any:
    """Build the lesser of two values of one row."""
    if database is Database.SQLITE:
        return func.min(one, other)
    assert_never(database)


def greater(database: Database, one: ColumnElement[Any], other: ColumnElement[Any]) -> Any:
    """Build the greater of two values of one row."""
    if database is Database.SQLITE:
        return func.max(one, other)
    assert_never(database)


def _insert(database: Database, table: Table, columns: Sequence[Column[Any]]) -> sqlite.Insert:
    values = {column.name: bindparam(column.name, type_=column.type) for column in columns}
    if database is Database.SQLITE:
        return sqlite.insert(table).values(values)
    assert_never(database)

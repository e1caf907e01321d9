"""Statements as text, compiled once.

SQLAlchemy builds the statements and the driver runs their text. Running them through SQLAlchemy as
well would cost more than SQLite does: about 20 µs a statement, a dozen statements a transaction.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Delete,
    Insert,
    Select,
    Update,
    bindparam,
    literal_column,
)

from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.connection import Connection, Row
from spanwise_server.storage.sql.dialect import Database, binary, compiler

T = TypeVar("T")


class Statement(NamedTuple):
    """A statement and the names of its parameters, in the order in which the driver wants them."""

    text: str
    parameters: tuple[str, ...]

    def arrange(self, values_by_name: Mapping[str, Any]) -> list[Any]:
        """Give the values of the parameters. A name may stand for several; others are left out."""
        return [values_by_name[name] for name in self.parameters]


def compile_statement(
    database: Database, statement: Select[Any] | Insert | Update | Delete
) -> Statement:
    """Give the text of a statement."""
    compiled = statement.compile(dialect=compiler(database))
    return Statement(str(compiled), tuple(compiled.positiontup or ()))


def compile_text(
    database: Database,
    statement: Select[Any] | Insert | Update | Delete,
    parameters: Sequence[str],
) -> str:
    """Give the text of a statement that takes these parameters, in this order.

    Raises:
        RuntimeError: It takes others, or in another order; values would go into wrong places.
    """
    text, actual = compile_statement(database, statement)
    if actual != tuple(parameters):
        raise RuntimeError(f"a statement takes the parameters {actual}")
    return text


class RowInsert(NamedTuple):
    """An insert of rows of some columns, of which the first make up the key."""

    text: str
    num_keys: int


def compile_insert(
    database: Database, statement: Insert, columns: Sequence[Column[Any]]
) -> RowInsert:
    """Give an insert that takes rows of these columns."""
    text = compile_text(database, statement, [column.name for column in columns])
    return RowInsert(text, sum(column.primary_key for column in columns))


def limited(statement: Select[Any]) -> Select[Any]:
    """Build the select of the first rows only: as many as the parameter `limit` says."""
    # SQLAlchemy writes an OFFSET for SQLite in any case, with a parameter where it is not given.
    limit = bindparam("limit", type_=BigInteger)
    return statement.limit(limit).offset(literal_column("0"))


class KeyLookup:
    """A select by a list of keys.

    A handful of texts serves every list, so that the statement caches of the drivers keep them.
    """

    def __init__(
        self,
        database: Database,
        build: Callable[[Database, int], Select[Any]],
        num_columns: int,
        more: tuple[str, ...] = (),
        max_keys: int | None = None,
    ) -> None:
        """Prepare for look-ups.

        Args:
            database: Kind of database.
            build: Builds the select for a number of keys.
            num_columns: Columns of a key.
            more: Names of the parameters that the select takes after the keys.
            max_keys: Keys that the select takes at once; None: as many as any.
        """
        self._database = database
        self._build = build
        self._more = more
        self._max_keys = max_keys or dialect.MAX_PARAMETERS // num_columns
        self._statements: dict[int, Statement] = {}

    def fetch(self, connection: Connection, keys: Sequence[Row]) -> Sequence[Row]:
        """Give the rows under these keys, in no order, more than once for a repeated key."""
        if len(keys) <= self._max_keys:
            return connection.fetch_all(*self._arrange(keys)) if keys else ()
        return [
            row
            for start in range(0, len(keys), self._max_keys)
            for row in connection.fetch_all(*self._arrange(keys[start : start + self._max_keys]))
        ]

    def read(
        self,
        connection: Connection,
        keys: Sequence[Row],
        consume: Callable[[Iterable[Row]], T],
        more: Row = (),
    ) -> T:
        """Give what `consume` makes of these rows, which it gets as Connection.read gives them.

        Args:
            connection: Connection.
            keys: Keys.
            consume: Takes the rows once, or once an empty list.
            more: Values of the parameters after the keys, in the order of their names.
        """
        if not keys:
            return consume(())
        if len(keys) <= self._max_keys:
            return connection.read(*self._arrange(keys, more), consume)
        return consume(
            row
            for start in range(0, len(keys), self._max_keys)
            for row in connection.fetch_all(
                *self._arrange(keys[start : start + self._max_keys], more)
            )
        )

    def _arrange(self, keys: Sequence[Row], more: Row = ()) -> tuple[str, list[Any]]:
        """Give a text that takes at least these keys, and its parameters."""
        size = min(dialect.lookup_size(self._database, len(keys)), self._max_keys)
        statement = self._statements.get(size)
        if statement is None:
            statement = self._statements[size] = self.compile(size)
        values = dict(zip(self._more, more, strict=True))
        return statement.text, list(
            dialect.lookup_parameters(self._database, keys, size, statement.parameters, values)
        )

    def compile(self, size: int) -> Statement:
        """Give the statement that takes a number of keys."""
        return compile_statement(self._database, self._build(self._database, size))


def single_keys(keys: Iterable[bytes]) -> list[Row]:
    """Give the keys of a look-up by one binary column."""
    return [(binary(key),) for key in keys]

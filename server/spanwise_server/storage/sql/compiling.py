"""Statements as text, compiled once.

SQLAlchemy builds the statements and the driver runs their text. Running them through SQLAlchemy as
well would cost more than SQLite does: about 20 µs a statement, a dozen statements a transaction.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    CTE,
    BigInteger,
    Column,
    Delete,
    Insert,
    Select,
    bindparam,
    column,
    literal_column,
    values,
)

from spanwise_server.storage.sql.connection import Connection, Row
from spanwise_server.storage.sql.dialect import Database, binary, compiler

T = TypeVar("T")

_MAX_PARAMETERS = 16_384
"""Parameters of one statement; SQLite takes 32,766."""


class Statement(NamedTuple):
    """A statement and the names of its parameters, in the order in which the driver wants them."""

    text: str
    parameters: tuple[str, ...]

    def arrange(self, values_by_name: Mapping[str, Any]) -> list[Any]:
        """Give the values of the parameters. A name may stand for several; others are left out."""
        return [values_by_name[name] for name in self.parameters]


def compile_statement(database: Database, statement: Select[Any] | Insert | Delete) -> Statement:
    """Give the text of a statement."""
    compiled = statement.compile(dialect=compiler(database))
    return Statement(str(compiled), tuple(compiled.positiontup or ()))


def compile_text(
    database: Database, statement: Select[Any] | Insert | Delete, parameters: Sequence[str]
) -> str:
    """Give the text of a statement that takes these parameters, in this order.

    Raises:
        RuntimeError: It takes others, or in another order; values would go into wrong places.
    """
    text, actual = compile_statement(database, statement)
    if actual != tuple(parameters):
        raise RuntimeError(f"a statement takes the parameters {actual}")
    return text


def compile_insert(database: Database, statement: Insert, columns: Sequence[Column[Any]]) -> str:
    """Give the text of an insert that takes a row of these columns."""
    return compile_text(database, statement, [column.name for column in columns])


def limited(statement: Select[Any]) -> Select[Any]:
    """Build the select of the first rows only: as many as the parameter `limit` says."""
    # SQLAlchemy writes an OFFSET for SQLite in any case, with a parameter where it is not given.
    limit = bindparam("limit", type_=BigInteger)
    return statement.limit(limit).offset(literal_column("0"))


def wanted_keys(columns: Sequence[Column[Any]], num_keys: int) -> CTE:
    """Build a table of keys, given as parameters, that a select can join."""
    return (
        values(*(column(key.name, key.type) for key in columns), name="wanted")
        .data(
            [
                tuple(bindparam(None, type_=key.type, required=True) for key in columns)
                for _ in range(num_keys)
            ]
        )
        .cte("wanted")
    )


class KeyLookup:
    """A select by a list of keys.

    Compiled for few lengths of list, and filled up with keys that nothing has, so that a handful of
    texts serves every list and the statement caches of the drivers keep them.
    """

    def __init__(
        self,
        database: Database,
        build: Callable[[int], Select[Any]],
        num_columns: int,
        more: tuple[str, ...] = (),
    ) -> None:
        """Prepare for look-ups.

        Args:
            database: Kind of database.
            build: Builds the select for a number of keys.
            num_columns: Columns of a key.
            more: Names of the parameters that the select takes after the keys.
        """
        self._database = database
        self._build = build
        self._more = more
        self._nothing: tuple[None, ...] = (None,) * num_columns
        self._max_keys = _MAX_PARAMETERS // num_columns
        self._texts: dict[int, str] = {}

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
            more: Values of the parameters after the keys.
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
        num_keys = min(_rounded_up(len(keys)), self._max_keys)
        text = self._texts.get(num_keys)
        if text is None:
            text = self._texts[num_keys] = self._compile(num_keys)
        missing = repeat(self._nothing, num_keys - len(keys))
        return text, [*chain.from_iterable(keys), *chain.from_iterable(missing), *more]

    def _compile(self, num_keys: int) -> str:
        text, parameters = compile_statement(self._database, self._build(num_keys))
        after_keys = parameters[num_keys * len(self._nothing) :]
        if after_keys != self._more:
            raise RuntimeError(f"a look-up takes the parameters {after_keys} after its keys")
        return text


def single_keys(keys: Iterable[bytes]) -> list[Row]:
    """Give the keys of a look-up by one binary column."""
    return [(binary(key),) for key in keys]


def _rounded_up(number: int) -> int:
    """Give the next of 1, 2, 3, 4, 6, 8, 12, 16, 24, …: at most half more than the number."""
    power = 1 << (number - 1).bit_length()
    three_quarters = power - power // 4
    return three_quarters if number <= three_quarters else power

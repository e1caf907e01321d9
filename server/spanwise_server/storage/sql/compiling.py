"""Statements as text, compiled once.

SQLAlchemy builds the statements and the driver runs their text. Running them through SQLAlchemy as
well would cost more than SQLite does: about 20 µs a statement, a dozen statements a transaction.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

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
    """A select by a list of keys, each an execution key and some integers.

    Compiled for few lengths of list, and filled up with keys that nothing has, so that a handful of
    texts serves every list and the statement caches of the drivers keep them.
    """

    def __init__(
        self, database: Database, build: Callable[[int], Select[Any]], num_columns: int
    ) -> None:
        """Take how the select is built for a number of keys, and the columns of a key."""
        self._database = database
        self._build = build
        self._nothing: tuple[Any, ...] = (binary(b""), *(0,) * (num_columns - 1))
        self._max_keys = _MAX_PARAMETERS // num_columns
        self._texts: dict[int, str] = {}

    def fetch(self, connection: Connection, keys: Sequence[Row]) -> Sequence[Row]:
        """Give the rows under these keys, in no order, more than once for a repeated key."""
        if len(keys) <= self._max_keys:
            return self._fetch_some(connection, keys) if keys else ()
        return [
            row
            for start in range(0, len(keys), self._max_keys)
            for row in self._fetch_some(connection, keys[start : start + self._max_keys])
        ]

    def _fetch_some(self, connection: Connection, keys: Sequence[Row]) -> Sequence[Row]:
        num_keys = min(_rounded_up(len(keys)), self._max_keys)
        text = self._texts.get(num_keys)
        if text is None:
            text = compile_statement(self._database, self._build(num_keys)).text
            self._texts[num_keys] = text
        parameters = [
            *chain.from_iterable(keys),
            *chain.from_iterable(repeat(self._nothing, num_keys - len(keys))),
        ]
        return connection.fetch_all(text, parameters)


def _rounded_up(number: int) -> int:
    """Give the next of 1, 2, 3, 4, 6, 8, 12, 16, 24, …: at most half more than the number."""
    power = 1 << (number - 1).bit_length()
    three_quarters = power - power // 4
    return three_quarters if number <= three_quarters else power

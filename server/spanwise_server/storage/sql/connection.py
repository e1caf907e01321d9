"""Connections of drivers that raise the errors of the domain."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import PoolProxiedConnection

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.storage.sql.engine import check_file
from spanwise_server.storage.sql.errors import DRIVER_ERRORS, translate

T = TypeVar("T")

Row = tuple[Any, ...]

_STREAM_ROWS = 500
"""Rows that a stream holds at a time: enough to make a fetch cheap, with small payloads well below
a megabyte."""


class Connection:
    """One connection for one transaction, used by one thread. As it stands, one to SQLite."""

    def __init__(self, driver: PoolProxiedConnection) -> None:
        self._driver = driver

    def check_file(self) -> None:
        """Fail when what is written would be lost with the process: see engine.check_file."""
        check_file(self._driver.driver_connection)

    def execute(self, text: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement without result."""
        try:
            self._driver.cursor().execute(text, parameters)
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def commit(self) -> None:
        """Make durable what was written.

        Raises:
            StoreUnavailable: It may have become so all the same.
        """
        try:
            self.execute("COMMIT")
        except StoreUnavailable as exc:
            raise StoreUnavailable(
                f"{exc}; it happened during the commit, so what was sent may be stored or not"
            ) from exc

    def end_read(self) -> None:
        """End a transaction that has read what it wanted. Who gives the connection back does it."""

    def insert_rows(self, text: str, num_keys: int, rows: Sequence[Row]) -> None:  # noqa: ARG002
        """Insert rows with a statement for such rows.

        Args:
            text: Statement.
            num_keys: How many values make up the key of a row; they come first.
            rows: Rows. Of several with one key the later ones are inserted later.
        """
        try:
            self._driver.cursor().executemany(text, rows)
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def fetch_all(self, text: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """Run a select and give all rows."""
        try:
            cursor = self._driver.cursor()
            cursor.execute(text, parameters)
            return cursor.fetchall()
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def read(
        self, text: str, parameters: Sequence[Any], consume: Callable[[Iterable[Row]], T]
    ) -> T:
        """Run a select and give what `consume` makes of its rows.

        It gets them one at a time, so that not all rows of a large execution are in memory beside
        what is made of them.
        """
        try:
            cursor = self._driver.cursor()
            cursor.execute(text, parameters)
            return consume(cursor)  # type: ignore[arg-type] # every cursor can be iterated
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def stream(self, text: str, parameters: Sequence[Any]) -> Iterator[Sequence[Row]]:
        """Run a select and give its rows in bounded pieces. Other statements may run meanwhile."""
        try:
            cursor = self._driver.cursor()
            try:
                cursor.execute(text, parameters)
                while rows := cursor.fetchmany(_STREAM_ROWS):
                    yield rows
            finally:
                cursor.close()
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def release(self) -> None:
        """Refuse further use: another transaction may get the connection of the driver."""
        del self._driver


class PostgresConnection(Connection):
    """A connection to PostgreSQL."""

    def end_read(self) -> None:
        """See Connection."""
        # psycopg takes a ROLLBACK for a reason to forget all prepared statements. What was read
        # stays right if the server has gone away meanwhile.
        with suppress(StoreUnavailable):
            self.execute("COMMIT")

    def insert_rows(self, text: str, num_keys: int, rows: Sequence[Row]) -> None:
        """See Connection. One statement, or as many as there are rows with the same key."""
        for distinct in _distinct(rows, num_keys):
            self.execute(text, list(zip(*distinct, strict=True)))

    def stream(self, text: str, parameters: Sequence[Any]) -> Iterator[Sequence[Row]]:
        """See Connection."""
        # Without a name, the whole result would be sent before the first row of it is given.
        name: Any = "stream"
        try:
            cursor = self._driver.cursor(name)
            try:
                cursor.execute(text, parameters)
                while rows := cursor.fetchmany(_STREAM_ROWS):
                    yield rows
            finally:
                cursor.close()
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc


def _distinct(rows: Sequence[Row], num_keys: int) -> Iterator[Sequence[Row]]:
    """Part rows so that none of a part have one key: PostgreSQL writes a row once a statement."""
    while rows:
        first: dict[Row, Row] = {}
        later = []
        for row in rows:
            key = tuple(map(bytes, row[:1])) + row[1:num_keys]
            if first.setdefault(key, row) is not row:
                later.append(row)
        yield list(first.values())
        rows = later

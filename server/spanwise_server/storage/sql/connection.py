"""A connection of a driver that raises the errors of the domain."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import PoolProxiedConnection

from spanwise_server.storage.sql.engine import check_file
from spanwise_server.storage.sql.errors import DRIVER_ERRORS, translate

T = TypeVar("T")

Row = tuple[Any, ...]

_STREAM_ROWS = 500
"""Rows that a stream holds at a time: enough to make a fetch cheap, with small payloads well below
a megabyte."""


class Connection:
    """One connection for one transaction, used by one thread."""

    def __init__(self, driver: PoolProxiedConnection) -> None:
        self._driver = driver

    def check_file(self) -> None:
        """Fail when what is written would be lost with the process: see engine.check_file."""
        check_file(self._driver.driver_connection)

    def execute(self, text: str) -> None:
        """Run a statement without parameters or result."""
        try:
            self._driver.cursor().execute(text)
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def execute_many(self, text: str, rows: Sequence[Row]) -> None:
        """Run a statement once for each row of parameters."""
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

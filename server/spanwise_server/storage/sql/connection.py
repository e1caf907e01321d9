"""Connections of drivers that raise the errors of the domain."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy import PoolProxiedConnection

from spanwise_server.domain.errors import StoreUnavailable, WriteConflict
from spanwise_server.storage.sql.engine import check_file
from spanwise_server.storage.sql.errors import DRIVER_ERRORS, translate

if TYPE_CHECKING:  # needs psycopg, which may not be there
    from spanwise_server.storage.sql.postgresql import PsycopgConnection


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

    def begin(self, text: str) -> None:
        """Begin the transaction with a statement that does it."""
        self.execute(text)

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
            self._driver.cursor().execute("COMMIT")
        except DRIVER_ERRORS as exc:
            raise _of_commit(translate(exc)) from exc

    def lift_limits(self) -> None:
        """Let the statements of this transaction take any time."""

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

    def change(self, text: str, parameters: Sequence[Any]) -> int:
        """Run a statement that changes rows, and give their number."""
        try:
            cursor = self._driver.cursor()
            cursor.execute(text, parameters)
            return int(cursor.rowcount)
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

    def scrub(self, tables: Sequence[str]) -> None:  # noqa: ARG002 - it is in the log of all
        """Do what Storage.scrub() promises, once, for some tables. No transaction may be open.

        Raises:
            WriteConflict: Others use what would have to go.
        """
        # Rows are overwritten when they are deleted (engine.py), but what was written before is
        # still in the write-ahead log, until all of that is in the file and the log is cut off.
        [(is_busy, _, _)] = self.fetch_all("PRAGMA wal_checkpoint(TRUNCATE)", ())
        if is_busy:
            raise WriteConflict("others read or write the database all the time")

    def release(self) -> None:
        """Refuse further use: another transaction may get the connection of the driver."""
        del self._driver


class PostgresConnection(Connection):
    """A connection to PostgreSQL.

    Statements are sent without waiting for the answers to those before, until a result is wanted. A
    statement may so raise what went wrong with an earlier one of its transaction.
    """

    def __init__(self, driver: PoolProxiedConnection) -> None:
        super().__init__(driver)
        self._pipeline = ExitStack()
        self._psycopg = cast("PsycopgConnection", driver.driver_connection)
        self._limit_s = self._psycopg.limit_s

    def begin(self, text: str) -> None:
        """See Connection."""
        try:
            self._pipeline.enter_context(self._psycopg.pipeline())
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc
        self.execute(text)

    def execute(self, text: str, parameters: Sequence[Any] = ()) -> None:
        """See Connection."""
        super().execute(text, parameters)
        try:
            self._psycopg.send_all()
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def commit(self) -> None:
        """See Connection."""
        try:
            cursor = self._psycopg.execute("COMMIT", prepare=False)
            with self._psycopg.pipeline() as pipeline:
                pipeline.sync()
        except DRIVER_ERRORS as exc:
            raise _of_commit(translate(exc)) from exc
        if cursor.statusmessage != "COMMIT":
            raise RuntimeError(f"a commit ended as {cursor.statusmessage}")

    def lift_limits(self) -> None:
        """See Connection."""
        self.execute("SET LOCAL statement_timeout = 0")
        self._psycopg.limit_s = None

    def end_read(self) -> None:
        """See Connection."""
        # psycopg takes a ROLLBACK for a reason to forget all prepared statements. What was read
        # stays right if the server has gone away meanwhile.
        with suppress(*DRIVER_ERRORS):
            self._psycopg.execute("COMMIT", prepare=False)

    def insert_rows(self, text: str, num_keys: int, rows: Sequence[Row]) -> None:
        """See Connection. One statement, or as many as there are rows with the same key."""
        for distinct in _distinct(rows, num_keys):
            self.execute(text, list(zip(*distinct, strict=True)))

    def change(self, text: str, parameters: Sequence[Any]) -> int:
        """See Connection."""
        try:
            cursor = self._psycopg.execute(text, parameters)
            with self._psycopg.pipeline() as pipeline:
                pipeline.sync()
            return int(cursor.rowcount)
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def scrub(self, tables: Sequence[str]) -> None:
        """See Connection. Takes as long as it takes, and uses the connection up."""
        driver = cast("PsycopgConnection", self._driver.driver_connection)
        driver.limit_s = None
        try:
            driver.execute("SET statement_timeout = 0", prepare=False)
            driver.execute(f"VACUUM {', '.join(tables)}".encode(), prepare=False)
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc
        finally:
            self._driver.invalidate()  # others would have no limit of time

    def stream(self, text: str, parameters: Sequence[Any]) -> Iterator[Sequence[Row]]:
        """See Connection."""
        try:
            self._pipeline.close()  # knows no cursors of the server
            # Without one, the whole result would be sent before the first row of it is given.
            with self._psycopg.cursor("stream", binary=True) as cursor:
                cursor.execute(text, parameters)
                while rows := cursor.fetchmany(_STREAM_ROWS):
                    yield rows
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc

    def release(self) -> None:
        """See Connection."""
        with suppress(*DRIVER_ERRORS):  # whoever waited for an answer has heard of it
            self._pipeline.close()
        self._psycopg.limit_s = self._limit_s
        del self._psycopg
        super().release()


def _of_commit(error: Exception) -> Exception:
    """Give what to raise for an error during a commit."""
    if isinstance(error, StoreUnavailable):
        return StoreUnavailable(f"{error}; what was being stored may be there or not")
    return error


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

"""The storage: transactions on the connections of two engines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, assert_never

import structlog
from sqlalchemy import Engine

from spanwise_server.domain.errors import SpanwiseError, StoreUnavailable
from spanwise_server.storage.api import ReadTransaction, Storage, WriteTransaction
from spanwise_server.storage.sql.commit_watch import CommitWatch
from spanwise_server.storage.sql.connection import Connection, PostgresConnection
from spanwise_server.storage.sql.dialect import Database, begin_read, begin_write, database_of
from spanwise_server.storage.sql.engine import (
    create_reader_engine,
    create_watch_engine,
    create_writer_engine,
)
from spanwise_server.storage.sql.errors import DRIVER_ERRORS, translate
from spanwise_server.storage.sql.read_transaction import SqlReadTransaction, read_statements
from spanwise_server.storage.sql.retrying import retry_conflicts
from spanwise_server.storage.sql.schema import METADATA
from spanwise_server.storage.sql.write_transaction import SqlWriteTransaction, write_statements

T = TypeVar("T")

_log = structlog.get_logger(__name__)

_GIVE_UP_AFTER_S = 10.0
"""How long a write tries to get past other writers. Their batches take milliseconds, a rebuild or
a migration much longer; a sender waits for about as long as this."""


def open_storage(url: str) -> Storage:
    """Open the storage at a database URL. It connects when it is first used.

    Raises:
        ValueError: The URL cannot be used.
    """
    database = database_of(url)
    commits = CommitWatch(database, create_watch_engine(url))
    return SqlStorage(database, create_writer_engine(url), create_reader_engine(url), commits)


class SqlStorage:
    """A Storage. One thread at a time writes; others wait their turn."""

    def __init__(
        self, database: Database, writer: Engine, reader: Engine, commits: CommitWatch
    ) -> None:
        """Take over the engines: close() disposes of them."""
        self._writer = writer
        self._reader = reader
        self._commits = commits
        self._begin_write = begin_write(database)
        self._begin_read = begin_read(database)
        self._write_statements = write_statements(database)
        self._read_statements = read_statements(database)
        if database is Database.SQLITE:
            self._connect = Connection
        elif database in (Database.POSTGRESQL, Database.CITUS):
            self._connect = PostgresConnection
        else:
            assert_never(database)
        self._is_closed = False

    def write(self, work: Callable[[WriteTransaction], T]) -> T:
        """See Storage."""
        return retry_conflicts(lambda: self._write_once(work), give_up_after_s=_GIVE_UP_AFTER_S)

    def _write_once(self, work: Callable[[WriteTransaction], T]) -> T:
        with self._connection(self._writer) as connection:
            connection.begin(self._begin_write)
            result = work(SqlWriteTransaction(connection, self._write_statements))
            connection.check_file()
            connection.commit()
            return result

    @contextmanager
    def read(self) -> Iterator[ReadTransaction]:
        """See Storage. The snapshot is taken by the first statement."""
        with self._connection(self._reader) as connection:
            connection.begin(self._begin_read)
            yield SqlReadTransaction(connection, self._read_statements)
            connection.end_read()

    def wait_for_commits(self, timeout_s: float) -> None:
        """See Storage."""
        self._commits.wait(timeout_s)

    def scrub(self) -> None:
        """See Storage."""
        retry_conflicts(self._scrub_once, give_up_after_s=_GIVE_UP_AFTER_S)

    def _scrub_once(self) -> None:
        with self._connection(self._writer) as connection:
            connection.scrub(list(METADATA.tables))

    def close(self) -> None:
        """See Storage. Open transactions go on, and close their connections when they end."""
        self._is_closed = True
        self._commits.close()
        self._reader.dispose()
        self._writer.dispose()  # last: SQLite then moves the log into the file and removes it

    @contextmanager
    def _connection(self, engine: Engine) -> Iterator[Connection]:
        if self._is_closed:
            raise StoreUnavailable("the storage is closed")
        try:
            checkout = engine.raw_connection()
        except DRIVER_ERRORS as exc:
            raise translate(exc) from exc
        connection = self._connect(checkout)
        is_broken = False  # or nobody knows: the next transaction gets a new connection
        try:
            connection.check_file()
            yield connection
        except BaseException as error:
            is_broken = isinstance(error, StoreUnavailable) or not isinstance(error, SpanwiseError)
            raise
        finally:
            is_released = _release(connection)
            if is_broken or not is_released or self._is_closed:
                checkout.invalidate()  # closed, nobody would close it once it is in the pool
            checkout.close()  # rolls back what was not committed


def _release(connection: Connection) -> bool:
    """Release a connection, and say whether that went as it should. What was answered stands."""
    try:
        connection.release()
    except Exception:  # noqa: BLE001 - nothing of it may keep the connection from the others
        _log.exception("a connection to the database is thrown away")
        return False
    return True

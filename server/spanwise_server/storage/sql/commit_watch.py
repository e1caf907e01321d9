"""Waiting until somebody commits events."""

import threading
import time
from collections.abc import Callable
from typing import Any, assert_never

from sqlalchemy import Engine, PoolProxiedConnection

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.engine import check_file
from spanwise_server.storage.sql.errors import DRIVER_ERRORS, translate

_SQLITE_POLL_S = 0.02
"""Between two looks at a SQLite file. A look takes some 5 µs, and this delay nobody sees."""

_POSTGRESQL_POLL_S = 0.05
"""Between two looks at PostgreSQL, each of which takes some 40 µs of it and of this process."""


class CommitWatch:
    """See Storage.wait_for_commits. It keeps one connection from its first use on.

    It looks again and again, so nothing is to be sent to it while nobody waits.
    """

    def __init__(self, database: Database, engine: Engine) -> None:
        """Take over the engine: close() disposes of it."""
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: PoolProxiedConnection | None = None
        self._version: object = None
        self._is_closed = False
        self._read_version, self._poll_s = _way_to_look(database)

    def wait(self, timeout_s: float) -> None:
        """See Storage.wait_for_commits."""
        give_up_at = time.monotonic() + timeout_s
        with self._lock:
            try:
                self._wait_until(give_up_at)
            except DRIVER_ERRORS as exc:
                self._drop()
                raise translate(exc) from exc
            except BaseException:
                self._drop()
                raise

    def close(self) -> None:
        """See Storage.close."""
        self._is_closed = True
        with self._lock:  # soon given back by who waits
            self._drop()
        self._engine.dispose()

    def _wait_until(self, give_up_at: float) -> None:
        if self._is_closed:
            raise StoreUnavailable("the storage is closed")
        if self._connection is None:
            self._connection = self._engine.raw_connection()
            # What was committed before now changes the version no more.
            self._version = self._read_version(self._connection.driver_connection)
            return
        driver = self._connection.driver_connection
        while not self._is_closed:
            version = self._read_version(driver)
            left_s = give_up_at - time.monotonic()
            if version != self._version or left_s <= 0:
                self._version = version
                return
            time.sleep(min(left_s, self._poll_s))

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()  # it failed, or is closed for good
            connection.close()


def _way_to_look(database: Database) -> tuple[Callable[[Any], object], float]:
    """Give how to read a version that every commit changes, and the pause between two looks."""
    if database is Database.SQLITE:
        return _read_version_of_file, _SQLITE_POLL_S
    if database in (Database.POSTGRESQL, Database.CITUS):
        return _read_snapshot, _POSTGRESQL_POLL_S
    assert_never(database)


def _read_version_of_file(driver: Any) -> object:
    check_file(driver)
    [version] = driver.execute("PRAGMA data_version").fetchone()
    return version


def _read_snapshot(driver: Any) -> object:
    """Give which transactions a statement would see: all of the server, in whatever database."""
    [snapshot] = driver.execute("SELECT pg_current_snapshot()::text").fetchone()
    return snapshot

"""Waiting until somebody commits events."""

import threading
import time
from collections.abc import Callable
from typing import Any, assert_never

from sqlalchemy import Engine, PoolProxiedConnection

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.storage.sql.dialect import CHANNEL, Database
from spanwise_server.storage.sql.engine import check_file
from spanwise_server.storage.sql.errors import DRIVER_ERRORS, translate

_POLL_S = 0.02
"""Between two looks at a SQLite file. A look takes some 5 µs, and this delay nobody sees."""

_LOOK_UP_S = 0.5
"""How long a wait on PostgreSQL goes on before it looks whether the storage was closed."""


class CommitWatch:
    """See Storage.wait_for_commits. It keeps one connection from its first use on."""

    def __init__(self, database: Database, engine: Engine) -> None:
        """Take over the engine: close() disposes of it."""
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: PoolProxiedConnection | None = None
        self._version = 0
        self._is_closed = False
        self._listen, self._wait_a_while = _ways_to_wait(database)

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
            # What was committed before now is not announced any more.
            self._connection = self._engine.raw_connection()
            self._version = self._listen(self._connection.driver_connection)
            return
        driver = self._connection.driver_connection
        while not self._is_closed:
            left_s = max(0.0, give_up_at - time.monotonic())
            version = self._wait_a_while(driver, self._version, left_s)
            if version != self._version or time.monotonic() >= give_up_at:
                self._version = version
                return

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()  # a connection that listens is of no use to anybody else
            connection.close()


def _ways_to_wait(
    database: Database,
) -> tuple[Callable[[Any], int], Callable[[Any, int, float], int]]:
    """Give how to begin, and how to go on. Both give a version, which commits change."""
    if database is Database.SQLITE:
        return _read_version, _wait_for_version
    if database in (Database.POSTGRESQL, Database.CITUS):
        return _listen, _wait_for_notification
    assert_never(database)


def _read_version(driver: Any) -> int:
    check_file(driver)
    [version] = driver.execute("PRAGMA data_version").fetchone()
    return int(version)


def _wait_for_version(driver: Any, _version: int, timeout_s: float) -> int:
    time.sleep(min(timeout_s, _POLL_S))
    return _read_version(driver)


def _listen(driver: Any) -> int:
    driver.execute(f"LISTEN {CHANNEL}")
    return 0


def _wait_for_notification(driver: Any, version: int, timeout_s: float) -> int:
    notified = driver.notifies(timeout=min(timeout_s, _LOOK_UP_S), stop_after=1)
    return version + len(list(notified))

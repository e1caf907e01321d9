"""Engines, which are pools of connections, and the settings of their connections."""

import os
import sqlite3
from collections.abc import Callable, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Any, assert_never
from urllib.parse import quote

from sqlalchemy import Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, InvalidatePoolError

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.storage.sql.dialect import Database, database_of

Pragmas = Mapping[str, int | str]

_NUM_READERS = 4
"""Reading connections. Reads hold the interpreter most of the time, so more would only queue in
another place."""

_CHECKOUT_TIMEOUT_S = 30
"""How long to wait for a free connection. Whoever waits longer is better told that the store is
overloaded; a sender gives up after about as long."""

_WRITER_PRAGMAS: Pragmas = {
    # First, for the other pragmas may have to wait for a lock, too. Short, because SQLite sleeps
    # longer each time it finds the lock taken, up to 100 ms, while a batch holds it for few:
    # against a busy process it would hardly ever get its turn. Storage.write asks again instead.
    "busy_timeout": 100,
    # Readers and the writer do not block each other.
    "journal_mode": "WAL",
    # Sync the log at every commit. With NORMAL, which syncs at checkpoints only, a power cut takes
    # back events that were answered with OK.
    "synchronous": "FULL",
    # macOS: a plain fsync leaves data in the cache of the drive. Without effect elsewhere.
    "fullfsync": 1,
    # KiB of pages. Keys are hashes, so inserts go to pages all over the indexes; the default of
    # 2 MB reads most of them again for every batch.
    "cache_size": -65_536,
    # Pages of the log that start a checkpoint. A batch changes pages all over the indexes, which a
    # checkpoint writes once however often they changed; at the default of 1,000 most of the
    # writing is checkpoints.
    "wal_autocheckpoint": 4_000,
    # Bytes that the log shrinks to after a long read let it grow. By default it keeps its size.
    "journal_size_limit": 67_108_864,
    # Overwrite what is deleted or moved with zeros. Without it, texts stay in free space and in
    # pages that were split, where a deletion cannot find them any more. In memory, so it costs an
    # event nothing that can be measured.
    "secure_delete": 1,
    # Sort in memory. Temporary files would fail on a full or read-only /tmp.
    "temp_store": "MEMORY",
}

_READER_PRAGMAS: Pragmas = {
    "busy_timeout": 5_000,  # needed for the recovery after a crash only
    "cache_size": -16_384,
    "temp_store": "MEMORY",
    # A mistake in a reading statement must not write outside the one writer.
    "query_only": 1,
}

_NEW_FILE_PRAGMAS: Pragmas = {"page_size": 8_192, **_WRITER_PRAGMAS}


class _Use(Enum):
    WRITING = auto()
    READING = auto()
    WATCHING = auto()
    MIGRATING = auto()


_PRAGMAS = {
    _Use.WRITING: _WRITER_PRAGMAS,
    _Use.READING: _READER_PRAGMAS,
    _Use.WATCHING: _READER_PRAGMAS,
    _Use.MIGRATING: _NEW_FILE_PRAGMAS,
}


def create_writer_engine(url: str) -> Engine:
    """Give an engine with one connection, so that the threads of a process take turns."""
    return _create_engine(url, _Use.WRITING)


def create_reader_engine(url: str) -> Engine:
    """Give an engine with a few connections that cannot write."""
    return _create_engine(url, _Use.READING)


def create_watch_engine(url: str) -> Engine:
    """Give an engine with one connection that looks for what others commit."""
    return _create_engine(url, _Use.WATCHING)


def create_migration_engine(url: str) -> Engine:
    """Give an engine with one connection, which creates the database if it is a missing file."""
    return _create_engine(url, _Use.MIGRATING)


def _create_engine(url: str, use: _Use) -> Engine:
    database = database_of(url)
    if database is Database.SQLITE:
        engine = create_engine("sqlite://", creator=_sqlite_creator(url, use), **_pool(use))
    elif database in (Database.POSTGRESQL, Database.CITUS):
        engine = _create_postgresql_engine(url, use, is_distributed=database is Database.CITUS)
    else:
        assert_never(database)
    return engine


def _pool(use: _Use) -> dict[str, Any]:
    return {
        "poolclass": QueuePool,
        "pool_size": _NUM_READERS if use is _Use.READING else 1,
        "max_overflow": 0,
        "pool_timeout": _CHECKOUT_TIMEOUT_S,
    }


_SQLITE_FORM = "write sqlite:///PATH, with the path of a file and nothing after it"


def _sqlite_creator(url: str, use: _Use) -> Callable[[], sqlite3.Connection]:
    try:
        location = make_url(url)
    except (ArgumentError, ValueError) as exc:
        raise ValueError(_SQLITE_FORM) from exc
    path = location.database
    if not path or path == ":memory:" or location.query:
        raise ValueError(_SQLITE_FORM)
    file, pragmas = Path(path), _PRAGMAS[use]

    def connect() -> sqlite3.Connection:
        _check_file(file, may_create=use is _Use.MIGRATING)
        return _connect_sqlite(file, "rwc" if use is _Use.MIGRATING else "rw", pragmas)

    return connect


def _create_postgresql_engine(url: str, use: _Use, *, is_distributed: bool) -> Engine:
    try:
        # Here, because whoever keeps events in SQLite need not have it.
        from spanwise_server.storage.sql import postgresql  # noqa: PLC0415
    except ImportError as exc:
        raise ValueError(
            "the driver for PostgreSQL is not installed; install it with"
            " \"pip install '.[server,postgres]'\" in the clone of spanwise"
        ) from exc
    if is_distributed:
        url = f"postgresql:{url.partition(':')[2]}"
    postgresql.check_url(url)

    def connect() -> postgresql.PsycopgConnection:
        return postgresql.connect(url, settings, limit_s)

    def check(connection: object, _record: object, _proxy: object) -> None:
        if isinstance(connection, postgresql.PsycopgConnection) and connection.is_stale():
            # The server was restarted, so all connections that are older are of no use either.
            raise InvalidatePoolError

    settings, limit_s = {
        _Use.WRITING: (postgresql.WRITER_SETTINGS, postgresql.WRITER_ANSWER_LIMIT_S),
        _Use.READING: (postgresql.READER_SETTINGS, postgresql.READER_ANSWER_LIMIT_S),
        _Use.WATCHING: (postgresql.WATCH_SETTINGS, postgresql.WATCH_ANSWER_LIMIT_S),
        _Use.MIGRATING: (postgresql.MIGRATION_SETTINGS, None),
    }[use]
    if is_distributed:
        settings = {**settings, **postgresql.CITUS_SETTINGS}
    engine = create_engine("postgresql+psycopg://", creator=connect, **_pool(use))
    event.listen(engine, "checkout", check)
    return engine


def _check_file(path: Path, *, may_create: bool) -> None:
    """Fail with what is wrong, where SQLite only says that it cannot open the file."""
    if not path.parent.is_dir():
        raise StoreUnavailable(f"the folder of {path} does not exist; create {path.parent} first")
    if not (may_create or path.exists()):
        raise StoreUnavailable(f"{path} does not exist; `spanwise migrate` creates it")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise StoreUnavailable(f"{path} cannot be read and written: permission denied")


class _FileConnection(sqlite3.Connection):
    """A connection that knows which file it has open."""

    path: Path
    identity: tuple[int, int]


def check_file(connection: object) -> None:
    """Fail when the file that a connection has open is no longer the one at its path.

    SQLite writes to a file that was deleted or renamed as if nothing had happened, and what was
    answered with OK would be gone with the process.
    """
    if isinstance(connection, _FileConnection) and (
        _identity(connection.path) != connection.identity
    ):
        raise StoreUnavailable(f"{connection.path} was removed or replaced while it was in use")


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - half the time of Path.stat, twice a transaction
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino


def _connect_sqlite(path: Path, mode: str, pragmas: Pragmas) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        factory=_FileConnection,
        uri=True,
        isolation_level=None,  # transactions begin where this package says BEGIN, nowhere else
        check_same_thread=False,  # the pool hands a connection to one thread at a time
    )
    try:
        connection.path, connection.identity = path, _identity(path)
        for name, value in pragmas.items():
            connection.execute(f"PRAGMA {name} = {value}")
    except BaseException:
        connection.close()
        raise
    return connection

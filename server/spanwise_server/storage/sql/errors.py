"""The one place where errors of drivers become errors of the domain.

They are told apart by code, never by the text of the message.
"""

import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from spanwise_server.domain.errors import (
    CorruptRecord,
    InvalidEvent,
    SpanwiseError,
    StoreUnavailable,
    WriteConflict,
)

try:
    import psycopg
except ImportError:  # whoever keeps events in SQLite need not have it
    _POSTGRESQL_ERRORS: tuple[type[Exception], ...] = ()
    _LOST: tuple[type[Exception], ...] = ()
else:
    _POSTGRESQL_ERRORS = (psycopg.Error,)
    _LOST = (psycopg.OperationalError, psycopg.InterfaceError)

DRIVER_ERRORS: tuple[type[Exception], ...] = (
    sqlite3.Error,
    SQLAlchemyError,
    *_POSTGRESQL_ERRORS,
)
"""What a call of a driver or a connection pool may raise."""

_CONFLICTS = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})

_UNAVAILABLE = {
    sqlite3.SQLITE_ERROR: "it refused a statement; `spanwise migrate` gives it the right tables",
    sqlite3.SQLITE_PERM: "access is denied",
    sqlite3.SQLITE_AUTH: "access is denied",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_INTERRUPT: "the statement was interrupted",
    sqlite3.SQLITE_IOERR: "reading or writing its file failed",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "its file cannot be opened",
    sqlite3.SQLITE_PROTOCOL: "its locks do not work",
    sqlite3.SQLITE_SCHEMA: "its tables changed meanwhile",
    sqlite3.SQLITE_NOLFS: "its file is too large for the system",
    sqlite3.SQLITE_NOTADB: "the file is not a SQLite database",
}

_POSTGRESQL_CONFLICTS = frozenset({"40001", "40P01", "55P03"})
"""Serialization failure, deadlock, and a lock that did not become free in time."""

_WRONG_TABLES = "it refused a statement; `spanwise migrate` gives it the right tables"
_POSTGRESQL_UNAVAILABLE = {
    "08": "the connection broke",
    "0A": "its tables changed meanwhile",
    "25": "it takes no changes, or closed an idle transaction",
    "28": "it refused the user or the password",
    "3D": "there is no such database; create it, for instance with createdb",
    "42501": "access is denied",
    "3F000": _WRONG_TABLES,
    "42P01": _WRONG_TABLES,
    "42703": _WRONG_TABLES,
    "54": "it has reached a limit of its own",
    "53": "it has no room left, of disk, memory or connections",
    "57014": "the statement took too long",
    "57": "it is starting or stopping",
    "58": "reading or writing its files failed",
}
"""By SQLSTATE, or the class of it that the first two characters are."""

_LIMIT = "54000"
"""SQLSTATE of whatever exceeds a limit that nobody can set."""

_INDEX_SOURCES = frozenset({"nbtutils.c", "indextuple.c", "remote_commands.c"})
"""Files of PostgreSQL that say so of the row of an index; the last one, of Citus, passes on what
another machine said. Other files say it of other things, such as a full queue of notices."""

_POSTGRESQL_CORRUPT = frozenset({"XX001", "XX002"})

_PRIMARY_CODE = 0xFF
"""The low byte of an extended result code is the primary code."""


def translate(error: Exception) -> SpanwiseError | RuntimeError:
    """Give the error to raise in the place of one of DRIVER_ERRORS.

    Returns:
        WriteConflict, StoreUnavailable, CorruptRecord, or InvalidEvent for what no retry stores.
        RuntimeError when the driver was used
        wrongly, which is a mistake in this package that no retry mends.
    """
    if isinstance(error, DBAPIError) and isinstance(error.orig, Exception):
        error = error.orig
    if isinstance(error, _POSTGRESQL_ERRORS):
        return _translate_postgresql(error, getattr(error, "sqlstate", None))
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return _translate_without_code(error)
    primary = code & _PRIMARY_CODE
    if primary in _CONFLICTS:
        return WriteConflict("another writer holds the database")
    if primary == sqlite3.SQLITE_CORRUPT:
        return CorruptRecord("the file of the database is damaged")
    if primary in _UNAVAILABLE:
        return StoreUnavailable(f"the database cannot be used: {_UNAVAILABLE[primary]}")
    return RuntimeError(f"unexpected database error {code}")


def _translate_postgresql(error: Exception, code: str | None) -> SpanwiseError | RuntimeError:
    if code is None:
        # What psycopg raises itself. Lost is also a server that does not answer in time.
        if isinstance(error, _LOST):
            return StoreUnavailable("the connection to the database was lost")
        return RuntimeError(f"unexpected {type(error).__name__} of the database driver")
    if code in _POSTGRESQL_CONFLICTS:
        return WriteConflict("other writers hold what is to be written")
    if code == _LIMIT and _source_of(error) in _INDEX_SOURCES:
        # An index takes 2,700 bytes, in which projects, domains and names of tasks have to fit.
        return InvalidEvent("event", "has an id that is too long for PostgreSQL: some 2,000 bytes")
    if code in _POSTGRESQL_CORRUPT:
        return CorruptRecord("the files of the database are damaged")
    reason = _POSTGRESQL_UNAVAILABLE.get(code) or _POSTGRESQL_UNAVAILABLE.get(code[:2])
    if reason is not None:
        return StoreUnavailable(f"the database cannot be used: {reason}")
    return RuntimeError(f"unexpected database error {code}")


def _source_of(error: Exception) -> str | None:
    return error.diag.source_file if isinstance(error, psycopg.Error) else None


def _translate_without_code(error: Exception) -> SpanwiseError | RuntimeError:
    if isinstance(error, sqlite3.OperationalError):
        # What pysqlite raises itself, and not for SQLite: a stored text that is not UTF-8.
        return CorruptRecord("a stored text is not UTF-8")
    if isinstance(error, SQLAlchemyError):
        return StoreUnavailable("no connection to the database became free in time")
    return RuntimeError(f"unexpected {type(error).__name__} of the database driver")

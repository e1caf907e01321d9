"""The one place where errors of drivers become errors of the domain.

They are told apart by code, never by the text of the message.
"""

import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from spanwise_server.domain.errors import (
    CorruptRecord,
    SpanwiseError,
    StoreUnavailable,
    WriteConflict,
)

DRIVER_ERRORS = (sqlite3.Error, SQLAlchemyError)
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

_PRIMARY_CODE = 0xFF
"""The low byte of an extended result code is the primary code."""


def translate(error: Exception) -> SpanwiseError | RuntimeError:
    """Give the error to raise in the place of one of DRIVER_ERRORS.

    Returns:
        WriteConflict, StoreUnavailable or CorruptRecord. RuntimeError when the driver was used
        wrongly, which is a mistake in this package that no retry mends.
    """
    if isinstance(error, DBAPIError) and isinstance(error.orig, Exception):
        error = error.orig
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


def _translate_without_code(error: Exception) -> SpanwiseError | RuntimeError:
    if isinstance(error, sqlite3.OperationalError):
        # What pysqlite raises itself, and not for SQLite: a stored text that is not UTF-8.
        return CorruptRecord("a stored text is not UTF-8")
    if isinstance(error, SQLAlchemyError):
        return StoreUnavailable("no connection to the database became free in time")
    return RuntimeError(f"unexpected {type(error).__name__} of the database driver")

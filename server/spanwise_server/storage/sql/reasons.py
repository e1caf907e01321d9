"""The table of reasons: its rows, and the statements on it."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Insert, Select

from spanwise_server.storage.records import ReasonRecord
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.connection import Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import decoding
from spanwise_server.storage.sql.packed import PackedMarks
from spanwise_server.storage.sql.schema import REASONS

COLUMNS = (
    REASONS.c.execution_key,
    REASONS.c.entity_key,
    REASONS.c.digest,
    REASONS.c.occurred_at_ns,
    REASONS.c.ordinal,
    REASONS.c.phase,
    REASONS.c.phase_version,
    REASONS.c.severity,
    REASONS.c.occurrences,
    REASONS.c.source,
    REASONS.c.message,
)
"""Columns in the order of the fields of ReasonRecord."""

KNOWN_COLUMNS = tuple(column for column in COLUMNS if column is not REASONS.c.digest)
"""All but what tells reasons of one entity apart."""


def to_row(record: ReasonRecord) -> Row:
    """Give the values of COLUMNS."""
    (
        execution_key,
        entity_key,
        digest,
        occurred_at_ns,
        ordinal,
        phase,
        phase_version,
        severity,
        occurrences,
        source,
        message,
    ) = record
    return (
        binary(execution_key),
        entity_key,
        digest,
        occurred_at_ns,
        ordinal,
        int(phase),
        phase_version,
        int(severity),
        occurrences,
        source,
        message,
    )


def marks_from_rows(rows: Iterable[Row]) -> dict[bytes, PackedMarks]:
    """Read rows of KNOWN_COLUMNS: the reasons by execution. No reasons are an empty mapping."""
    found: dict[bytes, PackedMarks] = defaultdict(PackedMarks)
    with decoding("reasons"):
        for execution_key, *reason in rows:
            found[execution_key].add(*reason)
    return found


def insert_or_merge(database: Database) -> Insert:
    """Insert a reason, or merge it as ReasonRecord says. Parameters: COLUMNS."""
    return dialect.insert_or_merge(
        database,
        REASONS,
        COLUMNS,
        least=(REASONS.c.occurred_at_ns, REASONS.c.ordinal),
        greatest=(REASONS.c.severity, REASONS.c.occurrences, REASONS.c.source),
    )


def select_by_execution(database: Database, num_keys: int) -> Select[Any]:
    """Read the reasons of executions. Keys: execution_key. Rows: KNOWN_COLUMNS."""
    return dialect.select_wanted(database, KNOWN_COLUMNS, (REASONS.c.execution_key,), num_keys)

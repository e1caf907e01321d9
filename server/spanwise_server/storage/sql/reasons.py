"""The table of reasons: its rows, and the statements on it."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Insert, Select

from spanwise_server.domain.events import Severity
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.storage.records import ReasonRecord
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.connection import Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import PHASES, decode, members
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

_SEVERITIES = members(Severity)


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


def from_row(row: Row) -> ReasonRecord:
    """Read the values of COLUMNS."""
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
    ) = row
    return new_tuple(
        ReasonRecord,
        (
            execution_key,
            entity_key,
            digest,
            occurred_at_ns,
            ordinal,
            PHASES[phase],
            phase_version,
            _SEVERITIES[severity],
            occurrences,
            source,
            message,
        ),
    )


def from_rows(rows: Iterable[Row]) -> list[ReasonRecord]:
    """Read rows of COLUMNS."""
    return decode("reasons", from_row, rows)


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
    """Read the reasons of executions. Keys: execution_key. Rows: COLUMNS."""
    return dialect.select_wanted(database, COLUMNS, (REASONS.c.execution_key,), num_keys)

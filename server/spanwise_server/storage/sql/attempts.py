"""The table of task executions, one for each attempt: its rows, and the statements on it."""

from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    FromClause,
    Insert,
    LargeBinary,
    Select,
    SmallInteger,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
    select,
)

from spanwise_server.domain.events import MIN_TIME_NS, TaskFacts
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.known import KnownAttempt
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.phases import Phase
from spanwise_server.storage.records import AttemptRecord, FinishedAttempt
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.compiling import limited
from spanwise_server.storage.sql.connection import Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import (
    FACTS,
    NUM_STATE_COLUMNS,
    PHASES,
    Share,
    by_first,
    decode,
    sharing,
    state_from_row,
    state_to_row,
    unshared,
)
from spanwise_server.storage.sql.schema import TASK_EXECUTIONS

COLUMNS = (
    TASK_EXECUTIONS.c.execution_key,
    TASK_EXECUTIONS.c.attempt_key,
    TASK_EXECUTIONS.c.node_key,
    TASK_EXECUTIONS.c.task_project,
    TASK_EXECUTIONS.c.task_domain,
    TASK_EXECUTIONS.c.task_name,
    TASK_EXECUTIONS.c.task_version,
    TASK_EXECUTIONS.c.retry_attempt,
    TASK_EXECUTIONS.c.task_type,
    TASK_EXECUTIONS.c.interruptible,
    TASK_EXECUTIONS.c.created_at_ns,
    TASK_EXECUTIONS.c.last_occurred_at_ns,
    TASK_EXECUTIONS.c.latest_occurred_at_ns,
    TASK_EXECUTIONS.c.latest_reported_at_ns,
    TASK_EXECUTIONS.c.latest_phase,
    TASK_EXECUTIONS.c.latest_phase_version,
    TASK_EXECUTIONS.c.ended_occurred_at_ns,
    TASK_EXECUTIONS.c.ended_reported_at_ns,
    TASK_EXECUTIONS.c.ended_phase,
    TASK_EXECUTIONS.c.ended_phase_version,
    TASK_EXECUTIONS.c.first_running_at_ns,
)

KNOWN_COLUMNS = COLUMNS[:-NUM_STATE_COLUMNS]
"""All but the state."""

KEY_COLUMNS = (TASK_EXECUTIONS.c.execution_key, TASK_EXECUTIONS.c.attempt_key)

TASK_COLUMNS = (
    TASK_EXECUTIONS.c.task_project,
    TASK_EXECUTIONS.c.task_domain,
    TASK_EXECUTIONS.c.task_name,
)

WANTED_COLUMNS = (
    *TASK_COLUMNS,
    Column("is_retry", SmallInteger),
    Column("has_succeeded", SmallInteger),
)
"""What select_finished() is asked for: a task, whether first attempts or later ones, and whether
all that reached RUNNING or those that succeeded. The last two are 0 or 1."""

KINDS = tuple(product((0, 1), (0, 1)))
"""The last two of WANTED_COLUMNS: all that there are."""


def to_row(record: AttemptRecord) -> Row:
    """Give the values of COLUMNS."""
    execution_key, attempt_key, node_key, task_id, retry_attempt, facts, state = record
    task_type, interruptible = facts
    return (
        binary(execution_key),
        attempt_key,
        node_key,
        *task_id,
        retry_attempt,
        task_type,
        int(interruptible),
        *state_to_row(state),
    )


def from_row(row: Row) -> AttemptRecord:
    """Read the values of COLUMNS."""
    num_known = len(KNOWN_COLUMNS)
    execution_key, known = known_from_row(row[:num_known])
    state = state_from_row(row[num_known:])
    if state is None:
        raise ValueError("an attempt without a state")  # for decode(), which names the table
    return new_tuple(AttemptRecord, (execution_key, *known, state))


def known_from_row(row: Row, share: Share = unshared) -> tuple[bytes, KnownAttempt]:
    """Read the values of KNOWN_COLUMNS: the key of the execution, and the attempt."""
    (
        execution_key,
        attempt_key,
        node_key,
        task_project,
        task_domain,
        task_name,
        task_version,
        retry_attempt,
        task_type,
        interruptible,
    ) = row
    known = (
        attempt_key,
        node_key,
        share(new_tuple(EntityVersion, (task_project, task_domain, task_name, task_version))),
        retry_attempt,
        share(new_tuple(TaskFacts, (task_type, FACTS[interruptible]))),
    )
    return execution_key, new_tuple(KnownAttempt, known)


def from_rows(rows: Iterable[Row]) -> list[AttemptRecord]:
    """Read rows of COLUMNS."""
    return decode("task_executions", from_row, rows)


def known_from_rows(rows: Iterable[Row]) -> dict[bytes, list[KnownAttempt]]:
    """Read rows of KNOWN_COLUMNS: the attempts by execution. Nothing is an empty list."""
    return by_first(decode("task_executions", partial(known_from_row, share=sharing()), rows))


def insert_or_replace(database: Database) -> Insert:
    """Insert or replace an attempt. Parameters: COLUMNS."""
    return dialect.insert_or_replace(database, TASK_EXECUTIONS, COLUMNS)


def select_by_keys(database: Database, num_keys: int) -> Select[Any]:
    """Read attempts. Keys: KEY_COLUMNS. Rows: COLUMNS."""
    return dialect.select_wanted(database, COLUMNS, KEY_COLUMNS, num_keys)


def select_by_execution(database: Database, num_keys: int) -> Select[Any]:
    """Read the attempts of executions. Keys: execution_key. Rows: KNOWN_COLUMNS."""
    return dialect.select_wanted(
        database, KNOWN_COLUMNS, (TASK_EXECUTIONS.c.execution_key,), num_keys
    )


def select_finished(database: Database, num_keys: int) -> Select[Any]:
    """Read the latest attempts of tasks that have ended, created before a moment.

    Keys: WANTED_COLUMNS. Parameters after them: before_ns, besides, before_ns, num_newer, limit.
    Rows: the fields of FinishedAttempt, with those of its task_id one by one; an attempt comes more
    than once that is wanted twice.
    """
    wanted, value = dialect.wanted_each(database, WANTED_COLUMNS, num_keys)
    latest, passed = TASK_EXECUTIONS.alias("latest"), TASK_EXECUTIONS.alias("passed")

    def ended(attempts: FromClause) -> Select[Any]:
        return (
            select(attempts.c.execution_key, attempts.c.attempt_key)
            .where(
                *(attempts.c[column.name] == value[column.name] for column in TASK_COLUMNS),
                attempts.c.ended_phase.is_not(None),
                attempts.c.created_at_ns < bindparam("before_ns", type_=BigInteger),
            )
            .order_by(
                attempts.c.created_at_ns.desc(), attempts.c.execution_key, attempts.c.attempt_key
            )
            .correlate(wanted)
        )

    # Whether an attempt counts is in its row; how far back rows are read, the index alone tells.
    oldest_ns = (
        ended(passed)
        .with_only_columns(passed.c.created_at_ns)
        .limit(_number(1))
        .offset(bindparam("num_newer", type_=BigInteger))
        .scalar_subquery()
    )
    rows = ended(latest).where(
        latest.c.execution_key != bindparam("besides", type_=LargeBinary),
        latest.c.created_at_ns >= func.coalesce(oldest_ns, _number(MIN_TIME_NS)),
        or_(
            and_(value["is_retry"] == _number(0), latest.c.retry_attempt == _number(0)),
            and_(value["is_retry"] == _number(1), latest.c.retry_attempt > _number(0)),
        ),
        or_(
            and_(value["has_succeeded"] == _number(0), latest.c.first_running_at_ns.is_not(None)),
            and_(
                value["has_succeeded"] == _number(1),
                latest.c.ended_phase == _number(Phase.SUCCEEDED),
            ),
        ),
    )
    return select(
        *KEY_COLUMNS,
        *TASK_COLUMNS,
        TASK_EXECUTIONS.c.task_version,
        TASK_EXECUTIONS.c.retry_attempt,
        TASK_EXECUTIONS.c.created_at_ns,
        TASK_EXECUTIONS.c.first_running_at_ns,
        TASK_EXECUTIONS.c.ended_occurred_at_ns,
        TASK_EXECUTIONS.c.ended_reported_at_ns,
        TASK_EXECUTIONS.c.ended_phase,
    ).select_from(dialect.join_each(database, wanted, TASK_EXECUTIONS, limited(rows)))


def _number(value: int) -> ColumnElement[int]:
    """Build a number that stands in the text of a statement, for parameters come from callers."""
    return literal_column(str(int(value)), BigInteger)


def finished_from_rows(rows: Iterable[Row]) -> list[FinishedAttempt]:
    """Read the rows of select_finished()."""
    return decode("task_executions", _finished_from_row, rows)


def _finished_from_row(row: Row) -> FinishedAttempt:
    execution_key, attempt_key, project, domain, name, version, retry_attempt, *times, phase = row
    created_at_ns, started_at_ns, ended_at_ns, reported_end_ns = times
    return FinishedAttempt(
        execution_key,
        attempt_key,
        EntityVersion(project, domain, name, version),
        retry_attempt,
        created_at_ns,
        started_at_ns,
        ended_at_ns,
        reported_end_ns,
        PHASES[phase],
    )

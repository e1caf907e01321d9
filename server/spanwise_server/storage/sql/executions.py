"""The table of executions: its rows, and the statements on it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Insert,
    Select,
    SmallInteger,
    bindparam,
    func,
    literal_column,
    or_,
    select,
)

from spanwise_server.domain.events import ExecutionFacts
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.phases import Phase
from spanwise_server.storage.records import (
    ExecutionFilter,
    ExecutionRecord,
    FinishedExecution,
    ListedExecution,
    WorkflowName,
)
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.compiling import limited
from spanwise_server.storage.sql.connection import Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import (
    decode,
    reference_from_row,
    reference_to_row,
    state_from_row,
    state_to_row,
)
from spanwise_server.storage.sql.schema import DELETIONS, EXECUTIONS, WORKFLOW_BINDINGS

COLUMNS = (
    EXECUTIONS.c.execution_key,
    EXECUTIONS.c.project,
    EXECUTIONS.c.domain,
    EXECUTIONS.c.name,
    EXECUTIONS.c.first_seen_ns,
    EXECUTIONS.c.org,
    EXECUTIONS.c.workflow_project,
    EXECUTIONS.c.workflow_domain,
    EXECUTIONS.c.workflow_name,
    EXECUTIONS.c.workflow_version,
    EXECUTIONS.c.parent_project,
    EXECUTIONS.c.parent_domain,
    EXECUTIONS.c.parent_name,
    EXECUTIONS.c.parent_node_id,
    EXECUTIONS.c.created_at_ns,
    EXECUTIONS.c.last_occurred_at_ns,
    EXECUTIONS.c.latest_occurred_at_ns,
    EXECUTIONS.c.latest_reported_at_ns,
    EXECUTIONS.c.latest_phase,
    EXECUTIONS.c.latest_phase_version,
    EXECUTIONS.c.ended_occurred_at_ns,
    EXECUTIONS.c.ended_reported_at_ns,
    EXECUTIONS.c.ended_phase,
    EXECUTIONS.c.ended_phase_version,
    EXECUTIONS.c.first_running_at_ns,
)

KEY_COLUMNS = (EXECUTIONS.c.execution_key,)

_SUCCEEDED = literal_column(str(int(Phase.SUCCEEDED)), BigInteger)


def to_row(record: ExecutionRecord) -> Row:
    """Give the values of COLUMNS."""
    execution_key, execution_id, first_seen_ns, facts, state = record
    return (
        binary(execution_key),
        *execution_id,
        first_seen_ns,
        facts.org,
        *facts.workflow_id,
        *reference_to_row(facts.parent_execution_id),
        facts.parent_node_id,
        *state_to_row(state),
    )


def from_row(row: Row) -> ExecutionRecord:
    """Read the values of COLUMNS."""
    (
        execution_key,
        project,
        domain,
        name,
        first_seen_ns,
        org,
        workflow_project,
        workflow_domain,
        workflow_name,
        workflow_version,
        parent_project,
        parent_domain,
        parent_name,
        parent_node_id,
        *state,
    ) = row
    return ExecutionRecord(
        execution_key,
        ExecutionId(project, domain, name),
        first_seen_ns,
        ExecutionFacts(
            org,
            EntityVersion(workflow_project, workflow_domain, workflow_name, workflow_version),
            reference_from_row(parent_project, parent_domain, parent_name),
            parent_node_id,
        ),
        state_from_row(state),
    )


BOUND_COLUMNS = (
    WORKFLOW_BINDINGS.c.workflow_project,
    WORKFLOW_BINDINGS.c.workflow_domain,
    WORKFLOW_BINDINGS.c.workflow_name,
    WORKFLOW_BINDINGS.c.workflow_version,
)

NAME_COLUMNS = (
    EXECUTIONS.c.workflow_project,
    EXECUTIONS.c.workflow_domain,
    EXECUTIONS.c.workflow_name,
)

BOUND_NAME_COLUMNS = BOUND_COLUMNS[:3]

PERIOD_COLUMNS = (Column("from_ns", BigInteger), Column("before_ns", BigInteger))
"""When executions were created: from the first of these on, and before the second."""


def from_rows(rows: Iterable[Row]) -> list[ExecutionRecord]:
    """Read rows of COLUMNS."""
    return decode("executions", from_row, rows)


def insert_missing(database: Database) -> Insert:
    """Insert an execution that is not there. Parameters: COLUMNS."""
    return dialect.insert_missing(database, EXECUTIONS, COLUMNS)


def insert_or_update(database: Database) -> Insert:
    """Insert or update an execution, but keep when it was first seen. Parameters: COLUMNS."""
    return dialect.insert_or_update(
        database, EXECUTIONS, COLUMNS, keep=(EXECUTIONS.c.first_seen_ns,)
    )


def select_by_keys(database: Database, num_keys: int) -> Select[Any]:
    """Read executions. Keys: execution_key. Rows: COLUMNS."""
    return dialect.select_wanted(database, COLUMNS, KEY_COLUMNS, num_keys)


def select_present(database: Database, num_keys: int) -> Select[Any]:
    """Find which executions are there. Keys and rows: execution_key."""
    return dialect.select_wanted(database, KEY_COLUMNS, KEY_COLUMNS, num_keys)


def select_with_bindings(database: Database, num_keys: int) -> Select[Any]:
    """Read executions and what they are bound to.

    Keys: execution_key. Rows: COLUMNS, and the key of a workflow, or NULL where there is none.
    """
    bindings = WORKFLOW_BINDINGS
    columns = (*COLUMNS, bindings.c.workflow_key)
    return (
        dialect.select_wanted(database, columns, KEY_COLUMNS, num_keys)
        .outerjoin(bindings, bindings.c.execution_key == EXECUTIONS.c.execution_key)
        .where(_is_kept(database))
    )


def with_bindings_from_rows(rows: Iterable[Row]) -> list[tuple[ExecutionRecord, bytes | None]]:
    """Read the rows of select_with_bindings()."""
    return decode("executions", lambda row: (from_row(row[:-1]), row[-1]), rows)


def select_presence(database: Database) -> Select[Any]:
    """Read a row if the execution is there. Parameter: execution_key."""
    return select(EXECUTIONS.c.execution_key).where(
        EXECUTIONS.c.execution_key == bindparam("execution_key"), _is_kept(database)
    )


def _is_kept(database: Database) -> ColumnElement[bool]:
    """Leave out what is being deleted, even when a late event has put the row back."""
    return dialect.is_missing(database, EXECUTIONS.c.execution_key, DELETIONS.c.execution_key)


class Listing(NamedTuple):
    """The shape of a listing: which of its conditions are there."""

    by_project: bool
    by_domain: bool
    num_phases: int
    has_start: bool
    has_end: bool
    is_continued: bool


def listing_of(query: ExecutionFilter, after: tuple[int, bytes] | None) -> Listing:
    """Give the shape of a listing."""
    return Listing(
        bool(query.project),
        bool(query.domain),
        len(query.phases),
        query.started_from_ns is not None,
        query.started_before_ns is not None,
        after is not None,
    )


def listing_parameters(
    query: ExecutionFilter, after: tuple[int, bytes] | None, limit: int
) -> dict[str, Any]:
    """Give the parameters of select_listing() by name."""
    phases = {f"phase_{number}": int(phase) for number, phase in enumerate(sorted(query.phases))}
    after_ns, after_key = after or (0, b"")
    return {
        "project": query.project,
        "domain": query.domain,
        **phases,
        "started_from_ns": query.started_from_ns,
        "started_before_ns": query.started_before_ns,
        "after_ns": after_ns,
        "after_key": binary(after_key),
        "limit": limit,
    }


def select_listing(database: Database, listing: Listing) -> Select[Any]:
    """Read a page of executions, the latest start first.

    Rows: COLUMNS and BOUND_COLUMNS, which are NULL for what is bound to nothing.
    """
    table, bindings = EXECUTIONS.c, WORKFLOW_BINDINGS
    statement = (
        select(*COLUMNS, *BOUND_COLUMNS)
        .outerjoin_from(EXECUTIONS, bindings, bindings.c.execution_key == table.execution_key)
        .where(_is_kept(database))
    )
    if listing.by_project:
        statement = statement.where(table.project == bindparam("project"))
    if listing.by_domain:
        statement = statement.where(table.domain == bindparam("domain"))
    if listing.num_phases:
        phase = func.coalesce(
            table.ended_phase, table.latest_phase, literal_column(str(int(Phase.UNSPECIFIED)))
        )
        statement = statement.where(
            phase.in_(
                [bindparam(f"phase_{n}", type_=SmallInteger) for n in range(listing.num_phases)]
            )
        )
    if listing.has_start:
        statement = statement.where(table.started_at_ns >= bindparam("started_from_ns"))
    if listing.has_end:
        statement = statement.where(table.started_at_ns < bindparam("started_before_ns"))
    if listing.is_continued:
        after_ns = bindparam("after_ns", type_=BigInteger)
        # The first condition says no more than the second, but an index can start from it.
        statement = statement.where(
            table.started_at_ns <= after_ns,
            or_(table.started_at_ns < after_ns, table.execution_key > bindparam("after_key")),
        )
    return limited(statement.order_by(table.started_at_ns.desc(), table.execution_key))


def listed_from_rows(rows: Iterable[Row]) -> list[ListedExecution]:
    """Read the rows of select_listing()."""
    return decode("executions", _listed_from_row, rows)


def _listed_from_row(row: Row) -> ListedExecution:
    record = from_row(row[: len(COLUMNS)])
    bound_to = EntityVersion(*(text or "" for text in row[len(COLUMNS) :]))
    return ListedExecution(record, bound_to if any(bound_to) else record.facts.workflow_id)


def select_succeeded(database: Database, num_keys: int) -> Select[Any]:
    """Read the latest executions that succeeded, of workflows that their events name.

    Keys: NAME_COLUMNS and PERIOD_COLUMNS. Parameter after them: limit, of each key. Rows: the
    fields of FinishedExecution, with those of its workflow one by one.
    """
    wanted, value = dialect.wanted_each(database, (*NAME_COLUMNS, *PERIOD_COLUMNS), num_keys)
    latest = EXECUTIONS.alias("latest")
    keys = (
        select(latest.c.execution_key)
        .where(
            *(latest.c[column.name] == value[column.name] for column in NAME_COLUMNS),
            latest.c.ended_phase == _SUCCEEDED,
            latest.c.workflow_name != literal_column("''"),
            latest.c.created_at_ns >= value["from_ns"],
            latest.c.created_at_ns < value["before_ns"],
        )
        .order_by(latest.c.created_at_ns.desc(), latest.c.execution_key)
        .correlate(wanted)
    )
    return select(
        EXECUTIONS.c.execution_key,
        *NAME_COLUMNS,
        EXECUTIONS.c.created_at_ns,
        EXECUTIONS.c.ended_occurred_at_ns,
    ).select_from(dialect.join_each(database, wanted, EXECUTIONS, limited(keys)))


def select_bound_succeeded(database: Database, num_keys: int) -> Select[Any]:
    """Read the latest executions that succeeded, of workflows that they are bound to.

    Keys: BOUND_NAME_COLUMNS and PERIOD_COLUMNS. Parameter and rows: as select_succeeded().
    """
    wanted, value = dialect.wanted_each(database, (*BOUND_NAME_COLUMNS, *PERIOD_COLUMNS), num_keys)
    latest = WORKFLOW_BINDINGS.alias("latest")
    keys = (
        select(latest.c.execution_key)
        .where(
            *(latest.c[column.name] == value[column.name] for column in BOUND_NAME_COLUMNS),
            latest.c.success_created_at_ns >= value["from_ns"],
            latest.c.success_created_at_ns < value["before_ns"],
        )
        .order_by(latest.c.success_created_at_ns.desc(), latest.c.execution_key)
        .correlate(wanted)
    )
    bindings = dialect.join_each(database, wanted, WORKFLOW_BINDINGS, limited(keys))
    is_same = EXECUTIONS.c.execution_key == WORKFLOW_BINDINGS.c.execution_key
    return select(
        EXECUTIONS.c.execution_key,
        *BOUND_NAME_COLUMNS,
        EXECUTIONS.c.created_at_ns,
        EXECUTIONS.c.ended_occurred_at_ns,
    ).select_from(bindings.join(EXECUTIONS, is_same))


def succeeded_from_rows(rows: Iterable[Row]) -> list[FinishedExecution]:
    """Read the rows of select_succeeded() and select_bound_succeeded()."""
    return decode("executions", _succeeded_from_row, rows)


def _succeeded_from_row(row: Row) -> FinishedExecution:
    execution_key, project, domain, name, created_at_ns, ended_at_ns = row
    return FinishedExecution(
        execution_key, WorkflowName(project, domain, name), created_at_ns, ended_at_ns
    )

"""The tables of workflows and of what executions run: their rows, and the statements on them."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Insert, Select, Update, null, update

from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.workflows import WorkflowFormat
from spanwise_server.storage.records import BindingRecord, ExecutionRecord, WorkflowRecord
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.connection import Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import decode, members
from spanwise_server.storage.sql.packing import kind_of, pack, unpack
from spanwise_server.storage.sql.schema import WORKFLOW_BINDINGS, WORKFLOWS

COLUMNS = (
    WORKFLOWS.c.workflow_key,
    WORKFLOWS.c.project,
    WORKFLOWS.c.domain,
    WORKFLOWS.c.name,
    WORKFLOWS.c.version,
    WORKFLOWS.c.format,
    WORKFLOWS.c.recorded_at_ns,
    WORKFLOWS.c.payload,
)

KEY_COLUMNS = (WORKFLOWS.c.workflow_key,)

BINDING_COLUMNS = (
    WORKFLOW_BINDINGS.c.execution_key,
    WORKFLOW_BINDINGS.c.workflow_key,
    WORKFLOW_BINDINGS.c.workflow_project,
    WORKFLOW_BINDINGS.c.workflow_domain,
    WORKFLOW_BINDINGS.c.workflow_name,
    WORKFLOW_BINDINGS.c.workflow_version,
    WORKFLOW_BINDINGS.c.success_created_at_ns,
)

_FORMATS = members(WorkflowFormat)


def to_row(record: WorkflowRecord) -> Row:
    """Give the values of COLUMNS."""
    workflow_key, workflow_id, workflow_format, recorded_at_ns, payload = record
    number, packed = pack(workflow_format, payload)
    return binary(workflow_key), *workflow_id, number, recorded_at_ns, packed


def from_row(row: Row) -> WorkflowRecord:
    """Read the values of COLUMNS."""
    workflow_key, project, domain, name, version, number, recorded_at_ns, payload = row
    workflow_id = EntityVersion(project, domain, name, version)
    workflow_format = _FORMATS[kind_of(number)]
    said = unpack(number, payload)
    return WorkflowRecord(workflow_key, workflow_id, workflow_format, recorded_at_ns, said)


def from_rows(rows: Iterable[Row]) -> list[WorkflowRecord]:
    """Read rows of COLUMNS."""
    return decode("workflows", from_row, rows)


def insert_or_replace(database: Database) -> Insert:
    """Insert or replace a workflow. Parameters: COLUMNS."""
    return dialect.insert_or_replace(database, WORKFLOWS, COLUMNS)


def insert_or_replace_binding(database: Database) -> Insert:
    """Insert or replace what an execution is bound to. Parameters: BINDING_COLUMNS."""
    return dialect.insert_or_replace(database, WORKFLOW_BINDINGS, BINDING_COLUMNS)


def binding_to_row(record: BindingRecord, execution: ExecutionRecord | None) -> Row:
    """Give the values of BINDING_COLUMNS. `execution` is the one that is bound, None: not there."""
    execution_key, workflow_key, workflow_id = record
    created_at_ns = None if execution is None else _success_created_at_ns(execution)
    return binary(execution_key), binary(workflow_key), *workflow_id, created_at_ns


def _success_created_at_ns(execution: ExecutionRecord) -> int | None:
    state = execution.state
    if state is None or state.ended is None or state.ended.phase is not Phase.SUCCEEDED:
        return None
    return state.created_at_ns


def bindings_from_rows(rows: Iterable[Row]) -> list[BindingRecord]:
    """Read rows of BINDING_COLUMNS."""
    return decode("workflow_bindings", _binding_from_row, rows)


def _binding_from_row(row: Row) -> BindingRecord:
    execution_key, workflow_key, project, domain, name, version, _ = row
    return BindingRecord(execution_key, workflow_key, EntityVersion(project, domain, name, version))


def select_bindings(database: Database, num_keys: int) -> Select[Any]:
    """Read what executions are bound to. Keys: execution_key. Rows: BINDING_COLUMNS."""
    return dialect.select_wanted(database, BINDING_COLUMNS, BINDING_COLUMNS[:1], num_keys)


def forget_successes() -> Update:
    """Take from all bindings what they have of the rows of executions."""
    return update(WORKFLOW_BINDINGS).values(success_created_at_ns=null())


def select_by_keys(database: Database, num_keys: int) -> Select[Any]:
    """Read workflows. Keys: workflow_key. Rows: COLUMNS."""
    return dialect.select_wanted(database, COLUMNS, KEY_COLUMNS, num_keys)


def select_registrations(database: Database, num_keys: int) -> Select[Any]:
    """Find when workflows were registered. Keys: workflow_key. Rows: the key, recorded_at_ns."""
    return dialect.select_wanted(
        database, (WORKFLOWS.c.workflow_key, WORKFLOWS.c.recorded_at_ns), KEY_COLUMNS, num_keys
    )


def registrations_from_rows(rows: Iterable[Row]) -> dict[bytes, int]:
    """Read the rows of select_registrations(): time by key."""
    return dict(decode("workflows", _registration_from_row, rows))


def _registration_from_row(row: Row) -> tuple[bytes, int]:
    workflow_key, recorded_at_ns = row
    return workflow_key, recorded_at_ns

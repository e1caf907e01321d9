"""The table of node executions: its rows, and the statements on it."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from sqlalchemy import Insert, Select

from spanwise_server.domain.events import CacheStatus, NodeFacts
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.known import KnownNode
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.storage.records import NodeRecord
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.connection import Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import (
    NUM_STATE_COLUMNS,
    Share,
    by_first,
    decode,
    members,
    reference_from_row,
    reference_to_row,
    sharing,
    state_from_row,
    state_to_row,
    unshared,
)
from spanwise_server.storage.sql.schema import NODE_EXECUTIONS

COLUMNS = (
    NODE_EXECUTIONS.c.execution_key,
    NODE_EXECUTIONS.c.node_key,
    NODE_EXECUTIONS.c.node_id,
    NODE_EXECUTIONS.c.parent_node_id,
    NODE_EXECUTIONS.c.spec_node_id,
    NODE_EXECUTIONS.c.node_name,
    NODE_EXECUTIONS.c.retry_group,
    NODE_EXECUTIONS.c.kind,
    NODE_EXECUTIONS.c.target_project,
    NODE_EXECUTIONS.c.target_domain,
    NODE_EXECUTIONS.c.target_name,
    NODE_EXECUTIONS.c.target_version,
    NODE_EXECUTIONS.c.cache_status,
    NODE_EXECUTIONS.c.child_project,
    NODE_EXECUTIONS.c.child_domain,
    NODE_EXECUTIONS.c.child_name,
    NODE_EXECUTIONS.c.group_name,
    NODE_EXECUTIONS.c.created_at_ns,
    NODE_EXECUTIONS.c.last_occurred_at_ns,
    NODE_EXECUTIONS.c.latest_occurred_at_ns,
    NODE_EXECUTIONS.c.latest_reported_at_ns,
    NODE_EXECUTIONS.c.latest_phase,
    NODE_EXECUTIONS.c.latest_phase_version,
    NODE_EXECUTIONS.c.ended_occurred_at_ns,
    NODE_EXECUTIONS.c.ended_reported_at_ns,
    NODE_EXECUTIONS.c.ended_phase,
    NODE_EXECUTIONS.c.ended_phase_version,
    NODE_EXECUTIONS.c.first_running_at_ns,
)

KNOWN_COLUMNS = COLUMNS[:-NUM_STATE_COLUMNS]
"""All but the state."""

KEY_COLUMNS = (NODE_EXECUTIONS.c.execution_key, NODE_EXECUTIONS.c.node_key)

_KINDS = members(NodeKind)
_CACHE_STATUSES = members(CacheStatus)


def to_row(record: NodeRecord) -> Row:
    """Give the values of COLUMNS."""
    execution_key, node_key, node_id, facts, state = record
    (
        parent_node_id,
        spec_node_id,
        node_name,
        retry_group,
        kind,
        target_id,
        cache_status,
        child_execution_id,
        group,
    ) = facts
    return (
        binary(execution_key),
        node_key,
        node_id,
        parent_node_id,
        spec_node_id,
        node_name,
        retry_group,
        int(kind),
        *target_id,
        int(cache_status),
        *reference_to_row(child_execution_id),
        group,
        *state_to_row(state),
    )


def from_row(row: Row) -> NodeRecord:
    """Read the values of COLUMNS."""
    num_known = len(KNOWN_COLUMNS)
    execution_key, known = known_from_row(row[:num_known])
    return new_tuple(NodeRecord, (execution_key, *known, state_from_row(row[num_known:])))


def known_from_row(row: Row, share: Share = unshared) -> tuple[bytes, KnownNode]:
    """Read the values of KNOWN_COLUMNS: the key of the execution, and the node."""
    (
        execution_key,
        node_key,
        node_id,
        parent_node_id,
        spec_node_id,
        node_name,
        retry_group,
        kind,
        target_project,
        target_domain,
        target_name,
        target_version,
        cache_status,
        child_project,
        child_domain,
        child_name,
        group,
    ) = row
    target_id = (target_project, target_domain, target_name, target_version)
    facts = (
        share(parent_node_id),
        node_id if spec_node_id == node_id else share(spec_node_id),
        share(node_name),
        share(retry_group),
        _KINDS[kind],
        share(new_tuple(EntityVersion, target_id)),
        _CACHE_STATUSES[cache_status],
        reference_from_row(child_project, child_domain, child_name),
        share(group),
    )
    known = new_tuple(KnownNode, (node_key, node_id, new_tuple(NodeFacts, facts)))
    return execution_key, known


def from_rows(rows: Iterable[Row]) -> list[NodeRecord]:
    """Read rows of COLUMNS."""
    return decode("node_executions", from_row, rows)


def known_from_rows(rows: Iterable[Row]) -> dict[bytes, list[KnownNode]]:
    """Read rows of KNOWN_COLUMNS: the nodes by execution. Nothing is an empty list."""
    return by_first(decode("node_executions", partial(known_from_row, share=sharing()), rows))


def insert_missing(database: Database) -> Insert:
    """Insert a node that is not there. Parameters: COLUMNS."""
    return dialect.insert_missing(database, NODE_EXECUTIONS, COLUMNS)


def insert_or_replace(database: Database) -> Insert:
    """Insert or replace a node. Parameters: COLUMNS."""
    return dialect.insert_or_replace(database, NODE_EXECUTIONS, COLUMNS)


def select_by_keys(database: Database, num_keys: int) -> Select[Any]:
    """Read nodes. Keys: KEY_COLUMNS. Rows: COLUMNS."""
    return dialect.select_wanted(database, COLUMNS, KEY_COLUMNS, num_keys)


def select_present(database: Database, num_keys: int) -> Select[Any]:
    """Find which nodes are there. Keys and rows: KEY_COLUMNS."""
    return dialect.select_wanted(database, KEY_COLUMNS, KEY_COLUMNS, num_keys)


def select_by_execution(database: Database, num_keys: int) -> Select[Any]:
    """Read the nodes of executions. Keys: execution_key. Rows: KNOWN_COLUMNS."""
    return dialect.select_wanted(
        database, KNOWN_COLUMNS, (NODE_EXECUTIONS.c.execution_key,), num_keys
    )

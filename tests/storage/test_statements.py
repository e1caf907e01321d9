"""What SQL the hot statements become, and that the database answers them from its indexes."""

import re
import sqlite3
from contextlib import closing
from itertools import count, pairwise
from pathlib import Path

import pytest
from psycopg import ClientCursor
from sqlalchemy import Delete, Insert, Select

from spanwise_server.storage.sql import (
    attempts,
    deletion,
    event_log,
    executions,
    kept_trees,
    nodes,
    reasons,
    workflows,
)
from spanwise_server.storage.sql.compiling import (
    KeyLookup,
    Statement,
    compile_statement,
    compile_text,
)
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.postgresql import READER_SETTINGS, connect
from spanwise_server.storage.sql.schema import EVENTS, EXECUTIONS, REASONS
from tests.golden import check_golden
from tests.postgresql import Databases

GOLDEN = Path(__file__).parents[1] / "data" / "sql"

FULL_LISTING = executions.Listing(
    by_project=True,
    by_domain=True,
    num_phases=2,
    has_start=True,
    has_end=True,
    is_continued=True,
)
PLAIN_LISTING = executions.Listing(
    by_project=False,
    by_domain=False,
    num_phases=0,
    has_start=False,
    has_end=False,
    is_continued=True,
)


def selects(database: Database) -> dict[str, Select[tuple[object, ...]]]:
    return {
        "events_by_key": event_log.select_logged(database, 2),
        "events_last_sequence": event_log.select_last_sequences(database, 2),
        "events_log": event_log.select_log(),
        "events_page": event_log.select_events(with_payload=True),
        "events_page_by_time": event_log.select_events_by_time(with_payload=False),
        "events_last_recorded": deletion.select_last_recorded(database, 2),
        "events_sizes": deletion.select_sizes(EVENTS),
        "events_lives": event_log.select_lives(database, 2),
        "executions_by_key": executions.select_by_keys(database, 2),
        "executions_ended": deletion.select_ended(),
        "executions_open": deletion.select_open(),
        "executions_listing": executions.select_listing(database, PLAIN_LISTING),
        "executions_listing_filtered": executions.select_listing(database, FULL_LISTING),
        "executions_present": executions.select_present(database, 2),
        "executions_with_bindings": executions.select_with_bindings(database, 2),
        "kept_chunks_page": kept_trees.select_chunks(),
        "kept_trees_by_key": kept_trees.select_tree(),
        "executions_succeeded": executions.select_succeeded(database, 2),
        "executions_bound_succeeded": executions.select_bound_succeeded(database, 2),
        "nodes_by_execution": nodes.select_by_execution(database, 2),
        "nodes_by_key": nodes.select_by_keys(database, 2),
        "nodes_present": nodes.select_present(database, 2),
        "attempts_by_execution": attempts.select_by_execution(database, 2),
        "attempts_by_key": attempts.select_by_keys(database, 2),
        "attempts_finished": attempts.select_finished(database, 2),
        "reasons_by_execution": reasons.select_by_execution(database, 2),
        "workflows_registrations": workflows.select_registrations(database, 2),
        "workflows_by_key": workflows.select_by_keys(database, 2),
    }


def inserts(database: Database) -> dict[str, Insert]:
    return {
        "events_insert": event_log.insert_event(database),
        "executions_insert_missing": executions.insert_missing(database),
        "executions_insert_or_update": executions.insert_or_update(database),
        "kept_chunks_insert": kept_trees.insert_chunk(database),
        "kept_trees_insert_or_replace": kept_trees.insert_or_replace_tree(database),
        "nodes_insert_missing": nodes.insert_missing(database),
        "nodes_insert_or_replace": nodes.insert_or_replace(database),
        "attempts_insert_or_replace": attempts.insert_or_replace(database),
        "reasons_insert_or_merge": reasons.insert_or_merge(database),
        "workflow_bindings_insert_or_replace": workflows.insert_or_replace_binding(database),
        "workflows_insert_or_replace": workflows.insert_or_replace(database),
    }


def deletes(database: Database) -> dict[str, Delete]:
    return {
        "events_delete_last": deletion.delete_last(database, EVENTS),
        "reasons_delete_last": deletion.delete_last(database, REASONS),
        "executions_delete": deletion.delete_row(EXECUTIONS),
        "executions_delete_marked": deletion.delete_marked(),
    }


STATEMENTS = {
    database: selects(database) | inserts(database) | deletes(database) for database in Database
}
NAMES = list(STATEMENTS[Database.SQLITE])

SEEKS = {
    "events_by_key": "events_by_time (execution_key=? AND occurred_at_ns=? AND entity_key=?)",
    "events_page": "(execution_key=? AND sequence>?)",
    "events_page_by_time": "events_by_time (execution_key=? AND occurred_at_ns>?)",
    "kept_chunks_page": "(execution_key=? AND generation=? AND number>?)",
    "events_delete_last": "(execution_key=? AND sequence=?)",
    "reasons_delete_last": "PRIMARY KEY (execution_key=? AND entity_key=? AND digest=?)",
    "executions_ended": (
        "COVERING INDEX executions_by_end (ended_occurred_at_ns>? AND ended_occurred_at_ns<?)"
    ),
    "executions_open": ("executions_by_end (ended_occurred_at_ns=? AND execution_key>?)"),
    "executions_listing": "executions_by_start (started_at_ns<?)",
    "executions_succeeded": (
        "succeeded_executions_by_workflow (workflow_project=? AND workflow_domain=?"
        " AND workflow_name=? AND created_at_ns>? AND created_at_ns<?)"
    ),
    "executions_bound_succeeded": (
        "COVERING INDEX succeeded_bindings_by_workflow (workflow_project=? AND workflow_domain=?"
        " AND workflow_name=? AND success_created_at_ns>? AND success_created_at_ns<?)"
    ),
    "nodes_by_key": "PRIMARY KEY (execution_key=? AND node_key=?)",
    "attempts_by_key": "PRIMARY KEY (execution_key=? AND attempt_key=?)",
    "attempts_finished": (
        "finished_attempts_by_task (task_project=? AND task_domain=? AND task_name=?"
        " AND created_at_ns>? AND created_at_ns<?)"
    ),
}
"""How far into an index the look-ups of large tables go."""

SORTED_IN_PART = {"events_page_by_time"}
"""Sorts events of one moment by sequence; the moments come from the index in order."""


@pytest.mark.parametrize("database", Database)
@pytest.mark.parametrize("name", NAMES)
def test_statements_become_the_sql_that_is_kept(name: str, database: Database) -> None:
    statement = compile_statement(database, STATEMENTS[database][name])
    text = re.sub(r" +$", "", statement.text, flags=re.MULTILINE)
    parameters = ", ".join(statement.parameters)
    path = GOLDEN / f"{name}.{database.value}.sql"
    check_golden(path, f"-- parameters: {parameters}\n{text};\n")


@pytest.mark.parametrize("name", [*selects(Database.SQLITE), *deletes(Database.SQLITE)])
def test_statements_read_no_more_than_they_need(name: str, url: str) -> None:
    statement = compile_statement(Database.SQLITE, STATEMENTS[Database.SQLITE][name])
    plan = plan_of(statement, url)
    scans = [
        step
        for step in plan
        if step.startswith("SCAN")
        and step not in {"SCAN wanted", "SCAN 2 CONSTANT ROWS"}
        and " USING " not in step
    ]
    sorts = [step for step in plan if "TEMP B-TREE" in step]
    assert scans == []
    assert bool(sorts) == (name in SORTED_IN_PART), plan
    assert all("RIGHT PART" in step or "LAST TERM" in step for step in sorts)


@pytest.mark.parametrize("name", SEEKS)
def test_look_ups_use_all_of_a_key(name: str, url: str) -> None:
    plan = plan_of(compile_statement(Database.SQLITE, STATEMENTS[Database.SQLITE][name]), url)
    assert any(step.endswith(SEEKS[name]) for step in plan), plan


POSTGRESQL_SEEKS = {
    "events_by_key": ("events_by_time", ["execution_key", "occurred_at_ns", "entity_key"]),
    "events_last_sequence": ("events_pkey", ["execution_key"]),
    "events_page": ("events_pkey", ["execution_key", "sequence"]),
    "events_page_by_time": ("events_by_time", ["execution_key", "occurred_at_ns"]),
    "kept_chunks_page": ("kept_chunks_pkey", ["execution_key", "generation", "number"]),
    "executions_listing": ("executions_by_start", ["started_at_ns"]),
    "executions_listing_filtered": (
        "executions_by_domain_and_start",
        ["project", "domain", "started_at_ns"],
    ),
    "executions_succeeded": (
        "succeeded_executions_by_workflow",
        ["workflow_project", "workflow_domain", "workflow_name", "created_at_ns"],
    ),
    "executions_bound_succeeded": (
        "succeeded_bindings_by_workflow",
        ["workflow_project", "workflow_domain", "workflow_name", "success_created_at_ns"],
    ),
    "nodes_by_key": ("node_executions_pkey", ["execution_key", "node_key"]),
    "attempts_by_key": ("task_executions_pkey", ["execution_key", "attempt_key"]),
    "attempts_finished": (
        "finished_attempts_by_task",
        ["task_project", "task_domain", "task_name", "created_at_ns"],
    ),
}
"""Of each look-up the index, and the columns of it that lead to the first row."""


@pytest.mark.parametrize("name", selects(Database.POSTGRESQL))
def test_postgresql_reads_no_more_than_it_needs(name: str, postgresql: Databases) -> None:
    plan = postgresql_plan_of(name, postgresql)
    assert not [line for line in plan if "Seq Scan" in line]
    [first_scan, *_] = [line for line in plan if " Scan" in line]
    has_keys = any("unnest" in line for line in plan)
    assert has_keys == ("Function Scan on unnest" in first_scan), plan
    sorts = [line for line in plan if "Sort Key" in line or "Presorted Key" in line]
    assert bool(sorts) == (name in SORTED_IN_PART), plan
    assert not sorts or any("Presorted Key" in line for line in sorts)


@pytest.mark.parametrize("name", POSTGRESQL_SEEKS)
def test_postgresql_uses_all_of_a_key(name: str, postgresql: Databases) -> None:
    index, columns = POSTGRESQL_SEEKS[name]
    plan = postgresql_plan_of(name, postgresql)
    [condition, *_] = [
        condition
        for scan, condition in pairwise(plan)
        if f" using {index} " in scan and "Index Cond" in condition
    ]
    assert [column for column in columns if f"{column} " not in condition] == []


def test_postgresql_finds_the_last_sequence_at_the_end_of_the_index(postgresql: Databases) -> None:
    plan = postgresql_plan_of("events_last_sequence", postgresql)
    assert any("Backward using events_pkey" in line for line in plan), plan


def postgresql_plan_of(name: str, postgresql: Databases) -> list[str]:
    """Give the plan that the server keeps for a prepared statement."""
    numbers = count(1)
    text = compile_statement(Database.POSTGRESQL, STATEMENTS[Database.POSTGRESQL][name]).text
    numbered = re.sub("%s", lambda _: f"${next(numbers)}", text)
    with (
        postgresql.migrated() as url,
        closing(connect(url, READER_SETTINGS, None)) as connection,
    ):
        # With values for the parameters it would be a plan for these.
        explained = ClientCursor(connection).execute(f"EXPLAIN (GENERIC_PLAN) {numbered}".encode())
        return [line for (line,) in explained.fetchall()]


def plan_of(statement: Statement, url: str) -> list[str]:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    values = [None] * len(statement.parameters)
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement.text}", values).fetchall()
    connection.close()
    return [row[-1] for row in rows]


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.glob("*.sql")} == {
        f"{name}.{database.value}.sql" for name in NAMES for database in Database
    }


def test_an_insert_with_its_columns_in_another_order_is_refused() -> None:
    with pytest.raises(RuntimeError):
        compile_text(Database.SQLITE, event_log.insert_event(Database.SQLITE), ("payload",))


@pytest.mark.parametrize(
    ("num_keys", "expected"), [(1, 1), (2, 2), (3, 3), (5, 6), (7, 8), (9, 12), (97, 128)]
)
def test_lists_of_keys_share_few_texts(num_keys: int, expected: int) -> None:
    asked: list[int] = []

    def build(database: Database, size: int) -> Select[tuple[object, ...]]:
        asked.append(size)
        return nodes.select_present(database, size)

    class Nowhere:
        def fetch_all(self, text: str, parameters: list[object]) -> list[tuple[object, ...]]:
            assert text.count("?") == len(parameters) == 2 * expected
            return []

    lookup = KeyLookup(Database.SQLITE, build, 2)
    keys = [(b"key", number) for number in range(num_keys)]
    lookup.fetch(Nowhere(), keys)  # type: ignore[arg-type]
    lookup.fetch(Nowhere(), keys)  # type: ignore[arg-type]
    assert asked == [expected]

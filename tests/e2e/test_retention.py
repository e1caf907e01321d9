"""A server that deletes what its retention does not keep."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from spanwise.v1 import span_service_pb2
from tests.e2e.flyte_run import OK, Run
from tests.e2e.harness import ServerProcess, Stubs, failure, running_server
from tests.e2e.processes import wait_until

AGE_DAYS = 30
MANY = 40_000
"""Events of an execution that takes seconds to remove."""

PARTS = ("events", "node_executions", "task_executions", "reasons", "deletions")
FIRST_S, PAST_S, FUTURE_S = 0, 60, 5_000_000_000
"""Seconds after the moment that Run counts from: of 2023, and in a far future."""


@contextmanager
def sweeping_server(database: Path, **retention: Any) -> Iterator[tuple[ServerProcess, Stubs]]:
    config = database.with_suffix(".yaml")
    config.write_text(json.dumps({"retention": {"sweep_interval_s": 0.2, **retention}}))
    with running_server(database, "--config", str(config)) as server, server.channel() as channel:
        yield server, Stubs(channel)


def send(stubs: Stubs, name: str, phase: str | None, end_s: float = PAST_S) -> Run:
    """Send an execution that ended so, or goes on."""
    run = Run(stubs, name)
    run.workflow("RUNNING", FIRST_S)
    run.node("n0", "RUNNING", FIRST_S + 1)
    run.task("n0", "RUNNING", FIRST_S + 2, reasons=[("pulling the image", FIRST_S + 1)])
    if phase is not None:
        run.workflow(phase, end_s)
    return run


def listed(stubs: Stubs) -> set[str]:
    request = span_service_pb2.ListExecutionsRequest(page_size=1000)
    found = stubs.spans.ListExecutions(request).executions
    return {each.execution_id.name for each in found}


def is_gone(run: Run) -> bool:
    return all(status_of(ask) == grpc.StatusCode.NOT_FOUND for ask in (run.spans, run.log))


def status_of(ask: Callable[[], object]) -> grpc.StatusCode:
    try:
        ask()
    except grpc.RpcError as error:
        return failure(error)[0]
    return OK


def rows_of(database: Path) -> dict[str, int]:
    with closing(sqlite3.connect(database)) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            for table in PARTS
        }


def is_deleting(database: Path) -> bool:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT 1 FROM deletions").fetchone() is not None


def test_a_sweep_removes_what_ended_long_ago_and_nothing_else(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        stubs = Stubs(channel)
        send(stubs, "kept-failed", "FAILED")
        send(stubs, "running", None)
        send(stubs, "new", "SUCCEEDED", FUTURE_S)
        send(stubs, "old", "SUCCEEDED")
        assert len(listed(stubs)) == 4
    retention = {"age_days": AGE_DAYS, "failed_age_days": 36_000}
    with sweeping_server(database, **retention) as (server, stubs):
        wait_until(lambda: listed(stubs) == {"kept-failed", "running", "new"})
        assert is_gone(Run(stubs, "old"))
        wait_until(lambda: rows_of(database)["deletions"] == 0)
        assert rows_of(database)["node_executions"] == 3
        server.stop()
        assert '"num_executions": 1' in server.said()


def test_a_late_event_of_what_was_removed_begins_it_anew(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with sweeping_server(database, age_days=AGE_DAYS) as (_, stubs):
        run = send(stubs, "old", "SUCCEEDED")
        wait_until(lambda: not any(rows_of(database).values()))
        assert is_gone(run)
        assert run.task("n7", "RUNNING", PAST_S + 1) == OK
        assert [event.sequence for event in run.log()] == [1]
        assert [span.node.node_id for span in run.spans() if span.HasField("node")] == ["n7"]


@pytest.mark.timeout(300)
def test_a_sweep_that_is_killed_is_finished_by_the_next_server(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        run = send(Stubs(channel), "old", "SUCCEEDED")
        server.stop()
    grow(database, MANY)
    with sweeping_server(database, age_days=AGE_DAYS) as (server, stubs):
        wait_until(lambda: 0 < rows_of(database)["events"] < MANY)
        server.kill()
    half_way = rows_of(database)
    assert half_way["events"] > 0
    assert half_way["deletions"] == 1
    # Whatever the next server keeps, and it shows nothing of it before it is finished.
    with sweeping_server(database) as (_, stubs):
        assert is_gone(Run(stubs, run.name))
        wait_until(lambda: not any(rows_of(database).values()))


def grow(database: Path, num_events: int) -> None:
    """Give the only execution of a database so many events: copies of its last one."""
    with closing(sqlite3.connect(database)) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(events)")]
        values = ", ".join("value" if name == "sequence" else name for name in columns)
        connection.execute(
            f"""
            WITH RECURSIVE numbers(value) AS (
                SELECT max(sequence) + 1 FROM events
                UNION ALL SELECT value + 1 FROM numbers WHERE value < {num_events}
            )
            INSERT INTO events ({", ".join(columns)})
            SELECT {values} FROM events, numbers
            WHERE sequence = (SELECT max(sequence) FROM events)
            """  # noqa: S608
        )


def test_intake_goes_on_while_a_large_execution_is_removed(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        send(Stubs(channel), "old", "SUCCEEDED")
        server.stop()
    grow(database, MANY)
    done = threading.Event()
    answers: list[grpc.StatusCode] = []
    with sweeping_server(database, age_days=AGE_DAYS) as (_, stubs):
        run = Run(stubs, "busy")
        run.workflow("RUNNING", FIRST_S)

        def send_on() -> None:
            while not done.is_set():
                seconds = FIRST_S + 1 + len(answers)
                answers.append(run.task(f"n{len(answers)}", "RUNNING", seconds))

        sender = threading.Thread(target=send_on)
        sender.start()
        try:
            wait_until(lambda: is_deleting(database))
            before = len(answers)
            wait_until(lambda: not is_deleting(database))
            during = len(answers) - before
        finally:
            done.set()
            sender.join(60)
        assert during > 10
        assert is_gone(Run(stubs, "old"))
        assert set(answers) == {OK}
        assert rows_of(database)["events"] == len(answers) + 1


def test_a_server_stops_at_once_while_it_sweeps(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        send(Stubs(channel), "old", "SUCCEEDED")
        server.stop()
    grow(database, MANY)
    with sweeping_server(database, age_days=AGE_DAYS) as (server, _):
        wait_until(lambda: is_deleting(database))
        assert server.stop() == 0
    assert rows_of(database)["events"] > 0

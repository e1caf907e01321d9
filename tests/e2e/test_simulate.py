"""The load generator against a real server."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flyteidl.service.admin_pb2_grpc import AdminServiceServicer

from spanwise import Client
from spanwise._values import SpanKind
from spanwise.simulate import Load, Patience, simulate
from spanwise.v1 import event_service_pb2
from tests.e2e.cli_process import TIMEOUT_S, InTerminal, command, run
from tests.e2e.harness import ServerProcess, running_server
from tests.unit.client.demo_rules import executions
from tests.unit.client.simulate_sink import serving
from tests.unit.client.simulate_stories import simulation, story


def _report(*args: str, code: int = 0) -> dict[str, Any]:
    done = run("simulate", "--json", *args)
    assert done.returncode == code, done.stderr
    return dict(json.loads(done.stdout))


def test_a_server_stores_every_event_and_shows_the_planned_tree(server: ServerProcess) -> None:
    """With two propellers, repetitions, and clocks that are off: nothing more and nothing less."""
    report = _report(
        *("--endpoint", server.endpoint, "--executions", "6", "--nodes", "15", "--seed", "2"),
        *("--propellers", "2", "--duplicates", "0.5"),
    )
    assert report["is_complete"]
    assert report["codes"].keys() == {"OK", "ALREADY_EXISTS"}
    assert report["codes"]["ALREADY_EXISTS"] == report["events_sent_again"] > 0
    planned = 0
    with Client(server.endpoint) as client:
        for number in range(6):
            told = story(simulation(2, 15).execution(number))
            planned += len(told.requests)
            for name, execution in executions(told).items():
                execution_id = told.execution_id._replace(name=name)
                events = list(client.list_events(execution_id))
                accepted = [
                    event
                    for event in events
                    if event.disposition == event_service_pb2.DISPOSITION_ACCEPTED
                ]
                assert len(accepted) == len(execution.events)
                spans = [
                    span
                    for span in client.get_execution_span(execution_id)
                    if span.execution_id == execution_id
                ]
                nodes = [span.node_id for span in spans if span.kind is SpanKind.NODE]
                assert sorted(nodes) == sorted(execution.nodes)
                attempts = [
                    (span.node_id, span.retry_attempt)
                    for span in spans
                    if span.kind is SpanKind.TASK_ATTEMPT
                ]
                assert sorted(attempts) == sorted(execution.attempts)
                assert not any(span.is_open for span in spans)
    assert report["events"] == report["codes"]["OK"] == planned


def test_the_same_seed_again_brings_nothing_new(server: ServerProcess) -> None:
    """It succeeds all the same, and says why; another one brings other executions."""
    args = ("--endpoint", server.endpoint, "--executions", "3", "--nodes", "5", "--seed")
    first, again, other = (_report(*args, seed) for seed in ("11", "11", "12"))
    assert first["codes"]["OK"] == first["events"]
    assert again["codes"].keys() == {"ALREADY_EXISTS"}
    assert again["events_known"] == again["events"] == first["events"]
    assert other["codes"]["OK"] == other["events"]


def test_the_report_names_an_execution_that_can_be_explained(server: ServerProcess) -> None:
    """The command in it works as it stands."""
    args = ("--endpoint", server.endpoint, "--executions", "2", "--nodes", "4", "--seed", "21")
    done = run("simulate", *args, "--propellers", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 executions, 8 nodes" in done.stdout
    for part in ("events/s", "p99 ms", "CreateTaskEvent", "propeller"):
        assert part in done.stdout
    line = done.stdout.splitlines()[-1]
    _, _, explain = line.partition("Look at one of them: spanwise ")
    explained = run(*explain.split())
    assert explained.returncode == 0, explained.stderr
    assert "task_execution_0" in explained.stdout


def test_one_execution_may_be_large(server: ServerProcess) -> None:
    """As one is wanted to try how large trees are read."""
    args = ("--executions", "1", "--nodes", "400", "--rate", "0", "--seed", "31")
    report = _report("--endpoint", server.endpoint, *args)
    assert (report["is_complete"], report["nodes"]) == (True, 400)
    with Client(server.endpoint) as client:
        nodes = [
            span
            for span in client.get_execution_span(report["example"])
            if span.kind is SpanKind.NODE and span.name not in {"start-node", "end-node"}
        ]
    assert len(nodes) >= 400


def test_on_a_terminal_a_bar_tells_how_far_it_is(server: ServerProcess) -> None:
    """And goes away for the report."""
    args = ("--executions", "3", "--nodes", "10", "--seed", "41", "--rate", "200")
    with InTerminal("simulate", "--endpoint", server.endpoint, *args, columns=100) as terminal:
        terminal.read_until("of 30 nodes")
        assert terminal.read_to_end() == 0
    assert "3 of 3 executions, 30 nodes" in terminal.written


def _stored(database: Path) -> int:
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# Python as it is when SIGINT is not ignored, which it is under nohup and in the background.
_WITH_SIGINT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from spanwise.cli import main
main()
"""


def test_ctrl_c_ends_it_with_the_report_so_far(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server:
        args = ["simulate", "--json", "--endpoint", server.endpoint]
        with subprocess.Popen(
            [sys.executable, "-c", _WITH_SIGINT, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            _wait_until(lambda: _stored(database) > 100)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, stderr) == (130, "")
    report = json.loads(stdout)
    assert (report["ended_by"], report["is_complete"]) == ("Ctrl-C", False)
    assert 0 < report["events"] <= _stored(database)


def test_a_server_that_is_killed_and_comes_back_gets_every_event(tmp_path: Path) -> None:
    """What was sent and not answered is sent again, and is stored once."""
    database = tmp_path / "spanwise.db"
    with running_server(database) as server:
        address = server.endpoint
        args = ("--endpoint", address, "--executions", "8", "--nodes", "10", "--rate", "0")
        process = subprocess.Popen(
            command("simulate", "--json", *args),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        _wait_until(lambda: _stored(database) > 50)
        server.kill()
    with running_server(database, "--grpc-address", address) as server, process:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, stderr) == (0, "")
        report = json.loads(stdout)
        assert report["is_complete"]
        assert report["codes"]["UNAVAILABLE"] > 0
        with Client(server.endpoint) as client:
            accepted = sum(
                event.disposition == event_service_pb2.DISPOSITION_ACCEPTED
                for number in range(8)
                for name in executions(story(simulation(1, 10).execution(number)))
                for event in client.list_events(f"flytesnacks/development/{name}")
            )
    assert accepted == report["events"]


def test_a_server_that_is_gone_for_good_ends_it(tmp_path: Path) -> None:
    """With what was sent until then."""
    with running_server(tmp_path / "spanwise.db") as server:

        def kill(tallies: Any) -> None:
            if any(tally.taken > 20 for tally in tallies):
                server.kill()

        patience = Patience(calls=2, call_pause_s=0.05, rounds=2, round_pause_s=0.05)
        load = Load(executions=50, rate=200, patience=patience)
        report = simulate(simulation(51, 10), load, server.endpoint, kill)
    assert not report.is_complete
    assert report.ended_by.startswith(f"no server answers at {server.endpoint}: ")
    assert report.total.taken > 20
    assert report.total.failed_rounds > 0


def test_a_server_of_something_else_is_told() -> None:
    """The report comes first, then what ended it, in one line."""
    with serving(AdminServiceServicer()) as endpoint:
        done = run("simulate", "--endpoint", endpoint)
    assert done.returncode == 1
    assert "0 of 100 executions" in done.stdout
    assert "UNIMPLEMENTED" in done.stdout
    assert f"spanwise: the server at {endpoint} does not serve the events of" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "code", "part"),
    [
        (("--endpoint", "localhost"), 1, "HOST:PORT"),
        (("--endpoint", "no-such-host.invalid:8089"), 1, "no server answers at"),
        (("--start", "yesterday"), 1, "2026-01-31T10:00:00Z"),
        (("--project", "a/b"), 1, "a slash"),
        (("--executions", "0"), 2, "--executions"),
        (("--nodes", "0"), 2, "--nodes"),
        (("--propellers", "33"), 2, "--propellers"),
        (("--workers", "0"), 2, "--workers"),
        (("--rate", "-1"), 2, "--rate"),
        (("--duplicates", "1.5"), 2, "--duplicates"),
    ],
)
def test_a_value_that_cannot_be_used_is_told(args: tuple[str, ...], code: int, part: str) -> None:
    done = run("simulate", *args)
    assert (done.returncode, done.stdout) == (code, "")
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_names_of_other_executions_do_not_meet_these(server: ServerProcess) -> None:
    """Each begins with sim-, and tells seed, start and size apart."""
    args = ("--endpoint", server.endpoint, "--executions", "1", "--seed", "61")
    sizes = [_report(*args, "--nodes", nodes)["example"] for nodes in ("3", "4")]
    later = _report(*args, "--nodes", "3", "--start", "2026-06-01T00:00:00Z")["example"]
    assert len({*sizes, later}) == 3
    assert all(re.fullmatch(r"flytesnacks/development/sim-[0-9a-f]{8}-0", name) for name in sizes)

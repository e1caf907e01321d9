"""`spanwise delete` and `spanwise stats`, beside a server that runs."""

import json
import random
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from flyteidl.core.execution_pb2 import ExecutionError

from tests.e2e.cli_process import TIMEOUT_S, InTerminal, command, run, told
from tests.e2e.flyte_run import Run
from tests.e2e.harness import ServerProcess, Stubs, running_server
from tests.e2e.processes import wait_until
from tests.e2e.test_reader import send_large

MARK = "zebrazebra"
OTHERS = 30


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "spanwise.db"


@pytest.fixture
def server(database: Path) -> Iterator[ServerProcess]:
    with running_server(database) as server:
        yield server
        assert server.process.poll() is None, server.said()


@pytest.fixture
def stubs(server: ServerProcess) -> Iterator[Stubs]:
    with server.channel() as channel:
        yield Stubs(channel)


def url_of(database: Path) -> str:
    return f"sqlite:///{database}"


def story(run: Run, mark: str, source: random.Random) -> Iterator[None]:
    """Send an execution step by step, with a text in all that holds text."""
    run.workflow("RUNNING", 0, producer_id=mark)
    for number in range(8):
        node_id = f"{mark}-n{number}"
        run.node(node_id, "RUNNING", number, node_name=mark)
        yield
        for version in range(4):
            text = mark + "y" * source.choice([20, 80, 400, 20_000])
            reasons = [(f"{text} {version} {part}", number + part) for part in range(2)]
            uri = f"s3://{mark}/{source.randbytes(60).hex()}"
            run.task(
                node_id, "RUNNING", number, phase_version=version, reasons=reasons, input_uri=uri
            )
            yield
        error = ExecutionError(code=mark, message=f"{mark} broke {'z' * 9_000}")
        run.node(node_id, "FAILED", number + 9, error=error)
        yield
    run.workflow("FAILED", 99, error=ExecutionError(message=mark + "w" * 9_000))


def occurrences(database: Path, texts: list[bytes]) -> dict[str, int]:
    files = {path.name: path.read_bytes() for path in database.parent.glob(f"{database.name}*")}
    return {name: sum(map(content.count, texts)) for name, content in files.items()}


def stored_payloads(database: Path) -> list[bytes]:
    """Give the payloads of the execution as they lie in the file, where a text may be packed."""
    query = """
        SELECT substr(payload, -60) FROM events JOIN executions USING (execution_key)
        WHERE name = ?
    """
    with closing(sqlite3.connect(database)) as connection:
        return [payload for (payload,) in connection.execute(query, (MARK,))]


def test_nothing_is_left_of_a_deleted_execution_in_any_file(database: Path, stubs: Stubs) -> None:
    source = random.Random(1)
    runs = [Run(stubs, MARK), *(Run(stubs, f"other{number}") for number in range(OTHERS))]
    stories = [story(each, each.name, source) for each in runs]
    while stories:  # in turns, so that pages of the file are shared and split
        each = source.choice(stories)
        if next(each, each) is each:
            stories.remove(each)
    runs[0].spans()
    texts = [MARK.encode(), *stored_payloads(database)]
    assert len(texts) == 51
    assert sum(occurrences(database, texts).values()) > 200

    done = run(
        "delete", f"flytesnacks/development/{MARK}", "--yes", "--database-url", url_of(database)
    )

    assert done.returncode == 0, done.stderr
    assert "50 events" in done.stderr
    assert occurrences(database, texts) == {
        "spanwise.db": 0,
        "spanwise.db-shm": 0,
        "spanwise.db-wal": 0,
    }
    with pytest.raises(grpc.RpcError, match="NOT_FOUND"):
        runs[0].spans()
    with pytest.raises(grpc.RpcError, match="NOT_FOUND"):
        runs[0].log()
    assert all(len(each.log()) == 50 for each in runs[1:])


def test_a_kept_tree_goes_with_its_execution(database: Path, stubs: Stubs) -> None:
    large = Run(stubs, "large")
    send_large(large)
    large.workflow("SUCCEEDED", 999)
    wait_until(lambda: bool(kept_payloads(database)))
    texts = kept_payloads(database)
    assert sum(occurrences(database, texts).values()) >= len(texts)
    told("delete", "flytesnacks/development/large", "--yes", "--database-url", url_of(database))
    with pytest.raises(grpc.RpcError, match="NOT_FOUND"):
        large.spans()
    assert kept_payloads(database) == []
    assert sum(occurrences(database, texts).values()) == 0


def kept_payloads(database: Path) -> list[bytes]:
    """Give the ends of the chunks of all trees that are kept whole."""
    query = "SELECT substr(payload, -60) FROM kept_chunks JOIN kept_trees USING (execution_key)"
    with closing(sqlite3.connect(database)) as connection:
        return [payload for (payload,) in connection.execute(query)]


def test_who_watches_what_is_deleted_hears_that_it_may_have_been(
    database: Path, server: ServerProcess, stubs: Stubs
) -> None:
    watched = Run(stubs, "watched")
    watched.workflow("RUNNING", 0)
    name = "flytesnacks/development/watched"
    with subprocess.Popen(
        command("watch", name, "--endpoint", server.endpoint),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert "RUNNING" in process.stdout.readline()
        told("delete", name, "--yes", "--database-url", url_of(database))
        _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert said.count("\n") == 1
    assert "or it was deleted" in said


def test_an_unknown_execution_is_told_in_one_line(database: Path, server: ServerProcess) -> None:
    done = run("delete", "p/d/unknown", "--yes", "--database-url", url_of(database))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "p/d/unknown" in done.stderr


def test_a_missing_database_is_not_made(database: Path) -> None:
    for arguments in (["delete", "p/d/n", "--yes"], ["stats"]):
        done = run(*arguments, "--database-url", url_of(database))
        assert done.returncode == 1
        assert "does not exist" in done.stderr
    assert not database.exists()


def test_without_a_terminal_a_deletion_needs_to_be_confirmed(
    database: Path, server: ServerProcess, stubs: Stubs
) -> None:
    Run(stubs, "kept").workflow("RUNNING", 0)
    name = "flytesnacks/development/kept"
    done = run("delete", name, "--database-url", url_of(database))
    assert done.returncode == 2
    assert done.stderr.startswith(f"spanwise: {name} has 1 event, with payloads of ")
    assert done.stderr.endswith("add --yes\n")
    assert done.stderr.count("\n") == 1
    assert "kept" in told("list", "--json", "--endpoint", server.endpoint)


def test_nobody_is_asked_about_what_is_not_there(database: Path, server: ServerProcess) -> None:
    with InTerminal("delete", "p/d/unknown", "--database-url", url_of(database)) as terminal:
        assert terminal.read_to_end() == 1
    assert "for good?" not in terminal.written
    assert "nothing is stored of the execution p/d/unknown" in terminal.written


@pytest.mark.parametrize(("answer", "is_left"), [("n", True), ("y", False)])
def test_a_terminal_is_asked(
    database: Path, server: ServerProcess, stubs: Stubs, answer: str, is_left: bool
) -> None:
    asked = Run(stubs, "asked")
    asked.workflow("RUNNING", 0)
    name = "flytesnacks/development/asked"
    with InTerminal("delete", name, "--database-url", url_of(database)) as terminal:
        terminal.read_until(f"{name} has 1 event, with payloads of ")
        terminal.read_until(f"Delete {name} for good?")
        terminal.type(f"{answer}\n")
        assert terminal.read_to_end() == (1 if is_left else 0)
    listing = told("list", "--json", "--endpoint", server.endpoint)
    assert ("asked" in listing) == is_left


def test_stats_tell_what_was_sent(database: Path, stubs: Stubs) -> None:
    sent = 0
    for number in range(5):
        each = Run(stubs, f"run{number}")
        each.workflow("RUNNING", 0)
        each.node("n0", "RUNNING", 1)
        each.task("n0", "RUNNING", 2, reasons=[("one", 1), ("two", 2)])
        sent += 3
        if number < 2:
            each.workflow("SUCCEEDED", 9)
            sent += 1
    found = json.loads(told("stats", "--json", "--database-url", url_of(database)))
    rows = {each["table"]: each["num_rows"] for each in found["tables"]}
    assert rows["events"] == sent
    assert rows["executions"] == rows["node_executions"] == rows["task_executions"] == 5
    assert rows["reasons"] == 10
    assert found["num_executions"] == {"RUNNING": 3, "SUCCEEDED": 2}
    assert found["daily_events"] == [sent, 0, 0, 0, 0, 0, 0]
    assert found["events_per_day"] == pytest.approx(sent * 24)  # of a database in its first hour
    assert found["payload_bytes"] < found["used_bytes"] <= found["file_bytes"]
    assert found["oldest_start_ns"] == 1_700_000_000 * 10**9
    assert all(each["size_bytes"] >= 8192 for each in found["tables"])


def test_stats_are_a_table_for_people(database: Path, stubs: Stubs) -> None:
    Run(stubs, "run").workflow("RUNNING", 0)
    Run(stubs, "placeholder").node("n0", "RUNNING", 1)
    lines = told("stats", "--database-url", url_of(database)).splitlines()
    assert lines[0].split() == ["table", "rows", "size"]
    assert any(line.split()[:2] == ["events", "2"] for line in lines)
    assert "executions     1 unknown, 1 RUNNING" in lines
    assert any(line.startswith("growth") and "a day" in line for line in lines)


def test_stats_of_an_empty_database_have_nothing(database: Path) -> None:
    told("migrate", "--database-url", url_of(database))
    assert "executions     none" in told("stats", "--database-url", url_of(database)).splitlines()

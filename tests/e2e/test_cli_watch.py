"""`watch` as people run it, while an execution goes on."""

import re
import signal
import subprocess
from collections.abc import Iterator

import pytest

from spanwise import Client
from spanwise._times import to_timestamp
from spanwise.cli.temporary_server import temporary_server
from spanwise.demo import Scenario, play, training_pipeline
from spanwise.v1 import event_pb2, phase_pb2
from tests.e2e.cli_process import TIMEOUT_S, InTerminal, command, run, told

_START_NS = 1_672_567_200_000_000_000  # 2023-01-01T10:00:00Z


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with temporary_server() as (address, *_):
        yield address


def _scenarios(name: str) -> tuple[Scenario, Scenario]:
    """Give the sample execution up to its middle, and whole."""
    return (
        training_pipeline(1, _START_NS, name=name, running=True),
        training_pipeline(1, _START_NS, name=name),
    )


def test_a_pipe_gets_a_line_for_each_change_until_the_end(endpoint: str) -> None:
    """What was before, and then what happens."""
    begun, whole = _scenarios("piped")
    play(begun, endpoint)
    execution = str(whole.execution_id)
    with subprocess.Popen(
        command("watch", execution, "--endpoint", endpoint), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        play(whole, endpoint)
        lines += process.stdout.readlines()
        assert process.wait(TIMEOUT_S) == 0
    told_lines = [line.split(maxsplit=2)[1:] for line in lines]
    assert told_lines[0] == ["root_span", "RUNNING\n"]
    assert ["n2[1]", "SUCCEEDED\n"] in told_lines
    assert told_lines[-1] == ["root_span", "SUCCEEDED\n"]
    assert any("triggered scale-up" in line for line in lines)
    assert len(lines) == len(set(lines))


def test_a_terminal_keeps_the_waterfall_at_the_end(endpoint: str) -> None:
    """The one that explain draws."""
    begun, whole = _scenarios("drawn")
    arguments = (str(whole.execution_id), "--endpoint", endpoint)
    with InTerminal("watch", *arguments, columns=100, rows=150, env={"NO_COLOR": "1"}) as terminal:
        terminal.read_until("waiting for the first event")
        play(begun, endpoint)
        terminal.read_until("last heard")
        play(whole, endpoint)
        assert terminal.read_to_end() == 0
    screen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.written).replace("\r", "")
    last = screen[screen.rindex("flytesnacks/") :]
    assert last == told("explain", *arguments, "--waterfall") + "ended: SUCCEEDED\n"


def test_an_execution_that_failed_gives_exit_code_1(endpoint: str) -> None:
    """So that a script can go on after it or not."""
    begun, _ = _scenarios("aborted")
    play(begun, endpoint)
    with Client(endpoint) as client:
        client.create_execution_event(
            event_pb2.ExecutionEvent(
                execution_id=begun.execution_id.to_message(),
                phase=phase_pb2.PHASE_ABORTED,
                occurred_at=to_timestamp(begun.end_ns),
            )
        )
    done = run("watch", str(begun.execution_id), "--endpoint", endpoint)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[-1].split()[1:3] == ["root_span", "ABORTED"]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_ctrl_c_ends_without_a_traceback(endpoint: str, is_terminal: bool) -> None:
    """With the exit code of an interrupted program, and what was shown stays."""
    begun, _ = _scenarios(f"interrupted-{is_terminal}".lower())
    play(begun, endpoint)
    arguments = ("watch", str(begun.execution_id), "--endpoint", endpoint)
    with InTerminal(*arguments, env={} if is_terminal else {"TERM": "dumb"}) as terminal:
        terminal.read_until("last heard" if is_terminal else "RUNNING")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.read_to_end() == 130
    assert "KeyboardInterrupt" not in terminal.written
    assert "Aborted" not in terminal.written


def test_ctrl_c_leaves_the_whole_picture_on_a_small_terminal(endpoint: str) -> None:
    """Nothing is drawn again then, so that it may scroll."""
    begun, _ = _scenarios("small")
    play(begun, endpoint)
    arguments = ("watch", str(begun.execution_id), "--endpoint", endpoint)
    with InTerminal(*arguments, rows=24, env={"NO_COLOR": "1"}) as terminal:
        terminal.read_until("more rows do not fit")
        terminal.read_until("last heard")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.read_to_end() == 130
    last = terminal.written[terminal.written.rindex("flytesnacks/") :]
    assert "do not fit" not in last
    assert last.count("\n") > 40
    assert last.splitlines()[-1].startswith("last heard ")


def test_nodes_of_the_child_execution_are_told_from_those_of_the_watched_one(
    endpoint: str,
) -> None:
    """Both have an n0, and the child has a name of its own."""
    _, whole = _scenarios("launching")
    play(whole, endpoint)
    child = whole.workflows[1][0].name
    lines = told("watch", str(whole.execution_id), "--endpoint", endpoint).splitlines()
    entities = [line.split()[1] for line in lines]
    assert {"n0", f"{child}/n0", child, f"{child}/n0[0]", f"{child}/end-node"} <= set(entities)
    assert all(len(line.split()) > 2 for line in lines)


def test_no_server_is_told_in_one_line() -> None:
    """As by every command."""
    done = run("watch", "a/b/c", "--endpoint", "127.0.0.1:1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no server answers" in done.stderr

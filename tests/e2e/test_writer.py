"""The writer process: what a sender hears when it dies, and that it leaves with its server."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from tests.e2e.cli_process import TIMEOUT_S
from tests.e2e.flyte_run import ALREADY_EXISTS, OK, Run
from tests.e2e.harness import ServerProcess, Stubs, running_server
from tests.e2e.processes import child_of, is_running, wait_until

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
DEADLINE_S = 30


def writer_of(server: ServerProcess) -> int:
    """Give the process id of a server's writer."""
    return child_of(server, "spanwise_server.writer")


def test_senders_hear_unavailable_when_the_writer_dies_and_the_next_event_is_taken(
    tmp_path: Path,
) -> None:
    answers: dict[tuple[str, int], grpc.StatusCode] = {}
    with running_server(tmp_path / "spanwise.db") as server, server.channel() as channel:
        run = Run(Stubs(channel))

        def send(node_id: str, version: int) -> grpc.StatusCode:
            return run.task(node_id, "RUNNING", version, phase_version=version)

        for node_id in ("n0", "n1", "n2"):
            assert send(node_id, 0) is OK
            with ThreadPoolExecutor(8) as senders:
                sent = {
                    (node_id, version): senders.submit(send, node_id, version)
                    for version in range(1, 200)
                }
                wait_until(next(iter(sent.values())).done)
                os.kill(writer_of(server), signal.SIGKILL)
                answers |= {event: answer.result() for event, answer in sent.items()}
            assert send(node_id, 200) in {OK, UNAVAILABLE}
            assert send(node_id, 201) is OK
        logged = {(event.node_id, event.phase_version) for event in run.log()}
        assert server.process.poll() is None
    # Of one node, events that overtake others have versions below the stored one.
    assert set(answers.values()) <= {OK, UNAVAILABLE, ALREADY_EXISTS}
    assert {event for event, answer in answers.items() if answer is not UNAVAILABLE} <= logged


def test_writer_that_dies_while_idle_costs_one_event_at_most(tmp_path: Path) -> None:
    with running_server(tmp_path / "spanwise.db") as server, server.channel() as channel:
        run = Run(Stubs(channel))
        assert run.task("n0", "QUEUED", 0) is OK
        writer = writer_of(server)
        os.kill(writer, signal.SIGKILL)
        wait_until(lambda: not is_running(writer))
        assert run.task("n0", "INITIALIZING", 1) in {OK, UNAVAILABLE}
        assert run.task("n0", "RUNNING", 2) is OK


def test_nothing_is_acknowledged_into_a_database_that_was_deleted(tmp_path: Path) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        run = Run(Stubs(channel))
        assert run.task("n0", "QUEUED", 0) is OK
        database.unlink()
        assert run.task("n0", "RUNNING", 1) is UNAVAILABLE
        assert run.task("n0", "RUNNING", 1) is UNAVAILABLE


def test_senders_hear_unavailable_and_nothing_worse_when_the_server_stops_under_load(
    tmp_path: Path,
) -> None:
    with running_server(tmp_path / "spanwise.db") as server:
        answers: set[grpc.StatusCode] = set()
        started = threading.Event()

        def send_until_stopped(number: int) -> None:
            with server.channel(use_local_subchannel_pool=1) as channel:
                run = Run(Stubs(channel))
                for version in range(100_000):
                    answer = run.task(f"n{number}", "RUNNING", version, phase_version=version)
                    answers.add(answer)
                    if answer is not OK:
                        return
                    started.set()

        with ThreadPoolExecutor(8) as senders:
            running = [senders.submit(send_until_stopped, number) for number in range(8)]
            assert started.wait(DEADLINE_S)
            server.signal(signal.SIGTERM)
            for each in running:
                each.result(DEADLINE_S)
        assert server.wait() == 0
    assert answers <= {OK, UNAVAILABLE}


def test_a_stop_does_not_wait_for_a_writer_that_hangs(tmp_path: Path) -> None:
    """Senders hear UNAVAILABLE before: what they sent may be stored or not."""
    with running_server(tmp_path / "spanwise.db", "--graceful-stop-s", "0.1") as server:
        with server.channel() as channel, ThreadPoolExecutor(8) as senders:
            run = Run(Stubs(channel))
            assert run.task("n0", "QUEUED", 0) is OK
            writer = writer_of(server)
            os.kill(writer, signal.SIGSTOP)
            sent = [senders.submit(run.task, f"n{number}", "QUEUED", 1) for number in range(8)]
            with pytest.raises(TimeoutError):
                sent[0].result(0.5)  # they have come in, and wait
            server.signal(signal.SIGTERM)
            assert {answer.result(DEADLINE_S) for answer in sent} == {UNAVAILABLE}
        assert server.wait() == 0, server.said()
        assert not is_running(writer)


@pytest.mark.parametrize("module", ["spanwise_server.reader", "spanwise_server.writer"])
def test_a_process_that_hangs_ends_with_its_server(tmp_path: Path, module: str) -> None:
    """It would stay for ever."""
    with running_server(tmp_path / "spanwise.db") as server:
        child = child_of(server, module)
        os.kill(child, signal.SIGSTOP)
        assert server.stop() == 0, server.said()
        assert not is_running(child)


def test_what_hangs_elsewhere_does_not_keep_a_process() -> None:
    """For instance a query that waits for its answer in a thread."""
    script = (
        "import time; from spanwise_server.bootstrap import _ending_after\n"
        "with _ending_after(0.01): time.sleep(3600)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 1
    assert "does not answer" in done.stdout + done.stderr


def test_writer_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "spanwise.db")
    writer = writer_of(server)
    server.kill()
    wait_until(lambda: not is_running(writer))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_writer_ignores_signals_that_are_meant_for_its_server(
    number: signal.Signals, tmp_path: Path
) -> None:
    with running_server(tmp_path / "spanwise.db") as server, server.channel() as channel:
        run = Run(Stubs(channel))
        run.task("n0", "QUEUED", 0)  # by now the writer has set its signals
        writer = writer_of(server)
        os.kill(writer, number)
        assert run.task("n0", "RUNNING", 1) is OK
        assert writer_of(server) == writer


def test_database_password_is_in_no_command_line(tmp_path: Path) -> None:
    with running_server(tmp_path / "secret.db") as server:
        assert b"secret" not in Path(f"/proc/{writer_of(server)}/cmdline").read_bytes()

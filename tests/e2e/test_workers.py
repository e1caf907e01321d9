"""`spanwise serve --workers`: one address, several processes."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc
import httpx
import pytest

from spanwise_server.config import Settings
from spanwise_server.supervisor import WORKER_COMMAND
from spanwise_server.worker import SIGN_OF_LIFE, decode_word, encode_hello
from tests.e2e.cli_process import run
from tests.e2e.flyte_run import OK, Run
from tests.e2e.harness import READY, ServerProcess, Stubs, running_server, whole_log
from tests.e2e.http_client import TIMEOUT_S, path_of
from tests.e2e.processes import DEADLINE_S, children_of, is_running, wait_until
from tests.e2e.replicas import stubs_of
from tests.e2e.test_serve import open_call

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
SENDERS = 8


def workers_of(server: ServerProcess) -> list[int]:
    """Give the process ids of the workers."""
    return children_of(server.process.pid, "spanwise_server.worker")


def helpers_of(server: ServerProcess) -> list[int]:
    """Give the process ids of the workers' writers and readers."""
    return [
        helper
        for worker in workers_of(server)
        for module in ("spanwise_server.writer", "spanwise_server.reader")
        for helper in children_of(worker, module)
    ]


def num_connections(pid: int, port: int) -> int:
    """Give how many connections to a port a process has accepted."""
    established = {
        fields[9]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        if (fields := line.split())[3] == "01" and int(fields[1].split(":")[1], 16) == port
    }
    links = (str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir())
    return sum(link[8:-1] in established for link in links if link.startswith("socket:["))


def port_of(server: ServerProcess) -> int:
    """Give the port that a server serves on."""
    return int(server.endpoint.rpartition(":")[2])


class Load:
    """Senders of an attempt each, on a connection each, which send an event until it is stored."""

    def __init__(self, server: ServerProcess, *, ends_with: grpc.StatusCode | None = None) -> None:
        """Send to `server`; each sender ends at the answer `ends_with`, if given."""
        self._server = server
        self._ends_with = ends_with
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self.acknowledged: set[tuple[str, int]] = set()
        self.answers: Counter[grpc.StatusCode] = Counter()
        self.num_sent = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send for the time of a block, or until all senders have ended."""
        with ThreadPoolExecutor(SENDERS) as threads:
            senders = [threads.submit(self._send, f"n{number}") for number in range(SENDERS)]
            try:
                yield
            finally:
                if self._ends_with is None:
                    self._stop.set()
            for sender in senders:
                sender.result(DEADLINE_S)

    def wait_for_more(self, count: int) -> None:
        """Wait until every sender has had so many more events stored."""
        with self._changed:
            wanted = {node_id: number + count for node_id, number in self._stored().items()}
            assert self._changed.wait_for(
                lambda: all(
                    self._stored()[node_id] >= number for node_id, number in wanted.items()
                ),
                DEADLINE_S,
            )

    def _stored(self) -> Counter[str]:
        stored = Counter({f"n{number}": 0 for number in range(SENDERS)})
        stored.update(node_id for node_id, _ in self.acknowledged)
        return stored

    def _send(self, node_id: str) -> None:
        with stubs_of(self._server) as stubs:
            run = Run(stubs, "load")
            version = 0
            while not self._stop.is_set():
                answer = run.task(node_id, "RUNNING", version, phase_version=version)
                with self._changed:
                    self.num_sent += 1
                    self.answers[answer] += 1
                    if answer is not UNAVAILABLE:  # a resend may be the second that is stored
                        self.acknowledged.add((node_id, version))
                        version += 1
                    self._changed.notify_all()
                if answer is self._ends_with:
                    return


def logged(stubs: Stubs) -> Counter[tuple[str, int]]:
    """Give how often each event of a load is in the log, which must be whole."""
    events = whole_log(stubs, Run(stubs, "load").id)
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    return Counter((event.node_id, event.phase_version) for event in events)


def test_all_workers_take_calls_on_one_address(tmp_path: Path) -> None:
    """The system deals connections out among them; each has helpers; one address is told."""
    with running_server(tmp_path / "spanwise.db", "--workers", "3") as server, ExitStack() as stack:
        workers = workers_of(server)
        assert len(workers) == 3
        runs = [Run(stack.enter_context(stubs_of(server)), "shared") for _ in range(64)]
        for number, run_ in enumerate(runs):
            assert run_.task("n0", "RUNNING", number, phase_version=number) is OK
        counts = [num_connections(worker, port_of(server)) for worker in workers]
        assert sum(counts) == 64
        assert all(counts), counts
        assert num_connections(server.process.pid, port_of(server)) == 0
        assert [event.sequence for event in runs[0].log()] == list(range(1, 65))
        assert len(helpers_of(server)) == 2 * 3
        assert server.said().count(READY) == 1


def test_workers_answer_alike_over_http_and_tell_who_counted(tmp_path: Path) -> None:
    """On one address."""
    with running_server(tmp_path / "spanwise.db", "--workers", "2") as server, ExitStack() as stack:
        with server.channel() as channel:
            run = Run(Stubs(channel), "shared")
            assert run.workflow("RUNNING", 0) is OK
        clients = [
            stack.enter_context(httpx.Client(base_url=server.page, timeout=TIMEOUT_S))
            for _ in range(32)
        ]
        workers = {
            line.split('worker="')[1][0]
            for client in clients
            for line in client.get("/metrics").text.splitlines()
            if line.startswith("spanwise_events_total{")
        }
        assert workers == {"1", "2"}
        answers = {client.get(path_of(run.id, "events")).text for client in clients}
        assert len(answers) == 1
        etags = {client.get(path_of(run.id, "columns")).headers["etag"] for client in clients}
        assert len(etags) == 1
        assert server.stop() == 0


def test_one_worker_is_the_server_itself(tmp_path: Path) -> None:
    """As without the flag: no supervisor."""
    with running_server(tmp_path / "spanwise.db", "--workers", "1") as server:
        assert workers_of(server) == []
        assert len(children_of(server.process.pid, "spanwise_server.writer")) == 1


@pytest.mark.timeout(300)
def test_a_worker_that_is_killed_under_load_comes_back_and_nothing_is_lost(
    database: Path | str,
) -> None:
    """Its callers hear UNAVAILABLE, and send again to another; nobody hears anything else."""
    with running_server(database, "--workers", "2") as server:
        load = Load(server)
        with load.running():
            for _ in range(2):
                load.wait_for_more(5)
                before = workers_of(server)
                os.kill(before[0], signal.SIGKILL)
                load.wait_for_more(5)
                wait_until(lambda before=before: len(set(workers_of(server)) - {before[0]}) == 2)  # type: ignore[misc]
                assert before[1] in workers_of(server)
        with stubs_of(server) as stubs:
            counts = logged(stubs)
        assert server.process.poll() is None
        assert server.stop() == 0
        said = server.said()
    assert set(load.answers) <= {OK, UNAVAILABLE, grpc.StatusCode.ALREADY_EXISTS}
    assert load.acknowledged <= set(counts)
    assert counts.total() <= load.num_sent
    assert said.count("a worker ended and is started again") == 2
    assert "Traceback" not in said


@pytest.mark.timeout(300)
def test_all_workers_stop_gracefully_under_load(tmp_path: Path) -> None:
    """What was acknowledged is stored, callers hear OK or UNAVAILABLE, and nothing is left over."""
    database = tmp_path / "spanwise.db"
    with running_server(database, "--workers", "3") as server:
        load = Load(server, ends_with=UNAVAILABLE)
        processes = workers_of(server) + helpers_of(server)
        with load.running():
            load.wait_for_more(5)
            server.signal(signal.SIGTERM)
        assert server.wait() == 0
        assert not any(map(is_running, processes))
        assert "Traceback" not in server.said()
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port_of(server)))
    assert [path.name for path in tmp_path.iterdir()] == ["spanwise.db"]
    assert set(load.answers) == {OK, UNAVAILABLE}
    with running_server(database) as server, stubs_of(server) as stubs:
        assert load.acknowledged <= set(logged(stubs))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_all_workers_at_once(number: signal.Signals, tmp_path: Path) -> None:
    """A call that runs is not waited for."""
    flags = ("--workers", "2", "--graceful-stop-s", "3600")
    with running_server(tmp_path / "spanwise.db", *flags) as server, stubs_of(server) as stubs:
        processes = workers_of(server) + helpers_of(server)
        with open_call(stubs.channel):
            server.signal(number)
            wait_until(lambda: Run(stubs).task("n0", "RUNNING", 1) is UNAVAILABLE)
            server.signal(number)
            assert server.wait() == 128 + number
        wait_until(lambda: not any(map(is_running, processes)))


def test_workers_end_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    """And their helpers with them."""
    server = ServerProcess(tmp_path / "spanwise.db", "--workers", "2")
    processes = workers_of(server) + helpers_of(server)
    assert len(processes) >= 2
    server.kill()
    wait_until(lambda: not any(map(is_running, processes)))


def test_one_worker_may_be_stopped_by_hand_and_comes_back(tmp_path: Path) -> None:
    """It finishes what it has, as the whole server would."""
    with running_server(tmp_path / "spanwise.db", "--workers", "2") as server:
        before = workers_of(server)
        os.kill(before[1], signal.SIGTERM)
        wait_until(lambda: len(set(workers_of(server)) - {before[1]}) == 2)
        server.wait_for('{"worker": 2, "event": "a worker is back"')
        assert server.stop() == 0
        assert '"exit_code": 0' in server.said()


def test_workers_that_cannot_come_up_end_the_server_with_the_reason(tmp_path: Path) -> None:
    """Here somebody takes the port in the moment in which no worker has it."""
    with running_server(tmp_path / "spanwise.db", "--workers", "2") as server:
        for worker in workers_of(server):
            os.kill(worker, signal.SIGKILL)
        with socket.socket() as thief:
            thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            wait_until(lambda: takes(thief, port_of(server)))
            assert server.wait() == 1
        last = server.said().splitlines()[-1]
    assert re.match(
        rf"spanwise: worker [12] failed at 3 starts in a row: .*{server.endpoint}", last
    )


def takes(thief: socket.socket, port: int) -> bool:
    """Try to take a port."""
    try:
        thief.bind(("127.0.0.1", port))
        thief.listen()
    except OSError:
        return False
    return True


def test_the_address_of_workers_is_taken_for_every_other_server(tmp_path: Path) -> None:
    """Although they share it among themselves."""
    with running_server(tmp_path / "spanwise.db", "--workers", "2") as server:
        url = f"sqlite:///{tmp_path}/other.db"
        address = ("--grpc-address", server.endpoint, "--database-url", url)
        for workers in ("1", "2"):
            done = run("serve", *address, "--workers", workers)
            assert (done.returncode, done.stderr.count("\n")) == (1, 1)
            assert "in use" in done.stderr


def test_logs_name_the_worker_and_no_command_line_shows_the_database(tmp_path: Path) -> None:
    """Of all processes of a worker."""
    database = tmp_path / "secret.db"
    with running_server(database, "--workers", "2") as server, ExitStack() as stack:
        stubs = [stack.enter_context(stubs_of(server)) for _ in range(32)]
        for each in stubs:
            Run(each).task("n0", "RUNNING", 1)
        for pid in workers_of(server) + helpers_of(server):
            assert b"secret" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        for pid in helpers_of(server):
            os.kill(pid, signal.SIGKILL)
        for each in stubs:
            Run(each).task("n0", "RUNNING", 1)
        wait_until(lambda: server.said().count("process ended") == 4)
        records = [json.loads(line) for line in server.said().splitlines() if line[0] == "{"]
        assert sorted((record["worker"], record["event"]) for record in records) == [
            (worker, f"the {helper} process ended")
            for worker in (1, 2)
            for helper in ("reader", "writer")
        ]


def test_a_number_of_workers_that_is_none_is_told() -> None:
    """Before anything is opened."""
    done = run("serve", "--workers", "0")
    assert done.returncode == 2
    assert "workers is 0" in done.stderr


def test_a_worker_gives_signs_of_life_before_it_takes_calls_and_from_then_on(
    tmp_path: Path,
) -> None:
    """What the supervisor tells a worker that hangs by."""
    url = f"sqlite:///{tmp_path / 'spanwise.db'}"
    assert run("migrate", "--database-url", url).returncode == 0
    ours, its = socket.socketpair()
    with its:
        worker = subprocess.Popen(WORKER_COMMAND, stdin=its.fileno(), stderr=subprocess.DEVNULL)
    with worker, ours.makefile("rb") as lines:
        ours.settimeout(DEADLINE_S)
        ours.sendall(encode_hello(1, Settings(grpc_address="127.0.0.1:0", database_url=url)))
        assert lines.readline() == SIGN_OF_LIFE
        said = next(line for line in lines if line != SIGN_OF_LIFE)
        assert decode_word(said) is None
        assert [lines.readline(), lines.readline()] == [SIGN_OF_LIFE] * 2
        worker.terminate()
        assert set(lines) <= {SIGN_OF_LIFE}
        ours.close()
        assert worker.wait(DEADLINE_S) == 0

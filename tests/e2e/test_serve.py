"""`spanwise serve` as a process: how it starts, how it stops, and what it says when it cannot."""

import queue
import signal
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.reflection_pb2 import (
    ServerReflectionRequest,
    ServerReflectionResponse,
)

from spanwise.v1 import event_service_pb2, identifiers_pb2
from tests.e2e.cli_process import run
from tests.e2e.harness import Stubs, failure, running_server
from tests.unit.rpc.flyte import EXECUTION, NODE, at, task_event

EXECUTION_ID = identifiers_pb2.ExecutionId(
    project=EXECUTION.project, domain=EXECUTION.domain, name=EXECUTION.name
)


def list_versions(stubs: Stubs) -> list[int]:
    """Give the versions of all logged events, one by one."""
    versions = []
    token = ""
    while True:
        page = stubs.events.ListEvents(
            event_service_pb2.ListEventsRequest(
                execution_id=EXECUTION_ID, page_size=1000, page_token=token
            )
        )
        versions += [event.phase_version for event in page.events]
        token = page.next_page_token
        if not token:
            return versions


def watch_health(channel: grpc.Channel) -> Any:
    """Begin to listen to the health of the whole server."""
    health: Any = health_pb2_grpc.HealthStub(channel)  # its stubs name no methods
    return health.Watch(health_pb2.HealthCheckRequest())


@contextmanager
def open_call(channel: grpc.Channel) -> Iterator[None]:
    """Hold a call open that the server has begun to answer."""
    requests: queue.SimpleQueue[ServerReflectionRequest | None] = queue.SimpleQueue()
    call = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=ServerReflectionRequest.SerializeToString,
        response_deserializer=ServerReflectionResponse.FromString,
    )(iter(requests.get, None))
    requests.put(ServerReflectionRequest(list_services=""))
    next(call)
    try:
        yield
    finally:
        requests.put(None)


class Sender:
    """Sends versions of one phase from several threads until it is refused."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs
        self._numbers = iter(range(1_000_000))
        self._lock = threading.Lock()
        self.acknowledged: list[int] = []
        self.refusals: set[grpc.StatusCode] = set()
        self.has_many = threading.Event()

    def send_until_refused(self) -> None:
        """Send, and keep what was answered with OK."""
        while True:
            with self._lock:
                version = next(self._numbers)
            event = task_event(
                parent_node_execution_id=NODE, phase_version=version, occurred_at=at(version)
            )
            try:
                self._stubs.admin.CreateTaskEvent(event)
            except grpc.RpcError as error:
                # One that others overtook repeats the phase, which counts as success.
                code, _ = failure(error)
                if code is not grpc.StatusCode.ALREADY_EXISTS:
                    self.refusals.add(code)
                    return
            self.acknowledged.append(version)
            if len(self.acknowledged) >= 200:
                self.has_many.set()


def test_a_graceful_stop_commits_what_was_accepted(tmp_path: Path) -> None:
    """Senders hear of each event before the port closes; then they can try elsewhere."""
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        sender = Sender(Stubs(channel))
        with ThreadPoolExecutor(16) as threads:
            sending = [threads.submit(sender.send_until_refused) for _ in range(16)]
            assert sender.has_many.wait(30)
            assert server.stop() == 0
        for each in sending:
            each.result()
        assert "Traceback" not in server.said()
    assert sender.refusals <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
    with running_server(database) as server, server.channel() as channel:
        assert set(sender.acknowledged) <= set(list_versions(Stubs(channel)))


def test_a_stopped_server_leaves_its_port_and_its_file(tmp_path: Path) -> None:
    """The port is free, and the database is one file that others can copy."""
    database = tmp_path / "spanwise.db"
    with running_server(database) as server:
        host, port = server.endpoint.split(":")
        assert server.stop() == 0
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind((host, int(port)))
    assert [path.name for path in tmp_path.iterdir()] == ["spanwise.db"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_watchers_of_health_hear_of_the_stop(number: signal.Signals, tmp_path: Path) -> None:
    """Before calls are refused, so that a load balancer can look elsewhere."""
    flags = ("--graceful-stop-s", "60")
    with running_server(tmp_path / "spanwise.db", *flags) as server, server.channel() as channel:
        answers = watch_health(channel)
        assert next(answers).status == health_pb2.HealthCheckResponse.SERVING
        server.signal(number)
        assert next(answers).status == health_pb2.HealthCheckResponse.NOT_SERVING
        # Then the watch ends: a watcher does not hold the stop up.
        assert list(answers) == []
        assert server.wait() == 0


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    """A call that runs is not waited for."""
    flags = ("--graceful-stop-s", "3600")
    with running_server(tmp_path / "spanwise.db", *flags) as server, server.channel() as channel:
        health = watch_health(channel)
        assert next(health).status == health_pb2.HealthCheckResponse.SERVING
        with open_call(channel):
            server.signal(signal.SIGTERM)
            assert next(health).status == health_pb2.HealthCheckResponse.NOT_SERVING
            server.signal(signal.SIGTERM)
            assert server.wait() == 128 + signal.SIGTERM
        assert "Traceback" not in server.said()


def test_calls_that_run_too_long_are_cancelled(tmp_path: Path) -> None:
    """The process must end before somebody kills it."""
    flags = ("--graceful-stop-s", "0")
    with (
        running_server(tmp_path / "spanwise.db", *flags) as server,
        server.channel() as channel,
        open_call(channel),
    ):
        assert server.stop() == 0


def assert_told(done: "subprocess.CompletedProcess[str]", code: int, *parts: str) -> None:
    """Check that a command failed in one readable line."""
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("spanwise: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr


def serve_briefly(
    database_url: str, address: str = "127.0.0.1:0"
) -> "subprocess.CompletedProcess[str]":
    """Run `spanwise serve`, which shall not come up."""
    return run("serve", "--grpc-address", address, "--database-url", database_url)


def test_a_taken_address_is_told(tmp_path: Path) -> None:
    """Two servers never share a port unnoticed."""
    url = f"sqlite:///{tmp_path}/spanwise.db"
    with running_server(tmp_path / "other.db") as server:
        assert_told(serve_briefly(url, server.endpoint), 1, server.endpoint, "in use")


def test_an_address_of_another_machine_is_told(tmp_path: Path) -> None:
    """With the reason of the system."""
    url = f"sqlite:///{tmp_path}/spanwise.db"
    assert_told(serve_briefly(url, "192.0.2.1:8089"), 1, "192.0.2.1:8089")
    assert_told(serve_briefly(url, "no-such-host.invalid:8089"), 1, "no-such-host.invalid")


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://h/db", "sqlite://", "sqlite:///", "sqlite:///:memory:"]
)
@pytest.mark.parametrize("command", ["serve", "migrate", "rebuild"])
def test_a_database_url_that_cannot_be_used_is_told(command: str, url: str) -> None:
    """With the setting, its value and the form that is wanted."""
    done = run(command, "--database-url", url)
    assert_told(done, 2, "database_url", repr(url))


@pytest.mark.parametrize("command", ["serve", "migrate", "rebuild"])
def test_a_database_that_cannot_be_opened_is_told(command: str, tmp_path: Path) -> None:
    """Its directory is missing."""
    done = run(command, "--database-url", f"sqlite:///{tmp_path}/missing/spanwise.db")
    assert_told(done, 1, "database")


@pytest.mark.parametrize("command", ["serve", "migrate", "rebuild"])
def test_a_file_that_is_no_database_is_told(command: str, tmp_path: Path) -> None:
    """And left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to have a header" * 100)
    before = path.read_bytes()
    assert_told(run(command, "--database-url", f"sqlite:///{path}"), 1, "not a SQLite database")
    assert path.read_bytes() == before


def test_a_bad_setting_is_told(tmp_path: Path) -> None:
    """Before anything is opened."""
    assert_told(serve_briefly(f"sqlite:///{tmp_path}/x.db", "8089"), 2, "grpc_address", "HOST:PORT")
    assert list(tmp_path.iterdir()) == []


def test_migrate_and_rebuild_say_what_they_did(tmp_path: Path) -> None:
    """And may be repeated."""
    database = tmp_path / "spanwise.db"
    url = f"sqlite:///{database}"
    for _ in range(2):
        done = run("migrate", "--database-url", url)
        assert (done.returncode, url in done.stderr) == (0, True)
    with running_server(database) as server, server.channel() as channel:
        Stubs(channel).admin.CreateTaskEvent(task_event())
        server.stop()
    for _ in range(2):
        done = run("rebuild", "--database-url", url)
        assert (done.returncode, "1 event" in done.stderr) == (0, True)
    with sqlite3.connect(database) as connection:
        (count,) = connection.execute("SELECT count(*) FROM task_executions").fetchone()
    connection.close()
    assert count == 1


def test_a_server_that_was_killed_serves_again(tmp_path: Path) -> None:
    """With every event that was answered with OK."""
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        Stubs(channel).admin.CreateTaskEvent(task_event())
        server.kill()
    with running_server(database) as server, server.channel() as channel:
        assert list_versions(Stubs(channel)) == [0]


def test_workers_behind_envoy_are_refused(tmp_path: Path) -> None:
    """Rather than to serve with one unnoticed."""
    url = f"sqlite:///{tmp_path}/x.db"
    done = run("serve", "--front", "envoy", "--workers", "2", "--database-url", url)
    assert_told(done, 2, "workers is 2", "--front grpcio")

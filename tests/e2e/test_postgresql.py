"""Servers on PostgreSQL: it may go away under them, and several may share it."""

import random
import string
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import psycopg
import pytest
from flyteidl.core.execution_pb2 import TaskExecution
from sqlalchemy import make_url

from spanwise.v1.event_service_pb2 import CreateNodeEventRequest
from spanwise.v1.phase_pb2 import PHASE_RUNNING
from spanwise_server.domain.events import Disposition
from tests.e2e.cli_process import TIMEOUT_S
from tests.e2e.cli_process import run as run_cli
from tests.e2e.harness import Stubs, failure, running_server
from tests.e2e.replicas import EVENTS_OF_A_WRITER, EXECUTION, write_many
from tests.postgresql import Databases, PostgresServer
from tests.unit.rpc.flyte import at, task_event

SENDERS = 8
EVENTS_BETWEEN_OUTAGES = 200
OK, UNAVAILABLE, ALREADY_EXISTS = (
    grpc.StatusCode.OK,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.ALREADY_EXISTS,
)


@pytest.fixture(scope="module")
def database_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def url(database_server: PostgresServer) -> Iterator[str]:
    databases = Databases(database_server.url)
    with databases.migrated() as url:
        yield url
    databases.close()


def test_an_event_that_postgresql_cannot_hold_is_refused_alone(url: str) -> None:
    """Its indexes take 2,700 bytes, compressed. Others of the same commit are stored."""
    too_long = "".join(random.Random(1).choices(string.ascii_letters, k=9_000))
    with running_server(url) as server, server.channel() as channel:
        stubs = Stubs(channel)

        def send(number: int) -> grpc.StatusCode:
            project = too_long if number == 20 else "flytesnacks"
            request = CreateNodeEventRequest()
            request.event.node_id.execution_id.project = project
            request.event.node_id.execution_id.name = "run"
            request.event.node_id.node_id = f"n{number}"
            request.event.phase = PHASE_RUNNING
            try:
                stubs.events.CreateNodeEvent(request)
            except grpc.RpcError as error:
                return failure(error)[0]
            return OK

        with ThreadPoolExecutor(SENDERS) as senders:
            codes = list(senders.map(send, range(40)))
    assert codes == [OK] * 20 + [grpc.StatusCode.INVALID_ARGUMENT] + [OK] * 19


def test_a_database_of_another_encoding_is_refused(database_server: PostgresServer) -> None:
    with psycopg.connect(database_server.url, autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        )
    url = make_url(database_server.url).set(database="latin")
    text = url.render_as_string(hide_password=False)
    done = run_cli("migrate", "--database-url", text)
    assert done.returncode == 1
    assert "has the encoding LATIN1" in done.stderr


class PatientLoad:
    """Senders of new events of an attempt each, who send an event again until it is stored."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self.acknowledged: set[tuple[str, int]] = set()
        self.answers: Counter[grpc.StatusCode] = Counter()
        self.odd: list[str] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        with ThreadPoolExecutor(SENDERS) as senders:
            running = [senders.submit(self._send_all, f"n{number}") for number in range(SENDERS)]
            try:
                yield
            finally:
                self._stop.set()
            for each in running:
                each.result()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, timeout=TIMEOUT_S), self.answers

    def _send_all(self, node_id: str) -> None:
        with grpc.insecure_channel(self._endpoint) as channel:
            stub = Stubs(channel).admin.CreateTaskEvent
            version = 0
            while not self._stop.is_set():
                version += self._send_until_stored(stub, node_id, version)

    def _send_until_stored(self, stub: Callable[..., object], node_id: str, version: int) -> bool:
        """Send one event again and again; False when told to stop before it was stored."""
        tries = 0
        while not (tries and self._stop.is_set()):
            code, text = self._send(stub, node_id, version)
            tries += 1
            is_stored = code is OK or (code is ALREADY_EXISTS and tries > 1)
            with self._changed:
                self.answers[code] += 1
                if is_stored:
                    self.acknowledged.add((node_id, version))
                elif code is not UNAVAILABLE:
                    self.odd.append(f"{code} {text} at try {tries}")
                self._changed.notify_all()
            if is_stored:
                return True
            self._stop.wait(0.02)
        return False

    def _send(
        self, stub: Callable[..., object], node_id: str, version: int
    ) -> tuple[grpc.StatusCode, str]:
        event = task_event(
            parent_node_execution_id={"node_id": node_id, "execution_id": EXECUTION},
            phase=TaskExecution.RUNNING,
            phase_version=version,
            occurred_at=at(version),
            reported_at=at(version),
        )
        try:
            stub(event, timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            return failure(error)
        return OK, ""


def test_outages_of_the_database_lose_and_double_nothing(
    database_server: PostgresServer, url: str
) -> None:
    with running_server(url) as server:
        load = PatientLoad(server.endpoint)
        with load.running():
            for stop in (*[database_server.stop] * 3, database_server.kill):
                _wait_for_more(load)
                refused = load.answers[UNAVAILABLE]
                stop()
                load.wait_until(lambda refused=refused: load.answers[UNAVAILABLE] > refused + 20)  # type: ignore[misc]
                database_server.start()
            _wait_for_more(load)
        assert load.odd == []
        assert "nobody foresaw" not in server.said()
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT sequence, n.node_id, phase_version, disposition FROM events e"
            " JOIN task_executions t ON t.attempt_key = e.entity_key"
            " JOIN node_executions n ON n.node_key = t.node_key ORDER BY sequence"
        ).fetchall()
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    accepted = Counter(row[1:3] for row in rows if row[3] == Disposition.ACCEPTED)
    assert load.acknowledged <= accepted.keys()
    assert set(accepted.values()) == {1}
    assert {row[3] for row in rows} <= {Disposition.ACCEPTED, Disposition.DUPLICATE}


def _wait_for_more(load: PatientLoad) -> None:
    wanted = len(load.acknowledged) + EVENTS_BETWEEN_OUTAGES
    load.wait_until(lambda: len(load.acknowledged) >= wanted)


def test_two_servers_write_one_execution_without_gap_or_deadlock(
    database_server: PostgresServer, url: str
) -> None:
    with running_server(url) as one, running_server(url) as other:
        writers = [one, other] * SENDERS
        with ThreadPoolExecutor(len(writers)) as pool:
            results = list(pool.map(write_many, range(len(writers)), writers))
    total = len(writers) * EVENTS_OF_A_WRITER
    assert sum(result.ok for result in results) == total
    with psycopg.connect(url) as connection:
        [events] = connection.execute(
            "SELECT count(*), min(sequence), max(sequence), count(DISTINCT sequence),"
            " count(DISTINCT execution_key) FROM events"
        )
        [reasons] = connection.execute("SELECT count(*), count(DISTINCT message) FROM reasons")
    assert events == (total, 1, total, total, 1)
    assert reasons == (total, total)
    assert "deadlock" not in database_server.log()


def test_a_server_refuses_a_database_without_tables_and_names_the_command(
    database_server: PostgresServer,
) -> None:
    databases = Databases(database_server.url)
    url = databases.create()
    refused = run_cli("serve", "--grpc-address", "127.0.0.1:0", "--database-url", url)
    assert refused.returncode == 1
    assert "run `spanwise migrate`" in refused.stderr
    migrated = run_cli("migrate", "--database-url", url)
    assert migrated.returncode == 0
    assert "has the tables of this version" in migrated.stderr
    with running_server(url):
        pass
    databases.close()


def test_a_server_serves_from_partitions(database_server: PostgresServer) -> None:
    databases = Databases(database_server.url)
    url = databases.create()
    for told in ("8 partitions now", "8 partitions already"):
        migrated = run_cli("migrate", "--partitions", "8", "--database-url", url)
        assert migrated.returncode == 0
        assert told in migrated.stderr
    with running_server(url) as server, server.channel() as channel:
        Stubs(channel).admin.CreateTaskEvent(task_event())
    databases.close()


@pytest.mark.parametrize("flags", [("--partitions", "1"), ("--partitions", "2", "--distribute")])
def test_tables_that_cannot_be_so_are_told_at_once(flags: tuple[str, ...]) -> None:
    refused = run_cli("migrate", *flags, "--database-url", "postgresql://127.0.0.1:1/spanwise")
    assert refused.returncode == 2
    assert "--partitions" in refused.stderr


def test_a_server_says_why_it_cannot_connect(database_server: PostgresServer) -> None:
    url = database_server.url.replace("/postgres?", "/missing?")
    refused = run_cli("serve", "--grpc-address", "127.0.0.1:0", "--database-url", url)
    assert refused.returncode == 1
    assert 'database "missing" does not exist' in refused.stderr
    assert "Traceback" not in refused.stderr

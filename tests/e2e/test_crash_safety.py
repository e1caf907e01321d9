"""Nothing that was acknowledged is lost when the server is killed, and nothing is half written."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from flyteidl.core.execution_pb2 import TaskExecution

from spanwise.v1 import event_service_pb2, identifiers_pb2, span_service_pb2
from tests.e2e.harness import ServerProcess, Stubs, running_server, whole_log
from tests.unit.rpc.flyte import at, task_event

KILLS = 20
SENDERS = 8
PROJECT, DOMAIN = "flytesnacks", "development"


class Load:
    """Senders that send new events of an attempt each, one after the other, until told to stop."""

    def __init__(self, endpoint: str, round_number: int) -> None:
        self._endpoint = endpoint
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._several = threading.Condition(self._lock)
        self._round = round_number
        self.acknowledged: set[tuple[str, int]] = set()

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

    def wait_for(self, count: int) -> None:
        """Wait until so many events are acknowledged."""
        with self._several:
            assert self._several.wait_for(lambda: len(self.acknowledged) >= count, timeout=60)

    def _send_all(self, node_id: str) -> None:
        with grpc.insecure_channel(self._endpoint) as channel:
            stub = Stubs(channel).admin.CreateTaskEvent
            version = 0
            while not self._stop.is_set():
                try:
                    stub(_event(self._round, node_id, version), timeout=30)
                except grpc.RpcError:
                    return  # the server is gone, and with it the answer
                with self._several:
                    self.acknowledged.add((node_id, version))
                    self._several.notify_all()
                version += 1


def _name(round_number: int) -> str:
    return f"crash{round_number}"


def _event(round_number: int, node_id: str, version: int) -> object:
    node = {
        "node_id": node_id,
        "execution_id": {"project": PROJECT, "domain": DOMAIN, "name": _name(round_number)},
    }
    return task_event(
        parent_node_execution_id=node,
        phase=TaskExecution.RUNNING,
        phase_version=version,
        occurred_at=at(version),
        reported_at=at(version),
        reason=f"reason {version}",
    )


def _execution_id(round_number: int) -> identifiers_pb2.ExecutionId:
    return identifiers_pb2.ExecutionId(project=PROJECT, domain=DOMAIN, name=_name(round_number))


def _logged(stubs: Stubs, round_number: int) -> list[event_service_pb2.LoggedEvent]:
    return whole_log(stubs, _execution_id(round_number), include_payload=True)


def _kill_under_load(database: Path, round_number: int, source: random.Random) -> Load:
    server = ServerProcess(database)
    try:
        load = Load(server.endpoint, round_number)
        with load.running():
            load.wait_for(source.randint(1, 400))
            server.kill()
    finally:
        server.kill()
    return load


def _reason_texts(stubs: Stubs, round_number: int) -> set[tuple[str, str]]:
    request = span_service_pb2.GetExecutionSpanRequest(execution_id=_execution_id(round_number))
    texts = set()
    node_id = ""
    for span in stubs.spans.GetExecutionSpan(request).spans:
        node_id = span.node.node_id or node_id
        texts |= {(node_id, reason.message) for reason in span.reasons}
    return texts


@pytest.mark.timeout(600)
def test_server_that_is_killed_under_load_has_every_acknowledged_event_and_no_half_one(
    tmp_path: Path,
) -> None:
    database = tmp_path / "spanwise.db"
    source = random.Random(20)
    loads = [_kill_under_load(database, number, source) for number in range(KILLS)]
    with (
        running_server(database) as server,
        server.channel(max_receive_message_length=-1) as channel,
    ):
        stubs = Stubs(channel)
        for number, load in enumerate(loads):
            events = _logged(stubs, number)
            logged = {(event.node_id, event.phase_version) for event in events}
            assert load.acknowledged <= logged
            # In whole: sequences without gaps, payloads that are what was sent, reasons of each.
            assert [event.sequence for event in events] == list(range(1, len(events) + 1))
            for event in events:
                sent = _event(number, event.node_id, event.phase_version)
                assert event.payload == sent.SerializeToString()  # type: ignore[attr-defined]
            expected = {(node_id, f"reason {version}") for node_id, version in logged}
            assert _reason_texts(stubs, number) == expected

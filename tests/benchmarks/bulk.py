"""The CreateEvents stream: batches of native task events, several in flight, from another process.

Run as a module of its own, it is that other process: see _client.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from flyteidl.admin.event_pb2 import TaskExecutionEventRequest

from spanwise.v1 import event_pb2, event_service_pb2, identifiers_pb2, phase_pb2
from tests.benchmarks.http2_load import run_load
from tests.benchmarks.report import Row
from tests.benchmarks.servers import Server, migrated_postgresql, new_databases, spanwise_server
from tests.benchmarks.task_events import METHOD as CREATE_TASK_EVENT
from tests.benchmarks.task_events import task_events
from tests.postgresql import PostgresServer

BATCH_EVENTS = 500
ROUNDS = 6
EVENTS_PER_ROUND = 40_000
ATTEMPT_EVENTS = 5_000
MOST_GROWTH = 1.3
TARGET_PER_S = 20_000
POSTGRESQL_TARGET_PER_S = 12_000
MOST_BYTES = 900
_EVENTS_TOGETHER = 1_000
"""Of ten executions at a time the events are interleaved, 200 attempts with five each; the next ten
follow. So does an import, or a relay that forwards what has gathered."""

METHOD = "/spanwise.v1.EventService/CreateEvents"


def measure_bulk() -> list[Row]:
    """Measure CPU of the server's processes, for the client takes the other core or shares one."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        rows = _rows("SQLite", f"sqlite:///{database}", TARGET_PER_S)
        # Stopped, so that the log has moved into the file.
        size_bytes = database.stat().st_size / ((ROUNDS + 1) * EVENTS_PER_ROUND)
    rows.append(
        Row(
            "  bytes on disk an event",
            f"{size_bytes:.0f}",
            f"≤ {MOST_BYTES}",
            met=size_bytes <= MOST_BYTES,
        )
    )
    with migrated_postgresql() as (url, database_server):
        rows += _rows("PostgreSQL", url, POSTGRESQL_TARGET_PER_S, database_server)
    return rows


def _rows(
    name: str, url: str, target_per_s: int, database: PostgresServer | None = None
) -> list[Row]:
    with spanwise_server(url) as server:
        rounds = [_round(server, f"b{number}", database) for number in range(ROUNDS + 1)][1:]
    per_s = statistics.median(rate for rate, _ in rounds)
    cpu_us = statistics.median(cpu for _, cpu in rounds)
    on_one_core = 1e6 / cpu_us
    return [
        Row(
            f"CreateEvents, batches of {BATCH_EVENTS}, {name}",
            f"{per_s:,.0f} events/s, {cpu_us:.0f} µs CPU an event",
        ),
        Row(
            "  on one core, client not counted",
            f"{on_one_core:,.0f} events/s, {on_one_core / target_per_s:.2f} of the target",
            f"≥ {target_per_s:,}",
            met=on_one_core >= target_per_s,
        ),
    ]


def measure_long_attempt() -> list[Row]:
    """Measure whether an event of an attempt costs more the more of them there are."""
    return [row for name, url in new_databases() for row in _grow(name, url)]


def _grow(name: str, url: str) -> list[Row]:
    bodies = list(_long_attempt())
    with spanwise_server(url) as server:
        latencies_s = run_load(server.port, CREATE_TASK_EVENT, bodies, in_flight=1).latencies_s
    first, last = (statistics.median(some) for some in (latencies_s[:100], latencies_s[-100:]))
    return [
        Row(
            f"one attempt, {ATTEMPT_EVENTS:,} reason events one by one, {name}",
            f"first 100: {first * 1000:.2f} ms each, last 100: {last * 1000:.2f} ms",
        ),
        Row("  last to first", f"{last / first:.2f}", "≤ 1.3", met=last / first <= MOST_GROWTH),
    ]


def _long_attempt() -> Iterator[bytes]:
    (payload,) = task_events("long", 1)
    request = TaskExecutionEventRequest.FromString(payload)
    event = request.event
    for number in range(ATTEMPT_EVENTS):
        event.phase_version = number
        event.occurred_at.seconds += 1
        event.reasons[0].reason = f"0/12 nodes are available ({number})"
        event.reasons[1].reason = f"Successfully pulled image ({number})"
        yield request.SerializeToString()


def _round(server: Server, run: str, database: PostgresServer | None) -> tuple[float, float]:
    command = [sys.executable, "-m", "tests.benchmarks.bulk", str(server.port), run]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        if client.stdin is None or client.stdout is None:
            raise TypeError("the client's input and output are not pipes")
        client.stdout.readline()  # its batches are made
        before_s, started = _cpu_s(server, database), time.perf_counter()
        client.stdin.write("\n")
        client.stdin.flush()
        told = client.stdout.readline()
        seconds = time.perf_counter() - started
        cpu_s = _cpu_s(server, database) - before_s
    if told != f"{EVENTS_PER_ROUND} events of {EVENTS_PER_ROUND} were accepted\n":
        raise RuntimeError(f"the client says {told!r}")
    return EVENTS_PER_ROUND / seconds, cpu_s / EVENTS_PER_ROUND * 1e6


def _cpu_s(server: Server, database: PostgresServer | None) -> float:
    return server.cpu_s() + (0.0 if database is None else database.cpu_s())


def _client(port: int, run: str) -> None:
    """Make batches, say so, send them when told to, and say what became of them."""
    batches = list(_batches(run))
    print("ready", flush=True)
    sys.stdin.readline()
    accepted = 0
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stream: Any = channel.stream_stream(METHOD)
        for answer in stream(iter(batches)):
            verdicts = event_service_pb2.CreateEventsResponse.FromString(answer).verdicts
            accepted += sum(not verdict.code for verdict in verdicts)
    print(f"{accepted} events of {EVENTS_PER_ROUND} were accepted", flush=True)


def _batches(run: str) -> Iterator[bytes]:
    events = [
        _native(payload)
        for number in range(EVENTS_PER_ROUND // _EVENTS_TOGETHER)
        for payload in task_events(f"{run}-{number}-", _EVENTS_TOGETHER)
    ]
    for start in range(0, len(events), BATCH_EVENTS):
        batch = events[start : start + BATCH_EVENTS]
        request = event_service_pb2.CreateEventsRequest(batch_id=start, events=batch)
        yield request.SerializeToString()


_PHASES = {
    1: phase_pb2.PHASE_QUEUED,
    2: phase_pb2.PHASE_RUNNING,
    3: phase_pb2.PHASE_SUCCEEDED,
    6: phase_pb2.PHASE_INITIALIZING,
}


def _native(payload: bytes) -> event_service_pb2.Event:
    """Give the same as Flyte's event says, in spanwise's words, with as many bytes."""
    sent = TaskExecutionEventRequest.FromString(payload).event
    execution = sent.parent_node_execution_id.execution_id
    event = event_pb2.TaskEvent(
        task_attempt_id=identifiers_pb2.TaskAttemptId(
            node_id=identifiers_pb2.NodeId(
                node_id=sent.parent_node_execution_id.node_id,
                execution_id=identifiers_pb2.ExecutionId(
                    project=execution.project, domain=execution.domain, name=execution.name
                ),
            ),
            task_id=identifiers_pb2.EntityVersion(
                project=sent.task_id.project,
                domain=sent.task_id.domain,
                name=sent.task_id.name,
                version=sent.task_id.version,
            ),
        ),
        phase=_PHASES[sent.phase],
        phase_version=sent.phase_version,
        occurred_at=sent.occurred_at,
        reported_at=sent.reported_at,
        producer_id=sent.producer_id,
        task_type=sent.task_type,
        reasons=[
            event_pb2.Reason(message=reason.reason, occurred_at=reason.occurred_at)
            for reason in sent.reasons
        ],
        output_uri="s3://",
    )
    event.output_uri += "x" * (len(payload) - event.ByteSize() - 4)
    return event_service_pb2.Event(task_event=event)


if __name__ == "__main__":
    _client(int(sys.argv[1]), sys.argv[2])

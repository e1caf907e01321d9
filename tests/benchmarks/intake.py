"""Unary CreateTaskEvent, durable, against the empty handler, in turns in one run."""

import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.http2_load import LoadResult, run_load
from tests.benchmarks.report import Row
from tests.benchmarks.servers import Server, empty_server, migrated_postgresql, spanwise_server
from tests.benchmarks.task_events import METHOD, task_events
from tests.postgresql import PostgresServer

IN_FLIGHT = 100
ROUNDS = 12
EVENTS_PER_ROUND = 5_000


class _Round(NamedTuple):
    load: LoadResult
    cpu_us: float


def measure_intake() -> list[Row]:
    """Measure in turns, so that what else the machine does falls on all alike."""
    with (
        tempfile.TemporaryDirectory() as folder,
        migrated_postgresql() as (url, database),
        empty_server() as yardstick,
        spanwise_server(Path(folder) / "bench.db") as on_sqlite,
        spanwise_server(Path(folder) / "envoy.db", "--front", "envoy") as on_envoy,
        spanwise_server(url) as on_postgresql,
    ):
        rounds = _measure_in_turns([yardstick, on_sqlite, on_envoy, on_postgresql], database)
    empty, sqlite, envoy, postgresql = rounds
    return [
        Row("empty handler", f"{_rate(empty):,.0f} calls/s, {_cpu(empty):.0f} µs CPU a call"),
        *_rows("SQLite", sqlite, empty, 0.80),
        *_rows("SQLite, --front envoy", envoy, sqlite, 2.50, than="grpcio"),
        *_rows("PostgreSQL", postgresql, empty, 0.65),
    ]


def _measure_in_turns(servers: list[Server], database: PostgresServer) -> list[list[_Round]]:
    """Give the rounds of each of some servers, of which the last one uses `database`."""
    rounds: list[list[_Round]] = [[] for _ in servers]
    for number in range(ROUNDS + 1):
        for place, server in enumerate(servers):
            before_s = database.cpu_s()
            measured = _round(server, f"{place}x{number}")
            if server is servers[-1]:
                database_us = (database.cpu_s() - before_s) / EVENTS_PER_ROUND * 1e6
                measured = measured._replace(cpu_us=measured.cpu_us + database_us)
            if number:  # the first round warms up
                rounds[place].append(measured)
    return rounds


def _rows(
    name: str,
    durable: list[_Round],
    empty: list[_Round],
    target: float,
    than: str = "the empty handler",
) -> list[Row]:
    failed = sum(each.load.failed for each in durable)
    ratio = statistics.median(
        own.load.calls_per_s / other.load.calls_per_s
        for own, other in zip(durable, empty, strict=True)
    )
    return [
        Row(
            f"CreateTaskEvent, {name}, 100 in flight",
            f"{_rate(durable):,.0f} events/s, {_cpu(durable):.0f} µs CPU an event,"
            f" p50 {_latency_ms(durable, 50):.0f} ms, p99 {_latency_ms(durable, 99):.0f} ms,"
            f" {failed} not OK",
        ),
        Row(f"  ratio to {than}", f"{ratio:.2f}", f"≥ {target:.2f}", met=ratio >= target),
    ]


def _round(server: Server, run: str) -> _Round:
    bodies = list(task_events(run, EVENTS_PER_ROUND))
    before_s = server.cpu_s()
    load = run_load(server.port, METHOD, bodies, IN_FLIGHT)
    return _Round(load, (server.cpu_s() - before_s) / EVENTS_PER_ROUND * 1e6)


def _rate(rounds: list[_Round]) -> float:
    return statistics.median(each.load.calls_per_s for each in rounds)


def _cpu(rounds: list[_Round]) -> float:
    return statistics.median(each.cpu_us for each in rounds)


def _latency_ms(rounds: list[_Round], percentile: int) -> float:
    latencies = [latency for each in rounds for latency in each.load.latencies_s]
    return statistics.quantiles(latencies, n=100)[percentile - 1] * 1000

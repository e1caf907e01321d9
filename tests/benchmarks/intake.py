"""Unary CreateTaskEvent, durable, against the empty handler, in turns in one run."""

import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.http2_load import LoadResult, run_load
from tests.benchmarks.report import Row
from tests.benchmarks.servers import Server, empty_server, spanwise_server
from tests.benchmarks.task_events import METHOD, task_events

IN_FLIGHT = 100
ROUNDS = 12
EVENTS_PER_ROUND = 5_000


class _Round(NamedTuple):
    load: LoadResult
    cpu_us: float


def measure_intake() -> list[Row]:
    """Measure in turns, so that what else the machine does falls on both alike."""
    empty, durable = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        empty_server() as yardstick,
        spanwise_server(Path(folder) / "bench.db") as sink,
    ):
        for number in range(ROUNDS + 1):
            first, second = _round(yardstick, f"e{number}"), _round(sink, f"s{number}")
            if number:  # the first round warms up
                empty.append(first)
                durable.append(second)
    failed = sum(each.load.failed for each in durable)
    ratio = statistics.median(
        own.load.calls_per_s / other.load.calls_per_s
        for own, other in zip(durable, empty, strict=True)
    )
    return [
        Row("empty handler", f"{_rate(empty):,.0f} calls/s, {_cpu(empty):.0f} µs CPU a call"),
        Row(
            "CreateTaskEvent, SQLite, 100 in flight",
            f"{_rate(durable):,.0f} events/s, {_cpu(durable):.0f} µs CPU an event,"
            f" p50 {_latency_ms(durable, 50):.0f} ms, p99 {_latency_ms(durable, 99):.0f} ms,"
            f" {failed} not OK",
        ),
        Row("  ratio to the empty handler", f"{ratio:.2f}", "≥ 0.80", met=ratio >= 0.80),
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

"""`make bench ARGS=large`: executions from 1,000 to 200,000 nodes, and intake beside a large read.

Takes ten minutes or so, most of which is storing events.
"""

import contextlib
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import grpc

from spanwise.v1 import span_service_pb2
from spanwise.v1.span_service_pb2_grpc import SpanServiceStub
from tests.benchmarks.http2_load import run_load
from tests.benchmarks.large_execution import fill, open_channel, read, stream, wait_until_kept
from tests.benchmarks.report import Row
from tests.benchmarks.servers import Server, new_databases, spanwise_server
from tests.benchmarks.task_events import METHOD, task_events

SIZES = (1_000, 10_000, 200_000)
NUM_PAGES = 7
MIB = 2**20

BESIDE_NODES = 10_000
BESIDE_EVENTS = 4_000
BESIDE_IN_FLIGHT = 20
"""Enough to have batches, and few enough that idle the server keeps up."""


class _Figures(NamedTuple):
    """What was measured of one execution.

    Attributes:
        built_us: Processor time of the server for each node, where the tree had to be built.
        first_s: Seconds until the first chunk, once the tree was kept.
        complete_s: Seconds until the last one.
        page_s: Seconds for a page of 500 spans of the first level.
        memory_mib: What the peak memory of the reader rose by.
    """

    built_us: float
    first_s: float
    complete_s: float
    page_s: float
    memory_mib: float


def measure_large() -> list[Row]:
    """Measure how the cost of a tree grows with its nodes."""
    figures = {size: _measure(size) for size in SIZES}
    rows = []
    for size, (built_us, first_s, complete_s, page_s, memory_mib) in figures.items():
        rows += [
            Row(f"{size:,} nodes, built", f"{built_us:.0f} µs CPU a node, + {memory_mib:.0f} MiB"),
            Row(
                "  kept: first chunk, complete, page of 500",
                f"{first_s:.2f} s, {complete_s:.2f} s, {page_s:.3f} s",
            ),
        ]
    largest = figures[SIZES[-1]]
    costs = [each.built_us for each in figures.values()]
    spread = max(costs) / min(costs) - 1
    return [
        *rows,
        Row("  first chunk", f"{largest.first_s:.2f} s", "≤ 0.5 s", met=largest.first_s <= 0.5),
        Row("  complete", f"{largest.complete_s:.1f} s", "≤ 20 s", met=largest.complete_s <= 20),
        Row(
            "  memory",
            f"+ {largest.memory_mib:.0f} MiB",
            "+ 800 MB",
            met=largest.memory_mib * MIB <= 800e6,
        ),
        Row("  page of 500", f"{largest.page_s:.3f} s", "≤ 0.06 s", met=largest.page_s <= 0.06),
        Row("cost a node, most to least", f"+ {spread:.0%}", "± 20 %", met=spread <= 0.4),
    ]


def measure_beside() -> list[Row]:
    """Measure what senders feel of a read that builds a tree."""
    return [row for name, url in new_databases() for row in _beside(name, url)]


def _beside(name: str, url: str) -> list[Row]:
    fill(url, BESIDE_NODES)
    with spanwise_server(url) as server:
        _p99_ms(server, "warm")
        idle_ms = statistics.median(_p99_ms(server, f"idle{number}") for number in range(3))
        with _reading(server):
            busy_ms = statistics.median(_p99_ms(server, f"busy{number}") for number in range(3))
    ratio = busy_ms / idle_ms
    return [
        Row(
            f"intake p99 beside reads of 10,000 nodes, {name}",
            f"{busy_ms:.0f} ms, alone {idle_ms:.0f} ms: {ratio:.1f}",
            "≤ 3.0",
            met=ratio <= 3.0,
        )
    ]


def _measure(num_nodes: int) -> _Figures:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        url = f"sqlite:///{database}"
        fill(url, num_nodes, has_ended=True)
        with spanwise_server(database) as server, open_channel(server.port) as channel:
            _wait_for_reader(channel)
            before_s, before_mib = server.cpu_s(), server.peak_mib()
            stream(channel)  # builds the tree
            built_us = (server.cpu_s() - before_s) / num_nodes * 1e6
            memory_mib = server.peak_mib() - before_mib
            wait_until_kept(url)
        with spanwise_server(database) as server, open_channel(server.port) as channel:
            _wait_for_reader(channel)
            first_s, complete_s = stream(channel)
            page_s = statistics.median(
                read(channel, depth=1, page_size=500).seconds for _ in range(NUM_PAGES)
            )
    return _Figures(built_us, first_s, complete_s, page_s, memory_mib)


def _wait_for_reader(channel: grpc.Channel) -> None:
    """Ask for an execution that is not there, so that no time of a start is measured."""
    request = span_service_pb2.GetExecutionSpanRequest()
    request.execution_id.name = "nobody"
    with contextlib.suppress(grpc.RpcError):
        SpanServiceStub(channel).GetExecutionSpan(request)


def _p99_ms(server: Server, run: str) -> float:
    bodies = task_events(run, BESIDE_EVENTS)
    latencies_s = sorted(run_load(server.port, METHOD, bodies, BESIDE_IN_FLIGHT).latencies_s)
    return latencies_s[int(len(latencies_s) * 0.99)] * 1000


@contextmanager
def _reading(server: Server) -> Iterator[None]:
    """Read the large execution, which runs and is built each time, again and again."""
    is_over = threading.Event()

    def go_on() -> None:
        with open_channel(server.port) as channel:
            while not is_over.is_set():
                read(channel)

    reader = threading.Thread(target=go_on)
    reader.start()
    try:
        yield
    finally:
        is_over.set()
        reader.join()

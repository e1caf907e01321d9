"""From the answer to an event to the answers of watches that show it."""

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

from spanwise.v1.identifiers_pb2 import ExecutionId
from spanwise.v1.span_service_pb2 import WatchExecutionSpanRequest, WatchExecutionSpanResponse
from spanwise.v1.span_service_pb2_grpc import SpanServiceStub
from tests.benchmarks.report import Row
from tests.benchmarks.servers import Server, spanwise_server
from tests.benchmarks.task_events import METHOD, task_events

NUM_EVENTS = 50
MANY = 50
TARGET_S = 1.0
"""Of the contract: watchers hear of a commit within a second."""


def measure_watch() -> list[Row]:
    """Measure one watcher, then many of one execution."""
    with (
        tempfile.TemporaryDirectory() as folder,
        spanwise_server(Path(folder) / "bench.db") as server,
    ):
        alone_s, _ = _delays_s(server, "one", 1)
        many_s, cpu_s = _delays_s(server, "many", MANY)
    return [
        _row("WatchExecutionSpan, 1 watcher, commit to answer", alone_s),
        _row(f"  {MANY} watchers of one execution, the last to hear", many_s),
        Row("  CPU of the server for each event then", f"{cpu_s / NUM_EVENTS * 1e3:.1f} ms"),
    ]


def _row(work: str, delays_s: Sequence[float]) -> Row:
    p99_s = statistics.quantiles(delays_s, n=100)[98]
    figure = f"p50 {statistics.median(delays_s) * 1e3:.0f} ms, p99 {p99_s * 1e3:.0f} ms"
    return Row(work, figure, f"≤ {TARGET_S:.0f} s", met=p99_s <= TARGET_S)


def _delays_s(server: Server, run: str, num_watchers: int) -> tuple[list[float], float]:
    """Give for each event how long the last watcher waited for it, and the CPU time of it all."""
    first, *events = task_events(run, NUM_EVENTS, nodes_per_execution=NUM_EVENTS)
    with (
        grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel,
        ThreadPoolExecutor(num_watchers) as threads,
    ):
        send: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHOD)
        send(first)
        name = f"{run}{0:08d}"
        execution = ExecutionId(project="flytesnacks", domain="development", name=name)
        request = WatchExecutionSpanRequest(execution_id=execution)
        watches = [
            SpanServiceStub(channel).WatchExecutionSpan(request) for _ in range(num_watchers)
        ]
        list(threads.map(next, watches))
        delays_s = []
        before_s = server.cpu_s()
        for sequence, event in enumerate(events, 2):
            send(event)
            committed_s = time.perf_counter()
            waits = threads.map(lambda watch, number=sequence: _until(watch, number), watches)
            delays_s.append(max(waits) - committed_s)
        cpu_s = server.cpu_s() - before_s
        for watch in watches:
            watch.cancel()
    return delays_s, cpu_s


def _until(answers: Iterator[WatchExecutionSpanResponse], sequence: int) -> float:
    """Read until an event is taken into account, and give when that was."""
    for answer in answers:
        if answer.sequence >= sequence:
            return time.perf_counter()
    raise RuntimeError("the watch ended before the event")

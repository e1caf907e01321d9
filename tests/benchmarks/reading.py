"""Reading of one large execution over a real socket: whole, in pages, in chunks."""

import statistics
import time
from collections.abc import Sequence

from flyteidl.core import metrics_pb2

from tests.benchmarks.large_execution import (
    Timed,
    end,
    fill,
    open_channel,
    read,
    stream,
    wait_until_kept,
)
from tests.benchmarks.report import Row
from tests.benchmarks.servers import new_databases, spanwise_server

NUM_NODES = 10_000
NUM_READS = 7


def measure_reading() -> list[Row]:
    """Measure an execution with one attempt and three reasons for each node, on each database."""
    rows = [Row("70,000 spans made as messages", f"{_yardstick_s():.2f} s, for comparison")]
    return rows + [row for name, url in new_databases() for row in _measure(name, url)]


def _measure(name: str, url: str) -> list[Row]:
    fill(url, NUM_NODES)
    with spanwise_server(url) as server, open_channel(server.port) as channel:
        read(channel, depth=0)  # so that the time of a start is not measured
        running_s = [read(channel).seconds for _ in range(3)]
        begin_s = time.perf_counter()
        end(channel, NUM_NODES)
        wait_until_kept(url)
        kept_s = time.perf_counter() - begin_s
        whole = [read(channel) for _ in range(NUM_READS)]
    with spanwise_server(url) as server, open_channel(server.port) as channel:
        read(channel, depth=0)
        elsewhere = [read(channel) for _ in range(NUM_READS)]
        page = [read(channel, depth=1, page_size=500) for _ in range(NUM_READS)]
        streams = [stream(channel) for _ in range(NUM_READS)]
    first_s, stream_s = statistics.median(each[0] for each in streams), streams[0][1]
    return [
        _limit(
            f"GetExecutionSpan, {NUM_NODES:,} nodes, finished, {name}",
            _median_s(whole),
            1.0,
            f", {whole[0].size_bytes / 2**20:.1f} MiB",
        ),
        _limit("  by a server that never saw it", _median_s(elsewhere), 1.0),
        _limit("  running: built for the read", statistics.median(running_s), 1.0),
        Row("  from its end until it is kept", f"{kept_s:.2f} s"),
        _limit("depth 1, a page of 500", _median_s(page), 0.06),
        _limit("StreamExecutionSpan, first chunk", first_s, 0.5),
        Row("  complete", f"{stream_s:.2f} s"),
    ]


def _limit(label: str, seconds: float, limit_s: float, more: str = "") -> Row:
    return Row(label, f"{seconds:.2f} s{more}", f"≤ {limit_s:.2f} s", met=seconds <= limit_s)


def _median_s(timed: Sequence[Timed]) -> float:
    return statistics.median(each.seconds for each in timed)


def _yardstick_s() -> float:
    """Measure what only making so many messages takes on this machine."""
    begin_s = time.perf_counter()
    root = metrics_pb2.Span()
    for number in range(70_000):
        span = root.spans.add(operation_id="NODE_SETUP")
        span.start_time.seconds, span.start_time.nanos = 1_764_000_000, number
        span.end_time.seconds, span.end_time.nanos = 1_764_000_001, number
    return time.perf_counter() - begin_s

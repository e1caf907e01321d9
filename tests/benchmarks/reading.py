"""Reading of one large execution over a real socket: whole, in pages, in chunks."""

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import grpc
from flyteidl.admin import event_pb2 as admin_event_pb2
from flyteidl.core import identifier_pb2, metrics_pb2
from flyteidl.event import event_pb2
from flyteidl.service.admin_pb2_grpc import AdminServiceStub
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import identifiers_pb2, span_service_pb2
from spanwise_server.bootstrap import open_migrated
from spanwise_server.domain.events import PayloadType
from spanwise_server.rpc.codecs.arrivals import decode_arrival
from spanwise_server.service.arrivals import Arrival, commit_arrivals
from tests.benchmarks.report import Row
from tests.benchmarks.servers import spanwise_server

NUM_NODES = 10_000
NUM_READS = 7
BATCH = 5_000
FOUND_S = 0.25
"""A read that takes less found the tree kept: it was not built for it."""

_START_NS = 1_764_000_000_000_000_000
_FLYTE_ID = identifier_pb2.WorkflowExecutionIdentifier(
    project="flytesnacks", domain="development", name="large"
)
_EXECUTION_ID = identifiers_pb2.ExecutionId(
    project="flytesnacks", domain="development", name="large"
)
_REASONS = (
    "Unschedulable:0/12 nodes are available: 12 Insufficient cpu.",
    "Successfully assigned flytesnacks-development/{pod} to gke-pool-{number}",
    'Successfully pulled image "example.com/train:v{number}" in 12.5s (13s including waiting)',
)


def measure_reading() -> list[Row]:
    """Measure an execution with one attempt and three reasons for each node."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        _fill(f"sqlite:///{database}")
        with spanwise_server(database) as server, _channel(server.port) as channel:
            _read(channel, depth=0)  # so that the time of a start is not measured
            running_s = [_read(channel).seconds for _ in range(3)]
            begin_s = time.perf_counter()
            _end(channel)
            while _read(channel, depth=0).seconds > FOUND_S:
                pass
            kept_s = time.perf_counter() - begin_s
            whole = [_read(channel) for _ in range(NUM_READS)]
        with spanwise_server(database) as server, _channel(server.port) as channel:
            _read(channel, depth=0)
            elsewhere = [_read(channel) for _ in range(NUM_READS)]
            page = [_read(channel, depth=1, page_size=500) for _ in range(NUM_READS)]
            streams = [_stream(channel) for _ in range(NUM_READS)]
    yardstick_s = _yardstick_s()
    first_s, stream_s = statistics.median(each[0] for each in streams), streams[0][1]
    return [
        Row("70,000 spans made as messages", f"{yardstick_s:.2f} s, for comparison"),
        _limit(
            f"GetExecutionSpan, {NUM_NODES:,} nodes, finished",
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


def _yardstick_s() -> float:
    """Measure what only making so many messages takes on this machine."""
    begin_s = time.perf_counter()
    root = metrics_pb2.Span()
    for number in range(70_000):
        span = root.spans.add(operation_id="NODE_SETUP")
        span.start_time.seconds, span.start_time.nanos = 1_764_000_000, number
        span.end_time.seconds, span.end_time.nanos = 1_764_000_001, number
    return time.perf_counter() - begin_s


class _Timed(NamedTuple):
    """An answer: how long it took, and its size."""

    seconds: float
    size_bytes: int


def _median_s(timed: Sequence[_Timed]) -> float:
    return statistics.median(each.seconds for each in timed)


@contextmanager
def _channel(port: int) -> Iterator[grpc.Channel]:
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        yield channel


def _read(channel: grpc.Channel, *, depth: int | None = None, page_size: int = 0) -> _Timed:
    request = span_service_pb2.GetExecutionSpanRequest(
        execution_id=_EXECUTION_ID,
        max_bytes=2**26,
        page_size=page_size,
        selection=span_service_pb2.SpanSelection(depth=depth),
    )
    get: grpc.UnaryUnaryMultiCallable[bytes, bytes]
    get = channel.unary_unary("/spanwise.v1.SpanService/GetExecutionSpan")
    begin_s = time.perf_counter()
    size_bytes = len(get(request.SerializeToString()))
    return _Timed(time.perf_counter() - begin_s, size_bytes)


def _stream(channel: grpc.Channel) -> tuple[float, float]:
    """Give the seconds until the first chunk and until the last."""
    request = span_service_pb2.StreamExecutionSpanRequest(execution_id=_EXECUTION_ID)
    stream: grpc.UnaryStreamMultiCallable[bytes, bytes]
    stream = channel.unary_stream("/spanwise.v1.SpanService/StreamExecutionSpan")
    begin_s = time.perf_counter()
    times_s = [time.perf_counter() - begin_s for _ in stream(request.SerializeToString())]
    return times_s[0], times_s[-1]


def _end(channel: grpc.Channel) -> None:
    AdminServiceStub(channel).CreateWorkflowEvent(_workflow("SUCCEEDED", NUM_NODES * 0.05 + 70))


def _fill(url: str) -> None:
    storage = open_migrated(url)
    batch: list[Arrival] = []
    for kind, message in _events():
        batch.append(Arrival(kind, message.SerializeToString(), _START_NS))
        if len(batch) == BATCH:
            commit_arrivals(storage, decode_arrival, batch)
            batch.clear()
    commit_arrivals(storage, decode_arrival, batch)
    storage.close()


def _events() -> Iterator[tuple[PayloadType, "_Request"]]:
    yield PayloadType.FLYTE1_WORKFLOW_EVENT, _workflow("RUNNING", 0)
    for number in range(NUM_NODES):
        node_id = identifier_pb2.NodeExecutionIdentifier(
            node_id=f"n{number}", execution_id=_FLYTE_ID
        )
        begin_s = number * 0.05
        for phase, offset_s in (("QUEUED", 0), ("RUNNING", 1), ("SUCCEEDED", 61)):
            yield PayloadType.FLYTE1_NODE_EVENT, _node(node_id, phase, begin_s + offset_s)
        yield from _attempt(node_id, number, begin_s)


def _attempt(
    node_id: identifier_pb2.NodeExecutionIdentifier, number: int, begin_s: float
) -> Iterator[tuple[PayloadType, "_Request"]]:
    reasons = [text.format(pod=f"large-n{number}-0", number=number % 7) for text in _REASONS]
    steps: tuple[tuple[str, float, list[str]], ...] = (
        ("QUEUED", 0.5, []),
        ("QUEUED", 2, reasons[:1]),
        ("INITIALIZING", 8, reasons[1:2]),
        ("RUNNING", 25, reasons[2:]),
        ("SUCCEEDED", 60, []),
    )
    for version, (phase, offset_s, texts) in enumerate(steps):
        event = event_pb2.TaskExecutionEvent(
            task_id=identifier_pb2.Identifier(
                resource_type=identifier_pb2.TASK,
                project="flytesnacks",
                domain="development",
                name="pipelines.training.preprocess",
                version="v1.24.3",
            ),
            parent_node_execution_id=node_id,
            phase=phase,
            phase_version=version,
            producer_id="propeller",
            task_type="python-task",
            occurred_at=_at(begin_s + offset_s),
            reported_at=_at(begin_s + offset_s + 0.01),
            event_version=1,
        )
        for text in texts:
            event.reasons.add(reason=text, occurred_at=_at(begin_s + offset_s))
        yield (
            PayloadType.FLYTE1_TASK_EVENT,
            admin_event_pb2.TaskExecutionEventRequest(event=event),
        )


def _node(
    node_id: identifier_pb2.NodeExecutionIdentifier, phase: str, seconds: float
) -> admin_event_pb2.NodeExecutionEventRequest:
    event = event_pb2.NodeExecutionEvent(
        id=node_id,
        phase=phase,
        producer_id="propeller",
        occurred_at=_at(seconds),
        reported_at=_at(seconds + 0.01),
        spec_node_id=node_id.node_id,
        event_version=1,
        target_entity=identifier_pb2.Identifier(
            resource_type=identifier_pb2.TASK, name="pipelines.training.preprocess"
        ),
    )
    return admin_event_pb2.NodeExecutionEventRequest(event=event)


def _workflow(phase: str, seconds: float) -> admin_event_pb2.WorkflowExecutionEventRequest:
    event = event_pb2.WorkflowExecutionEvent(
        execution_id=_FLYTE_ID, phase=phase, occurred_at=_at(seconds)
    )
    return admin_event_pb2.WorkflowExecutionEventRequest(event=event)


def _at(seconds: float) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromNanoseconds(_START_NS + round(seconds * 1e9))
    return timestamp


_Request = (
    admin_event_pb2.WorkflowExecutionEventRequest
    | admin_event_pb2.NodeExecutionEventRequest
    | admin_event_pb2.TaskExecutionEventRequest
)

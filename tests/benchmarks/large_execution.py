"""One large execution for benchmarks: its events, and reads of it over a real socket."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

import grpc
from flyteidl.admin import event_pb2 as admin_event_pb2
from flyteidl.core import identifier_pb2
from flyteidl.event import event_pb2
from flyteidl.service.admin_pb2_grpc import AdminServiceStub
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import identifiers_pb2, span_service_pb2
from spanwise_server.bootstrap import open_migrated
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import execution_key
from spanwise_server.rpc.codecs.arrivals import decode_arrival
from spanwise_server.rpc.codecs.native import decode_execution_id
from spanwise_server.service.arrivals import Arrival, commit_arrivals
from spanwise_server.storage.sql import open_storage

BATCH = 5_000

KEPT_S = 600.0
_LOOK_EVERY_S = 0.02

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


class Timed(NamedTuple):
    """An answer: how long it took, and its size."""

    seconds: float
    size_bytes: int


@contextmanager
def open_channel(port: int) -> Iterator[grpc.Channel]:
    """Open a channel that takes answers of any size."""
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        yield channel


def read(channel: grpc.Channel, *, depth: int | None = None, page_size: int = 0) -> Timed:
    """Ask for its tree."""
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
    return Timed(time.perf_counter() - begin_s, size_bytes)


def stream(channel: grpc.Channel) -> tuple[float, float]:
    """Give the seconds until the first chunk and until the last."""
    request = span_service_pb2.StreamExecutionSpanRequest(execution_id=_EXECUTION_ID)
    call: grpc.UnaryStreamMultiCallable[bytes, bytes]
    call = channel.unary_stream("/spanwise.v1.SpanService/StreamExecutionSpan")
    begin_s = time.perf_counter()
    times_s = [time.perf_counter() - begin_s for _ in call(request.SerializeToString())]
    return times_s[0], times_s[-1]


def wait_until_kept(url: str) -> None:
    """Wait until its tree is in the database: what is made of it until then slows reads down.

    Raises:
        TimeoutError: It is not there after KEPT_S.
    """
    key = execution_key(decode_execution_id(_EXECUTION_ID))
    give_up_at = time.monotonic() + KEPT_S
    with closing(open_storage(url)) as storage:
        while time.monotonic() < give_up_at:
            with storage.read() as reader:
                if reader.get_kept_tree(key) is not None:
                    return
            time.sleep(_LOOK_EVERY_S)
    raise TimeoutError("the tree was not kept")


def end(channel: grpc.Channel, num_nodes: int) -> None:
    """Send the event that ends the execution."""
    AdminServiceStub(channel).CreateWorkflowEvent(_end(num_nodes))


def fill(url: str, num_nodes: int, *, has_ended: bool = False) -> None:
    """Store its events without a server; the last one, which ends it, only if `has_ended`."""
    storage = open_migrated(url)
    batch: list[Arrival] = []
    for kind, message in _events(num_nodes):
        batch.append(Arrival(kind, message.SerializeToString(), _START_NS))
        if len(batch) == BATCH:
            commit_arrivals(storage, decode_arrival, batch)
            batch.clear()
    if has_ended:
        last = _end(num_nodes).SerializeToString()
        batch.append(Arrival(PayloadType.FLYTE1_WORKFLOW_EVENT, last, _START_NS))
    commit_arrivals(storage, decode_arrival, batch)
    storage.close()


def _events(num_nodes: int) -> Iterator[tuple[PayloadType, "_Request"]]:
    yield PayloadType.FLYTE1_WORKFLOW_EVENT, _workflow("RUNNING", 0)
    for number in range(num_nodes):
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


def _end(num_nodes: int) -> admin_event_pb2.WorkflowExecutionEventRequest:
    return _workflow("SUCCEEDED", num_nodes * 0.05 + 70)


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

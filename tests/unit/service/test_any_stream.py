"""Trees of streams of events that were cut, repeated, shuffled, and sent by wrong clocks."""

import copy
import random
import tempfile
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from flyteidl.admin.event_pb2 import NodeExecutionEventRequest, TaskExecutionEventRequest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spanwise.demo import Request, training_pipeline
from spanwise_server.domain.critical_path import find_critical_path
from spanwise_server.domain.errors import ExecutionNotFound
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.span_builder import PlacedSpan, walk_spans
from spanwise_server.domain.spans import (
    ExecutionSubject,
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    SubtaskSubject,
    TaskAttemptSubject,
)
from spanwise_server.domain.totals import end_of, fill_totals
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_stored_definition
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.api import Storage
from tests.unit.domain.lives import walk
from tests.unit.service.test_recording import commit, storage_at

SECOND_NS = 10**9
START_NS = 1_764_000_000 * SECOND_NS
AS_OF_NS = START_NS + 86_400 * SECOND_NS

PAYLOAD_TYPES = {
    "CreateWorkflowEvent": PayloadType.FLYTE1_WORKFLOW_EVENT,
    "CreateNodeEvent": PayloadType.FLYTE1_NODE_EVENT,
    "CreateTaskEvent": PayloadType.FLYTE1_TASK_EVENT,
}
FLYTE_OPERATIONS = [each for each in Operation if 1 <= each <= Operation.TASK_TEARDOWN]

Stream = list[Request]


@cache
def whole_stream() -> tuple[Request, ...]:
    """Give the events of an execution with nodes of every kind, and of one that it starts."""
    return training_pipeline(7, START_NS).requests


@cache
def root_id() -> ExecutionId:
    """Give the id of that execution."""
    written = training_pipeline(7, START_NS).execution_id
    return ExecutionId(written.project, written.domain, written.name)


class Spoiling(NamedTuple):
    """How to spoil the stream: which share is kept and sent again, and how wrong clocks are."""

    seed: int
    kept: float
    repeated: float
    jitter_s: int
    shuffled: bool


spoilings = st.builds(
    Spoiling,
    seed=st.integers(0, 2**32),
    kept=st.sampled_from([1.0, 0.95, 0.7, 0.3, 0.05]),
    repeated=st.sampled_from([0.0, 0.2]),
    jitter_s=st.sampled_from([0, 2, 3600, 10**8]),
    shuffled=st.booleans(),
)


def spoiled_stream(spoiling: Spoiling) -> Stream:
    """Give the stream after it was spoiled."""
    chance = random.Random(spoiling.seed)
    stream = []
    for request in whole_stream():
        if chance.random() < spoiling.kept:
            copies = 2 if chance.random() < spoiling.repeated else 1
            stream += [spoiled(request, chance, spoiling.jitter_s) for _ in range(copies)]
    if spoiling.shuffled:
        chance.shuffle(stream)
    return stream


def spoiled(request: Request, chance: random.Random, jitter_s: int) -> Request:
    """Set the clocks of an event wrong, or take one from it."""
    message = copy.deepcopy(request.message)
    event = message.event
    if jitter_s:
        shift_s = chance.randint(-jitter_s, jitter_s)
        event.occurred_at.seconds = max(0, event.occurred_at.seconds + shift_s)
        if chance.random() < 0.05:
            event.ClearField("occurred_at")
        if chance.random() < 0.05:
            event.ClearField("producer_id")
    return Request(request.method, message)


def queries_of(storage: Storage) -> SpanQueries:
    """Give the queries of a server."""
    return SpanQueries(
        storage, decode_payload, decode_stored_definition, stale_after_ns=3600 * SECOND_NS
    )


def named_nodes(stream: Stream) -> set[str]:
    """Give the nodes of the outer execution that any event names."""
    names = set()
    for request in stream:
        message = request.message
        if isinstance(message, NodeExecutionEventRequest):
            ids = message.event.id
            if ids.execution_id.name == root_id().name:
                names |= {ids.node_id, message.event.parent_node_metadata.node_id} - {""}
        elif isinstance(message, TaskExecutionEventRequest):
            ids = message.event.parent_node_execution_id
            if ids.execution_id.name == root_id().name:
                names.add(ids.node_id)
    return names


def own_nodes(root: Span) -> set[str]:
    """Give the nodes of the outer execution that are in the tree."""
    names, stack = set(), [root]
    while stack:
        span = stack.pop()
        if isinstance(span.subject, NodeSubject):
            names.add(span.subject.node_id)
        stack += [
            child for child in span.children if not isinstance(child.subject, ExecutionSubject)
        ]
    return names


def alone(placed: PlacedSpan) -> PlacedSpan:
    """Give a span at its place without its children."""
    span, depth, has_children = placed
    return replace(span, children=()), depth, has_children


def check_totals(span: Span) -> None:
    """Check what every span's totals promise."""
    totals = span.totals
    assert totals is not None
    assert 0 <= totals.self_ns <= totals.wall_ns == end_of(span, AS_OF_NS) - span.start_ns
    for each in totals.operations:
        assert each.union_ns <= each.sum_ns
        assert each.union_ns <= totals.wall_ns
    spent = {each.operation: each.sum_ns for each in totals.operations}
    if is_complete(span):
        assert sum(spent.get(operation, 0) for operation in FLYTE_OPERATIONS) == totals.wall_ns
    else:
        # An attempt is always split as a whole, whatever sub-tasks lie beside its operations. An
        # open one that by a wrong clock goes on after as_of is drawn up to there only.
        is_ahead = span.end_ns is None and any(each.start_ns > AS_OF_NS for each in span.children)
        assert not isinstance(span.subject, TaskAttemptSubject) or has_subtasks(span) or is_ahead


def is_complete(span: Span) -> bool:
    """Say whether operations cover a span without gap and overlap, at every level."""
    if isinstance(span.subject, OperationSubject):
        return True
    now_ns = span.start_ns
    for child in span.children:
        if child.start_ns != now_ns or not is_complete(child):
            return False
        now_ns = end_of(child, AS_OF_NS)
    return now_ns == end_of(span, AS_OF_NS)


def has_subtasks(span: Span) -> bool:
    """Say whether a span has sub-tasks right below it."""
    return any(isinstance(child.subject, SubtaskSubject) for child in span.children)


def check_critical_path(root: Span) -> None:
    """Check that it covers the execution without gap and overlap."""
    segments = find_critical_path(root, AS_OF_NS)
    if end_of(root, AS_OF_NS) == root.start_ns:
        return
    assert segments[0].start_ns == root.start_ns
    assert segments[-1].end_ns == end_of(root, AS_OF_NS)
    for before, after in pairwise(segments):
        assert before.end_ns == after.start_ns


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoiling=spoilings)
@example(spoiling=Spoiling(0, 1.0, 0.0, 0, shuffled=False))
@example(spoiling=Spoiling(0, 0.3, 0.0, 10**8, shuffled=False))  # open attempts after as_of
def test_any_part_of_a_stream_in_any_order_gives_a_sane_tree(spoiling: Spoiling) -> None:
    stream = spoiled_stream(spoiling)
    with tempfile.TemporaryDirectory() as folder:
        storage = storage_at(Path(folder) / "spanwise.db")
        try:
            commit(
                storage,
                *(
                    (PAYLOAD_TYPES[request.method], request.message.SerializeToString())
                    for request in stream
                ),
            )
            queries = queries_of(storage)
            if not named_nodes(stream):
                return
            root = queries.get_versioned_tree(root_id(), AS_OF_NS).root
            walked = list(queries.walk_tree(root_id(), AS_OF_NS).spans)
            queries.get_metrics(root_id(), -1)
        finally:
            storage.close()
    assert list(map(alone, walked)) == list(map(alone, walk_spans(root)))
    assert own_nodes(root) >= named_nodes(stream)
    fill_totals(root, AS_OF_NS)
    for span in walk(root):
        assert span.end_ns is None or span.end_ns >= span.start_ns
        assert span.end_ns is not None or root.end_ns is None  # so a finished tree can be kept
        if span.totals is not None:
            check_totals(span)
    check_critical_path(root)


def test_an_empty_stream_leaves_nothing(tmp_path: Path) -> None:
    storage = storage_at(tmp_path / "spanwise.db")
    queries = queries_of(storage)
    with pytest.raises(ExecutionNotFound):
        queries.get_versioned_tree(root_id(), AS_OF_NS)
    storage.close()

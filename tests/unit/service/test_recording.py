"""Recording and rebuilding, on a real SQLite file."""

import random
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from flyteidl.core.execution_pb2 import NodeExecution, TaskExecution, WorkflowExecution
from flyteidl.event.event_pb2 import EventReason
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanwise_server.domain.errors import EventAlreadyRecorded, InvalidEvent
from spanwise_server.domain.events import Disposition, PayloadType
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.spans import Span
from spanwise_server.rpc.codecs.arrivals import decode_arrival
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_stored_definition
from spanwise_server.service.arrivals import Arrival, Recorded, Verdict, commit_arrivals
from spanwise_server.service.rebuild import rebuild_projections
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.api import Storage
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.migrations import upgrade
from tests.unit.rpc.flyte import EXECUTION, at, node_event, task_event, workflow_event

PROJECTIONS = ("executions", "node_executions", "task_executions", "reasons")
RUN = ExecutionId(EXECUTION.project, EXECUTION.domain, EXECUTION.name)


@cache
def empty_database() -> bytes:
    """Migrate once: it takes longer than a whole example."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "spanwise.db"
        upgrade(f"sqlite:///{database}")
        return database.read_bytes()


def storage_at(database: Path) -> Storage:
    database.write_bytes(empty_database())
    return open_storage(f"sqlite:///{database}")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "spanwise.db"


@pytest.fixture
def storage(database: Path) -> Iterator[Storage]:
    storage = storage_at(database)
    yield storage
    storage.close()


def commit(storage: Storage, *requests: tuple[PayloadType, bytes]) -> list[Verdict]:
    arrivals = [Arrival(kind, payload, number) for number, (kind, payload) in enumerate(requests)]
    return commit_arrivals(storage, decode_arrival, arrivals)


def queries_of(storage: Storage, stale_after_ns: int = 10**9) -> SpanQueries:
    return SpanQueries(
        storage, decode_payload, decode_stored_definition, stale_after_ns=stale_after_ns
    )


def task(phase: str, seconds: int, *reasons: str, version: int = 0) -> tuple[PayloadType, bytes]:
    request = task_event(
        phase=TaskExecution.Phase.Value(phase),
        phase_version=version,
        occurred_at=at(seconds),
        reported_at=at(seconds + 1),
        reasons=[EventReason(reason=text, occurred_at=at(seconds)) for text in reasons],
    )
    return PayloadType.FLYTE1_TASK_EVENT, request.SerializeToString()


def node(phase: str, seconds: int, parent: str = "") -> tuple[PayloadType, bytes]:
    request = node_event(
        phase=NodeExecution.Phase.Value(phase),
        occurred_at=at(seconds),
        reported_at=at(seconds + 1),
        parent_node_metadata={"node_id": parent},
    )
    return PayloadType.FLYTE1_NODE_EVENT, request.SerializeToString()


def workflow(phase: str, seconds: int) -> tuple[PayloadType, bytes]:
    number = WorkflowExecution.Phase.Value(phase)
    request = workflow_event(phase=number, occurred_at=at(seconds))
    return PayloadType.FLYTE1_WORKFLOW_EVENT, request.SerializeToString()


def rows(database: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(database)
    try:
        return {
            table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr)  # noqa: S608
            for table in PROJECTIONS
        }
    finally:
        connection.close()


def flat(span: Span) -> list[object]:
    return [
        (
            span.span_id,
            span.start_ns,
            span.end_ns,
            span.phase_intervals,
            span.marks,
            span.qualities,
        ),
        *(part for child in span.children for part in flat(child)),
    ]


def test_bad_event_in_a_batch_stops_no_other(storage: Storage) -> None:
    empty = (PayloadType.FLYTE1_TASK_EVENT, b"")
    first, second, third = commit(storage, task("QUEUED", 0), empty, task("RUNNING", 5))
    assert (first, isinstance(second, InvalidEvent)) == (Recorded(1, first.disposition), True)  # type: ignore[union-attr]
    assert isinstance(third, Recorded)
    assert third.sequence == 2


def test_duplicate_inside_one_batch_is_found(storage: Storage) -> None:
    verdicts = commit(storage, task("RUNNING", 5), task("RUNNING", 5), task("QUEUED", 0))
    dispositions = [verdict.disposition for verdict in verdicts if isinstance(verdict, Recorded)]
    assert dispositions == [Disposition.ACCEPTED, Disposition.DUPLICATE, Disposition.LATE]


def test_logged_event_is_found_again_after_its_phase_has_passed(storage: Storage) -> None:
    commit(storage, task("QUEUED", 0), task("RUNNING", 5))
    (again,) = commit(storage, task("QUEUED", 0))
    (other,) = commit(storage, task("QUEUED", 1))
    assert isinstance(again, Recorded)
    assert isinstance(again.objection, EventAlreadyRecorded)
    assert again[:2] == (3, Disposition.DUPLICATE)
    assert other == Recorded(4, Disposition.LATE)


requests = st.one_of(
    st.builds(
        task,
        st.sampled_from(TaskExecution.Phase.keys()),
        st.integers(0, 5),
        st.sampled_from("ABC"),
        version=st.integers(0, 2),
    ),
    st.builds(
        node,
        st.sampled_from(NodeExecution.Phase.keys()),
        st.integers(0, 5),
        st.sampled_from(["", "n0", "n1"]),
    ),
    st.builds(workflow, st.sampled_from(WorkflowExecution.Phase.keys()), st.integers(0, 5)),
)
lives = st.lists(requests, min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(life=lives, size=st.integers(1, 12))
def test_rebuild_gives_the_same_rows(life: list[tuple[PayloadType, bytes]], size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "spanwise.db"
        storage = storage_at(database)
        for start in range(0, len(life), size):
            commit(storage, *life[start : start + size])
        before = rows(database)
        assert rebuild_projections(storage, decode_payload) == len(life)
        storage.close()
        assert rows(database) == before


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(life=lives, seed=st.integers(0, 2**16))
def test_any_order_and_repetition_of_events_gives_the_same_tree(
    life: list[tuple[PayloadType, bytes]], seed: int
) -> None:
    source = random.Random(seed)
    again = source.sample(life, k=len(life) // 2)
    shuffled = source.sample(life + again, k=len(life) + len(again))
    trees = []
    for order in (life, shuffled):
        with tempfile.TemporaryDirectory() as folder:
            storage = storage_at(Path(folder) / "spanwise.db")
            for request in order:
                commit(storage, request)
            trees.append(flat(queries_of(storage).get_versioned_tree(RUN, 0).root))
            storage.close()
    assert trees[0] == trees[1]

"""Records come back as they went in, whatever they hold."""

from collections.abc import Iterator
from typing import TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spanwise_server.domain.events import (
    MAX_TIME_NS,
    MIN_TIME_NS,
    CacheStatus,
    Disposition,
    ExecutionFacts,
    NodeFacts,
    PayloadType,
    Severity,
    TaskFacts,
)
from spanwise_server.domain.identifiers import EntityKind, EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.transitions import EntityState, Moment
from spanwise_server.domain.workflows import WorkflowFormat
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import (
    AttemptRecord,
    EventRecord,
    ExecutionRecord,
    NodeRecord,
    ReasonRecord,
    WorkflowRecord,
)
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.migrations import upgrade
from tests.storage.records import event, execution, node, reason, workflow
from tests.storage.steps import as_marks

T = TypeVar("T")


class Undone(Exception):
    """Ends a transaction without its changes, so that every example meets an empty database."""


# Surrogates alone cannot be UTF-8; no message on the wire can hold one, and SQLite cannot either.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["\0", "a\0b", "🚀" * 3, "'; DROP TABLE events; --", "x" * 10_000, "ﬁn\u0301", "\u202e"]
)
keys = st.binary(min_size=16, max_size=16)
int64s = st.integers(MIN_TIME_NS, MAX_TIME_NS)
naturals = st.integers(0, MAX_TIME_NS)
versions = st.builds(EntityVersion, texts, texts, texts, texts)
execution_ids = st.builds(ExecutionId, texts, texts, texts)
moments = st.builds(Moment, int64s, int64s, st.sampled_from(Phase), naturals)
states = st.builds(
    EntityState, int64s, int64s, st.none() | moments, st.none() | moments, st.none() | int64s
)
qualities = st.builds(
    lambda flags: EventQuality(sum(flags)), st.sets(st.sampled_from(EventQuality))
)

events = st.builds(
    EventRecord,
    execution_key=keys,
    sequence=st.integers(1, MAX_TIME_NS),
    entity_key=int64s,
    kind=st.sampled_from(EntityKind),
    phase=st.sampled_from(Phase),
    phase_version=naturals,
    occurred_at_ns=int64s,
    reported_at_ns=st.none() | int64s,
    recorded_at_ns=int64s,
    producer_id=texts,
    disposition=st.sampled_from(Disposition),
    refusal=texts,
    qualities=qualities,
    has_details=st.booleans(),
    payload_type=st.sampled_from(PayloadType),
    payload=st.binary(max_size=50),
)
executions = st.builds(
    ExecutionRecord,
    execution_key=keys,
    execution_id=execution_ids,
    first_seen_ns=int64s,
    facts=st.builds(ExecutionFacts, texts, versions, st.none() | execution_ids, texts),
    state=st.none() | states,
)
nodes = st.builds(
    NodeRecord,
    execution_key=keys,
    node_key=int64s,
    node_id=texts,
    facts=st.builds(
        NodeFacts,
        texts,
        texts,
        texts,
        texts,
        st.sampled_from(NodeKind),
        versions,
        st.sampled_from(CacheStatus),
        st.none() | execution_ids,
        texts,
    ),
    state=st.none() | states,
)
attempts = st.builds(
    AttemptRecord,
    execution_key=keys,
    attempt_key=int64s,
    node_key=int64s,
    task_id=versions,
    retry_attempt=naturals,
    facts=st.builds(TaskFacts, texts, st.booleans()),
    state=states,
)
reasons = st.builds(
    ReasonRecord,
    execution_key=keys,
    entity_key=int64s,
    digest=int64s,
    occurred_at_ns=int64s,
    ordinal=naturals,
    phase=st.sampled_from(Phase),
    phase_version=naturals,
    severity=st.sampled_from(Severity),
    occurrences=naturals,
    source=texts,
    message=texts,
)

workflows = st.builds(
    WorkflowRecord,
    workflow_key=keys,
    workflow_id=versions,
    format=st.sampled_from(WorkflowFormat),
    recorded_at_ns=int64s,
    payload=st.binary(max_size=50),
)


@pytest.fixture(scope="module", params=[Database.SQLITE, Database.POSTGRESQL])
def storage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Storage]:
    if request.param is Database.SQLITE:
        url = f"sqlite:///{tmp_path_factory.mktemp('round_trips')}/spanwise.db"
        upgrade(url)
        yield from _storage_at(url)
    else:
        with request.getfixturevalue("postgresql").migrated() as url:
            yield from _storage_at(url)


def _storage_at(url: str) -> Iterator[Storage]:
    storage = open_storage(url)
    yield storage
    storage.close()


def types_of(value: object) -> object:
    """Give the types inside a record: equality alone takes an int for a Phase."""
    if isinstance(value, tuple):
        return type(value), [types_of(part) for part in value]
    return type(value)


def check(storage: Storage, record: tuple[object, ...], found: list[object]) -> None:
    assert found == [record]
    assert types_of(found[0]) == types_of(record)


@settings(deadline=None)
@given(record=events)
@example(record=event(1))
def test_an_event_comes_back(storage: Storage, record: EventRecord) -> None:
    def work(transaction: WriteTransaction) -> None:
        transaction.append_events([record])
        check(storage, record, list(transaction.iterate_log()))
        raise Undone

    with pytest.raises(Undone):
        storage.write(work)


@settings(deadline=None)
@given(record=executions)
@example(record=execution())
def test_an_execution_comes_back(storage: Storage, record: ExecutionRecord) -> None:
    def work(transaction: WriteTransaction) -> None:
        transaction.put_executions([record])
        found = transaction.get_executions([record.execution_key])
        check(storage, record, list(found.values()))
        raise Undone

    with pytest.raises(Undone):
        storage.write(work)


@settings(deadline=None)
@given(record=nodes)
@example(record=node())
def test_a_node_comes_back(storage: Storage, record: NodeRecord) -> None:
    def work(transaction: WriteTransaction) -> None:
        transaction.put_nodes([record])
        found = transaction.get_nodes([(record.execution_key, record.node_key)])
        check(storage, record, list(found.values()))
        raise Undone

    with pytest.raises(Undone):
        storage.write(work)


@settings(deadline=None)
@given(record=attempts)
def test_an_attempt_comes_back(storage: Storage, record: AttemptRecord) -> None:
    def work(transaction: WriteTransaction) -> None:
        transaction.put_attempts([record])
        found = transaction.get_attempts([(record.execution_key, record.attempt_key)])
        check(storage, record, list(found.values()))
        raise Undone

    with pytest.raises(Undone):
        storage.write(work)


@settings(deadline=None)
@given(record=reasons)
@example(record=reason())
def test_a_reason_comes_back(storage: Storage, record: ReasonRecord) -> None:
    def fill(transaction: WriteTransaction) -> None:
        transaction.clear_projections()
        transaction.add_missing_executions(
            [execution()._replace(execution_key=record.execution_key)]
        )
        transaction.merge_reasons([record])

    storage.write(fill)
    with storage.read() as transaction:
        histories = transaction.get_histories([record.execution_key])
    [(entity_key, mark)] = as_marks(record)
    check(storage, mark, list(histories[record.execution_key].marks[entity_key]))


@settings(deadline=None)
@given(record=workflows)
@example(record=workflow())
def test_a_workflow_comes_back(storage: Storage, record: WorkflowRecord) -> None:
    storage.write(lambda t: t.put_workflow(record))
    with storage.read() as transaction:
        found = transaction.get_workflow(record.workflow_key)
    check(storage, record, [found])

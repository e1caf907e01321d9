"""Columns as they are asked for: the newest or the latest, made once, on a real SQLite file."""

import gzip
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise_server.domain.errors import ExecutionNotFound, InvalidQuery
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.rpc import span_trees
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_stored_definition
from spanwise_server.rpc.span_trees import SpanTrees
from spanwise_server.rpc.turns import Turns
from spanwise_server.service import kept_trees
from spanwise_server.service.kept_trees import KeptTrees, StoredTree
from spanwise_server.service.retention import delete_execution
from spanwise_server.service.span_queries import SpanQueries, VersionedWalk
from spanwise_server.storage.api import Storage
from spanwise_server.web import column_reads, held_columns
from spanwise_server.web.column_reads import (
    GET_COLUMNS,
    ColumnReads,
    ColumnsAnswer,
    ColumnsRequest,
    decode_answer,
)
from spanwise_server.web.columns import Columns, encode_columns
from spanwise_server.web.held_columns import ColumnStore
from tests.unit.rpc.flyte import T0
from tests.unit.rpc.test_span_trees import spans_of
from tests.unit.service.test_recording import RUN, commit, node, storage_at, task, workflow
from tests.unit.web.decoded import Decoded, decode_columns

STALE_AFTER_NS = 100 * 10**9
RUNNING = (workflow("RUNNING", 0), node("RUNNING", 1), task("RUNNING", 2, "Pulling image"))
ENDED = (*RUNNING, task("SUCCEEDED", 7), node("SUCCEEDED", 8), workflow("SUCCEEDED", 9))


_processes: list["Process"] = []
"""Those of the test that runs: they end before their storage is closed."""


class Process:
    """What one process has: others share nothing but the storage with it."""

    def __init__(self, storage: Storage) -> None:
        """Read from `storage`, ten seconds after the first event."""
        self.now_ns = (T0 + 10) * 10**9
        self.now_s = 0.0
        _processes.append(self)
        self.queries = CountingQueries(
            storage, decode_payload, decode_stored_definition, stale_after_ns=STALE_AFTER_NS
        )
        self.store = ColumnStore(STALE_AFTER_NS)
        kept = KeptTrees(storage, "this version", self.store.make_compressed)
        self.trees = SpanTrees(self.queries, kept, Turns(self.queries))
        self.reads = ColumnReads(
            self.queries, self.trees, self.store, lambda: self.now_ns, lambda: self.now_s
        )

    def ask(
        self, revision: str = "", *, wants_columns: bool = True, execution_id: ExecutionId = RUN
    ) -> ColumnsAnswer:
        """Ask for columns."""
        request = ColumnsRequest(execution_id, revision, wants_columns)
        return decode_answer(self.reads.reads[GET_COLUMNS](request.encode()))

    def wait_for_newer(self, revision: str) -> str:
        """Ask until columns of another revision are there, and give it."""
        until_s = time.monotonic() + 60
        while (newer := self.ask(wants_columns=False).revision) == revision:
            assert time.monotonic() < until_s, "no newer columns were made"
        return newer

    def finish(self) -> None:
        """Wait for what is made in the background."""
        self.reads.close()
        self.trees.close()


class CountingQueries(SpanQueries):
    """Counts the trees that are built."""

    built = 0

    def walk_tree(self, execution_id: ExecutionId, as_of_ns: int) -> VersionedWalk:
        """Count, and do it."""
        self.built += 1
        return super().walk_tree(execution_id, as_of_ns)


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    yield storage
    for process in _processes:
        process.finish()
    _processes.clear()
    storage.close()


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_trees, "MIN_KEPT_SPANS", 0)
    monkeypatch.setattr(column_reads, "LARGE_SPANS", 0)
    monkeypatch.setattr(kept_trees, "COLUMNS_CHUNK_BYTES", 100)


def decoded(answer: ColumnsAnswer) -> Decoded:
    return decode_columns(gzip.decompress(answer.compressed))


def test_an_answer_has_the_columns_of_the_tree(storage: Storage) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    answer = process.ask()
    tree = process.trees.get_without_totals(RUN, process.now_ns)
    expected = encode_columns(tree, process.now_ns)
    assert gzip.decompress(answer.compressed) == b"".join(expected.pieces)
    assert answer.revision == decoded(answer).header["revision"]
    assert (answer.is_newest, answer.phase, answer.has_ended) == (True, "RUNNING", False)
    assert answer.execution_keys == {execution_key(RUN)}


def test_an_execution_that_has_ended_is_said_to_have_ended(storage: Storage) -> None:
    commit(storage, *ENDED)
    answer = Process(storage).ask()
    assert (answer.phase, answer.has_ended) == ("SUCCEEDED", True)


def test_whoever_has_the_columns_gets_none_and_nothing_is_built(storage: Storage) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    first = process.ask()
    again = process.ask(first.revision)
    assert again == first._replace(compressed=b"")
    assert process.ask("another") == first
    assert process.queries.built == 1


def test_whoever_wants_no_columns_hears_about_them(storage: Storage) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    assert process.ask(wants_columns=False) == process.ask()._replace(compressed=b"")


def test_an_event_makes_a_small_execution_new_at_once(storage: Storage) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    first = process.ask()
    commit(storage, task("SUCCEEDED", 7))
    second = process.ask(first.revision)
    assert second.is_newest
    assert second.revision == decoded(second).header["revision"] != first.revision


def test_silence_makes_columns_new_when_it_makes_a_span_stale(storage: Storage) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    first = process.ask()
    # The last that was heard is the RUNNING event of the task, at second 2.
    process.now_ns = (T0 + 2) * 10**9 + STALE_AFTER_NS
    assert process.ask().revision == first.revision
    process.now_ns += 1
    stale = process.ask(first.revision)
    assert stale.revision != first.revision
    assert decoded(stale).header["stale"]
    process.now_ns += 10**15
    assert process.ask(stale.revision).revision == stale.revision
    assert process.queries.built == 2


@pytest.mark.usefixtures("everything_is_large")
def test_a_large_execution_is_answered_with_what_is_there_while_newer_is_made(
    storage: Storage,
) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    first = process.ask()
    commit(storage, task("SUCCEEDED", 7))
    assert process.ask() == first._replace(is_newest=False)
    process.finish()
    second = process.ask(first.revision)
    assert second.is_newest
    assert second.revision == decoded(second).header["revision"] != first.revision
    assert process.queries.built == 2


@pytest.mark.usefixtures("everything_is_large")
def test_a_large_execution_rests_for_as_long_as_it_took(storage: Storage) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    process.ask()
    build = process.queries.walk_tree

    def build_for_3_s(execution_id: ExecutionId, as_of_ns: int) -> VersionedWalk:
        process.now_s += 3
        return build(execution_id, as_of_ns)

    process.queries.walk_tree = build_for_3_s  # type: ignore[method-assign]
    revision = process.ask().revision
    for number in (1, 2):
        commit(storage, task("RUNNING", 2 + number, version=number))
        assert not process.ask().is_newest
        revision = process.wait_for_newer(revision)
        assert process.now_s == number * 6 - 3
        commit(storage, node("RUNNING", 20 + number))
        process.now_s += 2.9
        assert not process.ask().is_newest  # and nothing is begun
        process.now_s += 0.1
    process.finish()
    assert process.queries.built == 3


@pytest.mark.usefixtures("everything_is_large")
def test_columns_of_a_large_ended_execution_are_kept_for_all_processes(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(storage, *ENDED)
    first = Process(storage)
    first.trees.prepare(RUN, first.now_ns)
    first.finish()

    def refuse(*_: object) -> Columns:
        pytest.fail("columns are made again")

    monkeypatch.setattr(held_columns, "encode_columns", refuse)
    assert decoded(first.ask()).strings
    other = Process(storage)
    assert other.ask() == first.ask()
    assert other.queries.built == 0
    # What else the tree is read for does not see them.
    tree = other.trees.get_without_totals(RUN, other.now_ns)
    assert isinstance(tree, StoredTree)
    assert len(tree.read_columns()) > 5 * kept_trees.COLUMNS_CHUNK_BYTES
    assert len(spans_of(tree)) == tree.starts[-1] == decoded(first.ask()).header["num_spans"]


@pytest.mark.usefixtures("everything_is_large")
def test_kept_columns_are_given_instead_of_those_from_before_the_end(storage: Storage) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    process.ask()
    commit(storage, *ENDED[len(RUNNING) :])
    other = Process(storage)
    other.trees.prepare(RUN, other.now_ns)
    other.finish()
    answer = process.ask()
    assert (answer.is_newest, answer.has_ended) == (True, True)
    assert process.queries.built == 1


@pytest.mark.usefixtures("everything_is_large")
def test_an_event_after_the_end_makes_kept_columns_void(storage: Storage) -> None:
    commit(storage, *ENDED)
    first = Process(storage)
    kept = first.ask()
    first.finish()
    commit(storage, task("RUNNING", 3, "a reason that came late", version=1))
    late = Process(storage).ask()
    assert late.revision != kept.revision
    assert "a reason that came late" in decoded(late).strings


@pytest.mark.usefixtures("everything_is_large")
def test_columns_of_what_was_deleted_are_not_given(storage: Storage) -> None:
    commit(storage, *ENDED)
    process = Process(storage)
    process.ask()
    delete_execution(storage, RUN)
    with pytest.raises(ExecutionNotFound):
        process.ask()


def test_what_is_not_known_is_said(storage: Storage) -> None:
    process = Process(storage)
    with pytest.raises(ExecutionNotFound):
        process.ask()
    with pytest.raises(InvalidQuery, match="name"):
        process.ask(execution_id=ExecutionId("flytesnacks", "development", ""))


def test_columns_in_memory_take_bounded_memory(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(storage, *RUNNING)
    process = Process(storage)
    tree = process.trees.get_without_totals(RUN, process.now_ns)
    size_bytes = len(process.store.make(b"0", tree, process.now_ns).compressed)
    monkeypatch.setattr(held_columns, "MAX_HELD_BYTES", 3 * size_bytes)
    process = Process(storage)
    for key in (b"0", b"1", b"2"):
        process.store.make(key, tree, process.now_ns)
    assert process.store.find(b"0")  # the latest used now
    process.store.make(b"3", tree, process.now_ns)
    held = [key for key in (b"0", b"1", b"2", b"3") if process.store.find(key)]
    assert held == [b"0", b"2", b"3"]
    monkeypatch.setattr(held_columns, "MAX_HELD_BYTES", 1)
    process = Process(storage)
    for key in (*held, b"4"):
        process.store.make(key, tree, process.now_ns)
    assert process.store.find(b"4")
    assert not any(process.store.find(key) for key in held)

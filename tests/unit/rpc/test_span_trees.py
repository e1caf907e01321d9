"""Trees that are kept, and when they no longer hold, on a real SQLite file."""

import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from flyteidl.core.execution_pb2 import WorkflowExecution
from flyteidl.core.identifier_pb2 import WorkflowExecutionIdentifier
from flyteidl.event.event_pb2 import WorkflowNodeMetadata

from spanwise.v1 import phase_pb2, workflow_pb2
from spanwise.v1.identifiers_pb2 import EntityVersion as EntityMessage
from spanwise.v1.span_pb2 import Span
from spanwise.v1.span_service_pb2 import SpanSnapshot
from spanwise_server.domain.errors import ExecutionNotFound, SpanNotFound, StoreUnavailable
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId, execution_key
from spanwise_server.domain.workflows import WorkflowFormat
from spanwise_server.rpc import span_trees
from spanwise_server.rpc.codecs import tree_parts
from spanwise_server.rpc.codecs.arrivals import decode_arrival
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_definition, decode_stored_definition
from spanwise_server.rpc.span_trees import SpanTrees, TreeKey
from spanwise_server.rpc.tree_selection import Selection, pick
from spanwise_server.rpc.turns import Turns
from spanwise_server.service import kept_trees
from spanwise_server.service.arrivals import Arrival, commit_arrivals
from spanwise_server.service.kept_trees import (
    ID_START_BYTES,
    BuiltTree,
    KeptTrees,
    PartedTree,
    StoredTree,
    TreePart,
)
from spanwise_server.service.retention import delete_execution
from spanwise_server.service.span_queries import SpanQueries, VersionedTree, VersionedWalk
from spanwise_server.service.workflow_registry import WorkflowRegistry
from spanwise_server.storage.api import Storage
from spanwise_server.storage.records import KeptChunk
from tests.unit.rpc.flyte import T0, at, node_event, workflow_event
from tests.unit.service.test_recording import RUN, commit, node, storage_at, task, workflow

AS_OF_NS = (T0 + 1000) * 10**9
KEY = TreeKey(RUN, include_totals=False)
CHILD = WorkflowExecutionIdentifier(project="flytesnacks", domain="development", name="child")
FINISHED = (
    workflow("RUNNING", 0),
    node("RUNNING", 1),
    node("SUCCEEDED", 8),
    workflow("SUCCEEDED", 9),
)


class CountingQueries(SpanQueries):
    """Counts the trees that are built. Each waits for `may_build`."""

    built = 0

    def __init__(self, storage: Storage) -> None:
        """Build from `storage`."""
        super().__init__(
            storage, decode_payload, decode_stored_definition, stale_after_ns=3600 * 10**9
        )
        self.may_build = threading.Event()
        self.may_build.set()

    def get_versioned_tree(self, execution_id: ExecutionId, as_of_ns: int) -> VersionedTree:
        """Count, and do it."""
        self.built += 1
        return super().get_versioned_tree(execution_id, as_of_ns)

    def walk_tree(self, execution_id: ExecutionId, as_of_ns: int) -> VersionedWalk:
        """Count, and do it."""
        self.built += 1
        assert self.may_build.wait(60)
        return super().walk_tree(execution_id, as_of_ns)


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_trees, "MIN_KEPT_SPANS", 0)
    monkeypatch.setattr(tree_parts, "PART_BYTES", 1)
    monkeypatch.setattr(tree_parts, "_BATCH_SPANS", 2)


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    yield storage
    storage.close()


@pytest.fixture
def queries(storage: Storage) -> CountingQueries:
    return CountingQueries(storage)


def process(storage: Storage, queries: SpanQueries, maker: str = "this version") -> SpanTrees:
    """Give what one process has: others share nothing but the storage with it."""
    return SpanTrees(queries, KeptTrees(storage, maker), Turns(queries))


def spans_of(tree: PartedTree) -> list[Span]:
    payload = b"".join(part.payload for part in tree.parts(0))
    return list(SpanSnapshot.FromString(payload).spans)


def names(trees: SpanTrees) -> list[str]:
    return [span.name for span in spans_of(trees.get(KEY, AS_OF_NS))]


def keep(storage: Storage, queries: SpanQueries) -> list[Span]:
    """Have the tree kept by a process that is gone afterwards."""
    trees = process(storage, queries)
    spans = spans_of(trees.get(KEY, AS_OF_NS))
    trees.close()
    return spans


def test_a_finished_execution_is_built_once_for_all_processes(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    spans = keep(storage, queries)
    assert queries.built == 1
    for _ in range(2):
        tree = process(storage, queries).get(KEY, AS_OF_NS + 10**9)
        assert isinstance(tree, StoredTree)
        assert spans_of(tree) == spans
        assert tree.starts[-1] == len(spans) > 2
    assert queries.built == 1


def test_one_process_builds_a_tree_once(storage: Storage, queries: CountingQueries) -> None:
    commit(storage, *FINISHED)
    trees = process(storage, queries)
    assert spans_of(trees.get(KEY, AS_OF_NS)) == spans_of(trees.get(KEY, AS_OF_NS + 1))
    assert queries.built == 1


def test_whoever_asks_for_a_tree_that_is_being_built_waits_for_it(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    trees = process(storage, queries)
    queries.may_build.clear()
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(trees.get, KEY, AS_OF_NS) for _ in range(3)]
        queries.may_build.set()
        first, *others = [spans_of(each.result()) for each in asked]
    assert all(other == first for other in others)
    assert queries.built == 1


def test_a_tree_that_was_prepared_is_there_for_the_first_reader(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    trees = process(storage, queries)
    trees.prepare(RUN, AS_OF_NS)
    trees.close()
    assert queries.built == 1
    assert names(process(storage, queries)) == names(trees)
    assert queries.built == 1


def test_to_prepare_what_is_not_known_does_no_harm(
    storage: Storage, queries: CountingQueries
) -> None:
    trees = process(storage, queries)
    trees.prepare(RUN, AS_OF_NS)
    trees.close()
    with pytest.raises(ExecutionNotFound):
        trees.get(KEY, AS_OF_NS)


def test_another_version_of_the_program_builds_its_own(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    keep(storage, queries)
    process(storage, queries, "next version").get(KEY, AS_OF_NS)
    assert queries.built == 2


def test_a_small_tree_is_not_kept(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_trees, "MIN_KEPT_SPANS", 100)
    commit(storage, *FINISHED)
    keep(storage, queries)
    with storage.read() as reader:
        assert reader.get_kept_tree(execution_key(RUN)) is None


def test_totals_are_filled_in_where_they_are_asked_for(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    keep(storage, queries)
    trees = process(storage, queries)
    with_totals = KEY._replace(include_totals=True)
    assert spans_of(trees.get(with_totals, AS_OF_NS))[0].HasField("totals")
    assert not spans_of(trees.get(KEY, AS_OF_NS))[0].HasField("totals")


def test_an_open_execution_is_built_for_each_moment(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, workflow("RUNNING", 0))
    trees = process(storage, queries)
    assert not spans_of(trees.get(KEY, AS_OF_NS))[0].qualities
    stale = spans_of(trees.get(KEY, AS_OF_NS + 7200 * 10**9))[0]
    assert list(stale.qualities) == [16]
    trees.close()
    with storage.read() as reader:
        assert reader.get_kept_tree(execution_key(RUN)) is None


def test_an_open_execution_is_built_once_for_pages_of_one_moment(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, workflow("RUNNING", 0))
    trees = process(storage, queries)
    assert trees.get(KEY, AS_OF_NS).fingerprint == trees.get(KEY, AS_OF_NS).fingerprint
    assert queries.built == 1


def test_a_late_event_is_in_the_next_tree(storage: Storage, queries: CountingQueries) -> None:
    commit(storage, *FINISHED)
    before = keep(storage, queries)
    trees = process(storage, queries)
    trees.get(KEY, AS_OF_NS)
    commit(storage, task("RUNNING", 3))
    assert len(names(trees)) > len(before)
    assert len(keep(storage, queries)) > len(before)


def test_a_registered_workflow_is_in_the_next_tree(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    keep(storage, queries)
    registry = WorkflowRegistry(storage, decode_definition)
    definition = workflow_pb2.Workflow(
        workflow_id=EntityMessage(name="main"), nodes=[workflow_pb2.WorkflowNode(node_id="n0")]
    )
    registry.register(WorkflowFormat.NATIVE, definition.SerializeToString())
    registry.bind(RUN, EntityVersion("", "", "main", ""))
    root = spans_of(process(storage, queries).get(KEY, AS_OF_NS))[0]
    assert root.execution.workflow_id.name == "main"


def test_a_child_execution_that_comes_later_is_in_the_next_tree(
    storage: Storage, queries: CountingQueries
) -> None:
    metadata = WorkflowNodeMetadata(execution_id=CHILD)
    request = node_event(occurred_at=at(2), workflow_node_metadata=metadata)
    named = (PayloadType.FLYTE1_NODE_EVENT, request.SerializeToString())
    commit(storage, *FINISHED, named)
    assert "child" not in [span.name for span in keep(storage, queries)]
    child = workflow_event(execution_id=CHILD, phase=WorkflowExecution.RUNNING, occurred_at=at(3))
    commit(storage, (PayloadType.FLYTE1_WORKFLOW_EVENT, child.SerializeToString()))
    assert "child" in names(process(storage, queries))


def test_a_tree_that_is_replaced_while_it_is_read_says_so(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    keep(storage, queries)
    tree = process(storage, queries).get(KEY, AS_OF_NS)
    commit(storage, task("RUNNING", 3))
    keep(storage, queries)
    with pytest.raises(StoreUnavailable, match="read it again"):
        list(tree.parts(0))


def test_an_execution_that_was_deleted_is_not_shown_for_one_of_its_name(
    storage: Storage, queries: CountingQueries
) -> None:
    """Its sequences begin again, and may end where they ended before."""
    commit(storage, *FINISHED)
    keep(storage, queries)
    trees = process(storage, queries)
    before = trees.get(KEY, AS_OF_NS).fingerprint
    delete_execution(storage, RUN)
    other = [workflow("RUNNING", 20), node("RUNNING", 21), node("FAILED", 28)]
    arrivals = [
        Arrival(kind, payload, 10**9 + number)
        for number, (kind, payload) in enumerate([*other, workflow("FAILED", 29)])
    ]
    commit_arrivals(storage, decode_arrival, arrivals)
    assert trees.get(KEY, AS_OF_NS).fingerprint != before
    assert spans_of(trees.get(KEY, AS_OF_NS))[0].phase == phase_pb2.PHASE_FAILED


def test_a_span_of_a_kept_tree_is_found_without_unpacking_the_others(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the part that has it; what tells which is read as far as it takes."""
    monkeypatch.setattr(kept_trees, "_ID_STARTS_CHUNK_BYTES", 2 * ID_START_BYTES)
    commit(storage, *FINISHED)
    spans = keep(storage, queries)
    tree = process(storage, queries).get(KEY, AS_OF_NS)
    assert isinstance(tree, StoredTree)
    assert tree.num_chunks > len(tree.starts) > 3
    unpacked: list[int] = []
    to_part = kept_trees._to_part  # noqa: SLF001 - to hear of what it is told

    def note(chunk: KeptChunk) -> TreePart:
        unpacked.append(chunk.number)
        return to_part(chunk)

    monkeypatch.setattr(kept_trees, "_to_part", note)
    for place, span in enumerate(spans):
        unpacked.clear()
        assert list(tree.find_places(span.span_id)) == [place]
        selection = Selection(depth=0, root_span_id=span.span_id)
        [piece] = pick(tree, selection, AS_OF_NS)
        assert SpanSnapshot.FromString(piece.payload).spans[0].span_id == span.span_id
        assert set(unpacked) == {bisect_right(tree.starts, place) - 1}
    with pytest.raises(SpanNotFound):
        list(pick(tree, Selection(root_span_id=bytes(8)), AS_OF_NS))


def test_two_processes_that_keep_a_tree_at_once_leave_one_that_is_whole(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    key = execution_key(RUN)
    built = process(storage, queries).get(KEY, AS_OF_NS)
    assert isinstance(built, BuiltTree)
    tree = BuiltTree(built.basis, built.parts(0))

    class OvertakenTree(BuiltTree):
        """Another process keeps the tree as well while this one is at its second part."""

        def packed_parts(self) -> Iterator[TreePart]:
            for number, part in enumerate(super().packed_parts()):
                if number == 1:
                    KeptTrees(storage, "this version").keep(key, tree)
                yield part

    overtaken = OvertakenTree(tree.basis, tree.parts(0))
    KeptTrees(storage, "this version").keep(key, overtaken)
    found = KeptTrees(storage, "this version").find(key)
    assert found is not None
    assert spans_of(found) == spans_of(tree)


def test_a_kept_tree_that_lacks_a_part_is_built_again(
    storage: Storage, queries: CountingQueries, tmp_path: Path
) -> None:
    commit(storage, *FINISHED)
    spans = keep(storage, queries)
    with closing(sqlite3.connect(tmp_path / "spanwise.db")) as connection:
        connection.execute("DELETE FROM kept_chunks WHERE number = 1")
        connection.commit()
    assert spans_of(process(storage, queries).get(KEY, AS_OF_NS)) == spans
    assert queries.built == 2


def test_what_was_used_longest_ago_makes_room(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(storage, workflow("RUNNING", 0))
    other = ExecutionId("flytesnacks", "development", "child")
    child = workflow_event(execution_id=CHILD, phase=WorkflowExecution.RUNNING, occurred_at=at(3))
    commit(storage, (PayloadType.FLYTE1_WORKFLOW_EVENT, child.SerializeToString()))
    tree = process(storage, queries).get(KEY, AS_OF_NS)
    assert isinstance(tree, BuiltTree)
    monkeypatch.setattr(span_trees, "MAX_RECENT_BYTES", int(tree.size_bytes * 2.5))
    trees = process(storage, queries)
    trees.get(KEY, AS_OF_NS)
    queries.built = 0
    with_totals, of_other = KEY._replace(include_totals=True), KEY._replace(execution_id=other)
    for key in (KEY, of_other, KEY, with_totals, KEY, of_other):
        trees.get(key, AS_OF_NS)
    assert queries.built == 3


def test_what_is_deleted_before_it_is_kept_does_not_come_back(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_trees, "MIN_KEPT_SPANS", 10**6)
    commit(storage, *FINISHED)
    tree = process(storage, queries).get(KEY, AS_OF_NS)
    assert isinstance(tree, BuiltTree)
    delete_execution(storage, RUN)
    for late in ((), (task("RUNNING", 3),)):
        commit(storage, *late)
        KeptTrees(storage, "this version").keep(execution_key(RUN), tree)
        with storage.read() as reader:
            sizes = {each.table: each.num_rows for each in reader.get_statistics(0, 1).tables}
        assert sizes["kept_chunks"] == sizes["kept_trees"] == 0

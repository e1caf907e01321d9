"""Answers that are kept, and when they no longer hold, on a real SQLite file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flyteidl.core.execution_pb2 import WorkflowExecution
from flyteidl.core.identifier_pb2 import WorkflowExecutionIdentifier
from flyteidl.event.event_pb2 import WorkflowNodeMetadata

from spanwise.v1 import workflow_pb2
from spanwise.v1.identifiers_pb2 import EntityVersion as EntityMessage
from spanwise.v1.span_service_pb2 import GetExecutionSpanResponse
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.workflows import WorkflowFormat
from spanwise_server.rpc import span_answers
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_definition, decode_stored_definition
from spanwise_server.rpc.span_answers import AnswerKey, SpanAnswers
from spanwise_server.service.span_queries import SpanQueries, VersionedTree
from spanwise_server.service.workflow_registry import WorkflowRegistry
from spanwise_server.storage.api import Storage
from tests.unit.rpc.flyte import T0, at, node_event, workflow_event
from tests.unit.service.test_recording import RUN, commit, node, storage_at, task, workflow

AS_OF_NS = (T0 + 1000) * 10**9
KEY = AnswerKey(RUN, None, include_totals=False)
CHILD = WorkflowExecutionIdentifier(project="flytesnacks", domain="development", name="child")
FINISHED = (
    workflow("RUNNING", 0),
    node("RUNNING", 1),
    node("SUCCEEDED", 8),
    workflow("SUCCEEDED", 9),
)


class CountingQueries(SpanQueries):
    """Counts the trees that are built."""

    built = 0

    def get_versioned_tree(self, execution_id: ExecutionId, as_of_ns: int) -> VersionedTree:
        """Count, and do it."""
        self.built += 1
        return super().get_versioned_tree(execution_id, as_of_ns)


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    yield storage
    storage.close()


@pytest.fixture
def queries(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> CountingQueries:
    monkeypatch.setattr(span_answers, "MIN_KEPT_SPANS", 0)
    return CountingQueries(
        storage, decode_payload, decode_stored_definition, stale_after_ns=3600 * 10**9
    )


def names(response: GetExecutionSpanResponse) -> list[str]:
    return [span.name for span in response.spans]


def test_a_finished_execution_is_built_once(storage: Storage, queries: CountingQueries) -> None:
    commit(storage, *FINISHED)
    answers = SpanAnswers(queries)
    first = answers.get(KEY, AS_OF_NS)
    second = answers.get(KEY, AS_OF_NS + 10**9)
    assert queries.built == 1
    assert second.spans == first.spans
    assert second.as_of.seconds == first.as_of.seconds + 1


def test_a_small_tree_is_built_again(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_answers, "MIN_KEPT_SPANS", 100)
    commit(storage, *FINISHED)
    answers = SpanAnswers(queries)
    assert answers.get(KEY, AS_OF_NS) == answers.get(KEY, AS_OF_NS)
    assert queries.built == 2


def test_other_depths_and_totals_are_other_answers(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    answers = SpanAnswers(queries)
    assert len(answers.get(KEY, AS_OF_NS).spans) > 1
    assert len(answers.get(KEY._replace(depth=0), AS_OF_NS).spans) == 1
    assert answers.get(KEY._replace(include_totals=True), AS_OF_NS).spans[0].HasField("totals")


def test_an_open_execution_is_never_kept(storage: Storage, queries: CountingQueries) -> None:
    commit(storage, workflow("RUNNING", 0))
    answers = SpanAnswers(queries)
    assert not answers.get(KEY, AS_OF_NS).spans[0].qualities
    stale = answers.get(KEY, AS_OF_NS + 7200 * 10**9).spans[0]
    assert list(stale.qualities) == [16]
    assert queries.built == 2


def test_a_late_event_is_in_the_next_answer(storage: Storage, queries: CountingQueries) -> None:
    commit(storage, *FINISHED)
    answers = SpanAnswers(queries)
    before = names(answers.get(KEY, AS_OF_NS))
    commit(storage, task("RUNNING", 3))
    assert len(names(answers.get(KEY, AS_OF_NS))) > len(before)


def test_a_registered_workflow_is_in_the_next_answer(
    storage: Storage, queries: CountingQueries
) -> None:
    commit(storage, *FINISHED)
    answers = SpanAnswers(queries)
    answers.get(KEY, AS_OF_NS)
    registry = WorkflowRegistry(storage, decode_definition)
    definition = workflow_pb2.Workflow(
        workflow_id=EntityMessage(name="main"),
        nodes=[workflow_pb2.WorkflowNode(node_id="n0")],
    )
    registry.register(WorkflowFormat.NATIVE, definition.SerializeToString())
    registry.bind(RUN, EntityVersion("", "", "main", ""))
    assert answers.get(KEY, AS_OF_NS).spans[0].execution.workflow_id.name == "main"


def test_a_child_execution_that_comes_later_is_in_the_next_answer(
    storage: Storage, queries: CountingQueries
) -> None:
    metadata = WorkflowNodeMetadata(execution_id=CHILD)
    request = node_event(occurred_at=at(2), workflow_node_metadata=metadata)
    named = (PayloadType.FLYTE1_NODE_EVENT, request.SerializeToString())
    commit(storage, *FINISHED, named)
    answers = SpanAnswers(queries)
    assert "child" not in names(answers.get(KEY, AS_OF_NS))
    child = workflow_event(execution_id=CHILD, phase=WorkflowExecution.RUNNING, occurred_at=at(3))
    commit(storage, (PayloadType.FLYTE1_WORKFLOW_EVENT, child.SerializeToString()))
    assert "child" in names(answers.get(KEY, AS_OF_NS))


def test_what_was_used_longest_ago_makes_room(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(storage, *FINISHED)
    size_bytes = SpanAnswers(queries).get(KEY._replace(depth=1), AS_OF_NS).ByteSize()
    monkeypatch.setattr(span_answers, "MAX_KEPT_BYTES", 3 * size_bytes)
    answers = SpanAnswers(queries)
    one, two, three = (KEY._replace(depth=depth) for depth in (1, 2, 0))
    queries.built = 0
    for key in (one, two, one, three, one):
        answers.get(key, AS_OF_NS)
    assert queries.built == 3


def test_an_answer_that_is_too_large_leaves_out_its_last_spans_and_says_so(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(storage, *FINISHED)
    whole = SpanAnswers(queries).get(KEY, AS_OF_NS)
    assert not whole.truncated
    monkeypatch.setattr(span_answers, "MAX_ANSWER_BYTES", whole.ByteSize() * 2 // 3)
    part = SpanAnswers(queries).get(KEY, AS_OF_NS)
    assert part.truncated
    assert 0 < len(part.spans) < len(whole.spans)
    assert list(part.spans) == list(whole.spans)[: len(part.spans)]


def test_the_first_span_is_always_there(
    storage: Storage, queries: CountingQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(storage, *FINISHED)
    monkeypatch.setattr(span_answers, "MAX_ANSWER_BYTES", 1)
    answer = SpanAnswers(queries).get(KEY, AS_OF_NS)
    assert (names(answer), answer.truncated) == ([RUN.name], True)

"""Tables of executions, from bytes to bytes: what is answered, and what is refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import identifiers_pb2, span_pb2
from spanwise.v1.phase_pb2 import PHASE_SUCCEEDED
from spanwise.v1.span_service_pb2 import (
    CompareExecutionsRequest,
    CompareExecutionsResponse,
    ListReasonsRequest,
    ListReasonsResponse,
    SummarizeOperationsRequest,
    SummarizeOperationsResponse,
)
from spanwise_server.domain.errors import ExecutionNotFound, InvalidQuery, SpanNotFound
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_stored_definition
from spanwise_server.rpc.span_reads import SpanReads
from spanwise_server.service.retention import delete_execution
from spanwise_server.service.span_queries import SpanQueries, VersionedTree
from spanwise_server.storage.api import Storage
from tests.unit.rpc.flyte import T0
from tests.unit.service.test_recording import (
    RUN,
    commit,
    node,
    storage_at,
    task,
    workflow,
)

EXECUTION_ID = identifiers_pb2.ExecutionId(project=RUN.project, domain=RUN.domain, name=RUN.name)
UNKNOWN_ID = identifiers_pb2.ExecutionId(project=RUN.project, domain=RUN.domain, name="nobody")
SECOND_NS = 10**9


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    commit(
        storage,
        workflow("RUNNING", 0),
        node("RUNNING", 1),
        task("QUEUED", 2, "Unschedulable:0/3 nodes are available: 3 Insufficient cpu."),
        task("RUNNING", 5, "Started container"),
        task("SUCCEEDED", 7),
        node("SUCCEEDED", 8),
        workflow("SUCCEEDED", 10),
    )
    yield storage
    storage.close()


class CountingQueries(SpanQueries):
    """Counts the trees that are built."""

    built = 0

    def get_versioned_tree(self, execution_id: ExecutionId, as_of_ns: int) -> VersionedTree:
        """Count, and do it."""
        self.built += 1
        return super().get_versioned_tree(execution_id, as_of_ns)


@pytest.fixture
def queries(storage: Storage) -> CountingQueries:
    return CountingQueries(
        storage, decode_payload, decode_stored_definition, stale_after_ns=3600 * 10**9
    )


def ask(reads: SpanReads, name: str, request: Message) -> bytes:
    return reads.reads[name](request.SerializeToString())


def operations(reads: SpanReads, **fields: object) -> SummarizeOperationsResponse:
    request = SummarizeOperationsRequest(execution_id=EXECUTION_ID, **fields)  # type: ignore[arg-type]
    return SummarizeOperationsResponse.FromString(ask(reads, "SummarizeOperations", request))


def reasons(reads: SpanReads, **fields: object) -> ListReasonsResponse:
    request = ListReasonsRequest(execution_id=EXECUTION_ID, **fields)  # type: ignore[arg-type]
    return ListReasonsResponse.FromString(ask(reads, "ListReasons", request))


def compared(reads: SpanReads, **fields: object) -> CompareExecutionsResponse:
    fields = {"execution_id": EXECUTION_ID, "base_execution_id": EXECUTION_ID} | fields
    request = CompareExecutionsRequest(**fields)  # type: ignore[arg-type]
    return CompareExecutionsResponse.FromString(ask(reads, "CompareExecutions", request))


def test_lines_of_operations_add_up_to_the_wall_clock(reads: SpanReads) -> None:
    answer = operations(reads, as_of=Timestamp(seconds=10))

    rows = {row.operation: row for row in answer.operations}
    assert rows[span_pb2.OPERATION_TASK_RUNTIME].total.ToNanoseconds() == 2 * SECOND_NS
    assert rows[span_pb2.OPERATION_SCHEDULING].count == 1
    assert list(rows) == sorted(rows)
    critical_ns = sum(row.critical.ToNanoseconds() for row in answer.operations)
    critical_ns += answer.unattributed_critical.ToNanoseconds()
    assert critical_ns == answer.critical_path.ToNanoseconds() == answer.wall_time.ToNanoseconds()


def test_operations_of_a_subtree_are_summed_up_alone(reads: SpanReads) -> None:
    rows = {row.operation: row for row in operations(reads).operations}
    setup = rows[span_pb2.OPERATION_TASK_SETUP]

    part = operations(reads, root_span_id=setup.longest_span_id)

    assert part.wall_time == setup.max
    assert part.operations[0].operation == span_pb2.OPERATION_TASK_SETUP
    assert len(part.operations) < len(rows)


def test_reasons_come_in_the_order_of_time_with_their_spans_and_meaning(reads: SpanReads) -> None:
    answer = reasons(reads)

    texts = [each.reason.message for each in answer.reasons]
    assert [text.split(":")[0] for text in texts] == ["Unschedulable", "Started container"]
    assert answer.reasons[0].reason.operation == span_pb2.OPERATION_SCHEDULING
    assert {each.path for each in answer.reasons} == {"n0/0"}
    assert answer.total_count == 2
    assert not answer.next_page_token


def test_pages_of_reasons_are_the_whole_list(reads: SpanReads) -> None:
    first = reasons(reads, page_size=1)
    second = reasons(reads, page_size=1, page_token=first.next_page_token)

    assert [*first.reasons, *second.reasons] == list(reasons(reads).reasons)
    assert not second.next_page_token
    assert first.total_count == second.total_count == 2


def test_all_pages_of_reasons_are_cut_from_a_list_that_is_made_once(
    reads: SpanReads, queries: CountingQueries, storage: Storage
) -> None:
    token = reasons(reads, page_size=1).next_page_token
    reasons(reads, page_size=1, page_token=token)
    reasons(reads)
    assert queries.built == 1
    reasons(reads, search="no reason has this")
    reasons(reads, search="no reason has this")
    assert queries.built == 2
    commit(storage, task("SUCCEEDED", 8, "late", version=1))
    assert reasons(reads).total_count == 3
    assert queries.built == 3


@pytest.mark.parametrize(("call", "num_trees"), [(operations, 1), (compared, 2)])
def test_a_table_of_what_has_ended_is_made_once_and_is_as_of_each_moment(
    reads: SpanReads, queries: CountingQueries, storage: Storage, call: Any, num_trees: int
) -> None:
    first = call(reads, as_of=Timestamp(seconds=10, nanos=5))
    again = call(reads, as_of=Timestamp(seconds=20))
    assert queries.built == num_trees
    assert again.as_of == Timestamp(seconds=20)
    again.as_of.CopyFrom(first.as_of)
    assert again == first
    commit(storage, task("SUCCEEDED", 8, "late", version=1))
    call(reads)
    assert queries.built == 2 * num_trees


@pytest.mark.parametrize(("call", "num_trees"), [(operations, 1), (compared, 2)])
def test_a_table_of_what_is_open_is_made_for_each_moment(
    reads: SpanReads, queries: CountingQueries, storage: Storage, call: Any, num_trees: int
) -> None:
    delete_execution(storage, RUN)
    commit(storage, workflow("RUNNING", 0), node("RUNNING", 1))
    first, later = (call(reads, as_of=Timestamp(seconds=T0 + moment)) for moment in (100, 200))
    assert queries.built == 2 * num_trees
    assert first != later


def test_tables_of_an_execution_that_was_deleted_are_gone(
    reads: SpanReads, storage: Storage
) -> None:
    operations(reads)
    compared(reads)
    reasons(reads)
    delete_execution(storage, RUN)
    for call in (operations, compared, reasons):
        with pytest.raises(ExecutionNotFound):
            call(reads)


def test_a_search_for_reasons_counts_what_it_finds(reads: SpanReads) -> None:
    answer = reasons(reads, search="INSUFFICIENT")
    assert (len(answer.reasons), answer.total_count) == (1, 1)


def test_a_page_of_another_state_or_of_another_search_is_refused(
    reads: SpanReads, storage: Storage
) -> None:
    token = reasons(reads, page_size=1).next_page_token
    with pytest.raises(InvalidQuery, match="page_token"):
        reasons(reads, page_size=1, page_token=token, search="container")
    commit(storage, task("SUCCEEDED", 8, "late", version=1))
    with pytest.raises(InvalidQuery, match="has changed since the page before"):
        reasons(reads, page_size=1, page_token=token)


def test_a_comparison_with_itself_finds_no_difference(reads: SpanReads) -> None:
    answer = compared(reads)

    assert answer.duration == answer.base_duration
    assert answer.phase == answer.base_phase == PHASE_SUCCEEDED
    assert [each.path for each in answer.nodes] == ["n0"]
    (delta,) = answer.nodes
    assert delta.duration == delta.base_duration
    assert delta.span_id == delta.base_span_id
    assert delta.attempt_count == delta.base_attempt_count == 1
    assert all(each.duration == each.base_duration for each in delta.operations)


@pytest.mark.parametrize(
    ("call", "fields", "field"),
    [
        (operations, {"root_span_id": b"short"}, "root_span_id"),
        (operations, {"execution_id": identifiers_pb2.ExecutionId()}, "execution_id.name"),
        (reasons, {"root_span_id": b"short"}, "root_span_id"),
        (reasons, {"page_size": -1}, "page_size"),
        (compared, {"max_nodes": -1}, "max_nodes"),
        (
            compared,
            {"base_execution_id": identifiers_pb2.ExecutionId()},
            "base_execution_id.name",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_by_the_name_of_the_field(
    reads: SpanReads, call: object, fields: dict[str, object], field: str
) -> None:
    if "execution_id" in fields:
        request = SummarizeOperationsRequest(**fields)  # type: ignore[arg-type]
        with pytest.raises(InvalidQuery) as refusal:
            ask(reads, "SummarizeOperations", request)
    else:
        with pytest.raises(InvalidQuery) as refusal:
            call(reads, **fields)  # type: ignore[operator]
    assert refusal.value.field == field


def test_what_is_not_there_is_not_found(reads: SpanReads) -> None:
    with pytest.raises(SpanNotFound):
        operations(reads, root_span_id=bytes(8))
    with pytest.raises(SpanNotFound):
        reasons(reads, root_span_id=bytes(8))
    with pytest.raises(ExecutionNotFound):
        compared(reads, base_execution_id=UNKNOWN_ID)

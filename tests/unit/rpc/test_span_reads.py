"""Requests for trees answered from bytes to bytes: pages, bounds, chunks, and what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import identifiers_pb2
from spanwise.v1.span_pb2 import Span
from spanwise.v1.span_service_pb2 import (
    GetExecutionSpanRequest,
    GetExecutionSpanResponse,
    SpanSelection,
    StreamExecutionSpanRequest,
    StreamExecutionSpanResponse,
)
from spanwise_server.domain.errors import ExecutionNotFound, InvalidQuery, SpanNotFound
from spanwise_server.rpc.codecs import tree_parts
from spanwise_server.rpc.span_reads import SpanReads
from spanwise_server.storage.api import Storage
from tests.unit.service.test_recording import (
    RUN,
    commit,
    node,
    storage_at,
    task,
    workflow,
)

EXECUTION_ID = identifiers_pb2.ExecutionId(project=RUN.project, domain=RUN.domain, name=RUN.name)
MOST_CALLS = 100


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    commit(
        storage,
        workflow("RUNNING", 0),
        node("RUNNING", 1),
        task("QUEUED", 2, "Unschedulable:0/3 nodes are available: 3 Insufficient cpu."),
        task("RUNNING", 5),
        task("SUCCEEDED", 7),
        node("SUCCEEDED", 8),
    )
    yield storage
    storage.close()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few spans be as many parts as those of a large tree."""
    monkeypatch.setattr(tree_parts, "PART_BYTES", 1)
    monkeypatch.setattr(tree_parts, "_BATCH_SPANS", 3)


def get(reads: SpanReads, **fields: object) -> GetExecutionSpanResponse:
    request = GetExecutionSpanRequest(execution_id=EXECUTION_ID, **fields)  # type: ignore[arg-type]
    answer = reads.reads["GetExecutionSpan"](request.SerializeToString())
    return GetExecutionSpanResponse.FromString(answer)


def stream(reads: SpanReads, **fields: object) -> list[StreamExecutionSpanResponse]:
    request = StreamExecutionSpanRequest(execution_id=EXECUTION_ID, **fields)  # type: ignore[arg-type]
    chunks = reads.streamed_reads["StreamExecutionSpan"](request.SerializeToString())
    return [StreamExecutionSpanResponse.FromString(chunk) for chunk in chunks]


def pages(reads: SpanReads, **fields: object) -> list[GetExecutionSpanResponse]:
    found = [get(reads, **fields)]
    while found[-1].next_page_token:
        assert len(found) < MOST_CALLS
        found.append(get(reads, page_token=found[-1].next_page_token, **fields))
    return found


def spans_of(answers: list[GetExecutionSpanResponse]) -> list[Span]:
    return [span for answer in answers for span in answer.spans]


@pytest.mark.parametrize("page_size", [1, 2, 3, 5, 100])
def test_pages_are_the_whole_answer(reads: SpanReads, page_size: int) -> None:
    as_of = Timestamp(seconds=1_800_000_000)
    whole = get(reads, as_of=as_of)
    found = pages(reads, page_size=page_size, as_of=as_of)
    assert spans_of(found) == list(whole.spans)
    assert all(len(page.spans) == page_size for page in found[:-1])
    assert not any(page.truncated for page in found)


def test_pages_of_no_moment_are_all_of_the_moment_of_the_first(reads: SpanReads) -> None:
    found = pages(reads, page_size=2)
    assert len({page.as_of.ToNanoseconds() for page in found}) == 1


def test_an_answer_that_is_too_large_says_so_and_goes_on(reads: SpanReads) -> None:
    whole = get(reads)
    found = pages(reads, max_bytes=whole.ByteSize() // 3)
    assert spans_of(found) == list(whole.spans)
    assert [page.truncated for page in found] == [True] * (len(found) - 1) + [False]
    assert len(found) > 2


def test_a_span_that_is_larger_than_an_answer_comes_alone(reads: SpanReads) -> None:
    found = pages(reads, max_bytes=1)
    assert [len(page.spans) for page in found] == [1] * len(get(reads).spans)


def test_pages_of_a_part_of_the_tree_are_that_part(reads: SpanReads) -> None:
    selection = SpanSelection(depth=1)
    found = pages(reads, selection=selection, page_size=1)
    assert spans_of(found) == list(get(reads, selection=selection).spans)
    assert len(found) < len(get(reads).spans)


def test_a_token_of_an_execution_that_has_changed_is_refused(
    reads: SpanReads, storage: Storage
) -> None:
    first = get(reads, page_size=1)
    commit(storage, workflow("SUCCEEDED", 9))
    with pytest.raises(InvalidQuery, match="has changed since the page before"):
        get(reads, page_size=1, page_token=first.next_page_token)


def test_a_token_of_another_request_is_refused(reads: SpanReads) -> None:
    token = get(reads, page_size=1).next_page_token
    for fields in ({"page_size": 2}, {"include_totals": True, "page_size": 1}):
        with pytest.raises(InvalidQuery, match="not a token of this request"):
            get(reads, page_token=token, **fields)


def test_chunks_are_the_whole_tree(reads: SpanReads) -> None:
    whole = get(reads)
    for chunk_bytes in (1, 100, 300, 0):
        chunks = stream(reads, chunk_bytes=chunk_bytes)
        assert [span for chunk in chunks for span in chunk.spans] == list(whole.spans)
        assert [chunk.HasField("as_of") for chunk in chunks] == [True] + [False] * (len(chunks) - 1)
        sizes = [chunk.ByteSize() for chunk in chunks if len(chunk.spans) > 1]
        assert all(size <= (chunk_bytes or 2**20) + 16 for size in sizes)


def test_a_subtree_is_given_with_its_own_levels(reads: SpanReads) -> None:
    whole = get(reads)
    found = next(span for span in whole.spans if span.HasField("node"))
    selection = SpanSelection(root_span_id=found.span_id, depth=0)
    (span,) = get(reads, selection=selection).spans
    assert (span.span_id, span.parent_span_id) == (found.span_id, found.parent_span_id)
    assert span.omitted_descendants > 2


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"page_size": -1}, "page_size: is -1; give 1 or more"),
        ({"max_bytes": -1}, "max_bytes: is -1; give 1 or more"),
        ({"page_token": "x"}, "page_token: is not a token of this request"),
        ({"selection": SpanSelection(root_span_id=b"abc")}, "has 3 bytes; ids of spans have 8"),
        (
            {
                "selection": SpanSelection(
                    window_start=Timestamp(seconds=2), window_end=Timestamp(seconds=1)
                )
            },
            "selection.window_end: is before window_start",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused(
    reads: SpanReads, fields: dict[str, object], text: str
) -> None:
    with pytest.raises(InvalidQuery, match=text):
        get(reads, **fields)


def test_a_span_or_an_execution_that_is_not_known_is_not_found(reads: SpanReads) -> None:
    with pytest.raises(SpanNotFound):
        get(reads, selection=SpanSelection(root_span_id=b"12345678"))
    with pytest.raises(ExecutionNotFound):
        reads.reads["GetExecutionSpan"](
            GetExecutionSpanRequest(
                execution_id=identifiers_pb2.ExecutionId(name="other")
            ).SerializeToString()
        )

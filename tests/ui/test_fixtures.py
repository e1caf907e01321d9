"""The executions that tests of the page look at are as they say."""

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.spans import (
    ExecutionSubject,
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    SubtaskSubject,
    TaskAttemptSubject,
)
from spanwise_server.reader.maker import tree_maker
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_stored_definition
from spanwise_server.service.kept_trees import KeptTrees
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.api import Storage
from spanwise_server.storage.sql import open_storage
from tests.ui.big import BIG, BLINK, NUM_SUBTASKS, NUM_UNENDED
from tests.ui.fixtures import write_big, write_small
from tests.ui.small import (
    BLINK_S,
    CHILD,
    CLUSTER,
    CLUSTER_REASONS,
    CLUSTER_START_S,
    HOSTILE,
    HOSTILE_TEXTS,
    ODD,
    RUNNING,
    SMALL,
)
from tests.unit.web.decoded import decode_columns


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    database = tmp_path_factory.mktemp("small") / "small.db"
    write_small(database)
    storage = open_storage(f"sqlite:///{database}")
    yield storage
    storage.close()


def spans_of(storage: Storage, execution_id: ExecutionId) -> list[Span]:
    queries = SpanQueries(
        storage, decode_payload, decode_stored_definition, stale_after_ns=3600 * 10**9
    )
    root = queries.get_versioned_tree(execution_id, 2**62).root
    return [span for span, _, _ in walk_spans(root)]


@pytest.mark.timeout(900)  # it is made here if nothing made it before
def test_big_is_as_large_as_it_says_and_its_columns_are_kept(tmp_path: Path) -> None:
    database = tmp_path / "big.db"
    write_big(database)
    storage = open_storage(f"sqlite:///{database}")
    tree = KeptTrees(storage, tree_maker()).find(execution_key(BIG))
    assert tree is not None
    payload = gzip.decompress(tree.read_columns())
    storage.close()
    columns = decode_columns(payload)
    forms = [columns.header["span_forms"][form] for form in columns.numbers("span_form")]
    starts = columns.numbers("span_start")
    ends = columns.numbers("span_end")  # of an execution that has ended: each has one
    phases, kinds = columns.header["phases"], columns.header["kinds"]
    assert len(forms) == pytest.approx(200_000, rel=0.01)
    assert columns.header["num_reasons"] == pytest.approx(400_000, rel=0.01)
    assert max(columns.numbers("span_depth")) == 12
    assert ends[0] - starts[0] == 6 * 3600 * 10**9
    assert sum(form[1] == phases.index("FAILED") for form in forms) == 300
    assert sum(form[0] == kinds.index("SUBTASK") for form in forms) == NUM_SUBTASKS == 20_000
    blink = [
        end - start
        for name, start, end in zip(columns.numbers("span_name"), starts, ends, strict=True)
        if columns.strings[name] == BLINK
    ]
    assert blink == [8 * 10**6]
    unended = 1 << columns.header["qualities"].index("NO_TERMINAL_EVENT")
    assert sum(form[4] & unended != 0 for form in forms) == NUM_UNENDED == 3
    assert len(payload) <= 12_000_000


def test_small_has_everything_in_a_few_spans(storage: Storage) -> None:
    spans = spans_of(storage, SMALL)
    subjects = [span.subject for span in spans]
    nodes = [each for each in subjects if isinstance(each, NodeSubject)]
    assert {each.kind for each in nodes} == set(NodeKind)
    assert {span.phase for span in spans} == set(Phase)
    operations = [each.operation for each in subjects if isinstance(each, OperationSubject)]
    assert set(operations) == set(Operation) - {Operation.UNSPECIFIED}
    attempts = Counter(
        each.retry_attempt for each in subjects if isinstance(each, TaskAttemptSubject)
    )
    assert (attempts[1], attempts[2]) == (1, 1)
    assert [each.node_id for each in nodes if each.cache_status.name == "HIT"] == ["cached"]
    executions = [each.execution_id for each in subjects if isinstance(each, ExecutionSubject)]
    assert executions == [SMALL, CHILD]
    assert 40 <= len(spans) <= 150
    assert spans[0].end_ns is not None
    assert spans[0].end_ns - spans[0].start_ns == 100 * 10**9


def test_reasons_of_the_cluster_fall_into_two_seconds_of_six_hours(storage: Storage) -> None:
    root, *spans = spans_of(storage, CLUSTER)
    marks = [mark for span in spans for mark in span.marks]
    times = [mark.occurred_at_ns - root.start_ns for mark in marks]
    assert len({mark.message for mark in marks}) == len(marks) == CLUSTER_REASONS == 500
    assert times == sorted(set(times))
    assert times[0] == CLUSTER_START_S * 1e9
    assert times[-1] - times[0] < 2e9
    assert root.end_ns == root.start_ns + 6 * 3600 * 10**9
    [blink] = [span for span in spans if span.name == "blink"]
    assert blink.end_ns == blink.start_ns + round(BLINK_S * 1e9)


def test_odd_has_what_is_inferred_missing_or_contradictory(storage: Storage) -> None:
    qualities = SpanQuality.NONE
    for span in spans_of(storage, ODD):
        qualities |= span.qualities
    expected = (
        SpanQuality.PLACEHOLDER,
        SpanQuality.STARTS_BEFORE_PARENT,
        SpanQuality.OUTLIVES_PARENT,
        SpanQuality.CLOCK_SKEW,
        SpanQuality.AFTER_TERMINAL,
        SpanQuality.NO_TERMINAL_EVENT,
        SpanQuality.INFERRED_END,
        SpanQuality.INFERRED_START,
    )
    assert [flag.name for flag in expected if flag not in qualities] == []


def test_running_is_open(storage: Storage) -> None:
    spans = spans_of(storage, RUNNING)
    is_open = [span.end_ns is None for span in spans]
    assert is_open[0]
    assert sum(is_open) >= 3


def test_hostile_texts_stand_in_every_field(storage: Storage) -> None:
    root, *spans = spans_of(storage, HOSTILE)
    assert isinstance(root.subject, ExecutionSubject)
    assert root.subject.execution_id == HOSTILE
    for text in HOSTILE_TEXTS:
        assert any(span.name == text for span in spans)
        assert any(mark.message == text == mark.source for span in spans for mark in span.marks)
        assert any(
            isinstance(span.subject, NodeSubject) and span.subject.target_id == (text,) * 4
            for span in spans
        )
        assert any(
            isinstance(span.subject, SubtaskSubject) and span.subject.external_id == text
            for span in spans
        )
        assert any(span.error is not None and span.error.code == text for span in spans)

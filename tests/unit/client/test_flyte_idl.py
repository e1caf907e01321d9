"""Trees as flyteidl.core.Span and back."""

import sys

import pytest
from flyteidl.core import identifier_pb2, metrics_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from spanwise import ExecutionSpan, MissingPackage
from spanwise._times import to_ns, to_timestamp
from tests.unit.client.spans import (
    T0_NS,
    at,
    attempt,
    deep,
    example,
    execution,
    node,
    subtask,
    training_run,
    tree,
)

_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_EXECUTION_ID = identifier_pb2.WorkflowExecutionIdentifier(
    project="flytesnacks", domain="development", name="a1", org="acme"
)


@st.composite
def _spans(draw: st.DrawFn) -> metrics_pb2.Span:
    start_ns = T0_NS + draw(st.integers(-(10**12), 10**12))
    end_ns = start_ns + draw(st.integers(-(10**12), 10**15))
    return metrics_pb2.Span(start_time=to_timestamp(start_ns), end_time=to_timestamp(end_ns))


@st.composite
def _operations(draw: st.DrawFn) -> metrics_pb2.Span:
    span = draw(_spans())
    span.operation_id = draw(st.sampled_from(["TASK_SETUP", "NODE_TRANSITION", "SOMETHING_NEW"]))
    return span


@st.composite
def _subtasks(draw: st.DrawFn) -> metrics_pb2.Span:
    span = draw(_spans())
    span.node_id.node_id = f"n0-n{draw(st.integers(0, 9))}-0"
    span.node_id.execution_id.CopyFrom(_EXECUTION_ID)
    span.spans.add(start_time=span.start_time, end_time=span.end_time, operation_id="SUBTASK")
    return span


@st.composite
def _nodes(draw: st.DrawFn) -> metrics_pb2.Span:
    span = draw(_spans())
    span.node_id.node_id = draw(_words)
    span.node_id.execution_id.CopyFrom(_EXECUTION_ID)
    span.spans.extend(draw(st.lists(_operations(), max_size=2)))
    for retry_attempt in range(draw(st.integers(0, 2))):
        attempt = draw(_spans())
        attempt.task_id.task_id.resource_type = identifier_pb2.TASK
        attempt.task_id.task_id.name = draw(_words)
        attempt.task_id.node_execution_id.CopyFrom(span.node_id)
        attempt.task_id.retry_attempt = retry_attempt
        attempt.spans.extend(draw(st.lists(st.one_of(_operations(), _subtasks()), max_size=3)))
        span.spans.append(attempt)
    return span


@st.composite
def _workflows(draw: st.DrawFn) -> metrics_pb2.Span:
    span = draw(_spans())
    span.workflow_id.CopyFrom(_EXECUTION_ID)
    span.spans.extend(draw(st.lists(st.one_of(_operations(), _nodes()), max_size=4)))
    return span


@given(_workflows())
def test_flytes_own_trees_survive_the_way_through(pb: metrics_pb2.Span) -> None:
    """What from_flyte_idl reads, to_flyte_idl writes."""
    assert ExecutionSpan.from_flyte_idl(pb).to_flyte_idl() == pb


def test_every_span_is_there_with_its_id() -> None:
    """Executions, nodes and attempts are reference spans, the rest are operations."""
    pb = tree(training_run()).to_flyte_idl()
    assert pb.workflow_id.name == "run"
    assert pb.spans[0].operation_id == "WORKFLOW_SETUP"
    node = pb.spans[1]
    assert (node.node_id.node_id, node.node_id.execution_id.name) == ("n0", "run")
    assert node.spans[1].task_id.node_execution_id.node_id == "n0"
    assert node.spans[3].task_id.retry_attempt == 1
    assert node.spans[1].spans[0].spans[0].operation_id == "SCHEDULING"


def test_an_open_span_ends_now() -> None:
    """Read by flytekit, a missing end would be 1970 and the duration negative."""
    assert to_ns(tree(training_run(), as_of_s=50).to_flyte_idl().end_time) == at(50)


def test_sub_tasks_are_nodes_of_their_own_inside_their_attempt() -> None:
    """As GetExecutionMetrics has them: no two have one id, and each has its time."""
    root = execution(0, 90)
    outer = node(1, 80, root, "n0")
    inside = attempt(2, 70, outer)
    parts = [subtask(5, 9, inside, 3), subtask(10, 60, inside, 3, retry_attempt=1)]
    pb = tree([root, outer, inside, *parts]).to_flyte_idl()
    first, second = pb.spans[0].spans[0].spans
    assert (first.node_id.node_id, second.node_id.node_id) == ("n0-n3-0", "n0-n3-1")
    assert second.node_id.execution_id.name == "run"
    (time,) = second.spans
    assert (time.operation_id, to_ns(time.start_time), to_ns(time.end_time)) == (
        "SUBTASK",
        at(10),
        at(60),
    )


def test_a_tree_deeper_than_protobuf_reads_is_cut() -> None:
    pb = tree(deep(300)).to_flyte_idl()
    span, levels = metrics_pb2.Span.FromString(pb.SerializeToString()), 1
    while span.spans:
        span, levels = span.spans[0], levels + 1
    assert levels == 90


def test_explain_works_on_a_tree_from_flyte() -> None:
    """The example comes through with its columns."""
    pb = tree(example()).to_flyte_idl()
    assert ExecutionSpan.from_flyte_idl(pb).explain_text() == tree(example()).explain_text()


def test_a_missing_end_is_open() -> None:
    """Up to the latest end that there is."""
    pb = metrics_pb2.Span(workflow_id=_EXECUTION_ID, start_time=Timestamp(seconds=5))
    pb.spans.add(start_time=Timestamp(seconds=6), end_time=Timestamp(seconds=9))
    root = ExecutionSpan.from_flyte_idl(pb)
    assert root.is_open
    assert root.duration_ns == 4 * 10**9


def test_without_flyteidl_the_way_to_install_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The light client does not bring it."""
    for name in [name for name in sys.modules if name.split(".")[0] == "flyteidl"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "spanwise._flyte", raising=False)
    monkeypatch.delattr("spanwise._flyte", raising=False)
    monkeypatch.setitem(sys.modules, "flyteidl", None)
    with pytest.raises(MissingPackage, match=r"pip install '\.\[server\]'"):
        tree(example()).to_flyte_idl()

"""The tree, its attributes and its paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import ExecutionId, ExecutionSpan, Failure, SpanKind
from spanwise._times import to_timestamp
from spanwise.v1 import span_pb2
from tests.unit.client.spans import (
    SECOND_NS,
    T0_NS,
    at,
    attempt,
    deep,
    execution,
    node,
    operation,
    span,
    training_run,
    tree,
)


def test_iteration_is_in_pre_order() -> None:
    """A span comes before what it contains, children in the order of the answer."""
    messages = training_run()
    assert [each.message.span_id for each in tree(messages)] == [m.span_id for m in messages]


def test_a_span_knows_what_it_belongs_to() -> None:
    """Ids come from the nearest span above that has them."""
    root = tree(training_run())
    runtime = root.find("n0/1/TASK_RUNTIME")
    assert runtime is not None
    assert runtime.kind is SpanKind.OPERATION
    assert runtime.execution_id == ExecutionId("flytesnacks", "development", "run")
    assert (runtime.node_id, runtime.retry_attempt, runtime.entity) == ("n0", 1, "n0[1]")
    assert runtime.operation == "TASK_RUNTIME"
    assert root.retry_attempt is None
    assert (root.node_id, root.operation, root.entity) == ("", "", "root_span")


def test_a_transition_belongs_to_the_node_that_it_leads_to() -> None:
    """It may stand above that node."""
    root = execution(0, 10)
    transition = operation(1, 2, root, "NODE_TRANSITION")
    transition.operation.node_id = "n1"
    moved = tree([root, transition]).children[0]
    assert (moved.node_id, moved.entity) == ("n1", "n1")


def test_times_are_integers_with_datetimes_beside_them() -> None:
    """Nanoseconds are exact, datetimes are for convenience."""
    root = tree([span(0.25, 10.5)])
    assert (root.start_ns, root.end_ns) == (at(0.25), at(10.5))
    assert root.duration_ns == 10_250_000_000
    assert root.start_time.isoformat() == "2023-01-01T10:00:00.250000+00:00"
    assert root.end_time is not None
    assert root.end_time.microsecond == 500_000


def test_an_open_span_lasts_until_now() -> None:
    """Now is the moment that the answer was drawn for."""
    root = tree([span(0, None)], as_of_s=7)
    assert root.is_open
    assert (root.end_ns, root.end_time) == (None, None)
    assert root.duration_ns == 7 * SECOND_NS
    assert root.as_of_ns == T0_NS + 7 * SECOND_NS


def test_a_duration_is_never_negative() -> None:
    """Not even when an open span starts after now."""
    assert tree([span(9, None)], as_of_s=7).duration_ns == 0


def test_why_a_span_took_so_long() -> None:
    """Reasons, phases, errors and flags are plain values."""
    failed = tree(training_run()).find("n0/0")
    assert failed is not None
    assert failed.phase == "FAILED"
    assert (failed.reasons[0].message, failed.reasons[0].phase) == ("submitted", "QUEUED")
    assert failed.reasons[2].count == 4
    assert failed.error == Failure("OOMKilled", "out of memory", "", "")
    assert failed.qualities == ("COARSE_TIMESTAMP",)


def test_values_of_a_newer_server_are_shown_as_numbers() -> None:
    """An old client must not fail on a phase that it does not know."""
    message = span_pb2.Span()
    message.MergeFromString(b"\x58\x63")  # field 11, phase: 99
    assert tree([message]).phase == "99"
    assert tree([message]).kind is SpanKind.UNKNOWN


def test_a_span_whose_parent_is_not_there_goes_below_the_root() -> None:
    """Nothing that the server sent is lost."""
    root = execution(0, 10)
    orphan = node(1, 2, execution(0, 1), "n7")
    assert [child.node_id for child in tree([root, orphan]).children] == ["n7"]


def test_a_tree_without_spans_is_refused() -> None:
    """There is no root to give."""
    with pytest.raises(ValueError, match="at least one"):
        ExecutionSpan.from_messages([], 0)


def test_a_span_in_a_debugger_says_what_it_is() -> None:
    """Kind, what it belongs to, duration and phase."""
    root = tree(training_run())
    assert repr(root) == "<ExecutionSpan EXECUTION 'run' 1m 40s>"
    assert repr(root.find("n0/0")) == "<ExecutionSpan TASK_ATTEMPT 'n0[0]' 8.5s FAILED>"
    assert repr(root.find("n0/0/TASK_SETUP")) == "<ExecutionSpan OPERATION TASK_SETUP 'n0[0]' 4.5s>"


def test_paths_lead_back_to_every_span() -> None:
    """Also among siblings of one name and with ids that hold the separators."""
    root = execution(0, 10)
    odd = [node(1, 2, root, name) for name in ("n/0", "n#1", "%2F", "n0", "n0", "")]
    resets = [operation(number, number + 1, odd[0], "NODE_RESET") for number in range(3)]
    attempts = [attempt(1, 2, odd[0], number) for number in (0, 1, 1)]
    whole = tree([root, *odd, *resets, *attempts])
    assert all(whole.find(each.path) is each for each in whole)
    assert whole.children[4].path == "n0#2"
    assert whole.children[0].path == "n%2F0"


@pytest.mark.parametrize(
    "path", ["n9", "n0/7", "n0/", "/n0", "n0#0", "n0#2", "n0#x", "n0#-1", "n0#²", "n0/0/x/y"]
)
def test_a_path_that_leads_nowhere_gives_none(path: str) -> None:
    """Looking for something is no error."""
    assert tree(training_run()).find(path) is None


@given(st.text(max_size=20))
def test_any_text_is_a_path(path: str) -> None:
    """No text makes find fail."""
    tree(training_run()).find(path)


def test_deep_trees_do_not_exhaust_the_stack() -> None:
    """Every rendering of 2,000 nodes inside each other works."""
    root = tree(deep(2_000))
    assert sum(1 for _ in root) == 2_001
    assert root.explain_text().count("\n") == 2_002
    assert root.to_yaml().count("node_execution") == 2_000
    assert root.to_yaml("breakdown").count("breakdown") == 2_001
    assert root.to_dict()["children"][0]["node_id"] == "n0"


def test_the_last_event_of_an_open_span_is_that_of_anything_in_it() -> None:
    """As the server tells it; of one that has ended its own; of an operation none."""
    root = execution(0, None)
    root.last_event_at.CopyFrom(to_timestamp(at(1)))
    assert tree([root]).last_event_ns == at(1)
    root.last_heard_at.CopyFrom(to_timestamp(at(9)))
    setup = operation(0, None, root, "WORKFLOW_SETUP")
    span = tree([root, setup])
    assert [each.last_event_ns for each in span] == [at(9), None]
    assert span.to_dict()["last_event_time"] == "2023-01-01T10:00:09Z"


def test_a_stale_span_says_so() -> None:
    """Nothing was heard of it for longer than the server's limit."""
    root = execution(0, None)
    assert not tree([root]).is_stale
    root.qualities.append(span_pb2.SPAN_QUALITY_STALE)
    assert tree([root]).is_stale

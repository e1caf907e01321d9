"""GetExecutionMetrics as FlyteAdmin gives it.

Source of the cases: flyteadmin v1.16, metrics_manager_test.go, and for the root function the rules
of metrics_manager.go. Durations in whole seconds, in the order of the spans.
"""

import pytest

from spanwise_server.domain.events import NodeFacts
from spanwise_server.domain.flyte_metrics import (
    MetricAttempt,
    MetricNode,
    MetricSpan,
    render_metrics,
)
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from tests.unit.domain.lives import SECOND_NS, Life, Stay

START, END = NodeFacts(kind=NodeKind.START), NodeFacts(kind=NodeKind.END)
QUEUED, RUNNING, SUCCEEDED = Phase.QUEUED, Phase.RUNNING, Phase.SUCCEEDED


def execution() -> Life:
    """An execution that has started, with room for nodes."""
    life = Life().execution((RUNNING, 0), (SUCCEEDED, 1000))
    return life.node("start-node", (SUCCEEDED, 0), facts=START)


def operations(span: MetricSpan) -> list[tuple[str, int]]:
    """Give the operations right below a span and their durations in seconds."""
    return [
        (child.subject, (child.end_ns - child.start_ns) // SECOND_NS)
        for child in span.children
        if isinstance(child.subject, str)
    ]


def below(span: MetricSpan, kind: type) -> list[MetricSpan]:
    return [child for child in span.children if isinstance(child.subject, kind)]


def node_of(life: Life, depth: int = -1) -> MetricSpan:
    (node,) = below(render_metrics(life.tree(), depth), MetricNode)
    return node


def without_transition(span: MetricSpan) -> list[tuple[str, int]]:
    return [each for each in operations(span) if each[0] != "NODE_TRANSITION"]


@pytest.mark.parametrize(
    ("stays", "expected"),
    [
        ([(QUEUED, 0), (Phase.INITIALIZING, 5)], [("TASK_SETUP", 5)]),
        (
            [(QUEUED, 0), (RUNNING, 5, 605)],
            [("TASK_SETUP", 5), ("TASK_RUNTIME", 600)],
        ),
        (
            [(QUEUED, 0), (RUNNING, 5), (SUCCEEDED, 405, 415)],
            [("TASK_SETUP", 5), ("TASK_RUNTIME", 400), ("TASK_TEARDOWN", 10)],
        ),
    ],
    ids=["not started", "running", "completed"],
)
def test_task_attempt(stays: list[Stay], expected: list[tuple[str, int]]) -> None:
    life = execution().node("n0", (QUEUED, 0)).attempt("n0", 0, *stays)
    (attempt,) = below(node_of(life), MetricAttempt)
    assert operations(attempt) == expected


def test_attempts_have_resets_between_them() -> None:
    life = execution().node("n0", (QUEUED, 0))
    life.attempt("n0", 0, (QUEUED, 0), (RUNNING, 5), (Phase.FAILED, 405, 605))
    life.attempt("n0", 1, (QUEUED, 625), (RUNNING, 630))
    node = node_of(life)
    assert ("NODE_RESET", 20) in operations(node)
    assert len(below(node, MetricAttempt)) == 2


@pytest.mark.parametrize(
    ("stays", "has_task", "expected"),
    [
        ([(QUEUED, 0), (RUNNING, 5)], False, [("NODE_SETUP", 5)]),
        ([(QUEUED, 0), (RUNNING, 10)], True, [("NODE_SETUP", 10)]),
        (
            [(QUEUED, 0), (RUNNING, 10), (SUCCEEDED, 430, 435)],
            True,
            [("NODE_SETUP", 10), ("NODE_TEARDOWN", 15)],
        ),
    ],
    ids=["not started", "running", "completed"],
)
def test_task_node(stays: list[Stay], has_task: bool, expected: list[tuple[str, int]]) -> None:
    life = execution().node("n0", *stays)
    if has_task:
        life.attempt("n0", 0, (QUEUED, 10), (RUNNING, 15), (SUCCEEDED, 415, 420))
    node = node_of(life)
    assert without_transition(node) == expected
    assert len(below(node, MetricAttempt)) == int(has_task)


def root_case(*, ends: int = 100, created: int = 6, with_start_node: bool = True) -> Life:
    """Give the execution of the derived cases: start-node until 5, n0 until 60."""
    life = Life().execution((RUNNING, 0), (SUCCEEDED, ends))
    if with_start_node:
        life.node("start-node", (SUCCEEDED, 1, 5), facts=START)
    life.node("n0", (QUEUED, created), (RUNNING, 10), (SUCCEEDED, 58, 60))
    return life.attempt("n0", 0, (QUEUED, 8), (RUNNING, 10), (SUCCEEDED, 50, 55))


def test_depth_0_is_the_execution_alone() -> None:
    assert render_metrics(root_case().tree(), 0).children == []


def test_depth_1_has_set_up_teardown_and_nodes_with_their_transition_only() -> None:
    root = render_metrics(root_case().tree(), 1)
    assert operations(root) == [("WORKFLOW_SETUP", 5), ("WORKFLOW_TEARDOWN", 40)]
    (node,) = below(root, MetricNode)
    assert [each.subject for each in node.children] == ["NODE_TRANSITION"]
    assert operations(node) == [("NODE_TRANSITION", 1)]


def test_depth_2_has_the_operations_of_nodes_but_no_attempts() -> None:
    node = node_of(root_case(), depth=2)
    assert operations(node) == [("NODE_TRANSITION", 1), ("NODE_SETUP", 2), ("NODE_TEARDOWN", 5)]
    assert below(node, MetricAttempt) == []


@pytest.mark.parametrize("depth", [3, 10, -1])
def test_depth_3_and_more_and_any_negative_one_have_attempts(depth: int) -> None:
    (attempt,) = below(node_of(root_case(), depth), MetricAttempt)
    expected = [("TASK_SETUP", 2), ("TASK_RUNTIME", 40), ("TASK_TEARDOWN", 5)]
    assert operations(attempt) == expected


def test_without_start_node_all_is_set_up() -> None:
    root = render_metrics(root_case(with_start_node=False).tree(), 1)
    assert [(each.subject, each.end_ns // SECOND_NS) for each in root.children] == [
        ("WORKFLOW_SETUP", 100)
    ]


def test_execution_that_ended_before_its_last_node_has_no_teardown() -> None:
    root = render_metrics(root_case(ends=50).tree(), 1)
    assert operations(root) == [("WORKFLOW_SETUP", 5)]


def test_node_that_began_before_its_upstream_ended_has_no_negative_transition() -> None:
    root = render_metrics(root_case(created=4).tree(), 1)
    (node,) = below(root, MetricNode)
    assert operations(node) == []


def test_teardown_begins_with_the_last_node_that_ended() -> None:
    life = root_case().node("n1", (QUEUED, 6), (SUCCEEDED, 70))
    root = render_metrics(life.tree(), 1)
    assert operations(root)[-1] == ("WORKFLOW_TEARDOWN", 30)


def test_teardown_of_a_node_that_ended_before_its_attempt_is_left_out() -> None:
    life = execution().node("n0", (QUEUED, 0), (SUCCEEDED, 30))
    life.attempt("n0", 0, (QUEUED, 5), (RUNNING, 6), (SUCCEEDED, 35))
    assert without_transition(node_of(life)) == [("NODE_SETUP", 5)]

"""GetExecutionMetrics as FlyteAdmin gives it, and more where it gives nothing.

Source of what is said of FlyteAdmin: v1.16, pkg/manager/impl/metrics_manager.go.
"""

from collections import defaultdict

import pytest

from spanwise_server.domain.flyte_metrics import render_metrics
from spanwise_server.domain.metric_spans import MetricNode, MetricSpan
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.spans import Span
from tests.metric_cases import CASES, Case, Times, root
from tests.unit.domain.metric_trees import (
    EXECUTION_ID,
    T0,
    Ends,
    attempt,
    below,
    execution,
    node,
    operations,
    references,
    started,
    step,
    subtask,
    to_tree,
)

TASK, START, END = NodeKind.TASK, NodeKind.START, NodeKind.END
SETUP, RESET, TEARDOWN = "NODE_SETUP", "NODE_RESET", "NODE_TEARDOWN"


def by_category(span: MetricSpan) -> dict[str, list[int]]:
    """Give the durations of the operations right below a span by category."""
    durations = defaultdict(list)
    for name, duration in operations(span):
        durations[name].append(duration)
    return durations


def steps(span: MetricSpan) -> list[str]:
    """Give what the spans right below a span stand for, operations aside."""
    return [step(each) for each in references(span)]


def of_node(span: Span, depth: int = -1) -> MetricSpan:
    """Render an execution of `span` alone, and give what became of it."""
    (found,) = references(render_metrics(started(span), depth))
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("ends", Ends)
def test_cases_of_flyteadmin(case: Case, ends: Ends) -> None:
    span = below(render_metrics(to_tree(case.execution, ends), case.depth), case.at)
    assert by_category(span) == case.operations
    assert len(references(span)) == case.num_references


# Depth


def subworkflow(*inside: Span) -> Span:
    return node("sub", NodeKind.SUBWORKFLOW, Times(1, 90), [start_in("sub"), *inside])


def start_in(parent: str) -> Span:
    return node(f"{parent}-0-start-node", START, Times(2, 2))


def task_node(node_id: str = "n0") -> Span:
    """Give a task node with one attempt."""
    return node(node_id, TASK, Times(5, 60), [attempt(Times(8, 55, 10, 40))])


@pytest.mark.parametrize(
    ("depth", "has_operations", "has_attempts"),
    [(1, False, False), (2, True, False), (3, True, True), (10, True, True), (-1, True, True)],
)
def test_a_task_node_opens_at_depth_2_and_its_attempts_at_3(
    depth: int, has_operations: bool, has_attempts: bool
) -> None:
    span = of_node(task_node(), depth)
    assert operations(span) == ([(SETUP, 3), (TEARDOWN, 5)] if has_operations else [])
    assert len(references(span)) == has_attempts


@pytest.mark.parametrize("depth", [2, 3, 4, 5, -1])
@pytest.mark.parametrize(
    "kind", [NodeKind.SUBWORKFLOW, NodeKind.DYNAMIC, NodeKind.BRANCH, NodeKind.ARRAY]
)
def test_nodes_in_a_node_have_a_depth_of_one_less(kind: NodeKind, depth: int) -> None:
    attempts = [attempt(Times(1, 2))] if kind is NodeKind.DYNAMIC else []
    outer = of_node(node("outer", kind, Times(1, 90), [*attempts, task_node("inner")]), depth)
    inner = below(outer, "inner")
    alone = of_node(task_node("inner"), depth - 1)
    assert (operations(inner), len(references(inner))) == (
        operations(alone),
        len(references(alone)),
    )


def test_an_outer_node_of_depth_0_has_no_nodes() -> None:
    assert of_node(subworkflow(task_node()), 1).children == []


@pytest.mark.parametrize("depth", [3, 4, 5, -1])
def test_a_launched_execution_has_the_depth_that_its_node_hands_on(depth: int) -> None:
    launched = started(task_node())
    span = of_node(node("lp", NodeKind.LAUNCH_PLAN, Times(0, 90), [launched]), depth)
    (child,) = references(span)
    assert child == render_metrics(launched, depth - 2)


def test_a_launched_execution_is_there_alone_at_depth_2() -> None:
    span = of_node(node("lp", NodeKind.LAUNCH_PLAN, Times(0, 90), [started(task_node())]), 2)
    (child,) = references(span)
    assert child.children == []


def test_resets_need_no_attempts_to_be_shown() -> None:
    attempts = [attempt(Times(8, 20, 9, 5), 0), attempt(Times(25, 50, 26, 20), 1)]
    span = of_node(node("n0", TASK, Times(5, 60), attempts), 2)
    assert operations(span) == [(SETUP, 3), (RESET, 5), (TEARDOWN, 10)]
    assert references(span) == []


def test_a_gate_needs_no_more_depth_than_its_own() -> None:
    gate = node("n0", NodeKind.GATE, Times(0, 425, 10, 400))
    assert operations(of_node(gate, 2)) == [(SETUP, 10), ("NODE_IDLE", 400), (TEARDOWN, 15)]


# Order and times


def test_a_transition_comes_first_and_from_the_latest_upstream() -> None:
    nodes = [
        node("a", TASK, Times(1, 10)),
        node("b", TASK, Times(1, 20)),
        node("c", TASK, Times(25, 30), upstream=("a", "b", "never-ran")),
    ]
    span = below(render_metrics(started(*nodes), -1), "c")
    assert operations(span) == [("NODE_TRANSITION", 5), (SETUP, 5)]


def test_nodes_and_attempts_come_by_creation() -> None:
    late, early = attempt(Times(30, 40, 31), 0), attempt(Times(6, 20, 7), 1)
    nodes = [node("b", TASK, Times(5, 50), [late, early]), node("a", TASK, Times(4, 5))]
    rendered = render_metrics(started(*nodes), -1)
    assert steps(rendered) == ["a", "b"]
    span = below(rendered, "b")
    assert steps(span) == ["1", "0"]
    assert operations(span) == [(SETUP, 1), (RESET, 10), (TEARDOWN, 10)]


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (
            node("n0", TASK, Times(9, 8), [attempt(Times(7, 6)), attempt(Times(5, 4), 1)]),
            [(SETUP, -4), (RESET, 3), (TEARDOWN, 2)],
        ),
        (
            node("n0", TASK, Times(1, 3), [attempt(Times(2, 9)), attempt(Times(5, 6), 1)]),
            [(SETUP, 1), (RESET, -4)],
        ),
        (
            node("n0", NodeKind.GATE, Times(5, 1, 4, 2)),
            [(SETUP, -1), ("NODE_IDLE", 2), (TEARDOWN, -5)],
        ),
        (
            node("n0", NodeKind.BRANCH, Times(5, 6), [node("n1", TASK, Times(4, 7))]),
            [(SETUP, -1)],
        ),
        (
            node("n0", NodeKind.DYNAMIC, Times(5, 6), [attempt(Times(5, 9))]),
            [(SETUP, 0)],
        ),
        (
            node(
                "n0",
                NodeKind.DYNAMIC,
                Times(5, 6),
                [attempt(Times(5, 9)), start_in("n0"), node("n1", TASK, Times(7, 8))],
            ),
            [(SETUP, 0), (RESET, -7)],
        ),
        (
            node("n0", NodeKind.LAUNCH_PLAN, Times(5, 6), [execution(Times(4, 7))]),
            [(SETUP, -1)],
        ),
    ],
    ids=[
        "a node before its end",
        "resets",
        "a gate",
        "a branch",
        "a dynamic node without nodes",
        "a dynamic node with nodes",
        "a launch plan",
    ],
)
def test_times_run_backwards_where_flyteadmin_lets_them(
    span: Span, expected: list[tuple[str, int]]
) -> None:
    assert operations(of_node(span)) == expected


def test_an_attempt_may_begin_to_run_before_it_was_created() -> None:
    span = below(of_node(node("n0", TASK, Times(0, 9), [attempt(Times(5, 6, 4, 3))])), "0")
    assert operations(span) == [("TASK_SETUP", -1), ("TASK_RUNTIME", 3)]


def test_a_duration_of_nothing_is_not_set() -> None:
    span = below(of_node(node("n0", TASK, Times(0, 9), [attempt(Times(1, 6, 4, 0))])), "0")
    assert operations(span) == [("TASK_SETUP", 3), ("TASK_RUNTIME", 2)]


def test_a_start_in_1970_is_not_set() -> None:
    gate = node("n0", NodeKind.GATE, Times(0, 9, 4, 2))
    assert gate.closure is not None
    gate.closure = gate.closure._replace(started_ns=0)
    assert operations(of_node(gate)) == [(SETUP, 9)]


@pytest.mark.parametrize("times", [None, Times(-T0, -T0)], ids=["without events", "in 1970"])
def test_an_upstream_that_was_never_updated_is_none(times: Times | None) -> None:
    nodes = [node("a", TASK, times), node("b", TASK, Times(5, 6), upstream=("a",))]
    assert operations(below(render_metrics(started(*nodes), 1), "b")) == []


def test_an_execution_that_ended_without_any_node_has_no_teardown() -> None:
    assert operations(render_metrics(started(times=Times(-5, 9)), -1)) == [("WORKFLOW_SETUP", 5)]


def test_teardown_begins_with_what_the_end_waited_for() -> None:
    nodes = [
        node("a", TASK, Times(1, 50)),
        node("b", TASK, Times(1, 60)),
        node("end-node", END, Times(51, 52), upstream=("a",)),
    ]
    rendered = render_metrics(started(*nodes, times=Times(0, 70)), 1)
    assert operations(rendered)[-1] == ("WORKFLOW_TEARDOWN", 20)


@pytest.mark.parametrize(
    ("awaited", "expected"),
    [(None, [20]), (("a",), [20]), (("b",), []), ((), [])],
    ids=["not known", "ran", "ended after the execution", "none ran"],
)
def test_what_the_end_waits_for_counts_before_the_end_is_reached(
    awaited: tuple[str, ...] | None, expected: list[int]
) -> None:
    """A run that fails reaches no end, and has no teardown unless what would come last has run."""
    nodes = [node("a", TASK, Times(1, 50))]
    if awaited is not None:
        nodes.append(node("b", TASK, Times(1, 75)))
    tree = started(*nodes, times=Times(0, 70))
    tree.end_upstream_ids = awaited
    assert by_category(render_metrics(tree, 1)).get("WORKFLOW_TEARDOWN", []) == expected
    outer = node("n0", NodeKind.SUBWORKFLOW, Times(1, 70), nodes)
    outer.end_upstream_ids = awaited
    assert by_category(of_node(outer)).get(TEARDOWN, []) == expected


def test_start_and_end_are_not_among_the_nodes() -> None:
    nodes = [task_node(), node("end-node", END, Times(61, 62), upstream=("n0",))]
    assert len(references(render_metrics(started(*nodes), -1))) == 1


# What FlyteAdmin fails on, or does not look at


def test_an_array_is_shown_like_a_task_with_its_sub_tasks_one_by_one() -> None:
    parts = [subtask(0, 10, 30), subtask(1, 10, 15), subtask(1, 16, 40, retry_attempt=1)]
    array = node("n0", NodeKind.ARRAY, Times(5, 60), [attempt(Times(8, 55, 9, 41), 0, parts)])
    span = of_node(array)
    assert operations(span) == [(SETUP, 3), (TEARDOWN, 5)]
    (inside,) = references(span)
    assert operations(inside) == [("TASK_SETUP", 1), ("TASK_RUNTIME", 41), ("TASK_TEARDOWN", 5)]
    shown = {step(each): operations(each) for each in references(inside)}
    assert shown == {
        "n0-n0-0": [("SUBTASK", 20)],
        "n0-n1-0": [("SUBTASK", 5)],
        "n0-n1-1": [("SUBTASK", 24)],
    }


def test_an_open_sub_task_ends_with_its_last_event() -> None:
    part = subtask(0, 10, None)
    part.last_event_ns = part.start_ns + 7 * 10**9
    array = node("n0", NodeKind.ARRAY, Times(5, 60), [attempt(Times(8, 55), 0, [part])])
    assert operations(below(of_node(array), "0/n0-n0-0")) == [("SUBTASK", 7)]


def test_nodes_of_an_array_do_not_wait_for_each_other() -> None:
    inside = [
        node("n0-n0", TASK, Times(6, 20)),
        node("n0-n1", TASK, Times(25, 50), upstream=("n0-n0",)),
    ]
    span = of_node(node("n0", NodeKind.ARRAY, Times(5, 60), inside))
    assert operations(span) == [(SETUP, 1), (TEARDOWN, 10)]
    assert [operations(each) for each in references(span)] == [[(SETUP, 14)], [(SETUP, 25)]]


def test_several_cases_of_a_branch_are_all_shown() -> None:
    cases = [node("n1", TASK, Times(3, 50)), node("n2", TASK, Times(2, 40))]
    span = of_node(node("n0", NodeKind.BRANCH, Times(1, 60), cases))
    assert operations(span) == [(SETUP, 1), (TEARDOWN, 10)]
    assert len(references(span)) == 2


@pytest.mark.parametrize("attempts", [[], [attempt(Times(1, 2))]], ids=["subworkflow", "dynamic"])
def test_without_its_start_a_workflow_inside_begins_with_its_first_node(
    attempts: list[Span],
) -> None:
    kind = NodeKind.DYNAMIC if attempts else NodeKind.SUBWORKFLOW
    inside = [node("n1", TASK, Times(9, 40)), node("n2", TASK, Times(7, 50))]
    span = of_node(node("n0", kind, Times(0, 60), [*attempts, *inside]))
    expected = [(SETUP, 1), (RESET, 5)] if attempts else [(SETUP, 7)]
    assert operations(span) == [*expected, (TEARDOWN, 10)]
    assert len(references(span)) == 2 + len(attempts)


def test_after_a_retry_a_workflow_inside_begins_with_its_last_start() -> None:
    """FlyteAdmin takes either of them."""
    starts = [
        node(f"n0-{retry}-start-node", START, Times(30 * retry, 30 * retry)) for retry in (1, 2)
    ]
    attempts = [attempt(Times(1, 20)), attempt(Times(40, 50), 1)]
    span = of_node(node("n0", NodeKind.DYNAMIC, Times(0, 55), [*attempts, *starts]))
    assert operations(span) == [(SETUP, 1), (RESET, 20), (RESET, 10)]


def test_a_workflow_inside_that_has_only_its_end_is_set_up_until_its_node_was_updated() -> None:
    span = of_node(node("n0", NodeKind.SUBWORKFLOW, Times(0, 60), [node("e", END, Times(1, 2))]))
    assert operations(span) == [(SETUP, 60)]


def test_a_launched_execution_that_is_not_known_leaves_set_up() -> None:
    span = of_node(node("lp", NodeKind.LAUNCH_PLAN, Times(0, 90, 5, 80)))
    assert operations(span) == [(SETUP, 90)]


def test_nodes_where_flyteadmin_looks_for_none_are_added_to_what_it_has() -> None:
    span = of_node(node("n0", TASK, Times(5, 60), [attempt(Times(8, 55)), task_node("n1")]))
    assert operations(span) == [(SETUP, 3), (TEARDOWN, 5)]
    assert len(references(span)) == 2
    span = of_node(node("n0", NodeKind.DYNAMIC, Times(5, 60), [start_in("n0"), task_node("n1")]))
    assert operations(span) == [(SETUP, 55)]
    assert len(references(span)) == 1


def test_a_node_without_events_has_the_times_of_its_attempts() -> None:
    span = of_node(node("n0", TASK, None, [attempt(Times(8, 55, 10, 40))]))
    assert operations(span) == [(SETUP, 8), (TEARDOWN, 0)]


def test_an_execution_without_events_has_the_times_of_its_nodes() -> None:
    tree = to_tree(root(), Ends.NOTHING)
    tree.closure = None
    assert operations(render_metrics(tree, -1)) == [("WORKFLOW_SETUP", 5), ("WORKFLOW_TEARDOWN", 0)]


def test_spans_in_a_launched_execution_name_that_execution() -> None:
    child_id = EXECUTION_ID._replace(name="child")
    nodes = [node("start-node", START, Times(0, 0)), task_node()]
    launched = execution(Times(0, 0), nodes, child_id)
    span = of_node(node("lp", NodeKind.LAUNCH_PLAN, Times(0, 90), [launched]))
    assert span.subject == MetricNode(EXECUTION_ID, "lp")
    assert below(span, "child").subject == child_id
    assert below(span, "child/n0").subject == MetricNode(child_id, "n0")

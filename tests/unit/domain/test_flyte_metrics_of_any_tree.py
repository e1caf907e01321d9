"""What holds for the metrics of every tree, however odd."""

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.flyte_metrics import render_metrics
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.metric_spans import MetricAttempt, MetricNode, MetricSpan
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.spans import ExecutionSubject, NodeSubject, Span, SubtaskSubject
from tests.metric_cases import Execution, Node, Times, Workflow, start_node
from tests.unit.domain.flyteadmin_metrics import Rendered, parse_execution
from tests.unit.domain.metric_trees import (
    EXECUTION_ID,
    SECOND_NS,
    Ends,
    at,
    attempt,
    execution,
    node,
    operations,
    references,
    started,
    step,
    subtask,
    to_tree,
)

_MARKS = {NodeKind.START, NodeKind.END}
_GUARDED = {"WORKFLOW_TEARDOWN", "TASK_TEARDOWN"}
_DEEP = 10_000

_seconds = st.integers(-20, 20)
_times = st.builds(
    Times, _seconds, _seconds, st.none() | _seconds, st.none() | st.integers(-20, 20)
)
_kinds = st.sampled_from([kind for kind in NodeKind if kind not in _MARKS])
_ids = st.sampled_from([f"n{number}" for number in range(3)])


@st.composite
def _attempts(draw: st.DrawFn) -> list[Span]:
    spans = []
    for number in range(draw(st.integers(0, 2))):
        numbers = draw(st.sets(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=2))
        parts = [
            subtask(ordinal, draw(_seconds), draw(st.none() | _seconds), retry_attempt)
            for ordinal, retry_attempt in sorted(numbers)
        ]
        spans.append(attempt(draw(_times), number, parts))
    return spans


@st.composite
def _levels(draw: st.DrawFn, levels: int = 2, *, has_start: bool = False) -> list[Span]:
    """Give nodes of one level, with nodes and executions in them, in any order."""
    spans = []
    if has_start or draw(st.booleans()):
        spans.append(node("start-node", NodeKind.START, Times(0, 0)))
    for node_id in sorted(draw(st.sets(_ids, max_size=2))):
        inside = draw(_attempts())
        if levels:
            inside += draw(_levels(levels - 1))
            if draw(st.booleans()):
                launched_id = EXECUTION_ID._replace(name=f"{node_id}-{levels}")
                below = draw(_levels(levels - 1, has_start=True))
                inside.append(execution(draw(st.none() | _times), below, launched_id))
        upstream = tuple(draw(st.lists(_ids | st.just("start-node"), max_size=3)))
        times = draw(st.none() | _times)
        spans.append(node(node_id, draw(_kinds), times, draw(st.permutations(inside)), upstream))
    if draw(st.booleans()):
        end = node(
            "end-node", NodeKind.END, draw(st.none() | _times), (), tuple(draw(st.lists(_ids)))
        )
        spans.append(end)
    return draw(st.permutations(spans))


@st.composite
def _workflows(draw: st.DrawFn, levels: int = 2, *, has_start: bool = True) -> Workflow:
    """Give a workflow of which FlyteAdmin gives metrics."""
    nodes = [start_node(draw(_seconds))] if has_start else []
    spec_ids = draw(st.lists(_ids, unique=True, min_size=1, max_size=3))
    upstream = st.lists(st.sampled_from([*spec_ids, "start-node", "never-ran"]), unique=True)
    for spec_id in spec_ids:
        kind = draw(st.sampled_from([*_READ_BY_FLYTEADMIN]))
        attempts = draw(st.lists(_times, max_size=3)) if kind in _WITH_ATTEMPTS else []
        node = Node(spec_id, kind, draw(_times), tuple(draw(upstream)), tuple(attempts))
        if levels and draw(st.booleans()):
            match kind:
                case NodeKind.SUBWORKFLOW:
                    node = node._replace(inside=draw(_workflows(levels - 1)))
                case NodeKind.DYNAMIC if attempts:
                    node = node._replace(inside=draw(_workflows(levels - 1)))
                case NodeKind.BRANCH:
                    cases = draw(_workflows(levels - 1, has_start=False)).nodes[:1]
                    node = node._replace(inside=Workflow(cases))
                case NodeKind.LAUNCH_PLAN:
                    node = node._replace(launched=draw(_executions(levels - 1)))
        nodes.append(node)
    return Workflow(tuple(draw(st.permutations(nodes))), tuple(draw(upstream)))


@st.composite
def _executions(draw: st.DrawFn, levels: int = 2) -> Execution:
    return Execution(draw(_times), draw(_workflows(levels, has_start=draw(st.booleans()))))


_READ_BY_FLYTEADMIN = (
    NodeKind.TASK,
    NodeKind.DYNAMIC,
    NodeKind.SUBWORKFLOW,
    NodeKind.LAUNCH_PLAN,
    NodeKind.BRANCH,
    NodeKind.GATE,
)
_WITH_ATTEMPTS = (NodeKind.TASK, NodeKind.DYNAMIC)


@given(_executions(), st.integers(-1, 9))
def test_where_flyteadmin_has_an_answer_it_is_given(execution: Execution, depth: int) -> None:
    rendered = render_metrics(to_tree(execution, Ends.DEFINED), depth)
    assert _rendered(rendered) == parse_execution(execution, depth)


def _rendered(span: MetricSpan) -> Rendered:
    match span.subject:
        case str(operation):
            name = operation
        case MetricNode(node_id=node_id):
            name = node_id.rpartition("-0-")[2]
        case MetricAttempt():
            name = "attempt"
        case _:
            name = ""
    start, end = ((each - at(0)) // SECOND_NS for each in (span.start_ns, span.end_ns))
    return name, start, end, [_rendered(each) for each in span.children]


_trees = st.builds(execution, st.none() | _times, _levels(has_start=True))


def _walk(span: Span) -> Iterator[Span]:
    yield span
    for child in span.children:
        yield from _walk(child)


def _paths(span: MetricSpan, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give the paths of all spans; of those with the same path as many as there are."""
    path = (*above, step(span))
    yield path
    for child in span.children:
        yield from _paths(child, path)


def _all(span: MetricSpan) -> Iterator[MetricSpan]:
    yield span
    for child in span.children:
        yield from _all(child)


@given(_trees)
def test_nothing_of_a_tree_is_lost_or_shown_twice(tree: Span) -> None:
    shown = [each for each in _all(render_metrics(tree, -1)) if not isinstance(each.subject, str)]
    kinds = [type(each.subject) for each in shown]
    there = [
        span
        for span in _walk(tree)
        if not (isinstance(span.subject, NodeSubject) and span.subject.kind in _MARKS)
    ]
    assert len(shown) == len(there)
    assert kinds.count(ExecutionId) == sum(
        isinstance(span.subject, ExecutionSubject) for span in there
    )


@given(_trees, st.integers(-3, 12))
def test_teardown_of_executions_and_attempts_never_runs_backwards(tree: Span, depth: int) -> None:
    for span in _all(render_metrics(tree, depth)):
        assert all(length >= 0 for name, length in operations(span) if name in _GUARDED)


@given(_trees, st.integers(0, 9))
def test_one_level_more_takes_nothing_away(tree: Span, depth: int) -> None:
    less, more = (sorted(_paths(render_metrics(tree, each))) for each in (depth, depth + 1))
    for path in less:
        more.remove(path)


@given(_trees)
def test_a_negative_depth_is_no_limit(tree: Span) -> None:
    assert render_metrics(tree, -1) == render_metrics(tree, -7) == render_metrics(tree, 1000)


@given(_trees, st.integers(-1, 9))
def test_sub_tasks_change_nothing_but_add_themselves(tree: Span, depth: int) -> None:
    rendered = render_metrics(tree, depth)
    for span in _walk(tree):
        span.children = [
            child for child in span.children if not isinstance(child.subject, SubtaskSubject)
        ]
    without = sorted(path for path in _paths(rendered) if not _leads_to_subtask(path))
    assert without == sorted(_paths(render_metrics(tree, depth)))


def _leads_to_subtask(path: tuple[str, ...]) -> bool:
    return any(above.isdigit() and "-n" in below for above, below in pairwise(path))


def test_a_tree_of_any_depth_is_rendered() -> None:
    """Nodes by rules of all forms, ten thousand deep."""
    for kind in (NodeKind.SUBWORKFLOW, NodeKind.BRANCH, NodeKind.ARRAY, NodeKind.TASK):
        inner = node("leaf", NodeKind.TASK, Times(0, 1))
        for _ in range(_DEEP):
            inner = node("n", kind, Times(0, 1), [inner])
        span, levels = render_metrics(started(inner), -1), 0
        while below := references(span):
            (span,), levels = below, levels + 1
        assert levels == _DEEP + 1


def test_executions_that_launch_each_other_to_any_depth_are_rendered() -> None:
    inner = started()
    for _ in range(_DEEP):
        inner = started(node("lp", NodeKind.LAUNCH_PLAN, Times(0, 1), [inner]))
    span, levels = render_metrics(inner, -1), 0
    while below := references(span):
        (span,), levels = below, levels + 1
    assert levels == 2 * _DEEP

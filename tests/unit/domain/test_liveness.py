"""Which open spans are silent for too long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.liveness import judge_liveness
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import ExecutionSubject, Operation, OperationSubject, Span
from tests.unit.domain.lives import SECOND_NS, Life, named, walk

SUBJECT = ExecutionSubject(ExecutionId("p", "d", "run"), "", EntityVersion())
LIMIT_NS = 100


def span(heard_ns: int | None, *children: Span, end_ns: int | None = None) -> Span:
    """Give a span that starts at 0 and had its last event at `heard_ns`."""
    span = Span(1, "", SUBJECT, 0, end_ns, last_event_ns=heard_ns)
    span.children = list(children)
    return span


def is_stale(span: Span) -> bool:
    """Say whether a span carries the flag."""
    return SpanQuality.STALE in span.qualities


@pytest.mark.parametrize(("as_of_ns", "stale"), [(0, False), (110, False), (111, True)])
def test_an_open_span_is_stale_after_the_limit_and_not_at_it(as_of_ns: int, *, stale: bool) -> None:
    """A moment before the last event, as a request may name, is no silence either."""
    root = span(10)
    judge_liveness(root, as_of_ns, LIMIT_NS)
    assert is_stale(root) is stale
    assert root.last_heard_ns == 10


def test_what_has_ended_is_not_stale() -> None:
    """Nothing more is to be heard of it."""
    root = span(10, end_ns=20)
    assert judge_liveness(root, 10**6, LIMIT_NS) is None
    assert not is_stale(root)
    assert root.last_heard_ns is None


def test_a_span_is_alive_as_long_as_anything_in_it_is() -> None:
    """Also by the event that ended something in it; what is beside it does not count."""
    ended = span(500, end_ns=500)
    silent = span(40)
    root = span(10, span(20, ended), silent)
    next_ns = judge_liveness(root, 550, LIMIT_NS)
    assert [is_stale(each) for each in walk(root)] == [False, False, False, True]
    assert [each.last_heard_ns for each in walk(root)] == [500, 500, None, 40]
    assert next_ns == 601


def test_without_any_event_the_start_counts() -> None:
    """A placeholder is there since something named it."""
    root = span(None)
    assert judge_liveness(root, 100, LIMIT_NS) == 101
    assert not is_stale(root)
    judge_liveness(root, 101, LIMIT_NS)
    assert is_stale(root)
    assert root.last_heard_ns is None


def test_operations_are_left_to_what_contains_them() -> None:
    """A flag on each would say the same again."""
    operation = Span(2, "", OperationSubject(Operation.TASK_RUNTIME), 0, None)
    root = span(10, operation)
    judge_liveness(root, 10**6, LIMIT_NS)
    assert is_stale(root)
    assert not is_stale(operation)


def test_a_run_that_the_builder_gives_is_judged_at_every_level() -> None:
    """Execution, node and attempt, of which the last spoke last."""
    life = Life().execution((Phase.RUNNING, 0)).node("n0", (Phase.RUNNING, 1))
    root = life.attempt("n0", 0, (Phase.QUEUED, 2), (Phase.RUNNING, 5)).tree()
    judge_liveness(root, 6 * SECOND_NS, 2 * SECOND_NS)
    assert not any(map(is_stale, walk(root)))
    assert root.last_heard_ns == named(root, "train").last_heard_ns == 5 * SECOND_NS


def test_a_tree_of_ten_thousand_levels_is_judged() -> None:
    """Without recursion."""
    root = span(7)
    for _ in range(10_000):
        root = span(None, root)
    judge_liveness(root, 10**6, LIMIT_NS)
    assert is_stale(root)
    assert root.last_heard_ns == 7


@st.composite
def trees(draw: st.DrawFn) -> Span:
    """Give a tree, made by hanging each new span below an earlier one."""
    times = st.none() | st.integers(0, 300)
    spans = [span(draw(times), end_ns=draw(times))]
    for _ in range(draw(st.integers(0, 12))):
        new = span(draw(times), end_ns=draw(times))
        parent = draw(st.sampled_from(spans))
        parent.children = [*parent.children, new]
        spans.append(new)
    return spans[0]


def stale_at(root: Span, as_of_ns: int) -> list[bool]:
    """Judge for a moment, and give which spans are stale, in pre-order."""
    for each in walk(root):
        each.qualities = SpanQuality.NONE
    judge_liveness(root, as_of_ns, LIMIT_NS)
    return [is_stale(each) for each in walk(root)]


@given(root=trees(), as_of_ns=st.integers(0, 500))
def test_nothing_changes_before_the_moment_that_is_given(root: Span, as_of_ns: int) -> None:
    """A watcher need not ask before it, and has to ask then."""
    now = stale_at(root, as_of_ns)
    next_ns = judge_liveness(root, as_of_ns, LIMIT_NS)
    if next_ns is None:
        assert stale_at(root, 10**9) == now
    else:
        assert next_ns > as_of_ns
        assert stale_at(root, next_ns - 1) == now
        assert stale_at(root, next_ns) != now

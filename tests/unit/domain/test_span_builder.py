"""The tree of spans of an execution."""

from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import (
    CacheStatus,
    Details,
    ErrorKind,
    ExecutionError,
    Log,
    NodeFacts,
    Subtask,
)
from spanwise_server.domain.identifiers import attempt_key, node_key
from spanwise_server.domain.known import KnownExecution, TimedDetails
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.span_builder import build_span_tree
from spanwise_server.domain.spans import (
    NodeSubject,
    Operation,
    OperationSubject,
    Span,
    SubtaskSubject,
    TaskAttemptSubject,
)
from tests.unit.domain.lives import (
    KEY,
    SECOND_NS,
    TASK_ID,
    Life,
    bounds,
    named,
    names,
    operations,
    phases,
    walk,
)

START, END = NodeFacts(kind=NodeKind.START), NodeFacts(kind=NodeKind.END)


def training() -> Life:
    """A workflow of one task node whose first attempt fails."""
    return (
        Life()
        .execution((Phase.RUNNING, 0), (Phase.SUCCEEDING, 98), (Phase.SUCCEEDED, 100))
        .node("start-node", (Phase.SUCCEEDED, 1, 5), facts=START)
        .node("n0", (Phase.QUEUED, 6), (Phase.RUNNING, 7), (Phase.SUCCEEDED, 88, 90))
        .attempt("n0", 0, (Phase.QUEUED, 8), (Phase.RUNNING, 20), (Phase.FAILED, 40, 42))
        .attempt("n0", 1, (Phase.QUEUED, 50), (Phase.RUNNING, 55), (Phase.SUCCEEDED, 80, 85))
        .node("end-node", (Phase.QUEUED, 95), (Phase.SUCCEEDED, 96), facts=END)
    )


def test_execution_is_split_into_setup_nodes_and_teardown() -> None:
    root = training().tree()
    assert operations(root) == {
        Operation.WORKFLOW_SETUP: (0, 5),
        Operation.NODE_TRANSITION: (5, 6),
        Operation.WORKFLOW_TEARDOWN: (90, 100),
    }


def test_node_is_split_into_setup_attempts_reset_and_teardown() -> None:
    node = named(training().tree(), "n0")
    assert bounds(node) == (6, 90)
    assert operations(node) == {
        Operation.NODE_SETUP: (6, 8),
        Operation.NODE_RESET: (42, 50),
        Operation.NODE_TEARDOWN: (85, 90),
    }
    assert names(node.children) == ["NODE_SETUP", "train", "NODE_RESET", "train", "NODE_TEARDOWN"]


def test_attempt_is_split_into_setup_runtime_and_teardown() -> None:
    attempt = named(training().tree(), "train")
    assert operations(attempt) == {
        Operation.TASK_SETUP: (8, 20),
        Operation.TASK_RUNTIME: (20, 40),
        Operation.TASK_TEARDOWN: (40, 42),
    }


def test_failed_attempt_and_its_retry_keep_their_own_phases() -> None:
    node = named(training().tree(), "n0")
    attempts = [span for span in node.children if isinstance(span.subject, TaskAttemptSubject)]
    assert [span.phase for span in attempts] == [Phase.FAILED, Phase.SUCCEEDED]
    assert node.phase is Phase.SUCCEEDED


def test_transition_names_the_node_that_it_leads_to_and_is_inferred() -> None:
    root = training().tree()
    transition = named(root, "NODE_TRANSITION")
    node = named(root, "n0")
    assert transition.subject == OperationSubject(Operation.NODE_TRANSITION, "n0")
    assert isinstance(node.subject, NodeSubject)
    assert node.subject.upstream_node_ids == ("start-node",)
    assert SpanQuality.INFERRED_UPSTREAM in node.qualities


def test_attempt_that_never_ran_is_all_setup() -> None:
    root = Life().attempt("n0", 0, (Phase.QUEUED, 1), (Phase.FAILED, 5)).tree()
    assert operations(named(root, "train")) == {Operation.TASK_SETUP: (1, 5)}


def test_cache_hit_is_a_node_without_attempts_that_took_its_look_up() -> None:
    facts = NodeFacts(cache_status=CacheStatus.HIT)
    node = named(Life().node("n0", (Phase.SUCCEEDED, 1, 1.5), facts=facts).tree(), "n0")
    assert isinstance(node.subject, NodeSubject)
    assert node.subject.cache_status is CacheStatus.HIT
    assert operations(node) == {Operation.NODE_SETUP: (1, 1.5)}
    assert node.qualities == SpanQuality.NONE


def test_skipped_node_has_no_operations() -> None:
    node = named(Life().node("n0", (Phase.SKIPPED, 3)).tree(), "n0")
    assert (bounds(node), node.phase, node.children) == ((3, 3), Phase.SKIPPED, [])


def test_open_execution_has_open_spans_down_to_what_runs_now() -> None:
    root = (
        Life()
        .execution((Phase.RUNNING, 0))
        .node("n0", (Phase.QUEUED, 6), (Phase.RUNNING, 7))
        .attempt("n0", 0, (Phase.QUEUED, 8), (Phase.RUNNING, 20))
        .tree()
    )
    still_open = [span.name for span in walk(root) if span.end_ns is None]
    assert still_open == ["run", "n0", "train", "TASK_RUNTIME"]
    assert all(span.qualities == SpanQuality.NONE for span in walk(root))


def test_execution_that_only_its_nodes_named_is_an_open_placeholder_from_the_first_of_them() -> (
    None
):
    root = Life().node("n0", (Phase.RUNNING, 7)).node("n1", (Phase.RUNNING, 3)).tree()
    assert bounds(root) == (3, None)
    assert root.qualities == SpanQuality.PLACEHOLDER | SpanQuality.INFERRED_START


def test_node_that_only_its_attempt_named_is_a_placeholder() -> None:
    node = named(Life().attempt("n0", 0, (Phase.RUNNING, 7)).tree(), "n0")
    assert bounds(node) == (7, None)
    assert SpanQuality.PLACEHOLDER in node.qualities


def test_node_without_terminal_event_ends_with_its_execution_and_says_so() -> None:
    root = (
        Life()
        .execution((Phase.RUNNING, 0), (Phase.ABORTED, 50))
        .node("n0", (Phase.RUNNING, 7))
        .attempt("n0", 0, (Phase.RUNNING, 20))
        .tree()
    )
    for name in ("n0", "train"):
        span = named(root, name)
        assert span.end_ns == 50 * SECOND_NS
        assert SpanQuality.NO_TERMINAL_EVENT | SpanQuality.INFERRED_END in span.qualities
        assert phases(span)[-1][2] == 50


def test_attempt_without_terminal_event_ends_with_the_next_one() -> None:
    root = Life().attempt("n0", 0, (Phase.RUNNING, 2)).attempt("n0", 1, (Phase.QUEUED, 9)).tree()
    attempts = [each for each in walk(root) if isinstance(each.subject, TaskAttemptSubject)]
    assert bounds(attempts[0]) == (2, 9)
    assert SpanQuality.INFERRED_END in attempts[0].qualities
    assert attempts[1].end_ns is None


def test_child_that_sticks_out_of_its_parent_is_flagged_on_both_sides() -> None:
    root = (
        Life()
        .execution((Phase.RUNNING, 10), (Phase.SUCCEEDED, 20))
        .node("n0", (Phase.RUNNING, 5), (Phase.SUCCEEDED, 30))
        .tree()
    )
    flags = named(root, "n0").qualities
    assert SpanQuality.STARTS_BEFORE_PARENT | SpanQuality.OUTLIVES_PARENT in flags


def test_nodes_nest_under_the_parent_that_they_name() -> None:
    root = (
        Life()
        .node("n0", (Phase.RUNNING, 0))
        .node("n0-0-n1", (Phase.RUNNING, 1), facts=NodeFacts(parent_node_id="n0"))
        .tree()
    )
    assert names(root.children) == ["n0"]
    assert "n0-0-n1" in names(named(root, "n0").children)


def test_nodes_that_are_each_others_parent_are_all_kept_and_flagged() -> None:
    root = (
        Life()
        .node("a", (Phase.RUNNING, 0), facts=NodeFacts(parent_node_id="b"))
        .node("b", (Phase.RUNNING, 1), facts=NodeFacts(parent_node_id="a"))
        .node("c", (Phase.RUNNING, 2), facts=NodeFacts(parent_node_id="c"))
        .tree()
    )
    assert {"a", "b", "c"} <= set(names(walk(root)))
    assert SpanQuality.INFERRED_PARENT in named(root, "a").qualities


def test_nodes_below_a_cycle_of_parents_stay_below_it() -> None:
    life = Life()
    for node_id, parent in [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")]:
        life.node(node_id, (Phase.RUNNING, 1), facts=NodeFacts(parent_node_id=parent))
    root = life.tree()
    assert [name for name in names(root.children) if name != "NODE_TRANSITION"] == ["b"]
    assert "a" in names(named(root, "b").children)
    assert SpanQuality.INFERRED_PARENT not in named(root, "a").qualities


def test_upstream_is_the_node_that_ended_last_before() -> None:
    life = Life().node("a", (Phase.RUNNING, 0), (Phase.SUCCEEDED, 5))
    life.node("b", (Phase.RUNNING, 0), (Phase.SUCCEEDED, 8)).node("c", (Phase.RUNNING, 9))
    life.node("d", (Phase.RUNNING, 7), (Phase.SUCCEEDED, 12))
    life.node("end-node", (Phase.SUCCEEDED, 8.5), facts=END)
    root = life.tree()
    assert upstreams(root, "c") == ("b",)
    assert upstreams(root, "d") == ("a",)


def test_nodes_of_one_instant_do_not_wait_for_each_other() -> None:
    root = Life().node("a", (Phase.SUCCEEDED, 5)).node("b", (Phase.SUCCEEDED, 5)).tree()
    assert (upstreams(root, "a"), upstreams(root, "b")) == ((), ("a",))


def test_upstream_that_was_told_is_not_inferred() -> None:
    life = Life().node("a", (Phase.RUNNING, 0), (Phase.SUCCEEDED, 5))
    life.node("b", (Phase.RUNNING, 0), (Phase.SUCCEEDED, 8)).node("c", (Phase.RUNNING, 9))
    key = node_key(KEY, "c")
    life.details[key].append(TimedDetails(9 * SECOND_NS, Details(upstream_node_ids=("a",))))
    root = life.tree()
    assert upstreams(root, "c") == ("a",)
    assert SpanQuality.INFERRED_UPSTREAM not in named(root, "c").qualities
    assert bounds(next(span for span in root.children if span.name == "NODE_TRANSITION")) == (5, 9)


def test_inferred_end_is_not_before_what_happened_last_and_operations_stay_inside() -> None:
    root = (
        Life()
        .execution((Phase.RUNNING, 0), (Phase.ABORTED, 30))
        .node("n0", (Phase.QUEUED, 2), (Phase.RUNNING, 40))
        .attempt("n0", 0, (Phase.RUNNING, 41))
        .tree()
    )
    node = named(root, "n0")
    assert bounds(node) == (2, 40)
    assert phases(node) == [(Phase.QUEUED, 2, 40), (Phase.RUNNING, 40, 40)]
    assert SpanQuality.OUTLIVES_PARENT in node.qualities
    assert operations(node) == {Operation.NODE_SETUP: (2, 40)}


def upstreams(root: Span, node_id: str) -> tuple[str, ...]:
    subject = named(root, node_id).subject
    assert isinstance(subject, NodeSubject)
    return subject.upstream_node_ids


def test_chain_of_ten_thousand_nodes_is_built() -> None:
    life = Life().node("n0", (Phase.RUNNING, 0))
    for number in range(1, 10_000):
        life.node(
            f"n{number}", (Phase.RUNNING, number), facts=NodeFacts(parent_node_id=f"n{number - 1}")
        )
    span = life.tree()
    depth = 0
    while span.children:
        span = span.children[-1]
        depth += 1 if isinstance(span.subject, NodeSubject) else 0
    assert (depth, span.name) == (10_000, "n9999")


def test_reasons_stand_on_their_span_in_the_order_of_time() -> None:
    key = attempt_key(KEY, "n0", TASK_ID, 0)
    life = Life().attempt("n0", 0, (Phase.QUEUED, 0))
    life.reason(key, 9, "B").reason(key, 5, "A").reason(key, 5, "A")
    marks = named(life.tree(), "train").marks
    assert [(mark.occurred_at_ns // SECOND_NS, mark.message) for mark in marks] == [
        (5, "A"),
        (9, "B"),
    ]


def test_reasons_of_one_second_stand_in_the_order_of_their_sender() -> None:
    key = attempt_key(KEY, "n0", TASK_ID, 0)
    life = Life().attempt("n0", 0, (Phase.QUEUED, 0))
    life.reason(key, 5, "Created container", 1).reason(key, 5, "Pulled image", 0)
    assert [mark.message for mark in named(life.tree(), "train").marks] == [
        "Pulled image",
        "Created container",
    ]


def test_error_of_a_failed_attempt_is_on_its_span() -> None:
    error = ExecutionError("OOMKilled", "out of memory", ErrorKind.USER)
    stays = ((Phase.RUNNING, 0), (Phase.FAILED, 9))
    life = Life().attempt("n0", 0, *stays, details=(Details(), Details(error=error)))
    assert named(life.tree(), "train").error == error


def test_error_that_came_after_a_success_is_not_on_the_span() -> None:
    error = ExecutionError("NodeAborted", "gone", ErrorKind.SYSTEM)
    stays = ((Phase.SUCCEEDED, 9), (Phase.ABORTED, 12))
    life = Life().attempt("n0", 0, *stays, details=(Details(), Details(error=error)))
    assert named(life.tree(), "train").error is None


def test_later_log_links_replace_those_of_the_same_name_and_keep_the_others() -> None:
    old, new, other = Log("k8s", "u1"), Log("k8s", "u2"), Log("gpu", "u3")
    life = Life().attempt(
        "n0",
        0,
        (Phase.RUNNING, 0),
        (Phase.SUCCEEDED, 9),
        details=(Details(logs=(old, other)), Details(logs=(new,))),
    )
    subject = named(life.tree(), "train").subject
    assert isinstance(subject, TaskAttemptSubject)
    assert subject.logs == (other, new)


def subtask(ordinal: int, phase: Phase, retry_attempt: int = 0) -> Subtask:
    return Subtask(ordinal, retry_attempt, "", phase, CacheStatus.UNSPECIFIED, ())


def test_subtasks_are_spans_with_their_own_phases_and_retries() -> None:
    life = Life().attempt(
        "n0",
        0,
        (Phase.QUEUED, 0),
        (Phase.RUNNING, 5),
        (Phase.SUCCEEDED, 20),
        details=(
            Details(subtasks=(subtask(0, Phase.QUEUED), subtask(1, Phase.QUEUED))),
            Details(subtasks=(subtask(0, Phase.RUNNING), subtask(1, Phase.FAILED))),
            Details(subtasks=(subtask(0, Phase.SUCCEEDED), subtask(1, Phase.SUCCEEDED, 1))),
        ),
    )
    spans = [each for each in walk(life.tree()) if isinstance(each.subject, SubtaskSubject)]
    assert [(each.name, bounds(each), each.phase) for each in spans] == [
        ("[0]", (0, 20), Phase.SUCCEEDED),
        ("[1]", (0, 5), Phase.FAILED),
        ("[1] retry 1", (20, 20), Phase.SUCCEEDED),
    ]


def test_several_producers_are_named_and_flagged_on_the_execution() -> None:
    life = Life().execution((Phase.RUNNING, 0))
    life.producers = {"b", "", "a"}
    root = life.tree()
    assert root.producer_ids == ("a", "b")
    assert SpanQuality.SEVERAL_PRODUCERS in root.qualities


node_ids = st.sampled_from(["a", "b", "c", "start-node"])
stays = st.lists(
    st.tuples(st.sampled_from(list(Phase)), st.integers(0, 9), st.integers(0, 12)), max_size=4
)


@st.composite
def lives(draw: st.DrawFn) -> Life:
    """Any small execution, however odd."""
    life = Life().execution(*draw(stays))
    if not life.events:
        life = Life()
    for node_id in draw(st.lists(node_ids, unique=True)):
        facts = NodeFacts(
            parent_node_id=draw(st.sampled_from(["", "a", "b", "c"])),
            kind=draw(st.sampled_from(list(NodeKind))),
        )
        if facts.parent_node_id:
            life.node(facts.parent_node_id)
        life.node(node_id, *draw(stays), facts=facts)
    for node_id, number in draw(st.sets(st.tuples(node_ids, st.integers(0, 2)), max_size=4)):
        own = draw(stays.filter(bool))
        life.attempt(node_id, number, *own)
    life.events = {key: own for key, own in life.events.items() if own}
    return life


def flat(root: Span) -> list[object]:
    """Give everything in a tree, in a form that compares."""
    return [
        (span.span_id, span.name, span.subject, bounds(span), span.phase_intervals, span.qualities)
        for span in walk(root)
    ]


@given(life=lives(), random=st.randoms(use_true_random=False))
def test_any_order_of_what_is_known_gives_the_same_tree(life: Life, random: object) -> None:
    known = life.known()
    shuffled = _shuffle(known, random)
    assert flat(build_span_tree(shuffled)) == flat(build_span_tree(known))


@given(life=lives())
def test_no_span_ends_before_it_starts_and_no_entity_is_lost(life: Life) -> None:
    root = life.tree()
    spans = list(walk(root))
    assert all(span.end_ns is None or span.end_ns >= span.start_ns for span in spans)
    ids = [span.span_id for span in spans]
    assert len(ids) == len(set(ids))
    known = life.known()
    assert {each.key for each in known.nodes} | {each.key for each in known.attempts} <= set(ids)


@given(life=lives())
def test_operations_and_phases_lie_inside_their_span(life: Life) -> None:
    for span in walk(life.tree()):
        inside = [child for child in span.children if isinstance(child.subject, OperationSubject)]
        assert all(child.start_ns >= span.start_ns for child in inside)
        assert all(stay.start_ns >= span.start_ns for stay in span.phase_intervals)
        if span.end_ns is not None:
            ends = [child.end_ns for child in inside]
            ends += [stay.end_ns for stay in span.phase_intervals]
            assert all(end_ns is not None and end_ns <= span.end_ns for end_ns in ends)


@given(life=lives())
def test_children_of_a_span_are_in_the_order_of_their_start(life: Life) -> None:
    for span in walk(life.tree()):
        starts = [child.start_ns for child in span.children]
        assert starts == sorted(starts)


def test_span_ids_do_not_change_while_an_execution_goes_on() -> None:
    life = Life().execution((Phase.RUNNING, 0)).node("n0", (Phase.QUEUED, 6))
    life.attempt("n0", 0, (Phase.QUEUED, 8), (Phase.RUNNING, 20))
    before = {span.span_id for span in walk(life.tree())}
    life.node("n0", (Phase.RUNNING, 7), (Phase.SUCCEEDED, 60))
    life.attempt("n0", 1, (Phase.QUEUED, 30), (Phase.SUCCEEDED, 50))
    life.execution((Phase.SUCCEEDED, 70))
    assert before <= {span.span_id for span in walk(life.tree())}


def _shuffle(known: KnownExecution, random: object) -> KnownExecution:
    shuffle = random.shuffle  # type: ignore[attr-defined] # hypothesis gives a random.Random
    nodes, attempts = list(known.nodes), list(known.attempts)
    shuffle(nodes)
    shuffle(attempts)
    events = {}
    for key, own in known.events.items():
        moments = list(own.moments)
        shuffle(moments)
        events[key] = own._replace(moments=moments)
    return known._replace(nodes=nodes, attempts=attempts, events=events)

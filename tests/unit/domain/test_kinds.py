"""What each kind of node is taken for, and what its time goes into."""

import pytest

from spanwise_server.domain.events import CacheStatus, Details, NodeFacts
from spanwise_server.domain.identifiers import node_key
from spanwise_server.domain.known import TimedDetails
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import NodeSubject, Operation, Span
from tests.unit.domain.graphs import definition, graph, spec, target
from tests.unit.domain.lives import KEY, Life, bounds, named, operations, walk

TASK = NodeFacts(kind=NodeKind.TASK)
SUBWORKFLOW = NodeFacts(kind=NodeKind.SUBWORKFLOW)
DYNAMIC = NodeFacts(kind=NodeKind.DYNAMIC)
SETUP, RESET, TEARDOWN = Operation.NODE_SETUP, Operation.NODE_RESET, Operation.NODE_TEARDOWN


def below(parent: str, kind: NodeKind = NodeKind.TASK, group: str = "0") -> NodeFacts:
    """Give the facts of a node inside another one."""
    return NodeFacts(parent_node_id=parent, retry_group=group, kind=kind)


def kind_of(root: Span, node_id: str) -> NodeKind:
    """Give what a node is taken for."""
    subject = named(root, node_id).subject
    assert isinstance(subject, NodeSubject)
    return subject.kind


def test_gate_is_known_by_having_run_without_anything_inside() -> None:
    facts = NodeFacts(spec_node_id="approve")
    stays = (Phase.QUEUED, 0), (Phase.RUNNING, 10), (Phase.SUCCEEDED, 410, 425)
    root = Life().node("approve", *stays, facts=facts).tree()
    assert kind_of(root, "approve") is NodeKind.GATE
    gate = named(root, "approve")
    assert SpanQuality.INFERRED_KIND in gate.qualities
    assert operations(gate) == {
        SETUP: (0, 10),
        Operation.NODE_IDLE: (10, 410),
        TEARDOWN: (410, 425),
    }


def test_gate_of_a_known_workflow_is_no_guess() -> None:
    life = Life(workflow=definition(approve=spec(kind=NodeKind.GATE)))
    gate = named(life.node("approve", (Phase.QUEUED, 0), (Phase.RUNNING, 3)).tree(), "approve")
    assert SpanQuality.INFERRED_KIND not in gate.qualities
    assert operations(gate) == {SETUP: (0, 3), Operation.NODE_IDLE: (3, None)}


def test_gate_that_has_not_begun_to_wait_is_being_set_up() -> None:
    life = Life(workflow=definition(approve=spec(kind=NodeKind.GATE)))
    root = life.node("approve", (Phase.QUEUED, 0)).tree()
    assert operations(named(root, "approve")) == {SETUP: (0, None)}


def test_branch_is_known_by_the_one_node_inside_it() -> None:
    root = (
        Life()
        .node("if", (Phase.QUEUED, 0), (Phase.RUNNING, 1), (Phase.SUCCEEDED, 440, 450))
        .node("then", (Phase.QUEUED, 10), (Phase.SUCCEEDED, 430), facts=below("if"))
        .tree()
    )
    assert kind_of(root, "if") is NodeKind.BRANCH
    assert operations(named(root, "if")) == {SETUP: (0, 10), TEARDOWN: (430, 450)}


def test_node_with_markers_inside_is_a_subworkflow() -> None:
    life = Life().node("s", (Phase.QUEUED, 0), (Phase.RUNNING, 4))
    life.node("s-0-start-node", (Phase.SUCCEEDED, 3), facts=below("s", NodeKind.START))
    assert kind_of(life.tree(), "s") is NodeKind.SUBWORKFLOW


def test_node_that_ran_and_of_which_nothing_else_is_known_stays_unknown() -> None:
    """A source that sends no events of tasks must not be told that its nodes waited for signals."""
    life = Life().node("n", (Phase.QUEUED, 0), (Phase.RUNNING, 2), (Phase.SUCCEEDED, 9))
    assert kind_of(life.tree(), "n") is NodeKind.UNSPECIFIED
    assert operations(named(life.tree(), "n")) == {SETUP: (0, 2)}


def test_set_up_of_a_subworkflow_ends_with_its_start_node() -> None:
    root = (
        Life()
        .node("s", (Phase.QUEUED, 0), (Phase.SUCCEEDED, 440, 455), facts=SUBWORKFLOW)
        .node("s-0-start-node", (Phase.SUCCEEDED, 9, 10), facts=below("s", NodeKind.START))
        .node("s-0-foo", (Phase.QUEUED, 15), (Phase.SUCCEEDED, 430, 435), facts=below("s"))
        .node("s-0-end-node", (Phase.SUCCEEDED, 437, 438), facts=below("s", NodeKind.END))
        .tree()
    )
    assert operations(named(root, "s")) == {
        SETUP: (0, 10),
        Operation.NODE_TRANSITION: (10, 15),
        TEARDOWN: (435, 455),
    }


def test_dynamic_node_is_reset_between_its_task_and_what_that_made() -> None:
    life = Life().node("d", (Phase.QUEUED, 0), (Phase.SUCCEEDED, 890, 900), facts=DYNAMIC)
    life.attempt("d", 0, (Phase.QUEUED, 10), (Phase.RUNNING, 15), (Phase.SUCCEEDED, 415, 420))
    life.node("d-0-start-node", (Phase.SUCCEEDED, 434, 435), facts=below("d", NodeKind.START))
    life.node("d-0-foo", (Phase.QUEUED, 445), (Phase.SUCCEEDED, 870, 880), facts=below("d"))
    assert operations(named(life.tree(), "d")) == {
        SETUP: (0, 10),
        RESET: (420, 435),
        Operation.NODE_TRANSITION: (435, 445),
        TEARDOWN: (880, 900),
    }


def test_attempts_of_a_dynamic_node_and_what_each_made_follow_each_other() -> None:
    life = Life().node("d", (Phase.QUEUED, 0), (Phase.SUCCEEDED, 100), facts=DYNAMIC)
    life.attempt("d", 0, (Phase.QUEUED, 1), (Phase.SUCCEEDED, 10))
    life.node("d-0-a", (Phase.QUEUED, 12), (Phase.FAILED, 20), facts=below("d"))
    life.attempt("d", 1, (Phase.QUEUED, 25), (Phase.SUCCEEDED, 30))
    life.node("d-1-a", (Phase.QUEUED, 33), (Phase.SUCCEEDED, 99), facts=below("d", group="1"))
    resets = [span for span in named(life.tree(), "d").children if span.name == "NODE_RESET"]
    assert [(span.start_ns // 10**9, (span.end_ns or 0) // 10**9) for span in resets] == [
        (10, 12),
        (20, 25),
        (30, 33),
    ]


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.RECOVERED, Phase.FAILED])
def test_node_that_never_ran_was_all_set_up(phase: Phase) -> None:
    root = Life().node("n", (phase, 1, 4), facts=TASK).tree()
    assert operations(named(root, "n")) == {SETUP: (1, 4)}


def test_kinds_and_names_inside_a_subworkflow_come_from_its_own_definition() -> None:
    sub = target("sub")
    life = Life(
        workflow=definition(
            {sub: graph(wait=spec("start-node", kind=NodeKind.GATE))},
            s=spec(kind=NodeKind.SUBWORKFLOW, runs=sub),
        )
    )
    life.node("s", (Phase.RUNNING, 0), facts=NodeFacts(spec_node_id="s"))
    facts = NodeFacts(parent_node_id="s", spec_node_id="wait", retry_group="0")
    life.node("s-0-wait", (Phase.QUEUED, 1), facts=facts)
    assert kind_of(life.tree(), "s") is NodeKind.SUBWORKFLOW
    assert kind_of(life.tree(), "wait") is NodeKind.GATE


def test_kinds_below_a_dynamic_node_come_from_what_it_made() -> None:
    life = Life(workflow=definition(d=spec()))
    life.node("d", (Phase.RUNNING, 0), facts=NodeFacts(kind=NodeKind.DYNAMIC))
    made = definition(wait=spec(kind=NodeKind.GATE))
    life.details[node_key(KEY, "d")].append(TimedDetails(5, Details(workflow=made)))
    facts = NodeFacts(parent_node_id="d", spec_node_id="wait", retry_group="0")
    life.node("d-0-wait", (Phase.QUEUED, 1), facts=facts)
    assert kind_of(life.tree(), "wait") is NodeKind.GATE


def test_node_that_found_its_result_after_all_has_waited_for_who_computed_it() -> None:
    life = Life().node("n", (Phase.QUEUED, 5), (Phase.SUCCEEDED, 290))
    life.nodes["n"] = NodeFacts(kind=NodeKind.TASK, cache_status=CacheStatus.HIT)
    life.reason(node_key(KEY, "n"), 6, "cache miss: dataset v1")
    life.reason(node_key(KEY, "n"), 290, "cache hit")
    setup = named(life.tree(), "NODE_SETUP")
    assert bounds(setup) == (5, 290)
    assert operations(setup) == {Operation.CACHE_RESERVATION: (6, 290)}


def test_node_that_says_so_waits_for_a_reservation_until_its_first_attempt() -> None:
    text = "cache reservation held by another execution that computes the same result"
    life = Life().node("n", (Phase.QUEUED, 5), facts=TASK).attempt("n", 0, (Phase.QUEUED, 280))
    life.reason(node_key(KEY, "n"), 10, text)
    setup = named(life.tree(), "NODE_SETUP")
    assert bounds(setup) == (5, 280)
    assert operations(setup) == {Operation.CACHE_RESERVATION: (10, 280)}


def test_wait_for_a_reservation_ends_when_none_can_be_had() -> None:
    life = Life().node("n", (Phase.QUEUED, 0), facts=TASK).attempt("n", 0, (Phase.QUEUED, 400))
    held = "cache reservation held by another execution that computes the same result"
    life.reason(node_key(KEY, "n"), 2, held)
    life.reason(node_key(KEY, "n"), 50, "cache reservation failed")
    setup = named(life.tree(), "NODE_SETUP")
    assert operations(setup) == {Operation.CACHE_RESERVATION: (2, 50)}


def test_node_that_found_its_result_at_once_has_waited_for_nobody() -> None:
    life = Life().node("n", (Phase.SUCCEEDED, 5, 9))
    life.nodes["n"] = NodeFacts(kind=NodeKind.TASK, cache_status=CacheStatus.HIT)
    life.reason(node_key(KEY, "n"), 5, "cache hit")
    assert operations(named(life.tree(), "NODE_SETUP")) == {}


def test_task_node_that_ran_without_events_of_its_task_is_not_all_set_up() -> None:
    life = Life().node(
        "n", (Phase.QUEUED, 0), (Phase.RUNNING, 2), (Phase.SUCCEEDED, 300), facts=TASK
    )
    assert operations(named(life.tree(), "n")) == {SETUP: (0, 2)}


def test_attempt_that_was_first_heard_of_at_its_end_has_an_inferred_start() -> None:
    life = Life().attempt("n", 0, (Phase.SUCCEEDED, 12)).attempt("n", 1, (Phase.RUNNING, 13))
    first, second = [span for span in walk(life.tree()) if span.name == "train"]
    assert SpanQuality.INFERRED_START in first.qualities
    assert SpanQuality.INFERRED_START not in second.qualities

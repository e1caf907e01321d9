"""What nodes waited for, where a definition tells it."""

from spanwise_server.domain.events import NodeFacts
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import NodeSubject, OperationSubject, Span
from tests.unit.domain.graphs import definition, graph, spec, target
from tests.unit.domain.lives import Life, Stay, bounds, named, walk


def ran(start: float, end: float) -> tuple[Stay, Stay]:
    """Give a life from start to end."""
    return (Phase.QUEUED, start), (Phase.SUCCEEDED, end)


def upstreams(root: Span, name: str) -> tuple[tuple[str, ...], bool]:
    """Give what a node waited for, and whether that is a guess."""
    span = named(root, name)
    assert isinstance(span.subject, NodeSubject)
    return span.subject.upstream_node_ids, SpanQuality.INFERRED_UPSTREAM in span.qualities


def transitions(root: Span) -> dict[str, tuple[float, float | None]]:
    """Give the ways to nodes."""
    return {
        span.subject.node_id: bounds(span)
        for span in walk(root)
        if isinstance(span.subject, OperationSubject) and span.name == "NODE_TRANSITION"
    }


def test_definition_tells_the_upstream_although_another_node_ended_later() -> None:
    life = Life(workflow=definition(a=spec("start-node"), b=spec("start-node"), c=spec("a")))
    life.node("a", *ran(0, 5)).node("b", *ran(0, 8)).node("c", *ran(9, 10))
    assert upstreams(life.tree(), "c") == (("a",), False)
    assert transitions(life.tree()) == {"c": (5, 9)}


def test_transition_begins_with_the_last_of_several_upstreams() -> None:
    life = Life(workflow=definition(a=spec(), b=spec(), c=spec("a", "b")))
    life.node("a", *ran(0, 5)).node("b", *ran(0, 8)).node("c", *ran(9, 10))
    assert upstreams(life.tree(), "c") == (("a", "b"), False)
    assert transitions(life.tree()) == {"c": (8, 9)}


def test_upstream_that_did_not_run_was_not_waited_for() -> None:
    life = Life(workflow=definition(a=spec(), b=spec("missing", "a"), c=spec("missing")))
    life.node("a", *ran(0, 5)).node("b", *ran(6, 7)).node("c", *ran(8, 9))
    assert upstreams(life.tree(), "b") == (("a",), False)
    assert upstreams(life.tree(), "c") == ((), False)


def test_failure_node_waits_for_what_failed() -> None:
    workflow = definition(a=spec("start-node"), fail=spec(), failure_node="fail")
    life = Life(workflow=workflow).node("a", *ran(0, 5)).node("fail", *ran(6, 9))
    assert upstreams(life.tree(), "fail") == (("a",), True)


def test_node_that_the_definition_does_not_have_is_inferred() -> None:
    life = Life(workflow=definition(a=spec())).node("a", *ran(0, 5)).node("x", *ran(6, 9))
    assert upstreams(life.tree(), "x") == (("a",), True)


def test_end_node_names_what_the_end_waited_for_and_has_no_transition() -> None:
    life = Life(workflow=definition(a=spec(), b=spec(), end_node=spec("a")))
    life.node("a", *ran(0, 5)).node("b", *ran(0, 8))
    life.node("end-node", (Phase.SUCCEEDED, 9), facts=NodeFacts(kind=NodeKind.END))
    assert upstreams(life.tree(), "end-node") == (("a",), False)
    assert transitions(life.tree()) == {}


def test_end_node_of_an_unknown_workflow_waited_for_the_last_to_end() -> None:
    life = Life().node("a", *ran(0, 5)).node("b", *ran(0, 8))
    life.node("end-node", (Phase.SUCCEEDED, 9), facts=NodeFacts(kind=NodeKind.END))
    assert upstreams(life.tree(), "end-node") == (("b",), True)


def nested(spec_id: str, group: str) -> NodeFacts:
    """Give the facts of a node that an attempt of "d" made."""
    return NodeFacts(parent_node_id="d", spec_node_id=spec_id, retry_group=group)


def test_nodes_of_different_attempts_of_their_parent_do_not_wait_for_each_other() -> None:
    life = Life().node("d", (Phase.RUNNING, 0), facts=NodeFacts(kind=NodeKind.DYNAMIC))
    life.node("d-0-a", *ran(1, 5), facts=nested("a", "0"))
    life.node("d-1-a", *ran(7, 8), facts=nested("a", "1"))
    life.node("d-1-b", *ran(9, 10), facts=nested("b", "1"))
    assert transitions(life.tree()) == {"d-1-b": (8, 9)}


def test_items_of_an_array_do_not_wait_for_each_other() -> None:
    life = Life().node("d", (Phase.RUNNING, 0), facts=NodeFacts(kind=NodeKind.ARRAY))
    life.node("d-n0", *ran(1, 5), facts=nested("", "0"))
    life.node("d-n1", *ran(7, 8), facts=nested("", "0"))
    assert transitions(life.tree()) == {}


def test_definition_tells_what_the_end_waits_for_before_it_is_reached() -> None:
    """Of the nodes that ran; FlyteAdmin's teardowns are defined on them."""
    workflow = definition(a=spec(), b=spec("a"), c=spec(), end_node=spec("b", "c"))
    root = Life(workflow=workflow).node("a", *ran(0, 5)).node("b", *ran(6, 7)).tree()
    assert root.end_upstream_ids == ("b",)
    assert named(root, "a").end_upstream_ids is None


def test_without_a_definition_nobody_knows_what_the_end_waits_for() -> None:
    assert Life().node("a", *ran(0, 5)).tree().end_upstream_ids is None


def test_end_of_a_sub_workflow_waits_for_nodes_of_it() -> None:
    inner = graph(x=spec(), end_node=spec("x"))
    outer = definition(
        {target("inner"): inner}, s=spec(kind=NodeKind.SUBWORKFLOW, runs=target("inner"))
    )
    life = Life(workflow=outer).node("s", *ran(0, 9), facts=NodeFacts(kind=NodeKind.SUBWORKFLOW))
    life.node("s-0-x", *ran(1, 5), facts=NodeFacts(parent_node_id="s", spec_node_id="x"))
    assert named(life.tree(), "s").end_upstream_ids == ("s-0-x",)


def test_node_of_the_moment_of_the_start_waited_for_the_start() -> None:
    life = Life().node("start-node", (Phase.SUCCEEDED, 5), facts=NodeFacts(kind=NodeKind.START))
    assert upstreams(life.node("n0", *ran(5, 9)).tree(), "n0") == (("start-node",), True)

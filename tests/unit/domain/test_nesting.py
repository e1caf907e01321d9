"""Executions inside executions: what launch plan nodes started."""

from itertools import pairwise

from spanwise_server.domain.events import NodeFacts
from spanwise_server.domain.identifiers import ExecutionId, execution_key, node_key, root_key
from spanwise_server.domain.known import EntityEvents, KnownExecution, KnownNode
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality, SpanQuality
from spanwise_server.domain.span_builder import build_span_tree
from spanwise_server.domain.spans import ExecutionSubject, Operation, Span
from tests.unit.domain.lives import (
    EXECUTION_ID,
    Life,
    Stay,
    bounds,
    moments,
    named,
    operations,
    walk,
)

CHILD_ID = ExecutionId("flytesnacks", "development", "child")
GRANDCHILD_ID = ExecutionId("flytesnacks", "development", "grandchild")


def execution(
    execution_id: ExecutionId, *stays: Stay, starts: dict[str, ExecutionId] | None = None
) -> KnownExecution:
    """Give what is known of an execution with launch plan nodes that ran from 1 to 99."""
    key = execution_key(execution_id)
    known = Life().known()._replace(key=key, execution_id=execution_id)
    nodes, events = [], {root_key(key): EntityEvents(moments(*stays), EventQuality.NONE)}
    for node_id, child in (starts or {}).items():
        facts = NodeFacts(kind=NodeKind.LAUNCH_PLAN, child_execution_id=child)
        own = node_key(key, node_id)
        nodes.append(KnownNode(own, node_id, facts))
        lived = moments((Phase.QUEUED, 1), (Phase.RUNNING, 5), (Phase.SUCCEEDED, 90, 99))
        events[own] = EntityEvents(lived, EventQuality.NONE)
    return known._replace(nodes=nodes, events=events)


def executions(root: Span) -> list[str]:
    """Give the executions in a tree."""
    return [span.name for span in walk(root) if isinstance(span.subject, ExecutionSubject)]


def test_child_execution_stands_below_the_node_that_started_it() -> None:
    parent = execution(EXECUTION_ID, (Phase.RUNNING, 0), starts={"n0": CHILD_ID})
    child = execution(CHILD_ID, (Phase.RUNNING, 10), (Phase.SUCCEEDED, 80))
    node = named(build_span_tree(parent, {CHILD_ID: child}), "n0")
    assert executions(node) == ["child"]
    assert operations(node) == {Operation.NODE_SETUP: (1, 10), Operation.NODE_TEARDOWN: (80, 99)}


def test_missing_child_leaves_its_node_without_contents() -> None:
    parent = execution(EXECUTION_ID, (Phase.RUNNING, 0), starts={"n0": CHILD_ID})
    assert operations(named(build_span_tree(parent), "n0")) == {Operation.NODE_SETUP: (1, 5)}


def test_executions_that_start_each_other_stand_in_the_tree_once() -> None:
    parent = execution(EXECUTION_ID, (Phase.RUNNING, 0), starts={"n0": CHILD_ID})
    child = execution(CHILD_ID, (Phase.RUNNING, 10), starts={"n0": EXECUTION_ID, "n1": CHILD_ID})
    root = build_span_tree(parent, {CHILD_ID: child, EXECUTION_ID: parent})
    assert executions(root) == ["run", "child"]


def test_child_that_two_nodes_name_stands_below_the_first() -> None:
    parent = execution(EXECUTION_ID, (Phase.RUNNING, 0), starts={"a": CHILD_ID, "b": CHILD_ID})
    root = build_span_tree(parent, {CHILD_ID: execution(CHILD_ID, (Phase.RUNNING, 10))})
    assert executions(named(root, "a")) == ["child"]
    assert executions(named(root, "b")) == []


def test_child_that_is_open_although_its_node_has_ended_ends_with_it() -> None:
    parent = execution(EXECUTION_ID, (Phase.RUNNING, 0), starts={"n0": CHILD_ID})
    child = execution(CHILD_ID, (Phase.RUNNING, 10), starts={"n1": GRANDCHILD_ID})
    grandchild = execution(GRANDCHILD_ID, (Phase.RUNNING, 20))
    root = build_span_tree(parent, {CHILD_ID: child, GRANDCHILD_ID: grandchild})
    assert bounds(named(root, "child")) == (10, 99)
    assert bounds(named(root, "grandchild")) == (20, 99)
    assert SpanQuality.NO_TERMINAL_EVENT in named(root, "child").qualities
    assert bounds(build_span_tree(child)) == (10, None)


def test_chain_of_ten_thousand_executions_is_built() -> None:
    ids = [ExecutionId("p", "d", f"e{number}") for number in range(10_001)]
    known = {
        each: execution(each, (Phase.RUNNING, 0), starts={"n": after})
        for each, after in pairwise(ids)
    }
    span, depth = build_span_tree(known[ids[0]], known), 0
    while inner := [child for child in span.children if not child.name.isupper()]:
        span, depth = inner[0], depth + 1
    assert depth == 2 * 10_000 - 1

"""Who contains whom, where events tell it and where the id has to."""

import pytest

from spanwise_server.domain.events import NodeFacts
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import NodeSubject, Span
from tests.unit.domain.lives import Life, named, walk

RAN = (Phase.RUNNING, 1)
ABORTED = (Phase.ABORTED, 2)


def parent_of(root: Span, node_id: str) -> str:
    """Give the node that contains a node; the name of the execution for the top level."""
    for span in walk(root):
        for child in span.children:
            if isinstance(child.subject, NodeSubject) and child.subject.node_id == node_id:
                return span.subject.node_id if isinstance(span.subject, NodeSubject) else span.name
    raise AssertionError(node_id)


@pytest.mark.parametrize("node_id", ["n0-0-n1", "n0-12-n1", "n0-0-n1-0-n2"])
def test_parent_that_no_event_names_is_read_from_the_id_and_flagged(node_id: str) -> None:
    root = Life().node("n0", RAN).node(node_id, ABORTED).tree()
    assert parent_of(root, node_id) == "n0"
    assert SpanQuality.INFERRED_PARENT in named(root, node_id.split("-", 2)[2]).qualities


def test_the_longest_known_id_is_the_parent() -> None:
    life = Life().node("n0", RAN).node("n0-0-n1", RAN, facts=NodeFacts(parent_node_id="n0"))
    assert parent_of(life.node("n0-0-n1-0-n2", ABORTED).tree(), "n0-0-n1-0-n2") == "n0-0-n1"


def test_id_tells_the_retry_group_and_the_spec_id_too() -> None:
    node = named(Life().node("n0", RAN).node("n0-3-n1", ABORTED).tree(), "n1")
    assert isinstance(node.subject, NodeSubject)
    assert (node.subject.retry_group, node.subject.spec_node_id) == ("3", "n1")


def test_node_of_the_top_level_with_the_form_of_a_nested_id_stays_there() -> None:
    facts = NodeFacts(spec_node_id="n0-0-n1")
    root = Life().node("n0", RAN).node("n0-0-n1", RAN, facts=facts).tree()
    assert parent_of(root, "n0-0-n1") == "run"
    assert SpanQuality.INFERRED_PARENT not in named(root, "n0-0-n1").qualities


def test_id_whose_spec_id_contradicts_its_form_tells_nothing() -> None:
    facts = NodeFacts(spec_node_id="other")
    root = Life().node("n0", RAN).node("n0-0-n1", RAN, facts=facts).tree()
    assert parent_of(root, "n0-0-n1") == "run"


def test_form_of_a_nested_id_below_a_node_that_nobody_knows_tells_nothing() -> None:
    assert parent_of(Life().node("n0-0-n1", ABORTED).tree(), "n0-0-n1") == "run"


def test_very_long_ids_are_not_taken_apart() -> None:
    node_id = "n0" + "-0" * 100_000
    root = Life().node("n0", RAN).node(node_id, ABORTED).tree()
    assert parent_of(root, node_id) == "run"


def test_item_that_names_the_spec_id_of_its_array_goes_below_the_array() -> None:
    """As FlytePropeller does it below a subworkflow, where the array has another id."""
    array = NodeFacts(parent_node_id="s", spec_node_id="a", kind=NodeKind.ARRAY)
    root = (
        Life()
        .node("s", RAN, facts=NodeFacts(kind=NodeKind.SUBWORKFLOW))
        .node("s-0-a", RAN, facts=array)
        .node("a")
        .node("s-0-a-n7", RAN, facts=NodeFacts(parent_node_id="a"))
        .tree()
    )
    assert parent_of(root, "s-0-a-n7") == "s-0-a"
    ids = {each.subject.node_id for each in walk(root) if isinstance(each.subject, NodeSubject)}
    assert ids == {"s", "s-0-a", "s-0-a-n7"}


def test_item_without_parent_goes_below_the_array_of_its_id() -> None:
    life = Life().node("a", RAN, facts=NodeFacts(kind=NodeKind.ARRAY)).node("a-n0", RAN)
    assert parent_of(life.tree(), "a-n0") == "a"

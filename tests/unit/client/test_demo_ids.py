"""Ids of nodes, pods and child executions."""

from hypothesis import given
from hypothesis import strategies as st

from spanwise.demo.ids import Place, child_execution_name, node_id_below, place_below, pod_name
from tests.unit.client.demo_rules import fnv1a

_names = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=60)


def test_a_short_id_is_readable() -> None:
    """Parent, attempt of the parent, id in the workflow; up to 20 characters."""
    assert node_id_below("", 0, "n4") == "n4"
    assert node_id_below("n0", 0, "n1") == "n0-0-n1"
    assert node_id_below("n0-0-n1", 0, "start-node") == "n0-0-n1-0-start-node"
    assert child_execution_name("run", "n4-0-n1", 0) == "run-n4-0-n1-0"


def test_a_long_id_is_hashed() -> None:
    """With FNV-1a: 32 bits for nodes and pods, 64 for child executions."""
    assert node_id_below("", 0, "x" * 24) == "fuaa3aji"
    assert len(child_execution_name("a" * 20, "n4", 0)) == 14


@given(_names, st.integers(0, 9), _names)
def test_hashes_are_those_of_propeller(parent: str, attempt: int, spec_id: str) -> None:
    """For every text that is too long."""
    text = f"{parent}-{attempt}-{spec_id}"
    node_id = text if len(text) <= 20 else fnv1a(text, 32)
    assert node_id_below(parent, attempt, spec_id) == node_id
    text = f"{parent}-{spec_id}-{attempt}"
    child = text if len(text) <= 20 else fnv1a(text, 64)
    assert child_execution_name(parent, spec_id, attempt) == child
    assert pod_name(parent, spec_id, attempt) == (text if len(text) <= 50 else fnv1a(text, 32))


def test_a_dynamic_chain_reaches_all_the_way_down() -> None:
    """Also through nodes that are not dynamic themselves."""
    dynamic = place_below(None, "n1")
    child = place_below(dynamic, "dn0", is_dynamic=True)
    assert child == Place("n1-0-dn0", "dn0", "n1", is_in_dynamic_chain=True)
    assert place_below(child, "n0").is_in_dynamic_chain
    assert not place_below(dynamic, "n0").is_in_dynamic_chain

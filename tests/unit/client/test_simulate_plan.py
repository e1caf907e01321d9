"""The events that are simulated, against what FlytePropeller sends."""

from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise._times import SECOND_NS
from spanwise.simulate import SHARD_KEYS
from tests.unit.client import demo_rules
from tests.unit.client.simulate_stories import in_order, simulation, story

_seeds = st.integers(-(2**64), 2**64)
_sizes = st.integers(1, 80)
_numbers = st.integers(0, 10**6)


@given(_seeds, _sizes, _numbers)
@settings(max_examples=40, deadline=None)
def test_an_execution_is_sent_as_propeller_sends_it(seed: int, nodes: int, number: int) -> None:
    """Order, versions, ids, times, parents and children; all of it ends."""
    told = story(simulation(seed, nodes).execution(number))
    demo_rules.check(told, skew_ns=2 * SECOND_NS)


@given(_seeds, st.integers(1, 400), _numbers)
@settings(max_examples=12, deadline=None)
def test_an_execution_has_as_many_nodes_as_was_asked_for(
    seed: int, nodes: int, number: int
) -> None:
    """And says with each strand how many have ended."""
    execution = simulation(seed, nodes).execution(number)
    found = demo_rules.executions(story(execution))[execution.execution_id.name]
    bounds = ("start-node", "end-node")
    own = [each for each in found.nodes.values() if each[0].message.spec_node_id not in bounds]
    assert len(own) == nodes
    assert sum(strand.size for strand in execution.strands()) == nodes


@given(_seeds, _sizes, _numbers)
@settings(max_examples=8, deadline=None)
def test_the_same_seed_gives_the_same_events(seed: int, nodes: int, number: int) -> None:
    """Byte for byte, the names included; another seed, size or number gives other executions."""
    execution = simulation(seed, nodes).execution(number)
    assert list(execution.strands()) == list(execution.strands())
    assert execution == simulation(seed, nodes).execution(number)
    others = [
        simulation(seed + 1, nodes).execution(number),
        simulation(seed, nodes + 1).execution(number),
        simulation(seed, nodes).execution(number + 1),
    ]
    assert len({each.execution_id for each in (execution, *others)}) == 4
    assert all(list(in_order(each)) != list(in_order(execution)) for each in others)


@given(_seeds, _sizes)
@settings(max_examples=8, deadline=None)
def test_a_stage_begins_when_the_one_before_has_ended(seed: int, nodes: int) -> None:
    """So one stage at a time need be kept, and sorting each sorts the whole."""
    strands = list(simulation(seed, nodes).execution(0).strands())
    assert [strand.stage for strand in strands] == sorted(strand.stage for strand in strands)
    times = [sent.at_ns for sent in in_order(simulation(seed, nodes).execution(0))]
    assert all(before <= after for before, after in pairwise(times))


@given(_numbers, st.integers(1, SHARD_KEYS))
def test_an_execution_belongs_to_one_of_the_shards(number: int, shards: int) -> None:
    """Whatever their number is; and with one, to that one."""
    execution = simulation(1, 1).execution(number)
    assert 0 <= execution.shard(shards) < shards
    assert execution.shard(1) == 0


def test_every_shard_gets_its_share() -> None:
    """Within what chance makes of a thousand."""
    counts = Counter(simulation(1, 1).execution(number).shard(8) for number in range(1000))
    assert sorted(counts) == list(range(8))
    assert min(counts.values()) > 60


def test_a_name_is_one_that_flyte_takes() -> None:
    """Twenty characters at most, from a letter on, and recognisable."""
    name = simulation(1, 1).execution(999_999).execution_id.name
    assert name.startswith("sim-")
    assert len(name) <= 20


def test_executions_have_all_shapes_and_fates() -> None:
    """Each kind of node, failures, retries, waits, versions, and payloads of many sizes."""
    seen: Counter[str] = Counter()
    sizes = []
    for number in range(90):
        for sent in in_order(simulation(1, 30).execution(number)):
            event = sent.request.event
            sizes.append(sent.request.ByteSize())
            seen.update(_marks(event))
    assert {
        "array", "branch", "cached", "child execution", "dynamic", "gate", "nested", "sub",
        "FAILED", "retry", "no machine", "scale-up", "registry", "INITIALIZING v4", "cluster clock",
    } <= seen.keys()  # fmt: skip
    assert 380 < sum(sizes) / len(sizes) < 560
    assert max(sizes) > 20_000


def _marks(event: object) -> set[str]:
    """Give what an event shows."""
    text = str(event)
    facts = {
        "array": "is_array: true" in text,
        "branch": 'node_name: "large_enough"' in text,
        "cached": "cache_status: CACHE_HIT" in text,
        "child execution": "workflow_node_metadata" in text,
        "dynamic": "is_dynamic: true" in text,
        "gate": 'node_name: "approve_rollout"' in text,
        "nested": 'node_name: "inner_0"' in text,
        "sub": 'node_name: "prepare"' in text,
        "FAILED": "RetriesExhausted|" in text,
        "retry": "retry_attempt: 2" in text,
        "no machine": "nodes are available" in text,
        "scale-up": "triggered scale-up" in text,
        "registry": "toomanyrequests" in text,
        "INITIALIZING v4": "phase: INITIALIZING" in text and "phase_version: 4" in text,
        "cluster clock": "Successfully assigned" in text,
    }
    return {name for name, is_so in facts.items() if is_so}

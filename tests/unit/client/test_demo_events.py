"""The sample executions, against what FlytePropeller sends."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise._times import SECOND_NS
from spanwise.demo import (
    Scenario,
    gpu_capacity,
    image_pull,
    propeller_overload,
    recent_start_ns,
    training_pipeline,
)
from tests.unit.client import demo_rules
from tests.unit.client.spans import T0_NS


def _running_training(seed: int, start_ns: int) -> Scenario:
    return training_pipeline(seed, start_ns, running=True)


Story = Callable[[int, int], Scenario]
_WHOLE: list[Story] = [training_pipeline, image_pull, gpu_capacity, propeller_overload]
_seeds = st.integers(-(2**64), 2**64)
_starts = st.integers(0, 2**61)


@pytest.mark.parametrize("story", _WHOLE)
@given(_seeds, _starts)
@settings(max_examples=15, deadline=None)
def test_a_story_is_sent_as_propeller_sends_it(story: Story, seed: int, start_ns: int) -> None:
    """Order, versions, ids, times, parents and children."""
    demo_rules.check(story(seed, start_ns))


@given(_seeds, _starts)
@settings(max_examples=10, deadline=None)
def test_a_running_story_is_sent_as_far_as_it_got(seed: int, start_ns: int) -> None:
    """The same requests as of the whole story, but not all of them."""
    running = training_pipeline(seed, start_ns, name="nightly", running=True)
    demo_rules.check(running, whole=False)
    whole = training_pipeline(seed, start_ns, name="nightly")
    assert running.requests == whole.requests[: len(running.requests)]


@pytest.mark.parametrize("story", [*_WHOLE, _running_training])
@given(_seeds, _starts)
@settings(max_examples=5, deadline=None)
def test_the_same_seed_and_start_give_the_same_requests(
    story: Story, seed: int, start_ns: int
) -> None:
    """Byte for byte, the name included; another seed gives others."""
    assert story(seed, start_ns) == story(seed, start_ns)
    assert story(seed, start_ns).requests != story(seed + 1, start_ns).requests


@pytest.mark.parametrize("story", [*_WHOLE, _running_training])
def test_a_story_brings_the_definition_of_each_of_its_executions(story: Story) -> None:
    """With every node that was sent, and no node before the ones that it waits for."""
    scenario = story(4, T0_NS)
    found = demo_rules.executions(scenario)
    assert [execution_id.name for execution_id, _ in scenario.workflows] == list(found)
    for execution_id, compiled in scenario.workflows:
        nodes = found[execution_id.name].nodes
        top = {
            node_id: events
            for node_id, events in nodes.items()
            if not events[0].message.HasField("parent_node_metadata")
        }
        upstream = compiled.primary.connections.upstream
        assert top.keys() <= {"start-node", *upstream}
        assert {node.id for node in compiled.primary.template.nodes} == {"start-node", *upstream}
        for node_id, events in top.items():
            before = upstream[node_id].ids if node_id in upstream else []
            assert all(nodes[other][-1].sent_ns <= events[0].occurred_ns for other in before)


@pytest.mark.parametrize("story", [*_WHOLE, _running_training])
@given(_seeds)
@settings(max_examples=5, deadline=None)
def test_by_default_a_story_ends_now(story: Story, seed: int) -> None:
    """Not in the future, and not long ago."""
    now_ns = T0_NS + 5
    scenario = story(seed, recent_start_ns(story, seed, now_ns))
    assert now_ns - SECOND_NS <= scenario.end_ns <= now_ns


def test_stories_of_one_seed_and_start_have_names_of_their_own() -> None:
    """All of them can be played into one server."""
    stories = [*_WHOLE, _running_training]
    names = {story(1, T0_NS).execution_id.name for story in stories}
    assert len(names) == len(stories)
    assert all(len(name) == 20 for name in names)

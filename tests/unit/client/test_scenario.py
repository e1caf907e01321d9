"""The sample execution, against what FlytePropeller sends."""

from collections import defaultdict
from typing import Any

import pytest
from flyteidl.admin import event_pb2 as admin
from flyteidl.core import catalog_pb2, execution_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise._times import SECOND_NS, to_ns
from spanwise.demo import Scenario, recent_start_ns, training_pipeline
from tests.unit.client.spans import T0_NS

_Task = execution_pb2.TaskExecution
_Node = execution_pb2.NodeExecution
_seeds = st.integers(-(2**64), 2**64)


def _events(scenario: Scenario, kind: type[Any]) -> list[Any]:
    return [r.message.event for r in scenario.requests if isinstance(r.message, kind)]


def _tasks(scenario: Scenario) -> list[Any]:
    return _events(scenario, admin.TaskExecutionEventRequest)


def _nodes(scenario: Scenario) -> list[Any]:
    return _events(scenario, admin.NodeExecutionEventRequest)


@given(_seeds, st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_same_seed_and_start_give_the_same_requests(seed: int, running: bool) -> None:
    """Byte for byte, the name included."""
    first, second = (training_pipeline(seed, T0_NS, running=running) for _ in range(2))
    assert first == second
    assert first.execution_id.project == "flytesnacks"


@given(_seeds)
@settings(max_examples=20, deadline=None)
def test_events_follow_propellers_order(seed: int) -> None:
    """A task is QUEUED before its node is RUNNING, and ends before its node does."""
    requests = training_pipeline(seed, T0_NS).requests
    seen: list[tuple[str, str]] = []
    for request in requests:
        event: Any = request.message.event
        if isinstance(request.message, admin.WorkflowExecutionEventRequest):
            seen.append(("", execution_pb2.WorkflowExecution.Phase.Name(event.phase)))
        elif isinstance(request.message, admin.NodeExecutionEventRequest):
            seen.append((event.id.node_id, _Node.Phase.Name(event.phase)))
        else:
            name = f"{event.parent_node_execution_id.node_id}[{event.retry_attempt}]"
            seen.append((name, f"{_Task.Phase.Name(event.phase)} v{event.phase_version}"))
    attempt = ["QUEUED v0", "INITIALIZING v0", "RUNNING v1", "SUCCEEDED v0"]
    waited = ["QUEUED v0", "QUEUED v1", "INITIALIZING v0", "RUNNING v1", "FAILED v0"]
    assert seen == [
        ("", "RUNNING"),
        ("start-node", "SUCCEEDED"),
        ("n0", "QUEUED"),
        ("n1", "SUCCEEDED"),
        ("n0[0]", attempt[0]),
        ("n0", "RUNNING"),
        *(("n0[0]", phase) for phase in attempt[1:]),
        ("n0", "SUCCEEDED"),
        ("n2", "QUEUED"),
        ("n2[0]", waited[0]),
        ("n2", "RUNNING"),
        *(("n2[0]", phase) for phase in waited[1:]),
        *(("n2[1]", phase) for phase in attempt),
        ("n2", "SUCCEEDED"),
        ("n3", "QUEUED"),
        ("n3[0]", attempt[0]),
        ("n3", "RUNNING"),
        *(("n3[0]", phase) for phase in attempt[1:]),
        ("n3", "SUCCEEDED"),
        ("end-node", "QUEUED"),
        ("end-node", "SUCCEEDED"),
        ("", "SUCCEEDING"),
        ("", "SUCCEEDED"),
    ]


@given(_seeds)
@settings(max_examples=20, deadline=None)
def test_times_are_those_of_their_clocks(seed: int) -> None:
    """Pods tell whole seconds; reports come after what they tell, and in order."""
    scenario = training_pipeline(seed, T0_NS)
    last_ns: defaultdict[str, int] = defaultdict(int)
    for event in _tasks(scenario):
        occurred_ns, reported_ns = to_ns(event.occurred_at), to_ns(event.reported_at)
        assert occurred_ns < reported_ns
        if event.phase != _Task.QUEUED or event.phase_version:
            assert occurred_ns % SECOND_NS == 0
        assert all(to_ns(reason.occurred_at) <= occurred_ns for reason in event.reasons)
        attempt = f"{event.parent_node_execution_id.node_id}/{event.retry_attempt}"
        assert reported_ns > last_ns[attempt]
        last_ns[attempt] = reported_ns
    for event in _nodes(scenario):
        assert to_ns(event.occurred_at) < to_ns(event.reported_at)
    assert max(last_ns.values()) < scenario.end_ns


def test_every_event_carries_what_propeller_puts_into_it() -> None:
    """Producer, version, ids, references to inputs and outputs, links to logs."""
    scenario = training_pipeline(3, T0_NS)
    assert all(r.message.event.producer_id == "propeller" for r in scenario.requests)
    assert all(not r.message.request_id for r in scenario.requests)
    for event in _nodes(scenario):
        assert event.event_version == 1
        assert event.spec_node_id == event.id.node_id
        assert bool(event.input_uri) == (event.id.node_id != "start-node")
        assert bool(event.output_uri) == (event.phase == _Node.SUCCEEDED)
    for event in _tasks(scenario):
        assert event.event_version == 1
        assert event.task_id.version
        assert bool(event.logs) == (event.phase in {_Task.RUNNING, _Task.SUCCEEDED, _Task.FAILED})
        assert bool(event.output_uri) == (event.phase == _Task.SUCCEEDED)
        assert event.HasField("error") == (event.phase == _Task.FAILED)


def test_a_cache_hit_is_one_event_with_its_source() -> None:
    """It never ran, so nothing else is told about it."""
    hits = [event for event in _nodes(training_pipeline(3, T0_NS)) if event.id.node_id == "n1"]
    assert len(hits) == 1
    metadata = hits[0].task_node_metadata
    assert metadata.cache_status == catalog_pb2.CACHE_HIT
    assert metadata.catalog_key.source_task_execution.node_execution_id.execution_id.name


def test_the_reasons_tell_why_the_training_took_long() -> None:
    """No machine, a new one, an image to pull."""
    texts = [
        reason.reason for event in _tasks(training_pipeline(3, T0_NS)) for reason in event.reasons
    ]
    for part in ("Unschedulable:0/12", "pod triggered scale-up", "Pulling image", "pulled image"):
        assert any(part in text for text in texts)


def test_the_training_fails_in_three_ways() -> None:
    """Which one is up to the seed."""
    codes = {
        event.error.code
        for seed in range(20)
        for event in _tasks(training_pipeline(seed, T0_NS))
        if event.HasField("error")
    }
    assert codes == {"OOMKilled", "USER:RuntimeError", "Interrupted"}


@pytest.mark.parametrize("running", [False, True])
def test_a_running_story_stops_in_the_evaluation(running: bool) -> None:
    """Its node and the workflow have no end yet."""
    scenario = training_pipeline(3, T0_NS, running=running)
    evaluation = [e.phase for e in _nodes(scenario) if e.id.node_id == "n3"]
    assert (evaluation[-1] == _Node.RUNNING) == running
    assert scenario.end_ns > max(to_ns(r.message.event.occurred_at) for r in scenario.requests) - 1


@given(_seeds, st.booleans())
@settings(max_examples=10, deadline=None)
def test_by_default_the_story_ends_now(seed: int, running: bool) -> None:
    """Not in the future, and not long ago."""
    start_ns = recent_start_ns(seed, T0_NS + 5, running=running)
    scenario = training_pipeline(seed, start_ns, running=running)
    assert T0_NS + 5 - SECOND_NS <= scenario.end_ns <= T0_NS + 5

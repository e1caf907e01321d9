"""What happens in the training pipeline."""

from typing import Any

from flyteidl.admin import event_pb2 as admin
from flyteidl.core import catalog_pb2, execution_pb2
from flyteidl.event import event_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.demo import Scenario, training_pipeline
from tests.unit.client.demo_rules import Execution, executions
from tests.unit.client.spans import T0_NS

_Node = execution_pb2.NodeExecution
_Task = execution_pb2.TaskExecution


def _story() -> Scenario:
    return training_pipeline(3, T0_NS, name="nightly")


def _root() -> Execution:
    return executions(_story())["nightly"]


def _compiled() -> Any:
    return _dynamic_event().task_node_metadata.dynamic_workflow.compiled_workflow


def _dynamic_event() -> Any:
    found = [e.message for e in _root().nodes["n0-0-n1"] if e.message.is_dynamic]
    assert [message.phase for message in found] == [_Node.DYNAMIC_RUNNING, _Node.SUCCEEDED]
    return found[0]


def test_it_has_a_node_of_every_kind() -> None:
    """A subworkflow with a dynamic node and a map task, a branch, a launch plan, a cache hit."""
    nodes = {node_id: events[-1].message for node_id, events in _root().nodes.items()}
    names = {
        node_id: message.node_name
        for node_id, message in nodes.items()
        if not node_id.endswith(("start-node", "end-node"))
    }
    assert names == {
        "n0": "prepare_data",
        "n0-0-n0": "validate_schema",
        "n0-0-n1": "build_features",
        "n0-0-n1-0-dn0": "featurise_shard",
        "n0-0-n1-0-dn1": "featurise_shard",
        "n0-0-n1-0-dn2": "featurise_shard",
        "n0-0-n1-0-dn3": "merge_shards",
        "n0-0-n2": "embed_partition",
        "n1": "embed_vocabulary",
        "n2": "train_model",
        "n3": "evaluate_model",
        "n4": "good_enough",
        "n4-0-n4-n0": "deploy_model",
    }
    assert {node_id for node_id, message in nodes.items() if message.is_parent} == {
        "n0",
        "n0-0-n1",
    }
    assert [node_id for node_id, message in nodes.items() if message.is_array] == ["n0-0-n2"]


def test_the_branch_that_was_not_taken_has_no_event() -> None:
    """It never became a node."""
    assert list(_root().children("n4")) == ["n4-0-n4-n0"]


def test_a_cache_hit_is_one_event_with_its_source() -> None:
    """It never ran, so nothing else is told about it."""
    hits = _root().nodes["n1"]
    assert len(hits) == 1
    metadata = hits[0].message.task_node_metadata
    assert metadata.cache_status == catalog_pb2.CACHE_HIT
    assert metadata.catalog_key.source_task_execution.node_execution_id.execution_id.name


def test_the_dynamic_node_carries_the_workflow_that_it_made() -> None:
    """With the edges in both directions, and the tasks."""
    event = _dynamic_event()
    metadata = event.task_node_metadata.dynamic_workflow
    assert metadata.id == _compiled().primary.template.id
    assert metadata.id.name == "dynamic_n1"
    assert metadata.dynamic_job_spec_uri.endswith("/futures.pb")
    connections = _compiled().primary.connections
    shards = ["dn0", "dn1", "dn2"]
    assert {spec_id: list(ids.ids) for spec_id, ids in connections.upstream.items()} == {
        **{shard: ["start-node"] for shard in shards},
        "dn3": shards,
        "end-node": ["dn3"],
    }
    assert {spec_id: list(ids.ids) for spec_id, ids in connections.downstream.items()} == {
        "start-node": shards,
        **{shard: ["dn3"] for shard in shards},
        "dn3": ["end-node"],
    }
    assert {task.template.id.name for task in _compiled().tasks} == {
        "pipelines.data.featurise_shard",
        "pipelines.data.merge_shards",
    }


def test_the_map_task_has_an_item_that_is_tried_again_and_one_from_the_cache() -> None:
    """Told by entries of one attempt."""
    events = [event.message for event in _root().attempts["n0-0-n2", 0]]
    entries = [entry for event in events for entry in event.metadata.external_resources]
    assert {entry.index for entry in entries} == set(range(6))
    assert {(entry.index, entry.retry_attempt) for entry in entries if entry.retry_attempt} == {
        (2, 1)
    }
    cached = [entry for entry in entries if entry.cache_status == catalog_pb2.CACHE_HIT]
    assert [(entry.index, entry.phase) for entry in cached] == [(4, _Task.SUCCEEDED)]


def test_the_deployment_is_an_execution_of_its_own() -> None:
    """Of two tasks, which begins after its node and ends before it."""
    root, child = executions(_story()).values()
    node = root.nodes["n4-0-n4-n0"]
    assert set(child.nodes) == {"start-node", "n0", "n1", "end-node"}
    assert node[1].sent_ns < child.workflow[0].occurred_ns
    assert child.workflow[-1].occurred_ns < node[-1].occurred_ns


def test_the_reasons_tell_why_the_training_took_long() -> None:
    """No machine, over and over; a new one at last; an image to pull."""
    first = _root().attempts["n2", 0]
    texts = [reason.reason for event in first for reason in event.message.reasons]
    for part in ("didn't trigger scale-up", "triggered scale-up", "Pulling", "Successfully pulled"):
        assert any(part in text for text in texts)
    refusals = [text for text in texts if text.startswith("Unschedulable:0/1")]
    assert len(set(refusals)) == len(refusals) == 3
    assert all("Insufficient nvidia.com/gpu" in text for text in refusals)


@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_the_training_fails_once_and_is_tried_again(seed: int) -> None:
    """On the machine that it waited for, with the image that is there now."""
    root = next(iter(executions(training_pipeline(seed, T0_NS)).values()))
    assert [retry for node_id, retry in root.attempts if node_id == "n2"] == [0, 1]
    first, second = root.attempts["n2", 0], root.attempts["n2", 1]
    assert first[-1].message.phase == _Task.FAILED
    assert second[-1].message.phase == _Task.SUCCEEDED
    interruptible = event_pb2.TaskExecutionMetadata.INTERRUPTIBLE
    assert first[0].message.metadata.instance_class == interruptible
    texts = [reason.reason for event in second for reason in event.message.reasons]
    assert not any("nodes are available" in text or "Pulling" in text for text in texts)


def test_the_training_fails_in_three_ways() -> None:
    """Which one is up to the seed."""
    codes = {
        request.message.event.error.code
        for seed in range(20)
        for request in training_pipeline(seed, T0_NS).requests
        if isinstance(request.message, admin.TaskExecutionEventRequest)
        and request.message.event.HasField("error")
    }
    assert codes == {"OOMKilled", "USER:RuntimeError", "Interrupted"}


def test_a_running_story_stops_in_the_evaluation() -> None:
    """Its node and the workflow have no end yet, and nothing is deployed."""
    scenario = training_pipeline(3, T0_NS, running=True)
    (root,) = executions(scenario).values()
    assert [event.message.phase for event in root.nodes["n3"]] == [_Node.QUEUED, _Node.RUNNING]
    assert len(root.workflow) == 1
    assert "n4" not in root.nodes
    assert scenario.end_ns > root.events[-1].sent_ns

"""What FlytePropeller's events of one execution look like, as a check.

Written from the behaviour of flytepropeller v1.16 and not from the demo: its own hashes, its own
tables. Works for a story that stops in the middle as well.
"""

import base64
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from flyteidl.admin import event_pb2 as admin
from flyteidl.core import catalog_pb2, execution_pb2, identifier_pb2

from spanwise._times import SECOND_NS, to_ns
from spanwise.demo import Scenario

_Workflow = execution_pb2.WorkflowExecution.Phase
_Node = execution_pb2.NodeExecution.Phase
_Task = execution_pb2.TaskExecution.Phase
_ENDS = {_Task.Value("SUCCEEDED"), _Task.Value("FAILED")}


@dataclass(frozen=True)
class Event:
    """An event with its place in the order of sending."""

    number: int
    message: Any

    @property
    def occurred_ns(self) -> int:
        """When it happened."""
        return to_ns(self.message.occurred_at)

    @property
    def sent_ns(self) -> int:
        """When it was built; map tasks and executions do not tell, so when it happened."""
        message = self.message
        if not hasattr(message, "reported_at") or not message.HasField("reported_at"):
            return self.occurred_ns
        return to_ns(message.reported_at)


@dataclass
class Execution:
    """The events of one execution by what they are about."""

    name: str
    workflow: list[Event] = field(default_factory=list)
    nodes: defaultdict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    attempts: defaultdict[tuple[str, int], list[Event]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @property
    def events(self) -> list[Event]:
        """All of them in the order of sending."""
        groups = [self.workflow, *self.nodes.values(), *self.attempts.values()]
        return sorted((e for group in groups for e in group), key=lambda e: e.number)

    def children(self, node_id: str) -> dict[str, list[Event]]:
        """Give the nodes that a node contains."""
        return {
            child: events
            for child, events in self.nodes.items()
            if events[0].message.parent_node_metadata.node_id == node_id
        }


def executions(scenario: Scenario) -> dict[str, Execution]:
    """Sort the events of a story by execution."""
    found: dict[str, Execution] = {}
    for number, request in enumerate(scenario.requests):
        message: Any = request.message.event
        event = Event(number, message)
        if isinstance(request.message, admin.WorkflowExecutionEventRequest):
            name = message.execution_id.name
            found.setdefault(name, Execution(name)).workflow.append(event)
        elif isinstance(request.message, admin.NodeExecutionEventRequest):
            name = message.id.execution_id.name
            found.setdefault(name, Execution(name)).nodes[message.id.node_id].append(event)
        else:
            parent = message.parent_node_execution_id
            attempt = (parent.node_id, message.retry_attempt)
            name = parent.execution_id.name
            found.setdefault(name, Execution(name)).attempts[attempt].append(event)
    return found


def check(scenario: Scenario, *, whole: bool = True, skew_ns: int = 0) -> None:
    """Fail unless every event is where and how FlytePropeller would send it.

    Args:
        scenario: The story.
        whole: Whether everything in it has come to its end.
        skew_ns: How far the clocks of machines may be off.
    """
    _check_envelopes(scenario)
    found = executions(scenario)
    assert next(iter(found)) == scenario.execution_id.name
    for execution in found.values():
        _check_workflow(execution, whole=whole)
        for node_id in execution.nodes:
            _check_node(execution, node_id, whole=whole)
        for node_id in {node_id for node_id, _ in execution.attempts}:
            _check_attempts(execution, node_id, skew_ns)
        assert {node_id for node_id, _ in execution.attempts} <= execution.nodes.keys()
    _check_child_executions(found, whole=whole)
    assert max(event.sent_ns for e in found.values() for event in e.events) <= scenario.end_ns


def _check_envelopes(scenario: Scenario) -> None:
    sent_ns = 0
    for request in scenario.requests:
        event: Any = request.message.event
        assert not request.message.request_id
        is_array = getattr(event, "task_type", "") == "container_array"
        assert event.producer_id == ("" if is_array else "propeller")
        if not isinstance(request.message, admin.WorkflowExecutionEventRequest):
            assert event.event_version == 1
            assert event.HasField("reported_at") != is_array
        if not is_array:
            # What is told later was sent later.
            assert Event(0, event).sent_ns >= sent_ns
            sent_ns = Event(0, event).sent_ns


def _check_workflow(execution: Execution, *, whole: bool) -> None:
    failed = [node for node in execution.nodes if _has_failed(execution, node)]
    phases = ["FAILING", "FAILED"] if failed else ["SUCCEEDING", "SUCCEEDED"]
    _check_phases(execution.workflow, _Workflow, ["RUNNING", *phases], whole)
    events = execution.events
    assert events[0] is execution.workflow[0]
    assert events[1].message.id.node_id == "start-node"
    if failed:
        # Nothing waits for the node that fails, and the execution fails with its error.
        assert events[-3].message.id.node_id == failed[0]
        assert all(event.message.error == events[-3].message.error for event in events[-2:])
        assert len(failed) == 1
    elif whole:
        assert events[-3].message.id.node_id == "end-node"
        assert execution.workflow[-1].message.output_uri


def _check_node(execution: Execution, node_id: str, *, whole: bool) -> None:
    events = execution.nodes[node_id]
    first = events[0].message
    spec_id = first.spec_node_id
    parent_id = first.parent_node_metadata.node_id
    expected = f"{parent_id}-0-{spec_id}" if parent_id else spec_id
    assert node_id == (expected if len(expected) <= 20 else fnv1a(expected, 32))
    phases = ["QUEUED", "RUNNING", "SUCCEEDED"]
    if spec_id == "start-node" or _is_cache_hit(first):
        phases = ["SUCCEEDED"]
    elif spec_id == "end-node":
        phases = ["QUEUED", "SUCCEEDED"]
    elif any(event.message.is_dynamic for event in events):
        phases = ["QUEUED", "RUNNING", "DYNAMIC_RUNNING", "SUCCEEDED"]
    elif _has_failed(execution, node_id):
        phases = ["QUEUED", "RUNNING", "FAILED"]
    _check_phases(events, _Node, phases, whole)
    for event in events:
        message = event.message
        assert message.spec_node_id == spec_id
        assert message.node_name
        assert message.parent_node_metadata.node_id == parent_id
        assert message.retry_group == ("0" if parent_id else "")
        assert bool(message.input_uri) == (spec_id != "start-node")
        assert bool(message.output_uri) == (message.phase == _Node.Value("SUCCEEDED"))
        assert message.HasField("error") == (message.phase == _Node.Value("FAILED"))
        assert event.occurred_ns < event.sent_ns
    if parent_id:
        _check_inside(execution, node_id, parent_id)
    if first.is_array:
        _check_map_task(execution.attempts[node_id, 0], whole=whole)


def _has_failed(execution: Execution, node_id: str) -> bool:
    return bool(execution.nodes[node_id][-1].message.phase == _Node.Value("FAILED"))


def _is_cache_hit(message: Any) -> bool:
    return bool(message.task_node_metadata.cache_status == catalog_pb2.CACHE_HIT)


def _check_phases(events: Sequence[Event], phase: Any, expected: list[str], whole: bool) -> None:
    phases = [phase.Name(event.message.phase) for event in events]
    assert phases == (expected if whole else expected[: len(phases)])


def _check_inside(execution: Execution, node_id: str, parent_id: str) -> None:
    """Check a node against the events of the node that contains it."""
    parents = execution.nodes[parent_id]
    parent = {_Node.Name(event.message.phase): event for event in parents}
    events = execution.nodes[node_id]
    assert events[0].number > parent["QUEUED"].number
    assert events[0].occurred_ns >= parent["QUEUED"].occurred_ns
    if "SUCCEEDED" in parent:
        assert events[-1].number < parent["SUCCEEDED"].number
        assert events[-1].occurred_ns <= parent["SUCCEEDED"].occurred_ns
    spec_id = events[0].message.spec_node_id
    if "DYNAMIC_RUNNING" in parent:
        compiled = parent["DYNAMIC_RUNNING"].message.task_node_metadata.dynamic_workflow
        template = compiled.compiled_workflow.primary.template
        assert spec_id in {node.id for node in template.nodes}
        assert events[0].number > parent["DYNAMIC_RUNNING"].number
        assert all(event.message.is_in_dynamic_chain for event in events)
        return
    assert events[0].message.is_in_dynamic_chain == parents[0].message.is_in_dynamic_chain
    # A subworkflow's start, and the node that a branch takes, come before the container runs.
    is_early = spec_id == "start-node" or not parents[0].message.is_parent
    assert (events[0].number < parent["RUNNING"].number) == is_early
    assert all(event.number > parent["RUNNING"].number for event in events[1:])


def _check_attempts(execution: Execution, node_id: str, skew_ns: int) -> None:
    node = {_Node.Name(event.message.phase): event for event in execution.nodes[node_id]}
    numbers = sorted(retry for of, retry in execution.attempts if of == node_id)
    assert numbers == list(range(len(numbers)))
    first = execution.attempts[node_id, 0]
    assert node["QUEUED"].number < first[0].number < node["RUNNING"].number < first[1].number
    after_task = node.get("DYNAMIC_RUNNING", node.get("SUCCEEDED", node.get("FAILED")))
    if after_task is not None:
        last = execution.attempts[node_id, numbers[-1]][-1]
        assert _Task.Name(last.message.phase) == ("FAILED" if "FAILED" in node else "SUCCEEDED")
        assert last.number < after_task.number
        assert last.occurred_ns <= after_task.occurred_ns + skew_ns
    for retry in numbers:
        events = execution.attempts[node_id, retry]
        if retry:
            before = execution.attempts[node_id, retry - 1][-1]
            assert before.message.phase == _Task.Value("FAILED")
            assert before.number < events[0].number
        _check_attempt(events, skew_ns)


def _check_attempt(events: Sequence[Event], skew_ns: int) -> None:
    versions: list[tuple[int, int]] = []
    for event in events:
        message = event.message
        assert message.task_id.resource_type == identifier_pb2.TASK
        for part in ("project", "domain", "name", "version"):
            assert getattr(message.task_id, part)
        phase, version = message.phase, message.phase_version
        if versions and versions[-1][0] == phase:
            assert version > versions[-1][1]
        else:
            assert phase not in {known for known, _ in versions}
        versions.append((phase, version))
        assert bool(message.output_uri) == (phase == _Task.Value("SUCCEEDED"))
        assert message.HasField("error") == (phase == _Task.Value("FAILED"))
    assert versions[0] == (_Task.Value("QUEUED"), 0)
    assert all(phase not in _ENDS for phase, _ in versions[:-1])
    if events[0].message.task_type != "container_array":
        _check_pod(events, skew_ns)


def _check_pod(events: Sequence[Event], skew_ns: int) -> None:
    """Check times and reasons: those of pods are whole seconds, and come in batches."""
    sent_ns = 0
    for number, event in enumerate(events):
        message = event.message
        assert sent_ns < event.sent_ns
        sent_ns = event.sent_ns
        earliest_ns, latest_ns = events[0].occurred_ns - skew_ns, event.sent_ns + skew_ns
        assert earliest_ns <= event.occurred_ns < latest_ns
        assert (event.occurred_ns % SECOND_NS == 0) == bool(number)
        for reason in message.reasons:
            assert earliest_ns <= to_ns(reason.occurred_at) <= latest_ns
            assert to_ns(reason.occurred_at) % SECOND_NS == 0 or number == 0
        has_text = message.phase in {_Task.Value("QUEUED"), _Task.Value("INITIALIZING")}
        if has_text:
            assert to_ns(message.reasons[0].occurred_at) == event.occurred_ns
        assert bool(message.logs) != has_text
        name = message.metadata.generated_name
        assert name.endswith(f"-{message.retry_attempt}") or len(name) == 8


def _check_map_task(events: Sequence[Event], *, whole: bool) -> None:
    """Check that entries tell each item's life once, and that the first event names all."""
    assert [event.message.retry_attempt for event in events] == [0] * len(events)
    assert not any(event.message.reasons or event.message.logs for event in events)
    last: dict[tuple[int, int], int] = {}
    for event in events:
        entries = event.message.metadata.external_resources
        assert list(entries) == sorted(entries, key=lambda entry: entry.index)
        for entry in entries:
            key = (entry.index, entry.retry_attempt)
            assert last.get(key) != entry.phase
            assert last.get(key) not in _ENDS
            last[key] = entry.phase
            assert entry.external_id.endswith(f"-n{entry.index}-{entry.retry_attempt}")
            if entry.retry_attempt:
                assert last[entry.index, entry.retry_attempt - 1] == _Task.Value("FAILED")
    queued = events[0].message.metadata.external_resources
    assert [entry.index for entry in queued] == list(range(len(queued)))
    assert {entry.phase for entry in queued} == {_Task.Value("UNDEFINED")}
    running = [e.message for e in events if e.message.phase == _Task.Value("RUNNING")]
    assert [message.phase_version for message in running] == list(range(1, len(running) + 1))
    if whole:
        final = {index: last[index, retry] for index, retry in sorted(last)}
        assert set(final.values()) == {_Task.Value("SUCCEEDED")}


def _check_child_executions(found: dict[str, Execution], *, whole: bool) -> None:
    """Check that each child is started by a node, which waits for it."""
    started = set()
    for execution in found.values():
        for node_id, events in execution.nodes.items():
            names = [e.message.workflow_node_metadata.execution_id.name for e in events]
            if not any(names):
                continue
            expected = f"{execution.name}-{node_id}-0"
            child_name = expected if len(expected) <= 20 else fnv1a(expected, 64)
            assert names == ["", *[child_name] * (len(names) - 1)]
            target = events[0].message.target_entity
            assert target.resource_type == identifier_pb2.LAUNCH_PLAN
            started.add(child_name)
            child = found[child_name].events
            assert events[1].number < child[0].number
            if whole:
                assert child[-1].number < events[-1].number
                assert child[-1].occurred_ns < events[-1].occurred_ns
    assert started == set(list(found)[1:])


def fnv1a(text: str, bits: int) -> str:
    """Give the id that stands for a text that is too long."""
    prime, value = (16777619, 2166136261) if bits == 32 else (2**40 + 435, 14695981039346656037)
    for byte in text.encode():
        value = (value ^ byte) * prime & (1 << bits) - 1
    number = base64.b32encode(value.to_bytes(bits // 8, "big")).decode().rstrip("=")
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    return "f" + "".join("abcdefghijklmnopqrstuvwxyz123456"[digits.index(d)] for d in number)

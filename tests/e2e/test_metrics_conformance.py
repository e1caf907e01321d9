"""GetExecutionMetrics of a running server against what FlyteAdmin's own tests say.

Each case is sent as the events of FlytePropeller and asked for as Flyte's clients do.
"""

from collections import defaultdict
from typing import Any

import pytest
from flyteidl.admin.execution_pb2 import WorkflowExecutionGetMetricsRequest
from flyteidl.core.compiler_pb2 import CompiledWorkflowClosure
from flyteidl.core.identifier_pb2 import ResourceType
from flyteidl.core.metrics_pb2 import Span
from flyteidl.event.event_pb2 import (
    DynamicWorkflowNodeMetadata,
    ParentNodeExecutionMetadata,
    TaskNodeMetadata,
    WorkflowNodeMetadata,
)

from spanwise.v1.workflow_service_pb2 import BindExecutionRequest, RegisterWorkflowRequest
from spanwise_server.domain.node_kinds import NodeKind
from tests.e2e.flyte_run import Run, bounds, seconds
from tests.e2e.flyte_workflows import compiled_closure, compiled_workflow
from tests.e2e.harness import Stubs
from tests.metric_cases import CASES, Case, Execution, Node, Times, Workflow, start_node
from tests.unit.rpc.compiled import identifier
from tests.unit.rpc.flyte import at

_KNOWN_BY_DEFINITION_ONLY = {"root, node before its upstream"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases_of_flyteadmin(stubs: Stubs, case: Case) -> None:
    check(stubs, play(stubs, case.execution, is_registered=True), case)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name not in _KNOWN_BY_DEFINITION_ONLY],
    ids=lambda case: case.name,
)
def test_cases_of_flyteadmin_without_the_definition_of_their_workflow(
    stubs: Stubs, case: Case
) -> None:
    """FlyteAdmin has no answer then; what is guessed from events is the same."""
    check(stubs, play(stubs, case.execution, is_registered=False), case)


def test_run_that_failed_before_its_last_node_has_no_teardown(stubs: Stubs) -> None:
    """FlyteAdmin's begins with what the end waits for, which never ran."""
    nodes = (start_node(5), Node("n0", NodeKind.TASK, Times(6, 60, 10, 48)))
    run = play(stubs, Execution(Times(0, 100), Workflow(nodes, ("n1",))), is_registered=True)
    assert operations(metrics(stubs, run, 1)) == {"WORKFLOW_SETUP": [5]}


def test_transition_begins_with_the_upstream_that_the_definition_tells(stubs: Stubs) -> None:
    """Although another node ended later."""
    nodes = (
        start_node(0),
        Node("a", NodeKind.TASK, Times(1, 10)),
        Node("b", NodeKind.TASK, Times(1, 15)),
        Node("c", NodeKind.TASK, Times(16, 20), ("a",)),
    )
    workflow = Workflow(nodes, ("b", "c"))
    run = play(stubs, Execution(Times(0, 30), workflow), is_registered=True)
    span = find(metrics(stubs, run, 1), "c")
    assert operations(span) == {"NODE_TRANSITION": [6]}


def test_nodes_that_the_workflow_does_not_have_fail_no_call(stubs: Stubs) -> None:
    """FlyteAdmin fails on them, for instance on the node that runs after a failure."""
    nodes = (start_node(0), Node("n0", NodeKind.TASK, Times(1, 10)))
    run = play(stubs, Execution(Times(0, 30), Workflow(nodes, ("n0",))), is_registered=True)
    run.node("unknown", "QUEUED", 12)
    run.node("unknown", "RUNNING", 13)
    run.task("unknown", "QUEUED", 12)
    assert operations(find(metrics(stubs, run, -1), "unknown"))["NODE_SETUP"] == [0]


def test_pod_times_in_whole_seconds_give_the_negative_set_up_that_flyteadmin_has(
    stubs: Stubs,
) -> None:
    """Kubernetes says that it ran at 10, FlytePropeller that it was queued at 10.7."""
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("start-node", "SUCCEEDED", 1)
    run.node("n0", "QUEUED", 2)
    run.task("n0", "QUEUED", 10.7)
    run.task("n0", "RUNNING", 10, reported_at=at(12))
    attempt = find(find(metrics(stubs, run, -1), "n0"), "0")
    setup, runtime = attempt.spans
    assert (seconds(setup.start_time), seconds(setup.end_time)) == (10.7, 10)
    assert (seconds(runtime.start_time), seconds(runtime.end_time)) == (10, 12)
    for span in run.spans():
        start, end = bounds(span)
        assert end is None or start <= end


# Sending


def play(stubs: Stubs, execution: Execution, *, is_registered: bool) -> Run:
    """Send the events of an execution and of those that it started.

    Args:
        stubs: Of the server.
        execution: What ran.
        is_registered: Whether its workflow is registered, and those of the others.
    """
    run = Run(stubs)
    _tell_execution(run, execution.times)
    for node in execution.workflow.nodes:
        launched = None
        if node.launched is not None:
            launched = play(stubs, node.launched, is_registered=is_registered)
        _tell_node(run, node, node.spec_id, launched=launched)
    if is_registered:
        register(stubs, run, compiled_closure(execution, f"workflow of {run.name}"))
    return run


def register(stubs: Stubs, run: Run, closure: CompiledWorkflowClosure) -> None:
    """Register a workflow, and say that an execution runs it."""
    request = RegisterWorkflowRequest(flyte_compiled_workflow=closure.SerializeToString())
    workflow_id = stubs.workflows.RegisterWorkflow(request).workflow_id
    stubs.workflows.BindExecution(
        BindExecutionRequest(execution_id=run.id, workflow_id=workflow_id)
    )


def _tell_execution(run: Run, times: Times) -> None:
    moments = [("QUEUED", times.created), ("RUNNING", times.started)]
    if times.started is None:
        moments = [("RUNNING", times.created)]
    if times.updated > max(second for _, second in moments if second is not None):
        moments.append(("SUCCEEDED", times.updated))
    for phase, second in moments:
        if second is not None:
            run.workflow(phase, second)


def _tell_node(
    run: Run, node: Node, node_id: str, *, parent_id: str = "", launched: Run | None = None
) -> None:
    """Send the events of a node and of all in it."""
    fields: dict[str, Any] = {"spec_node_id": node.spec_id}
    if parent_id:
        fields["parent_node_metadata"] = ParentNodeExecutionMetadata(node_id=parent_id)
        fields["retry_group"] = "0"
    if node.kind is NodeKind.SUBWORKFLOW:
        fields["is_parent"] = True
    for phase, occurred, reported in _moments(node):
        more: dict[str, Any] = {}
        if phase == "DYNAMIC_RUNNING":
            more = _made_by(node, f"{run.name} {node_id}")
        elif phase == "RUNNING" and launched is not None:
            more["workflow_node_metadata"] = WorkflowNodeMetadata(execution_id=launched.flyte_id)
        run.node(node_id, phase, occurred, reported_at=at(reported), **fields, **more)
    for number, attempt in enumerate(node.attempts):
        is_last = number == len(node.attempts) - 1
        _tell_attempt(run, node_id, number, attempt, "SUCCEEDED" if is_last else "FAILED")
    for each in node.inside.nodes if node.inside is not None else ():
        _tell_node(run, each, f"{node_id}-0-{each.spec_id}", parent_id=node_id)


def _moments(node: Node) -> list[tuple[str, int, int]]:
    """Give phases with occurred_at and reported_at that make the closure of a node."""
    if node.kind is NodeKind.START:
        return [("SUCCEEDED", node.times.created, node.times.updated)]
    more = []
    if node.kind is NodeKind.DYNAMIC and node.attempts:
        more.append("DYNAMIC_RUNNING")
    if node.launched is not None:
        more.append("RUNNING")
    return _reported(node.times, "SUCCEEDED", more)


def _tell_attempt(run: Run, node_id: str, number: int, times: Times, end: str) -> None:
    for phase, occurred, reported in _reported(times, end):
        run.task(node_id, phase, occurred, reported_at=at(reported), retry_attempt=number)


def _reported(times: Times, end: str, more: list[str] | None = None) -> list[tuple[str, int, int]]:
    """Give phases, reported when they occur but for the last, which is the last update."""
    moments = [("QUEUED", times.created), *((phase, times.created) for phase in more or ())]
    if times.started is not None:
        moments.append(("RUNNING", times.started))
        if times.duration is not None:
            moments.append((end, times.started + times.duration))
    *before, (last, occurred) = moments
    return [*((phase, second, second) for phase, second in before), (last, occurred, times.updated)]


def _made_by(node: Node, name: str) -> dict[str, Any]:
    """Give what a dynamic node tells when it begins to run the workflow that its task made."""
    made = CompiledWorkflowClosure()
    if node.inside is not None:
        made.primary.CopyFrom(compiled_workflow(node.inside, name))
    metadata = DynamicWorkflowNodeMetadata(
        id=identifier(name, ResourceType.WORKFLOW), compiled_workflow=made
    )
    return {
        "is_parent": True,
        "is_dynamic": True,
        "task_node_metadata": TaskNodeMetadata(dynamic_workflow=metadata),
    }


# Reading


def metrics(stubs: Stubs, run: Run, depth: int) -> Span:
    """Ask for the metrics of an execution."""
    request = WorkflowExecutionGetMetricsRequest(id=run.flyte_id, depth=depth)
    span: Span = stubs.admin.GetExecutionMetrics(request).span
    return span


def check(stubs: Stubs, run: Run, case: Case) -> None:
    """Compare what is right below the span that a case is about."""
    span = metrics(stubs, run, case.depth)
    assert span.workflow_id == run.flyte_id
    for step in case.at.split("/") if case.at else ():
        span = find(span, step)
    assert operations(span) == case.operations
    assert sum(not each.HasField("operation_id") for each in span.spans) == case.num_references


def find(span: Span, step: str) -> Span:
    """Give the node of an id, or the attempt of a number, right below a span."""
    (found,) = [
        each
        for each in span.spans
        if (each.HasField("node_id") and each.node_id.node_id == step)
        or (each.HasField("task_id") and str(each.task_id.retry_attempt) == step)
    ]
    return found


def operations(span: Span) -> dict[str, list[int]]:
    """Give the durations of the operations right below a span, in seconds, by category."""
    durations = defaultdict(list)
    for each in span.spans:
        if each.HasField("operation_id"):
            duration = each.end_time.seconds - each.start_time.seconds
            durations[each.operation_id].append(duration)
    return dict(durations)

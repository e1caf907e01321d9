"""Node kinds beyond single tasks, from the events of FlytePropeller to the tree."""

import pytest
from flyteidl.core.identifier_pb2 import NodeExecutionIdentifier
from flyteidl.event.event_pb2 import (
    ExternalResourceInfo,
    ParentNodeExecutionMetadata,
    ParentTaskExecutionMetadata,
    TaskExecutionMetadata,
    WorkflowNodeMetadata,
)

from spanwise.v1 import event_pb2, span_pb2
from tests.e2e.flyte_run import Run, bounds, qualities
from tests.e2e.harness import Stubs


def kinds(run: Run) -> dict[str, str]:
    """Give what each node is taken for."""
    return {
        span.node.node_id: event_pb2.NodeKind.Name(span.node.kind).removeprefix("NODE_KIND_")
        for span in run.spans()
        if span.HasField("node")
    }


def parents(run: Run) -> dict[str, str]:
    """Give the name of the span that contains each execution, node, attempt and sub-task."""
    names = {span.span_id: _name(span) for span in run.spans()}
    return {
        _name(span): names.get(span.parent_span_id, "")
        for span in run.spans()
        if not span.HasField("operation")
    }


def _name(span: span_pb2.Span) -> str:
    return span.node.node_id if span.HasField("node") else span.name


@pytest.mark.parametrize("child_first", [True, False])
def test_child_execution_is_nested_in_either_order_of_arrival(
    stubs: Stubs, *, child_first: bool
) -> None:
    parent, child = Run(stubs), Run(stubs)
    metadata = WorkflowNodeMetadata(execution_id=child.flyte_id)

    def tell_child() -> None:
        child.workflow("RUNNING", 10)
        child.node("n0", "QUEUED", 11)
        child.workflow("SUCCEEDED", 425)

    if child_first:
        tell_child()
    parent.workflow("RUNNING", 0)
    parent.node("lp", "QUEUED", 0)
    parent.node("lp", "RUNNING", 5, workflow_node_metadata=metadata)
    if not child_first:
        assert kinds(parent)["lp"] == "LAUNCH_PLAN"
        assert child.name not in parents(parent)
        tell_child()
    parent.node("lp", "SUCCEEDED", 440, workflow_node_metadata=metadata)
    assert parents(parent) == {
        parent.name: "",
        "lp": parent.name,
        child.name: "lp",
        "n0": child.name,
    }
    node = next(span for span in parent.spans() if span.node.node_id == "lp")
    around = {
        span.name: bounds(span) for span in parent.spans() if span.parent_span_id == node.span_id
    }
    assert around == {"NODE_SETUP": (0, 10), child.name: (10, 425), "NODE_TEARDOWN": (425, 440)}


def test_executions_that_name_each_other_are_each_read(stubs: Stubs) -> None:
    one, other = Run(stubs), Run(stubs)
    for run, child in ((one, other), (other, one)):
        run.workflow("RUNNING", 0)
        metadata = WorkflowNodeMetadata(execution_id=child.flyte_id)
        run.node("lp", "RUNNING", 1, workflow_node_metadata=metadata)
    for run, child in ((one, other), (other, one)):
        names = [span.name for span in run.spans() if span.HasField("execution")]
        assert names == [run.name, child.name]


def test_node_below_a_legacy_parent_task_is_in_the_node_of_that_task(stubs: Stubs) -> None:
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("d", "RUNNING", 1)
    legacy = ParentTaskExecutionMetadata()
    legacy.id.node_execution_id.CopyFrom(
        NodeExecutionIdentifier(node_id="d", execution_id=run.flyte_id)
    )
    run.node("inner", "RUNNING", 2, parent_task_metadata=legacy)
    assert parents(run)["inner"] == "d"


def test_aborted_node_that_names_no_parent_goes_where_its_id_says(stubs: Stubs) -> None:
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("s", "RUNNING", 1, is_parent=True)
    run.node("s-0-n7", "ABORTED", 2, spec_node_id="")
    assert parents(run)["s-0-n7"] == "s"
    (node,) = [span for span in run.spans() if span.node.node_id == "s-0-n7"]
    assert "INFERRED_PARENT" in qualities(node)


def test_map_task_of_event_version_0_has_a_span_for_each_item_and_retry(stubs: Stubs) -> None:
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("map", "QUEUED", 1, is_array=True)

    def items(*states: tuple[int, int, str, str]) -> TaskExecutionMetadata:
        return TaskExecutionMetadata(
            external_resources=[
                ExternalResourceInfo(
                    index=index, retry_attempt=retry, phase=phase, cache_status=hit
                )
                for index, retry, phase, hit in states
            ]
        )

    run.task(
        "map",
        "QUEUED",
        2,
        metadata=items(
            (0, 0, "UNDEFINED", "CACHE_DISABLED"),
            (1, 0, "UNDEFINED", "CACHE_DISABLED"),
            (2, 0, "UNDEFINED", "CACHE_DISABLED"),
        ),
    )
    run.task(
        "map",
        "RUNNING",
        4,
        metadata=items((0, 0, "RUNNING", "CACHE_DISABLED"), (2, 0, "SUCCEEDED", "CACHE_HIT")),
    )
    run.task(
        "map",
        "RUNNING",
        6,
        phase_version=1,
        metadata=items((0, 0, "FAILED", "CACHE_DISABLED"), (1, 0, "RUNNING", "CACHE_DISABLED")),
    )
    run.task(
        "map",
        "RUNNING",
        9,
        phase_version=2,
        metadata=items((0, 1, "RUNNING", "CACHE_DISABLED"), (1, 0, "SUCCEEDED", "CACHE_DISABLED")),
    )
    run.task("map", "SUCCEEDED", 20, metadata=items((0, 1, "SUCCEEDED", "CACHE_DISABLED")))
    found = {span.name: bounds(span) for span in run.spans() if span.HasField("subtask")}
    assert found == {"[0]": (2, 6), "[0] retry 1": (9, 20), "[1]": (2, 9), "[2]": (2, 4)}
    assert kinds(run)["map"] == "ARRAY"
    hits = [span.name for span in run.spans() if span.subtask.cache_status == 3]
    assert hits == ["[2]"]


def test_array_of_event_version_1_has_a_node_for_each_item(stubs: Stubs) -> None:
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("map", "RUNNING", 1, is_array=True, is_parent=True)
    for index in range(2):
        node_id = f"map-n{index}"
        metadata = ParentNodeExecutionMetadata(node_id="map")
        run.node(node_id, "RUNNING", 2, parent_node_metadata=metadata, spec_node_id="")
        run.task(node_id, "RUNNING", 3)
    assert parents(run)["map-n0"] == parents(run)["map-n1"] == "map"
    assert kinds(run) == {"map": "ARRAY", "map-n0": "TASK", "map-n1": "TASK"}


@pytest.mark.parametrize("phase", ["RECOVERED", "SKIPPED", "SUCCEEDED"])
def test_node_whose_only_event_is_its_last_is_shown(stubs: Stubs, phase: str) -> None:
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("n0", phase, 5)
    (node,) = [span for span in run.spans() if span.HasField("node")]
    assert bounds(node) == (5, 5)

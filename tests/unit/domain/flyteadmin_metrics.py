"""FlyteAdmin's metrics once more, read off its code rule by rule, to compare with.

Recursive, and for executions only that FlyteAdmin has an answer for.
Source: flyteadmin v1.16, pkg/manager/impl/metrics_manager.go; the names are those of its functions.
"""

from collections.abc import Iterator, Sequence
from typing import Union

from spanwise_server.domain.node_kinds import NodeKind
from tests.metric_cases import END_ID, START_ID, Execution, Node, Times, Workflow

Rendered = tuple[str, int, int, list["Rendered"]]
"""Name, start, end and what is inside."""

_Parts = Iterator[Union["Rendered"]]


def parse_execution(execution: Execution, depth: int) -> Rendered:
    """Give an execution."""
    return "", *_bounds(execution.times), list(_execution(execution, depth))


def _execution(execution: Execution, depth: int) -> _Parts:
    times, workflow = execution.times, execution.workflow
    if depth == 0:
        return
    start = _start(workflow)
    if start is None:
        yield _operation("WORKFLOW_SETUP", times.created, times.updated)
        return
    yield _operation("WORKFLOW_SETUP", times.created, start.times.updated)
    yield from _parse_node_executions(workflow, depth - 1)
    last = _latest_upstream(workflow.end_upstream, workflow)
    if last is not None and times.updated >= last:
        yield _operation("WORKFLOW_TEARDOWN", last, times.updated)


def _parse_node_executions(workflow: Workflow, depth: int) -> _Parts:
    for node in sorted(workflow.nodes, key=lambda node: node.times.created):
        if node.spec_id in (START_ID, END_ID):
            continue
        name, start, end, children = _parse_node_execution(node, depth)
        last = _latest_upstream(node.upstream, workflow)
        if last is not None:
            children.insert(0, _operation("NODE_TRANSITION", last, node.times.created))
        yield name, start, end, children


def _parse_node_execution(node: Node, depth: int) -> Rendered:
    children: list[Rendered] = []
    if depth != 0:
        match node.kind:
            case NodeKind.TASK:
                children += _parse_task_node(node, depth - 1)
            case NodeKind.DYNAMIC:
                children += _parse_dynamic_node(node, depth - 1)
            case NodeKind.SUBWORKFLOW:
                children += _parse_subworkflow_node(node, depth - 1)
            case NodeKind.LAUNCH_PLAN:
                children += _parse_launch_plan_node(node, depth - 1)
            case NodeKind.BRANCH:
                children += _parse_branch_node(node, depth - 1)
            case NodeKind.GATE:
                children += _parse_gate_node(node)
    return node.spec_id, *_bounds(node.times), children


def _parse_task_node(node: Node, depth: int) -> _Parts:
    created, updated = _bounds(node.times)
    if not node.attempts:
        yield _operation("NODE_SETUP", created, updated)
        return
    attempts = _by_creation(node.attempts)
    yield _operation("NODE_SETUP", created, attempts[0].created)
    yield from _parse_task_executions(attempts, depth)
    if updated >= attempts[-1].updated:
        yield _operation("NODE_TEARDOWN", attempts[-1].updated, updated)


def _parse_dynamic_node(node: Node, depth: int) -> _Parts:
    created, updated = _bounds(node.times)
    if not node.attempts:
        yield _operation("NODE_SETUP", created, updated)
        return
    attempts = _by_creation(node.attempts)
    yield _operation("NODE_SETUP", created, attempts[0].created)
    yield from _parse_task_executions(attempts, depth)
    planned = attempts[-1].updated
    start = None if node.inside is None else _start(node.inside)
    if node.inside is None or start is None:
        if updated >= planned:
            yield _operation("NODE_RESET", planned, updated)
        return
    yield _operation("NODE_RESET", planned, start.times.updated)
    yield from _parse_node_executions(node.inside, depth)
    last = _latest_upstream(node.inside.end_upstream, node.inside)
    if last is not None and updated >= last:
        yield _operation("NODE_TEARDOWN", last, updated)


def _parse_subworkflow_node(node: Node, depth: int) -> _Parts:
    created, updated = _bounds(node.times)
    start = None if node.inside is None else _start(node.inside)
    if node.inside is None or start is None:
        yield _operation("NODE_SETUP", created, updated)
        return
    yield _operation("NODE_SETUP", created, start.times.updated)
    yield from _parse_node_executions(node.inside, depth)
    last = _latest_upstream(node.inside.end_upstream, node.inside)
    if last is not None and updated >= last:
        yield _operation("NODE_TEARDOWN", last, updated)


def _parse_launch_plan_node(node: Node, depth: int) -> _Parts:
    created, updated = _bounds(node.times)
    if node.launched is None:
        yield _operation("NODE_SETUP", created, updated)
        return
    yield _operation("NODE_SETUP", created, node.launched.times.created)
    yield parse_execution(node.launched, depth)
    if updated >= node.launched.times.updated:
        yield _operation("NODE_TEARDOWN", node.launched.times.updated, updated)


def _parse_branch_node(node: Node, depth: int) -> _Parts:
    created, updated = _bounds(node.times)
    if node.inside is None:
        yield _operation("NODE_SETUP", created, updated)
        return
    (case,) = node.inside.nodes
    yield _operation("NODE_SETUP", created, case.times.created)
    yield _parse_node_execution(case, depth)
    if updated >= case.times.updated:
        yield _operation("NODE_TEARDOWN", case.times.updated, updated)


def _parse_gate_node(node: Node) -> _Parts:
    created, updated, started, duration = node.times
    if started is None:
        yield _operation("NODE_SETUP", created, updated)
        return
    yield _operation("NODE_SETUP", created, started)
    if not duration:
        yield _operation("NODE_IDLE", started, updated)
        return
    yield _operation("NODE_IDLE", started, started + duration)
    yield _operation("NODE_TEARDOWN", started + duration, updated)


def _parse_task_executions(attempts: Sequence[Times], depth: int) -> _Parts:
    for number, times in enumerate(attempts):
        if number > 0:
            yield _operation("NODE_RESET", attempts[number - 1].updated, times.created)
        if depth != 0:
            yield "attempt", *_bounds(times), list(_parse_task_execution(times))


def _parse_task_execution(times: Times) -> _Parts:
    created, updated, started, duration = times
    if started is None:
        yield _operation("TASK_SETUP", created, updated)
        return
    yield _operation("TASK_SETUP", created, started)
    if not duration:
        yield _operation("TASK_RUNTIME", started, updated)
        return
    yield _operation("TASK_RUNTIME", started, started + duration)
    if updated >= started + duration:
        yield _operation("TASK_TEARDOWN", started + duration, updated)


def _latest_upstream(upstream: Sequence[str], workflow: Workflow) -> int | None:
    """Give getLatestUpstreamNodeExecution: when that node was updated."""
    return max(
        (node.times.updated for node in workflow.nodes if node.spec_id in upstream), default=None
    )


def _start(workflow: Workflow) -> Node | None:
    return next((node for node in workflow.nodes if node.spec_id == START_ID), None)


def _by_creation(attempts: Sequence[Times]) -> list[Times]:
    return sorted(attempts, key=lambda times: times.created)


def _bounds(times: Times) -> tuple[int, int]:
    return times.created, times.updated


def _operation(name: str, start: int, end: int) -> Rendered:
    return name, start, end, []

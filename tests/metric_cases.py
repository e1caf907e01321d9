"""What FlyteAdmin's own tests say of its metrics, as executions that any test can build.

Times are whole seconds from the start. A case has a node "n0" in a workflow, created one second
after the start of the workflow was reported: FlyteAdmin's tests begin with a single node or
attempt, and the way to n0 is what the workflow adds to them.
Source: flyteadmin v1.16, pkg/manager/impl/metrics_manager_test.go. The cases named "root" are of
the rules in metrics_manager.go itself.
"""

from typing import NamedTuple

from spanwise_server.domain.node_kinds import NodeKind

START_ID, END_ID = "start-node", "end-node"


class Times(NamedTuple):
    """created_at, updated_at, started_at and duration of a closure. None: not set."""

    created: int
    updated: int
    started: int | None = None
    duration: int | None = None


class Workflow(NamedTuple):
    """Nodes of one level. `end_upstream` are spec ids of those that the end waits for."""

    nodes: tuple["Node", ...]
    end_upstream: tuple[str, ...] = ("foo",)


class Execution(NamedTuple):
    """An execution."""

    times: Times
    workflow: Workflow


class Node(NamedTuple):
    """A node that has run. `spec_id` is its id in its workflow, `upstream` are such ids."""

    spec_id: str
    kind: NodeKind
    times: Times
    upstream: tuple[str, ...] = (START_ID,)
    attempts: tuple[Times, ...] = ()
    inside: Workflow | None = None
    launched: Execution | None = None


class Case(NamedTuple):
    """What the span at `at` has right below it.

    Attributes:
        name: What it is about.
        execution: What ran.
        at: The execution "", its node "n0" or the node's attempt "n0/0".
        operations: Durations by category, each in order.
        num_references: Spans of other kinds.
        depth: Depth that is asked for.
    """

    name: str
    execution: Execution
    at: str
    operations: dict[str, list[int]]
    num_references: int
    depth: int = -1


def start_node(at: int) -> Node:
    """Give a start that was reported at once."""
    return Node(START_ID, NodeKind.START, Times(at, at), upstream=())


def around(node: Node) -> Execution:
    """Give a running execution of the node n0."""
    before = node.times.created - 1
    return Execution(Times(before, before), Workflow((start_node(before), node), ("n0",)))


def _foo(times: Times) -> Node:
    return Node("foo", NodeKind.TASK, times)


def _n0(
    kind: NodeKind,
    times: Times,
    *attempts: Times,
    inside: tuple[Node, ...] = (),
    launched: Execution | None = None,
) -> Execution:
    workflow = Workflow(inside) if inside else None
    node = Node("n0", kind, times, attempts=attempts, inside=workflow, launched=launched)
    return around(node)


_NEW = Times(0, 5)
_BUSY = Times(0, 0)


def _branches() -> list[Case]:
    kind, case = NodeKind.BRANCH, (_foo(Times(10, 430, 15, 400)),)
    return [
        _case("branch, not started", _n0(kind, _NEW), 0, setup=5),
        _case("branch, running", _n0(kind, _BUSY, inside=case), 1, setup=10),
        _case("branch, completed", _n0(kind, Times(0, 450), inside=case), 1, setup=10, teardown=20),
    ]


def _dynamics() -> list[Case]:
    kind, attempt = NodeKind.DYNAMIC, Times(10, 420, 15, 400)
    nodes = (start_node(435), _foo(Times(445, 880, 460, 400)))
    running = _n0(kind, _BUSY, attempt, inside=nodes)
    completed = _n0(kind, Times(0, 900), attempt, inside=nodes)
    return [
        _case("dynamic, not started", _n0(kind, _NEW), 0, setup=5),
        _case("dynamic, task running", _n0(kind, _BUSY, attempt), 1, setup=10),
        _case("dynamic, nodes running", running, 2, setup=10, reset=15),
        _case("dynamic, completed", completed, 2, setup=10, reset=15, teardown=20),
    ]


def _gates() -> list[Case]:
    kind = NodeKind.GATE
    completed = _n0(kind, Times(0, 425, 10, 400))
    return [
        _case("gate, not started", _n0(kind, _NEW), 0, setup=5),
        _case("gate, running", _n0(kind, Times(0, 15, 10)), 0, setup=10, idle=5),
        _case("gate, completed", completed, 0, setup=10, idle=400, teardown=15),
    ]


def _launch_plans() -> list[Case]:
    kind = NodeKind.LAUNCH_PLAN
    workflow = Workflow((start_node(10), _foo(Times(15, 435, 20, 400))))
    begun = Execution(Times(10, 15, 15), workflow)
    ended = Execution(Times(10, 425, 15), workflow)
    return [
        _case("launch plan, not started", _n0(kind, _NEW), 0, setup=5),
        _case("launch plan, running", _n0(kind, _BUSY, launched=begun), 1, setup=10),
        _case(
            "launch plan, completed",
            _n0(kind, Times(0, 440), launched=ended),
            1,
            setup=10,
            teardown=15,
        ),
    ]


def _subworkflows() -> list[Case]:
    kind, nodes = NodeKind.SUBWORKFLOW, (start_node(10), _foo(Times(15, 435, 20, 400)))
    completed = _n0(kind, Times(0, 455), inside=nodes)
    return [
        _case("subworkflow, not started", _n0(kind, _NEW), 0, setup=5),
        _case("subworkflow, running", _n0(kind, _BUSY, inside=nodes), 1, setup=10),
        _case("subworkflow, completed", completed, 1, setup=10, teardown=20),
    ]


def _tasks() -> list[Case]:
    kind, attempt = NodeKind.TASK, Times(10, 420, 15, 400)
    return [
        _case("task node, not started", _n0(kind, _NEW), 0, setup=5),
        _case("task node, running", _n0(kind, Times(0, 10), attempt), 1, setup=10),
        _case("task node, completed", _n0(kind, Times(0, 435), attempt), 1, setup=10, teardown=15),
    ]


def _attempt_lists() -> list[Case]:
    """Of an open node that was created with its first attempt: the set-up is of the node."""
    first, second = Times(0, 605, 5, 400), Times(625, 630, 630)
    kind, one = NodeKind.TASK, Times(0, 415, 5, 400)
    return [
        _case("attempts, a single one", _n0(kind, _BUSY, one), 1, setup=0),
        _case("attempts, several", _n0(kind, _BUSY, first, second), 2, setup=0, reset=20),
    ]


def _attempts() -> list[Case]:
    states = {
        "not started": (_NEW, {"TASK_SETUP": [5]}),
        "running": (Times(0, 605, 5), {"TASK_SETUP": [5], "TASK_RUNTIME": [600]}),
        "completed": (
            Times(0, 415, 5, 400),
            {"TASK_SETUP": [5], "TASK_RUNTIME": [400], "TASK_TEARDOWN": [10]},
        ),
    }
    return [
        Case(f"attempt, {state}", _n0(NodeKind.TASK, _BUSY, times), "n0/0", expected, 0)
        for state, (times, expected) in states.items()
    ]


def root(*, created: int = 6, updated: int = 100, has_start: bool = True) -> Execution:
    """Give an execution of a task node that was created at `created` and ended at 60."""
    attempt = Times(8, 55, 10, 40)
    node = Node("n0", NodeKind.TASK, Times(created, 60, 10, 48), attempts=(attempt,))
    nodes = (start_node(5), node) if has_start else (node,)
    return Execution(Times(0, updated), Workflow(nodes, ("n0",)))


def _roots() -> list[Case]:
    whole = {"WORKFLOW_SETUP": [5], "WORKFLOW_TEARDOWN": [40]}
    all_setup = {"WORKFLOW_SETUP": [100]}
    no_teardown = {"WORKFLOW_SETUP": [5]}
    negative = {"NODE_TRANSITION": [-1]}
    return [
        Case("root, depth 0", root(), "", {}, 0, depth=0),
        Case("root, depth 1", root(), "", whole, 1, depth=1),
        Case("root, its node at depth 1", root(), "n0", {"NODE_TRANSITION": [1]}, 0, depth=1),
        Case("root, without a start", root(has_start=False), "", all_setup, 0, depth=1),
        Case("root, ended before its node", root(updated=50), "", no_teardown, 1, depth=1),
        Case("root, node before its upstream", root(created=4), "n0", negative, 0, depth=1),
    ]


def _case(name: str, execution: Execution, num_references: int, **durations: int) -> Case:
    """Give a case of n0. Durations are those of its operations, in order."""
    operations = {f"NODE_{each.upper()}": [value] for each, value in durations.items()}
    return Case(name, execution, "n0", {"NODE_TRANSITION": [1], **operations}, num_references)


CASES = [
    *_branches(),
    *_dynamics(),
    *_gates(),
    *_launch_plans(),
    *_subworkflows(),
    *_attempts(),
    *_attempt_lists(),
    *_tasks(),
    *_roots(),
]

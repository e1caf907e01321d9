"""What happens in a simulated execution: stages, each a few nodes that belong together."""

from collections.abc import Callable
from typing import NamedTuple

from spanwise.demo.chance import Chance
from spanwise.demo.plot import (
    ArrayNode,
    BranchNode,
    CachedNode,
    DynamicNode,
    GateNode,
    Item,
    LaunchPlanNode,
    Node,
    SubworkflowNode,
    TaskNode,
    Workflow,
)
from spanwise.simulate.pods import draw_pods, draw_task

WIDEST = 256
"""Nodes of a fan-out. A stage is kept in memory as a whole, so this bounds what is."""

_MOST_ITEMS = 40
_MANY_ITEMS = 400  # of one map task in ten: an event of some 50 kB
_DEEPEST = 3  # subworkflows in subworkflows


class Stage(NamedTuple):
    """Nodes that start when the stage before has ended.

    Attributes:
        nodes: Each after the ones of this stage that it waits for.
        size: How many node executions they become, with what is inside of them, and without the
            start-node and end-node of subworkflows and dynamic nodes. The nodes of an execution
            that a launch plan starts are not counted: they are its own.
    """

    nodes: tuple[Node, ...]
    size: int


class Shapes:
    """Draws the stages of one execution."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._count = 0

    def stage(self, room: int) -> Stage:
        """Draw a stage.

        Args:
            room: Its largest size, at least 1.
        """
        shapes = [draw for least, draw in _SHAPES if least <= room]
        if room >= WIDEST and self._chance.below(2):
            return _fan_out(self, room)  # what is large is wide
        return shapes[self._chance.below(len(shapes))](self, room)

    def failure(self) -> TaskNode:
        """Draw a task whose attempts all fail, for the end of an execution."""
        return self.task(attempts_fail=True)

    def task(self, *upstream: str, spec_id: str = "", attempts_fail: bool = False) -> TaskNode:
        """Draw a task, with an id of the top level unless one is given."""
        pods = draw_pods(self._chance, all_fail=attempts_fail)
        return TaskNode(spec_id or self.spec_id(), draw_task(self._chance), pods, upstream)

    def spec_id(self) -> str:
        """Give the id of the next node of the top level."""
        self._count += 1
        return f"n{self._count - 1}"

    @property
    def chance(self) -> Chance:
        """What picks."""
        return self._chance


def _single(shapes: Shapes, _room: int) -> Stage:
    return Stage((shapes.task(),), 1)


def _cached(shapes: Shapes, _room: int) -> Stage:
    source = shapes.chance.execution_name()
    return Stage((CachedNode(shapes.spec_id(), draw_task(shapes.chance), source),), 1)


def _gate(shapes: Shapes, _room: int) -> Stage:
    idle_s = shapes.chance.between(20, 900)
    return Stage((GateNode(shapes.spec_id(), "approve_rollout", idle_s),), 1)


def _map_task(shapes: Shapes, _room: int) -> Stage:
    chance = shapes.chance
    most = _MOST_ITEMS if chance.below(10) else _MANY_ITEMS
    items = tuple(_item(chance) for _ in range(2 + chance.below(most)))
    return Stage((ArrayNode(shapes.spec_id(), draw_task(chance), items),), 1)


def _item(chance: Chance) -> Item:
    if not chance.below(20):
        return Item(0, ())  # in the cache
    runs_s = [chance.between(3, 90)]
    if not chance.below(12):
        runs_s.insert(0, chance.between(3, 30))
    return Item(chance.between(2, 20), tuple(runs_s))


def _launch_plan(shapes: Shapes, _room: int) -> Stage:
    first = shapes.task(spec_id="n0")
    second = shapes.task("n0", spec_id="n1")
    workflow = Workflow("pipelines.load.score_batch", (first, second))
    return Stage((LaunchPlanNode(shapes.spec_id(), workflow),), 1)


def _branch(shapes: Shapes, _room: int) -> Stage:
    spec_id = shapes.spec_id()
    node = BranchNode(
        spec_id,
        "large_enough",
        variable="rows",
        threshold=1000,
        taken=shapes.task(spec_id=f"{spec_id}-n0"),
        other=shapes.task(spec_id=f"{spec_id}-n1"),
    )
    return Stage((node,), 2)


def _chain(shapes: Shapes, room: int) -> Stage:
    nodes = [shapes.task()]
    for _ in range(1 + shapes.chance.below(min(4, room - 1))):
        nodes.append(shapes.task(nodes[-1].spec_id))
    return Stage(tuple(nodes), len(nodes))


def _diamond(shapes: Shapes, _room: int) -> Stage:
    top = shapes.task()
    sides = [shapes.task(top.spec_id) for _ in range(2)]
    return Stage((top, *sides, shapes.task(*(side.spec_id for side in sides))), 4)


def _fan_out(shapes: Shapes, room: int) -> Stage:
    width = 2 + shapes.chance.below(min(WIDEST, room - 1) - 1)
    wide = [shapes.task() for _ in range(width)]
    return Stage((*wide, shapes.task(*(node.spec_id for node in wide))), width + 1)


def _dynamic(shapes: Shapes, room: int) -> Stage:
    width = 1 + shapes.chance.below(min(12, room - 1))
    inside = tuple(shapes.task(spec_id=f"dn{number}") for number in range(width))
    (pod,) = draw_pods(shapes.chance, most_attempts=1)
    node = DynamicNode(shapes.spec_id(), draw_task(shapes.chance), pod, inside)
    return Stage((node,), width + 1)


def _subworkflow(shapes: Shapes, room: int) -> Stage:
    """Nest subworkflows, each with a task beside the next one."""
    depth = 1 + shapes.chance.below(min(_DEEPEST, room // 2))
    inside: list[Node] = [shapes.task(spec_id="n0")]
    for level in range(depth - 1):
        workflow = Workflow(f"pipelines.load.inner_{level}", tuple(inside))
        inside = [shapes.task(spec_id="n0"), SubworkflowNode("n1", workflow, ("n0",))]
    workflow = Workflow("pipelines.load.prepare", tuple(inside))
    return Stage((SubworkflowNode(shapes.spec_id(), workflow),), 2 * depth)


# The least size of a shape, and what draws one. Tasks alone are the most common.
_SHAPES: tuple[tuple[int, Callable[[Shapes, int], Stage]], ...] = (
    (1, _single),
    (1, _single),
    (1, _cached),
    (1, _gate),
    (1, _map_task),
    (1, _launch_plan),
    (2, _branch),
    (2, _chain),
    (2, _dynamic),
    (2, _subworkflow),
    (3, _fan_out),
    (3, _fan_out),
    (4, _diamond),
)

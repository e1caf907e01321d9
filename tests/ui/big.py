"""An execution of 200,000 spans and 400,000 reasons, the same in every run."""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from spanwise.v1.event_pb2 import ExecutionError, NodeKind, Subtask
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.service.arrivals import Arrival
from tests.ui.events import Story, entity, said

BIG = ExecutionId("flytesnacks", "development", "big")

SEED = 3501
LENGTH_S = 6 * 3600.0
NUM_TASKS = 14_200
NUM_PIPELINES = 60
MAX_LEVELS = 8
"""Of subworkflows in each other. With the execution, a task, its attempt, the set-up of that and a
part of it, a tree of 12 levels below the execution."""

NUM_FAILED = 100
"""Tasks that failed, whose nodes failed with them."""

NUM_RETRIED = 100
"""Tasks that failed once."""

NUM_UNENDED = 3
"""Nodes that were never heard of again."""

NUM_SUBTASKS = 20_000
NUM_SUBTASK_EVENTS = 20
REASONS_PER_TASK = 28
BLINK_S = 0.008
BLINK = "blink"
MAP = "map"

_TASKS = [f"pipelines.{verb}_{noun}" for verb in ("load", "train", "score") for noun in "abcdefgh"]


class _Window(NamedTuple):
    """A node that contains others, and its bounds."""

    node_id: str
    start_s: float
    end_s: float


def big_arrivals() -> Iterator[Arrival]:
    """Give its events."""
    chance = random.Random(SEED)
    story = Story(BIG)
    story.execution("RUNNING", 0, workflow_id=entity("pipelines.nightly"))
    windows = _tell_pipelines(story, chance)
    fates = ["FAILED"] * NUM_FAILED + ["RETRIED"] * NUM_RETRIED
    fates += ["SUCCEEDED"] * (NUM_TASKS - len(fates))
    chance.shuffle(fates)
    tasks = _Tasks(story, chance)
    for number, fate in enumerate(fates):
        tasks.tell(f"t{number}", chance.choice(windows), fate)
        yield from story.arrivals
        story.arrivals.clear()
    _tell_map(story)
    story.node(BLINK, "RUNNING", LENGTH_S / 3, kind=NodeKind.NODE_KIND_TASK, node_name=BLINK)
    story.node(BLINK, "SUCCEEDED", LENGTH_S / 3 + BLINK_S)
    for number in range(NUM_UNENDED):
        story.node(f"unended{number}", "RUNNING", LENGTH_S / 2 + number)
    story.execution("SUCCEEDED", LENGTH_S)
    yield from story.arrivals


def _tell_pipelines(story: Story, chance: random.Random) -> list[_Window]:
    windows = []
    for number in range(NUM_PIPELINES):
        start_s = chance.uniform(10, 0.6 * LENGTH_S)
        end_s = chance.uniform(start_s + 3600, LENGTH_S - 10)
        parent = ""
        for level in range(1 + number % MAX_LEVELS):
            window = _Window(f"p{number}-{level}", start_s + 20 * level, end_s - 20 * level)
            fields: dict[str, Any] = {
                "kind": NodeKind.NODE_KIND_SUBWORKFLOW,
                "parent_node_id": parent,
            }
            story.node(window.node_id, "QUEUED", window.start_s, **fields)
            story.node(window.node_id, "RUNNING", window.start_s + 1, **fields)
            story.node(window.node_id, "SUCCEEDED", window.end_s, **fields)
            windows.append(window)
            parent = window.node_id
    return windows


class _Tasks:
    """Tells of tasks, each of which waits for the one before in the same window."""

    def __init__(self, story: Story, chance: random.Random) -> None:
        """Tell in `story`, as `chance` has it."""
        self._story = story
        self._chance = chance
        self._last: dict[str, str] = {}

    def tell(self, node_id: str, window: _Window, fate: str) -> None:
        """Tell of a task, its node and its attempts."""
        story, chance = self._story, self._chance
        task = chance.choice(_TASKS)
        upstream = self._last.get(window.node_id)
        self._last[window.node_id] = node_id
        fields: dict[str, Any] = {
            "kind": NodeKind.NODE_KIND_TASK,
            "parent_node_id": window.node_id,
            "target_id": entity(task),
            "node_name": task.removeprefix("pipelines."),
            "upstream_node_ids": [upstream] if upstream else [],
        }
        start_s = chance.uniform(window.start_s + 1, window.end_s - 600)
        length_s = min(chance.lognormvariate(4, 1), 250)
        story.node(node_id, "QUEUED", start_s, **fields)
        story.node(node_id, "RUNNING", start_s + 0.5, **fields)
        fates = ["FAILED", "SUCCEEDED"] if fate == "RETRIED" else [fate]
        for attempt, last in enumerate(fates):
            begin_s = start_s + 1 + attempt * (length_s + 10)
            self._tell_attempt(
                node_id, last, (begin_s, length_s), {"attempt": attempt, "task": task}
            )
        end_s = start_s + 1 + len(fates) * (length_s + 10)
        story.node(node_id, fates[-1], end_s, **fields, **_failure(fates[-1]))

    def _tell_attempt(
        self, node_id: str, last: str, times: tuple[float, float], fields: dict[str, Any]
    ) -> None:
        story, chance = self._story, self._chance
        begin_s, length_s = times
        setup_s = length_s * chance.uniform(0.05, 0.4)
        run_s = begin_s + setup_s
        image = f"cr.example.com/pipelines:v{chance.randrange(9)}"
        insufficient = f"0/12 nodes are available: {1 + chance.randrange(12)} Insufficient cpu."
        pod = f"flytesnacks-development/big-{node_id}-{fields['attempt']}"
        waits = [said(begin_s + setup_s * 0.1, insufficient)]
        story.task(node_id, "QUEUED", begin_s, *waits, **fields)
        starts = [
            said(begin_s + setup_s * 0.4, f"Successfully assigned {pod} to pool-3"),
            said(begin_s + setup_s * 0.6, f'Pulling image "{image}"'),
        ]
        story.task(node_id, "INITIALIZING", begin_s + setup_s * 0.5, *starts, **fields)
        pulled = [
            said(begin_s + setup_s * 0.8, f'Successfully pulled image "{image}"'),
            said(begin_s + setup_s * 0.9, "Created container primary"),
        ]
        story.task(node_id, "RUNNING", run_s, *pulled, **fields)
        num_steps = REASONS_PER_TASK - 5
        step_s = (length_s - setup_s) / num_steps
        progress = [
            said(run_s + step * step_s, f"step {step} of {num_steps} is done", source="trainer")
            for step in range(num_steps)
        ]
        end_s = begin_s + length_s
        story.task(node_id, last, end_s, *progress, **fields, **_failure(last))


def _failure(phase: str) -> dict[str, Any]:
    error = ExecutionError(code="ValueError", message="no such column")
    return {"error": error} if phase == "FAILED" else {}


def _tell_map(story: Story) -> None:
    fields: dict[str, Any] = {
        "kind": NodeKind.NODE_KIND_ARRAY,
        "target_id": entity("pipelines.map"),
    }
    start_s, end_s = 100.0, LENGTH_S - 100
    story.node(MAP, "RUNNING", start_s, **fields)
    step_s = (end_s - start_s) / (NUM_SUBTASK_EVENTS + 1)
    size = NUM_SUBTASKS // NUM_SUBTASK_EVENTS
    for number in range(NUM_SUBTASK_EVENTS + 1):
        ended = _subtasks(number - 1, size, "PHASE_SUCCEEDED") if number else []
        begun = _subtasks(number, size, "PHASE_RUNNING") if number < NUM_SUBTASK_EVENTS else []
        story.task(
            MAP,
            "RUNNING",
            start_s + 1 + number * step_s,
            task="pipelines.map",
            subtasks=ended + begun,
        )
    story.task(MAP, "SUCCEEDED", end_s - 1, task="pipelines.map")
    story.node(MAP, "SUCCEEDED", end_s, **fields)


def _subtasks(batch: int, size: int, phase: str) -> list[Subtask]:
    return [
        Subtask(index=index, external_id=f"big-map-{index}", phase=phase)
        for index in range(batch * size, (batch + 1) * size)
    ]

"""What happens in a sample execution: workflows of nodes, and how each of them fares.

A scenario writes one of these. compiled.py makes Flyte's definition of it, and workflows.py the
events of a run. Durations are in seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from flyteidl.core import execution_pb2

VERSION = "v1.4.2"
"""Of every task, workflow and launch plan of the samples."""


class Image(NamedTuple):
    """A container image."""

    name: str
    size_bytes: int


class Task(NamedTuple):
    """A task that runs as a pod.

    Attributes:
        name: Full name.
        image: What its pods run.
        is_interruptible: Whether they run on capacity that may be taken away.
    """

    name: str
    image: Image
    is_interruptible: bool = False


class Word(NamedTuple):
    """Something said about a pod that has no machine.

    Attributes:
        after_s: Since what was said before, or since the submission.
        text: What Kubernetes says.
        is_refusal: Whether the scheduler says it, so that it is the pod's state as well.
    """

    after_s: float
    text: str
    is_refusal: bool = False


class Pod(NamedTuple):
    """How the pod of one attempt fares.

    Attributes:
        run_s: Of the container.
        machine: Where it runs.
        words: What is said until there is a machine; empty when there is one.
        wait_s: From the last word to the machine.
        pull_s: For the image; 0 when the machine has it.
        pull_queue_s: For images that the machine pulls before this one.
        failed_pulls: How often the registry refuses before that.
        clock_ahead_s: How far the clock of the machine is ahead of everybody else's; negative when
            it is behind.
        failure: Makes its error from the name of the pod; None when it ends well.
    """

    run_s: float
    machine: str
    words: tuple[Word, ...] = ()
    wait_s: float = 0
    pull_s: float = 0
    pull_queue_s: float = 0
    failed_pulls: int = 0
    clock_ahead_s: float = 0
    failure: Callable[[str], execution_pb2.ExecutionError] | None = None


class Item(NamedTuple):
    """How one item of a map task fares.

    Attributes:
        queued_s: From the submission of an attempt to its start.
        runs_s: Of each attempt; all but the last one fail. Empty: the result was in the cache.
    """

    queued_s: float
    runs_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TaskNode:
    """Runs a task: one pod after the other, until one succeeds.

    When the last one fails as well, the node does, and nothing may wait for it.
    """

    spec_id: str
    task: Task
    pods: tuple[Pod, ...]
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CachedNode:
    """Would run a task, had not `source_execution` left its result in the cache."""

    spec_id: str
    task: Task
    source_execution: str
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DynamicNode:
    """Runs a task that makes a workflow, and then that workflow."""

    spec_id: str
    task: Task
    pod: Pod
    nodes: "tuple[Node, ...]"
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayNode:
    """Runs a task over a list of items: a map task."""

    spec_id: str
    task: Task
    items: tuple[Item, ...]
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubworkflowNode:
    """Runs a workflow inside the same execution."""

    spec_id: str
    workflow: "Workflow"
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchPlanNode:
    """Runs a workflow as an execution of its own. The launch plan has the workflow's name."""

    spec_id: str
    workflow: "Workflow"
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchNode:
    """Runs one of two nodes: `taken` when `variable` is at least `threshold`, as it is here."""

    spec_id: str
    name: str
    variable: str
    threshold: float
    taken: "Node"
    other: "Node"
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateNode:
    """Waits until somebody approves."""

    spec_id: str
    name: str
    idle_s: float
    upstream: tuple[str, ...] = ()


Node = (
    TaskNode
    | CachedNode
    | DynamicNode
    | ArrayNode
    | SubworkflowNode
    | LaunchPlanNode
    | BranchNode
    | GateNode
)


class Workflow(NamedTuple):
    """A workflow: its full name, and its nodes, each after the ones that it waits for."""

    name: str
    nodes: tuple[Node, ...]


def display_name(node: Node) -> str:
    """Give the name of a node that people see."""
    match node:
        case BranchNode() | GateNode():
            return node.name
        case SubworkflowNode() | LaunchPlanNode():
            return node.workflow.name.rpartition(".")[2]
        case _:
            return node.task.name.rpartition(".")[2]

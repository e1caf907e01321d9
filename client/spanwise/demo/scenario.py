"""The story of the sample execution: a training pipeline that took long.

Data preparation; a featuriser whose result is in the cache; training that waits for a GPU machine
and for its image, fails once and is tried again; evaluation. Nothing here sends anything or reads a
clock: the same arguments give the same requests.

Order, versions and times of the events follow FlytePropeller: a task is QUEUED before its node is
RUNNING, a failure that is tried again is an event of the attempt alone, times that come from pods
are whole seconds, and what Kubernetes says piles up until the next change of phase.
"""

import hashlib
import random
from collections.abc import Iterator
from typing import NamedTuple

from flyteidl.core import execution_pb2

from spanwise._identifiers import ExecutionId
from spanwise._times import SECOND_NS
from spanwise.demo import texts
from spanwise.demo.messages import EventRequest, Messages, Note, Step, TaskReport

PROJECT = "flytesnacks"
DOMAIN = "development"

_PREPARE = Step("n0", "pipelines.train.prepare_data")
_FEATURISE = Step("n1", "pipelines.train.embed_vocabulary")
_TRAIN = Step("n2", "pipelines.train.train_model", is_interruptible=True)
_EVALUATE = Step("n3", "pipelines.train.evaluate_model")


class Request(NamedTuple):
    """One call.

    Attributes:
        method: Name of the AdminService method, for instance "CreateTaskEvent".
        message: What to send.
    """

    method: str
    message: EventRequest


class Scenario(NamedTuple):
    """A sample execution.

    Attributes:
        execution_id: Its id.
        requests: Calls in the order in which FlytePropeller makes them.
        end_ns: Moment that the story has reached, in nanoseconds since the epoch.
    """

    execution_id: ExecutionId
    requests: tuple[Request, ...]
    end_ns: int


class _Pod(NamedTuple):
    """How a pod fares, in seconds.

    Attributes:
        wait_s: For a machine; 0 when there is one.
        pull_s: For the image; 0 when the machine has it.
        run_s: Of the container.
        error: How it ends, if not well.
    """

    wait_s: float
    pull_s: float
    run_s: float
    error: execution_pb2.ExecutionError | None = None


def training_pipeline(
    seed: int, start_ns: int, *, name: str | None = None, running: bool = False
) -> Scenario:
    """Tell the story once.

    Args:
        seed: Picks durations and the way in which the training fails.
        start_ns: Start of the execution, in nanoseconds since the epoch.
        name: Name of the execution; None makes one from seed and start.
        running: Stop in the middle of the evaluation.
    """
    if name is None:
        digest = hashlib.sha256(f"{seed}/{start_ns}/{running}".encode()).hexdigest()
        name = f"a{digest[:19]}"  # the form of Flyte's own names
    story = _Story(ExecutionId(PROJECT, DOMAIN, name), random.Random(seed), start_ns)  # noqa: S311
    requests = tuple(story.tell(running=running))
    return Scenario(story.execution_id, requests, story.now_ns)


def recent_start_ns(seed: int, now_ns: int, *, running: bool = False) -> int:
    """Give the start with which the story has just reached its end at `now_ns`.

    Whole seconds: the story's length then does not depend on the start.
    """
    length_ns = training_pipeline(seed, 0, running=running).end_ns
    return (now_ns - length_ns) // SECOND_NS * SECOND_NS


class _Story:
    """Walks through the execution; `now_ns` is propeller's clock."""

    def __init__(self, execution_id: ExecutionId, chance: random.Random, start_ns: int) -> None:
        self.execution_id = execution_id
        self.now_ns = start_ns
        self._chance = chance
        self._messages = Messages(execution_id)
        self._source_execution = f"f{chance.randbytes(9).hex()}"

    def tell(self, *, running: bool) -> Iterator[Request]:
        """Give the requests in the order in which they are sent."""
        yield self._workflow("RUNNING")
        yield from self._boundary("start-node", "SUCCEEDED")
        yield self._queued(_PREPARE)
        yield self._cache_hit(_FEATURISE)
        pod = _Pod(wait_s=0, pull_s=self._between(6, 11), run_s=self._between(35, 60))
        yield from self._task_node(_PREPARE, [pod])
        self._pass(0.2, 0.9)
        yield self._queued(_TRAIN)
        yield from self._task_node(_TRAIN, self._training_pods())
        self._pass(0.2, 0.9)
        yield self._queued(_EVALUATE)
        pod = _Pod(wait_s=0, pull_s=self._between(15, 25), run_s=self._between(70, 110))
        if running:
            yield from self._until_running(_EVALUATE, pod._replace(run_s=pod.run_s / 2))
            return
        yield from self._task_node(_EVALUATE, [pod])
        self._pass(0.2, 0.9)
        yield from self._boundary("end-node", "QUEUED")
        yield from self._boundary("end-node", "SUCCEEDED")
        yield self._workflow("SUCCEEDING")
        self._pass(0.05, 0.2)
        yield self._workflow("SUCCEEDED")

    def _training_pods(self) -> list[_Pod]:
        first = _Pod(
            wait_s=self._between(110, 170),
            pull_s=self._between(75, 120),
            run_s=self._between(140, 230),
            error=texts.failure(self._chance.random(), self._messages.pod_name(_TRAIN, 0)),
        )
        # The machine is there now, and so is the image.
        return [first, _Pod(wait_s=0, pull_s=0, run_s=self._between(380, 520))]

    # Nodes

    def _workflow(self, phase: str) -> Request:
        return Request("CreateWorkflowEvent", self._messages.workflow(phase, self.now_ns))

    def _boundary(self, node_id: str, phase: str) -> Iterator[Request]:
        occurred_ns = self._pass(0.02, 0.08)
        reported_ns = self._pass(0.005, 0.02)
        message = self._messages.boundary_node(node_id, phase, occurred_ns, reported_ns)
        yield Request("CreateNodeEvent", message)

    def _queued(self, step: Step) -> Request:
        # The first event of a node carries the moment before its inputs are resolved.
        occurred_ns = self.now_ns
        return self._node(step, "QUEUED", occurred_ns, self._pass(0.02, 0.06))

    def _cache_hit(self, step: Step) -> Request:
        occurred_ns, reported_ns = self.now_ns, self._pass(0.08, 0.2)
        message = self._messages.cache_hit(step, occurred_ns, reported_ns, self._source_execution)
        return Request("CreateNodeEvent", message)

    def _node(self, step: Step, phase: str, occurred_ns: int, reported_ns: int) -> Request:
        message = self._messages.node(step, phase, occurred_ns, reported_ns)
        return Request("CreateNodeEvent", message)

    def _task_node(self, step: Step, pods: list[_Pod]) -> Iterator[Request]:
        for retry_attempt, pod in enumerate(pods):
            yield from self._until_running(step, pod, retry_attempt)
            yield self._end_of_pod(step, retry_attempt, pod)
            self._pass(0.5, 2)
        yield self._node(step, "SUCCEEDED", self.now_ns, self._pass(0.005, 0.02))

    def _until_running(self, step: Step, pod: _Pod, retry_attempt: int = 0) -> Iterator[Request]:
        yield self._submit(step, retry_attempt)
        if retry_attempt == 0:
            yield self._node(step, "RUNNING", self.now_ns, self._pass(0.005, 0.02))
        notes: list[Note] = []
        if pod.wait_s:
            yield self._wait_for_machine(step, retry_attempt, pod, notes)
        yield self._start_container(step, retry_attempt, notes)
        yield self._run(step, retry_attempt, pod)
        self.now_ns += _ns(pod.run_s)

    # Pods

    def _submit(self, step: Step, retry_attempt: int) -> Request:
        occurred_ns = self._pass(0.05, 0.3)
        report = TaskReport("QUEUED", occurred_ns, self._pass(0.01, 0.03), reason=texts.SUBMITTED)
        return self._task(step, retry_attempt, report)

    def _wait_for_machine(
        self, step: Step, retry_attempt: int, pod: _Pod, notes: list[Note]
    ) -> Request:
        refused_ns = self._pod_time(1)
        notes.append(Note(refused_ns, texts.NO_MACHINE_NOTE))
        report = TaskReport(
            "QUEUED",
            refused_ns,
            self._pass(0.1, 0.4),
            phase_version=1,
            reason=texts.NO_MACHINE,
        )
        request = self._task(step, retry_attempt, report)
        notes.append(Note(self._pod_time(self._between(8, 15)), texts.SCALE_UP))
        self.now_ns += _ns(pod.wait_s)
        return request

    def _start_container(self, step: Step, retry_attempt: int, notes: list[Note]) -> Request:
        assigned_ns = self._pod_time(1)
        pod_name = self._messages.pod_name(step, retry_attempt)
        notes.append(Note(assigned_ns, texts.assigned(pod_name, PROJECT, DOMAIN, step.node_id)))
        report = TaskReport(
            "INITIALIZING",
            assigned_ns,
            self._pass(0.2, 0.8),
            reason=texts.CREATING,
            notes=notes,
        )
        return self._task(step, retry_attempt, report)

    def _run(self, step: Step, retry_attempt: int, pod: _Pod) -> Request:
        notes: list[Note] = []
        if pod.pull_s:
            notes.append(Note(self._pod_time(1), texts.pulling(step.node_id)))
            self.now_ns += _ns(pod.pull_s)
            notes.append(Note(self._pod_time(0), texts.pulled(step.node_id, pod.pull_s)))
        else:
            notes.append(Note(self._pod_time(1), texts.present(step.node_id)))
        notes.append(Note(self._pod_time(1), texts.CREATED))
        started_ns = self._pod_time(1)
        notes.append(Note(started_ns, texts.STARTED))
        # Version 1, because there are links to logs.
        report = TaskReport(
            "RUNNING", started_ns, self._pass(0.3, 1.2), phase_version=1, notes=notes
        )
        return self._task(step, retry_attempt, report)

    def _end_of_pod(self, step: Step, retry_attempt: int, pod: _Pod) -> Request:
        ended_ns = self._pod_time(0)
        phase = "SUCCEEDED" if pod.error is None else "FAILED"
        notes = [Note(ended_ns, texts.STOPPING)] if pod.error is not None else []
        report = TaskReport(phase, ended_ns, self._pass(0.4, 1.6), notes=notes, error=pod.error)
        return self._task(step, retry_attempt, report)

    def _task(self, step: Step, retry_attempt: int, report: TaskReport) -> Request:
        return Request("CreateTaskEvent", self._messages.task(step, retry_attempt, report))

    # Time

    def _between(self, low_s: float, high_s: float) -> float:
        return low_s + (high_s - low_s) * self._chance.random()

    def _pass(self, low_s: float, high_s: float) -> int:
        """Let some time pass and give the moment then."""
        self.now_ns += _ns(self._between(low_s, high_s))
        return self.now_ns

    def _pod_time(self, after_s: float) -> int:
        """Give a moment `after_s` from now as Kubernetes writes it: in whole seconds."""
        self.now_ns += _ns(after_s)
        return self.now_ns // SECOND_NS * SECOND_NS


def _ns(seconds: float) -> int:
    return int(seconds * 1_000_000) * 1_000

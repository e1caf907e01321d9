"""How the life of a pod becomes task events.

Versions start at 0 in each phase and rise when the reason changes. What Kubernetes says piles up
until the next event; an event that carries any of it makes the next version skip one. Times of
pods are whole seconds, and the state "unschedulable" keeps the time at which it began.
Source: flytepropeller v1.16 controller/nodes/task/k8s/plugin_manager.go, flyteplugins v1.16
pluginmachinery/flytek8s/pod_helper.go.
"""

from flyteidl.core import execution_pb2

from spanwise._times import SECOND_NS
from spanwise.demo import texts
from spanwise.demo.messages import Note, TaskReport
from spanwise.demo.plot import Pod, Task
from spanwise.demo.propeller import NodeLine, duration_ns

_BACK_OFF_S = 8.0
"""Between two words of the kubelet about an image that it cannot pull."""


class Attempt:
    """Sends the events of one attempt of a task: submit, then start, then end."""

    def __init__(self, line: NodeLine, task: Task, retry_attempt: int) -> None:
        self._line = line
        self._task = task
        self._retry_attempt = retry_attempt
        self._pod_name = line.messages.pod_name(line.place, retry_attempt)
        self._pod_now_ns = 0  # pods go on by themselves, whenever propeller looks at them
        self._clock_ahead_ns = 0  # of the clock that the times of the pod are read from
        self._notes: list[Note] = []

    def submit(self) -> None:
        """Create the pod: the attempt is QUEUED."""
        occurred_ns = self._line.wait(self._line.pace.setup_s)
        reported_ns = self._line.build()
        self._pod_now_ns = self._line.now_ns
        self._send(TaskReport("QUEUED", occurred_ns, reported_ns, reason=texts.SUBMITTED))

    def start(self, pod: Pod) -> None:
        """Let the pod wait for its machine and its image: the attempt is RUNNING."""
        self._wait_for_machine(pod)
        self._create_container(pod)
        self._run(pod)

    def end(self, pod: Pod) -> None:
        """Let the container run: the attempt has SUCCEEDED or FAILED."""
        ended_ns = self._pod_time(pod.run_s)
        if pod.failure is None:
            self._report("SUCCEEDED", ended_ns)
            return
        self._notes.append(Note(ended_ns, texts.STOPPING))
        self._report("FAILED", ended_ns, error=pod.failure(self._pod_name))

    def _wait_for_machine(self, pod: Pod) -> None:
        phase_version = 0
        unschedulable_ns = 0
        for word in pod.words:
            said_ns = self._pod_time(word.after_s)
            self._notes.append(Note(said_ns, word.text))
            if not word.is_refusal:
                continue
            # The first version follows the submission, which carried no notes.
            phase_version += 2 if phase_version else 1
            unschedulable_ns = unschedulable_ns or said_ns
            reason = texts.unschedulable(word.text)
            self._report("QUEUED", unschedulable_ns, phase_version, reason)
        self._pod_now_ns += duration_ns(pod.wait_s)

    def _create_container(self, pod: Pod) -> None:
        assigned_ns = self._pod_time(1)
        text = texts.assigned(self._line.messages.namespace, self._pod_name, pod.machine)
        self._notes.append(Note(assigned_ns, text))
        reason = texts.unready("ContainerCreating", "")
        self._report("INITIALIZING", assigned_ns, reason=reason)
        # The scheduler has spoken last: what is told from now on has the time of the machine.
        self._clock_ahead_ns = duration_ns(pod.clock_ahead_s)
        self._fail_to_pull(pod)

    def _fail_to_pull(self, pod: Pod) -> None:
        image = self._task.image
        refused, backing_off = texts.pull_refused(image), texts.pull_back_off(image)
        phase_version = 0
        for _ in range(pod.failed_pulls):
            for waiting_for, said in (("ErrImagePull", refused), ("ImagePullBackOff", backing_off)):
                # The event before this one carried notes.
                phase_version += 2
                said_ns = self._pod_time(_BACK_OFF_S)
                self._notes.append(Note(said_ns, said))
                reason = texts.unready(waiting_for, said)
                self._report("INITIALIZING", said_ns, phase_version, reason)

    def _run(self, pod: Pod) -> None:
        image = self._task.image
        if pod.pull_s:
            self._notes.append(Note(self._pod_time(1), texts.pulling(image)))
            pulled_ns = self._pod_time(pod.pull_queue_s + pod.pull_s)
            text = texts.pulled(image, pod.pull_s, pod.pull_queue_s)
            self._notes.append(Note(pulled_ns, text))
        else:
            self._notes.append(Note(self._pod_time(1), texts.present(image)))
        self._notes.append(Note(self._pod_time(0.4), texts.CREATED))
        started_ns = self._pod_time(0.6)
        self._notes.append(Note(started_ns, texts.STARTED))
        # Version 1, because there are links to logs.
        self._report("RUNNING", started_ns, phase_version=1)

    def _pod_time(self, after_s: float) -> int:
        """Give a moment in the life of the pod as Kubernetes writes it: in whole seconds."""
        self._pod_now_ns += duration_ns(after_s)
        return (self._pod_now_ns + self._clock_ahead_ns) // SECOND_NS * SECOND_NS

    def _report(
        self,
        phase: str,
        occurred_ns: int,
        phase_version: int = 0,
        reason: str = "",
        error: execution_pb2.ExecutionError | None = None,
    ) -> None:
        self._line.now_ns = max(self._line.now_ns, self._pod_now_ns)
        reported_ns = self._line.wait(self._line.pace.notice_s)
        notes, self._notes = self._notes, []
        self._send(TaskReport(phase, occurred_ns, reported_ns, phase_version, reason, notes, error))

    def _send(self, report: TaskReport) -> None:
        line = self._line
        line.send(line.messages.task(line.place, self._task, self._retry_attempt, report))

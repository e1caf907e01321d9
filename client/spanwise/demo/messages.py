"""Event requests in the form that FlytePropeller gives them.

Source: flytepropeller v1.16, pkg/controller/nodes/transformers.go, nodes/task/transformer.go and
workflow/executor.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flyteidl.admin import event_pb2 as admin
from flyteidl.core import catalog_pb2, execution_pb2, identifier_pb2
from flyteidl.event import event_pb2

from spanwise._identifiers import ExecutionId
from spanwise._times import to_timestamp

_PRODUCER = "propeller"  # the default of propeller.cluster-id
_BUCKET = "s3://flyte-metadata/propeller"
_VERSION = "v1.4.2"

EventRequest = (
    admin.WorkflowExecutionEventRequest
    | admin.NodeExecutionEventRequest
    | admin.TaskExecutionEventRequest
)


class Step(NamedTuple):
    """A node of the workflow that runs a task.

    Attributes:
        node_id: Id of the node.
        task_name: Full name of the task.
        is_interruptible: Whether its pods run on capacity that may be taken away.
    """

    node_id: str
    task_name: str
    is_interruptible: bool = False


class Note(NamedTuple):
    """Something that Kubernetes says about a pod, at a time of its own."""

    occurred_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What one event tells about an attempt of a task.

    Attributes:
        phase: Name of a flyteidl TaskExecution.Phase.
        occurred_ns: When it happened, by the clock of the cluster.
        reported_ns: When propeller built the event.
        phase_version: Version inside the phase.
        reason: Text of the phase itself; "" for phases that have none.
        notes: What Kubernetes said since the last event.
        error: Why it failed.
    """

    phase: str
    occurred_ns: int
    reported_ns: int
    phase_version: int = 0
    reason: str = ""
    notes: Sequence[Note] = field(default=())
    error: execution_pb2.ExecutionError | None = None


class Messages:
    """Builds the event requests of one execution."""

    def __init__(self, execution_id: ExecutionId) -> None:
        self._name = execution_id.name
        self._execution_id = identifier_pb2.WorkflowExecutionIdentifier(
            project=execution_id.project, domain=execution_id.domain, name=execution_id.name
        )
        self._root = f"{_BUCKET}/{execution_id.project}-{execution_id.domain}-{execution_id.name}"

    def workflow(self, phase: str, occurred_ns: int) -> admin.WorkflowExecutionEventRequest:
        """Give an event of the execution. It has no reported_at and no event_version."""
        event = event_pb2.WorkflowExecutionEvent(
            execution_id=self._execution_id,
            producer_id=_PRODUCER,
            phase=phase,
            occurred_at=to_timestamp(occurred_ns),
        )
        if phase == "SUCCEEDED":
            event.output_uri = f"{self._root}/end-node/data/0/outputs.pb"
        return admin.WorkflowExecutionEventRequest(event=event)

    def boundary_node(
        self, node_id: str, phase: str, occurred_ns: int, reported_ns: int
    ) -> admin.NodeExecutionEventRequest:
        """Give an event of the start-node, which has no inputs, or of the end-node."""
        event = self._node(node_id, node_id, phase, (occurred_ns, reported_ns))
        if node_id == "end-node":
            event.input_uri = f"{self._root}/{node_id}/data/inputs.pb"
        if phase == "SUCCEEDED":
            event.output_uri = f"{self._root}/{node_id}/data/0/outputs.pb"
        return admin.NodeExecutionEventRequest(event=event)

    def node(
        self, step: Step, phase: str, occurred_ns: int, reported_ns: int
    ) -> admin.NodeExecutionEventRequest:
        """Give an event of a node that runs a task."""
        name = step.task_name.rpartition(".")[2]
        event = self._node(step.node_id, name, phase, (occurred_ns, reported_ns))
        event.input_uri = self._input_uri(step)
        event.target_entity.CopyFrom(self._task_id(step))
        if phase == "SUCCEEDED":
            event.output_uri = f"{self._root}/{step.node_id}/data/0/outputs.pb"
        return admin.NodeExecutionEventRequest(event=event)

    def cache_hit(
        self, step: Step, occurred_ns: int, reported_ns: int, source_execution: str
    ) -> admin.NodeExecutionEventRequest:
        """Give the first and only event of a node whose result was in the cache."""
        request = self.node(step, "SUCCEEDED", occurred_ns, reported_ns)
        source = identifier_pb2.TaskExecutionIdentifier(task_id=self._task_id(step))
        source.node_execution_id.node_id = step.node_id
        source.node_execution_id.execution_id.CopyFrom(self._execution_id)
        source.node_execution_id.execution_id.name = source_execution
        dataset_id = self._task_id(step)
        dataset_id.resource_type = identifier_pb2.DATASET
        request.event.task_node_metadata.CopyFrom(
            event_pb2.TaskNodeMetadata(
                cache_status=catalog_pb2.CACHE_HIT,
                catalog_key=catalog_pb2.CatalogMetadata(
                    dataset_id=dataset_id,
                    artifact_tag=catalog_pb2.CatalogArtifactTag(
                        artifact_id=f"{source_execution}-artifact",
                        name=f"flyte_cached-{source_execution}",
                    ),
                    source_task_execution=source,
                ),
            )
        )
        return request

    def task(
        self, step: Step, retry_attempt: int, report: TaskReport
    ) -> admin.TaskExecutionEventRequest:
        """Give an event of an attempt of a task that runs as a pod."""
        event = event_pb2.TaskExecutionEvent(
            task_id=self._task_id(step),
            parent_node_execution_id=self._node_execution_id(step.node_id),
            retry_attempt=retry_attempt,
            phase=report.phase,
            phase_version=report.phase_version,
            producer_id=_PRODUCER,
            occurred_at=to_timestamp(report.occurred_ns),
            reported_at=to_timestamp(report.reported_ns),
            input_uri=self._input_uri(step),
            task_type="python-task",
            event_version=1,
            metadata=event_pb2.TaskExecutionMetadata(
                generated_name=self.pod_name(step, retry_attempt),
                plugin_identifier="pod",
                instance_class="INTERRUPTIBLE" if step.is_interruptible else "DEFAULT",
            ),
        )
        if report.reason:
            event.reasons.add(reason=report.reason, occurred_at=event.occurred_at)
        for note in report.notes:
            event.reasons.add(reason=note.text, occurred_at=to_timestamp(note.occurred_ns))
        if report.phase in {"RUNNING", "SUCCEEDED", "FAILED"}:
            event.logs.append(self._log(step, retry_attempt))
        if report.phase == "SUCCEEDED":
            event.output_uri = f"{self._root}/{step.node_id}/data/{retry_attempt}/outputs.pb"
        if report.error is not None:
            event.error.CopyFrom(report.error)
            event.error.error_uri = f"{self._root}/{step.node_id}/data/{retry_attempt}/error.pb"
        return admin.TaskExecutionEventRequest(event=event)

    def pod_name(self, step: Step, retry_attempt: int) -> str:
        """Give the name of the pod that an attempt runs in."""
        return f"{self._name}-{step.node_id}-{retry_attempt}"

    def _node(
        self, node_id: str, node_name: str, phase: str, times_ns: tuple[int, int]
    ) -> event_pb2.NodeExecutionEvent:
        occurred_at, reported_at = map(to_timestamp, times_ns)
        return event_pb2.NodeExecutionEvent(
            id=self._node_execution_id(node_id),
            producer_id=_PRODUCER,
            phase=phase,
            occurred_at=occurred_at,
            reported_at=reported_at,
            spec_node_id=node_id,
            node_name=node_name,
            event_version=1,
        )

    def _node_execution_id(self, node_id: str) -> identifier_pb2.NodeExecutionIdentifier:
        return identifier_pb2.NodeExecutionIdentifier(
            node_id=node_id, execution_id=self._execution_id
        )

    def _task_id(self, step: Step) -> identifier_pb2.Identifier:
        return identifier_pb2.Identifier(
            resource_type=identifier_pb2.TASK,
            project=self._execution_id.project,
            domain=self._execution_id.domain,
            name=step.task_name,
            version=_VERSION,
        )

    def _input_uri(self, step: Step) -> str:
        return f"{self._root}/{step.node_id}/data/inputs.pb"

    def _log(self, step: Step, retry_attempt: int) -> execution_pb2.TaskLog:
        pod = self.pod_name(step, retry_attempt)
        namespace = f"{self._execution_id.project}-{self._execution_id.domain}"
        return execution_pb2.TaskLog(
            name=f"Kubernetes Logs (User) {retry_attempt}",
            uri=f"https://logs.example.com/#/log/{namespace}/{pod}/pod",
            message_format=execution_pb2.TaskLog.JSON,
        )

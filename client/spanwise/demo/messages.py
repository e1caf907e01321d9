"""Event requests in the form that FlytePropeller gives them.

Source: flytepropeller v1.16, pkg/controller/nodes/transformers.go, nodes/task/transformer.go,
nodes/array/event_recorder.go and workflow/executor.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flyteidl.admin import event_pb2 as admin
from flyteidl.core import catalog_pb2, execution_pb2, identifier_pb2
from flyteidl.event import event_pb2

from spanwise._identifiers import ExecutionId
from spanwise._times import to_timestamp
from spanwise.demo.ids import Place, pod_name
from spanwise.demo.plot import VERSION, Task

_PRODUCER = "propeller"  # the default of propeller.cluster-id
_BUCKET = "s3://flyte-metadata/propeller"

EventRequest = (
    admin.WorkflowExecutionEventRequest
    | admin.NodeExecutionEventRequest
    | admin.TaskExecutionEventRequest
)


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


class ArrayReport(NamedTuple):
    """What one event tells about the attempt of a map task.

    Attributes:
        phase: Name of a flyteidl TaskExecution.Phase.
        phase_version: Version inside the phase.
        occurred_ns: When the event was built.
        resources: What changed of the items since the last event.
    """

    phase: str
    phase_version: int
    occurred_ns: int
    resources: Sequence[event_pb2.ExternalResourceInfo]


class Messages:
    """Builds the event requests of one execution.

    Attributes:
        namespace: Where its pods run.
    """

    def __init__(self, execution_id: ExecutionId) -> None:
        self._name = execution_id.name
        self._execution_id = identifier_pb2.WorkflowExecutionIdentifier(
            project=execution_id.project, domain=execution_id.domain, name=execution_id.name
        )
        self.namespace = f"{execution_id.project}-{execution_id.domain}"
        self._root = f"{_BUCKET}/{self.namespace}-{execution_id.name}"

    def workflow(self, phase: str, occurred_ns: int) -> admin.WorkflowExecutionEventRequest:
        """Give an event of the execution. It has no reported_at and no event_version."""
        event = event_pb2.WorkflowExecutionEvent(
            execution_id=self._execution_id,
            producer_id=_PRODUCER,
            phase=phase,
            occurred_at=to_timestamp(occurred_ns),
        )
        if phase == "SUCCEEDED":
            event.output_uri = self.output_uri("end-node")
        return admin.WorkflowExecutionEventRequest(event=event)

    def node(
        self, place: Place, name: str, phase: str, occurred_ns: int, reported_ns: int
    ) -> admin.NodeExecutionEventRequest:
        """Give what the events of nodes of every kind have in common.

        Args:
            place: Where the node stands.
            name: Name of the node that people see.
            phase: Name of a flyteidl NodeExecution.Phase.
            occurred_ns: When it happened.
            reported_ns: When propeller built the event.
        """
        event = event_pb2.NodeExecutionEvent(
            id=self._node_execution_id(place),
            producer_id=_PRODUCER,
            phase=phase,
            occurred_at=to_timestamp(occurred_ns),
            reported_at=to_timestamp(reported_ns),
            spec_node_id=place.spec_id,
            node_name=name,
            event_version=1,
            is_in_dynamic_chain=place.is_in_dynamic_chain,
        )
        if place.parent_id:
            event.parent_node_metadata.node_id = place.parent_id
            event.retry_group = "0"  # attempt of the parent
        if place.spec_id != "start-node":
            event.input_uri = self._input_uri(place)
        if phase == "SUCCEEDED":
            event.output_uri = self.output_uri(place.node_id)
        return admin.NodeExecutionEventRequest(event=event)

    def task(
        self, place: Place, task: Task, retry_attempt: int, report: TaskReport
    ) -> admin.TaskExecutionEventRequest:
        """Give an event of an attempt of a task that runs as a pod."""
        pod = self.pod_name(place, retry_attempt)
        event = event_pb2.TaskExecutionEvent(
            task_id=self.task_id(task),
            parent_node_execution_id=self._node_execution_id(place),
            retry_attempt=retry_attempt,
            phase=report.phase,
            phase_version=report.phase_version,
            producer_id=_PRODUCER,
            occurred_at=to_timestamp(report.occurred_ns),
            reported_at=to_timestamp(report.reported_ns),
            input_uri=self._input_uri(place),
            task_type="python-task",
            event_version=1,
            metadata=event_pb2.TaskExecutionMetadata(
                generated_name=pod,
                plugin_identifier="pod",
                instance_class="INTERRUPTIBLE" if task.is_interruptible else "DEFAULT",
            ),
        )
        if report.reason:
            event.reasons.add(reason=report.reason, occurred_at=event.occurred_at)
        for note in report.notes:
            event.reasons.add(reason=note.text, occurred_at=to_timestamp(note.occurred_ns))
        if report.phase in {"RUNNING", "SUCCEEDED", "FAILED"}:
            event.logs.append(self.log(f"Kubernetes Logs (User) {retry_attempt}", pod))
        if report.phase == "SUCCEEDED":
            event.output_uri = self.output_uri(place.node_id, retry_attempt)
        if report.error is not None:
            event.error.CopyFrom(report.error)
            event.error.error_uri = f"{self._root}/{place.node_id}/data/{retry_attempt}/error.pb"
        return admin.TaskExecutionEventRequest(event=event)

    def array(
        self, place: Place, task: Task, report: ArrayReport
    ) -> admin.TaskExecutionEventRequest:
        """Give an event of the one attempt that a map task has: no producer, no reported_at."""
        event = event_pb2.TaskExecutionEvent(
            task_id=self.task_id(task),
            parent_node_execution_id=self._node_execution_id(place),
            phase=report.phase,
            phase_version=report.phase_version,
            occurred_at=to_timestamp(report.occurred_ns),
            task_type="container_array",
            event_version=1,
            metadata=event_pb2.TaskExecutionMetadata(
                plugin_identifier="k8s-array", external_resources=report.resources
            ),
        )
        if report.phase == "QUEUED":
            event.input_uri = self._input_uri(place)
        if report.phase == "SUCCEEDED":
            event.output_uri = self.output_uri(place.node_id)
        return admin.TaskExecutionEventRequest(event=event)

    def task_id(self, task: Task) -> identifier_pb2.Identifier:
        """Give the identifier of a task."""
        return self.identifier("TASK", task.name)

    def identifier(self, resource_type: str, name: str) -> identifier_pb2.Identifier:
        """Give the identifier of a task, a workflow or a launch plan of the samples."""
        return identifier_pb2.Identifier(
            resource_type=resource_type,
            project=self._execution_id.project,
            domain=self._execution_id.domain,
            name=name,
            version=VERSION,
        )

    def execution_id(self, name: str) -> identifier_pb2.WorkflowExecutionIdentifier:
        """Give the identifier of an execution of the same project and domain."""
        return identifier_pb2.WorkflowExecutionIdentifier(
            project=self._execution_id.project, domain=self._execution_id.domain, name=name
        )

    def pod_name(self, place: Place, retry_attempt: int) -> str:
        """Give the name of the pod that an attempt runs in."""
        return pod_name(self._name, place.node_id, retry_attempt)

    def log(self, name: str, pod: str) -> execution_pb2.TaskLog:
        """Give the link to the log of a pod."""
        return execution_pb2.TaskLog(
            name=name,
            uri=f"https://logs.example.com/#/log/{self.namespace}/{pod}/pod",
            message_format=execution_pb2.TaskLog.JSON,
        )

    def output_uri(self, node_id: str, retry_attempt: int = 0) -> str:
        """Give where an attempt leaves its outputs."""
        return f"{self._root}/{node_id}/data/{retry_attempt}/outputs.pb"

    def futures_uri(self, place: Place) -> str:
        """Give where a dynamic task leaves the workflow that it made."""
        return f"{self._root}/{place.node_id}/data/0/futures.pb"

    def catalog_key(
        self, place: Place, task: Task, source_execution: str
    ) -> catalog_pb2.CatalogMetadata:
        """Give the entry of the cache that `source_execution` left for the task of a node."""
        source = identifier_pb2.TaskExecutionIdentifier(task_id=self.task_id(task))
        source.node_execution_id.node_id = place.node_id
        source.node_execution_id.execution_id.CopyFrom(self.execution_id(source_execution))
        return catalog_pb2.CatalogMetadata(
            dataset_id=self.identifier("DATASET", task.name),
            artifact_tag=catalog_pb2.CatalogArtifactTag(
                artifact_id=f"{source_execution}-artifact", name=f"flyte_cached-{source_execution}"
            ),
            source_task_execution=source,
        )

    def _node_execution_id(self, place: Place) -> identifier_pb2.NodeExecutionIdentifier:
        return identifier_pb2.NodeExecutionIdentifier(
            node_id=place.node_id, execution_id=self._execution_id
        )

    def _input_uri(self, place: Place) -> str:
        return f"{self._root}/{place.node_id}/data/inputs.pb"

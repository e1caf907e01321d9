"""Task events as FlytePropeller sends them: 460 bytes and two reasons each."""

from collections.abc import Iterator

from flyteidl.admin import event_pb2 as admin_event_pb2
from flyteidl.core import execution_pb2, identifier_pb2
from flyteidl.event import event_pb2

PAYLOAD_BYTES = 460
METHOD = "/flyteidl.service.AdminService/CreateTaskEvent"

_EVENTS_PER_ATTEMPT = 5
_PHASES = (
    execution_pb2.TaskExecution.QUEUED,
    execution_pb2.TaskExecution.INITIALIZING,
    execution_pb2.TaskExecution.INITIALIZING,
    execution_pb2.TaskExecution.RUNNING,
    execution_pb2.TaskExecution.SUCCEEDED,
)


def task_events(run: str, count: int, *, nodes_per_execution: int = 20) -> Iterator[bytes]:
    """Give `count` serialised TaskExecutionEventRequest, new ones for each `run`.

    The events of several attempts are interleaved as several workers send them; an attempt gets
    five events in the order of its life.
    """
    attempts = max(1, count // _EVENTS_PER_ATTEMPT)
    for number in range(count):
        step, attempt = divmod(number, attempts)
        execution, node = divmod(attempt, nodes_per_execution)
        yield _task_event(f"{run}{execution:08d}", f"n{node}", step, number)


def _task_event(execution: str, node: str, step: int, number: int) -> bytes:
    task_id = identifier_pb2.Identifier(
        resource_type=identifier_pb2.TASK,
        project="flytesnacks",
        domain="development",
        name="pipelines.training.preprocess",
        version="v1.24.3",
    )
    node_id = identifier_pb2.NodeExecutionIdentifier(
        node_id=node,
        execution_id=identifier_pb2.WorkflowExecutionIdentifier(
            project="flytesnacks", domain="development", name=execution
        ),
    )
    event = event_pb2.TaskExecutionEvent(
        task_id=task_id,
        parent_node_execution_id=node_id,
        phase=_PHASES[min(step, len(_PHASES) - 1)],
        phase_version=step,
        producer_id="propeller",
        task_type="python-task",
        event_version=1,
    )
    event.occurred_at.FromNanoseconds(1_764_000_000_000_000_000 + step * 10**9 + number)
    event.reported_at.FromNanoseconds(1_764_000_000_500_000_000 + step * 10**9 + number)
    for part, text in enumerate(("0/12 nodes are available", "Successfully pulled image")):
        reason = event.reasons.add(reason=f"{text} ({step})")
        reason.occurred_at.FromNanoseconds(1_764_000_000_000_000_000 + step * 10**9 + part)
    request = admin_event_pb2.TaskExecutionEventRequest(event=event)
    missing = PAYLOAD_BYTES - request.ByteSize()
    event.input_uri = "s3://" + "x" * max(1, missing - 9)
    request.event.CopyFrom(event)
    return request.SerializeToString()

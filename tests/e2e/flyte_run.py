"""Sending of one execution's Flyte events, as FlytePropeller sends them, and reading of it back."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
from flyteidl.admin.event_pb2 import EventFailureReason
from flyteidl.core.execution_pb2 import NodeExecution, TaskExecution, WorkflowExecution
from flyteidl.core.identifier_pb2 import NodeExecutionIdentifier, WorkflowExecutionIdentifier
from flyteidl.event.event_pb2 import EventReason
from grpc_status import rpc_status

from spanwise.v1 import event_service_pb2, identifiers_pb2, span_pb2, span_service_pb2
from spanwise.v1.event_service_pb2 import LoggedEvent
from tests.e2e.harness import Stubs, failure
from tests.unit.rpc.flyte import T0, at, node_event, task_event, workflow_event

_numbers: Iterator[int] = itertools.count()

OK = grpc.StatusCode.OK
ALREADY_EXISTS = grpc.StatusCode.ALREADY_EXISTS
FAILED_PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION


class Run:
    """One execution with a name of its own. Times are seconds after T0.

    Each sending method gives the status code of the answer; `refusal` is the EventFailureReason of
    the last answer that had one.
    """

    def __init__(
        self,
        stubs: Stubs,
        name: str | None = None,
        *,
        project: str = "flytesnacks",
        domain: str = "development",
    ) -> None:
        """Talk to a server through `stubs`."""
        self._stubs = stubs
        self.name = name or f"run{next(_numbers)}"
        self.flyte_id = WorkflowExecutionIdentifier(project=project, domain=domain, name=self.name)
        self.id = identifiers_pb2.ExecutionId(project=project, domain=domain, name=self.name)
        self.refusal: EventFailureReason | None = None

    def workflow(self, phase: str, seconds: float, **fields: Any) -> grpc.StatusCode:
        """Send a workflow event."""
        number = WorkflowExecution.Phase.Value(phase)
        request = workflow_event(
            execution_id=self.flyte_id, phase=number, occurred_at=at(seconds), **fields
        )
        return self._send(self._stubs.admin.CreateWorkflowEvent, request)

    def node(self, node_id: str, phase: str, seconds: float, **fields: Any) -> grpc.StatusCode:
        """Send a node event, reported at once unless `fields` say otherwise."""
        usual: dict[str, Any] = {"reported_at": at(seconds), "spec_node_id": node_id}
        request = node_event(
            id=NodeExecutionIdentifier(node_id=node_id, execution_id=self.flyte_id),
            phase=NodeExecution.Phase.Value(phase),
            occurred_at=at(seconds),
            **{**usual, **fields},
        )
        return self._send(self._stubs.admin.CreateNodeEvent, request)

    def task(
        self,
        node_id: str,
        phase: str,
        seconds: float,
        *,
        reasons: Sequence[tuple[str, float]] = (),
        **fields: Any,
    ) -> grpc.StatusCode:
        """Send a task event, reported at once unless `fields` say otherwise."""
        usual: dict[str, Any] = {"reported_at": at(seconds)}
        request = task_event(
            parent_node_execution_id=NodeExecutionIdentifier(
                node_id=node_id, execution_id=self.flyte_id
            ),
            phase=TaskExecution.Phase.Value(phase),
            occurred_at=at(seconds),
            reasons=[EventReason(reason=text, occurred_at=at(when)) for text, when in reasons],
            **{**usual, **fields},
        )
        return self._send(self._stubs.admin.CreateTaskEvent, request)

    def spans(self) -> list[span_pb2.Span]:
        """Give the native tree, flat, as of a moment at which nothing is stale."""
        request = span_service_pb2.GetExecutionSpanRequest(execution_id=self.id, as_of=at(3600))
        return list(self._stubs.spans.GetExecutionSpan(request).spans)

    def span(self, kind: str) -> span_pb2.Span:
        """Give the only span with a subject of this kind."""
        (span,) = [span for span in self.spans() if span.WhichOneof("subject") == kind]
        return span

    def log(self) -> list[LoggedEvent]:
        """Give the logged events, up to a thousand, in the order of receipt."""
        request = event_service_pb2.ListEventsRequest(
            execution_id=self.id, page_size=1000, include_payload=True
        )
        return list(self._stubs.events.ListEvents(request).events)

    def dispositions(self) -> list[str]:
        """Give what became of each event, in the order of receipt."""
        return [
            event_service_pb2.Disposition.Name(event.disposition).removeprefix("DISPOSITION_")
            for event in self.log()
        ]

    def _send(self, stub: Any, request: Any) -> grpc.StatusCode:
        try:
            stub(request)
        except grpc.RpcError as error:
            self._keep_refusal(error)
            return failure(error)[0]
        return OK

    def _keep_refusal(self, error: Any) -> None:
        status = rpc_status.from_call(error)
        for detail in status.details if status is not None else ():
            reason = EventFailureReason()
            if detail.Unpack(reason):
                self.refusal = reason


def seconds(timestamp: Any) -> float:
    """Give a timestamp as seconds after T0."""
    return float(timestamp.seconds - T0 + timestamp.nanos / 1e9)


def bounds(span: span_pb2.Span) -> tuple[float, float | None]:
    """Give start and end in seconds after T0."""
    end = seconds(span.end_time) if span.HasField("end_time") else None
    return seconds(span.start_time), end


def ticks(span: span_pb2.Span) -> list[tuple[str, float]]:
    """Give the reasons of a span with their times."""
    return [(reason.message, seconds(reason.occurred_at)) for reason in span.reasons]


def qualities(message: span_pb2.Span | LoggedEvent) -> set[str]:
    """Give the quality flags of a span or an event."""
    if isinstance(message, span_pb2.Span):
        names = map(span_pb2.SpanQuality.Name, message.qualities)
        return {name.removeprefix("SPAN_QUALITY_") for name in names}
    names = map(event_service_pb2.EventQuality.Name, message.qualities)
    return {name.removeprefix("EVENT_QUALITY_") for name in names}

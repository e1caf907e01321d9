"""Client: the door to a spanwise server."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import grpc
from google.protobuf.message import Message

from spanwise._diagnosis import Diagnosis
from spanwise._errors import (
    ExecutionNotFound,
    InvalidRequest,
    RemoteError,
    ServerFailed,
    WorkflowNotFound,
    translated,
)
from spanwise._event_stream import AnyEvent, EventVerdict, send_events
from spanwise._identifiers import ExecutionId, checked_text
from spanwise._span import ExecutionSpan
from spanwise._times import Moment, moment_to_timestamp, to_ns
from spanwise._values import enum_name, phase_name
from spanwise._watch import follow_events, follow_tree
from spanwise.v1 import (
    event_pb2,
    event_service_pb2,
    event_service_pb2_grpc,
    identifiers_pb2,
    phase_pb2,
    span_pb2,
    span_service_pb2,
    span_service_pb2_grpc,
    workflow_pb2,
    workflow_service_pb2,
    workflow_service_pb2_grpc,
)

DEFAULT_ENDPOINT = "127.0.0.1:8089"
"""Where `spanwise serve` listens unless it is told otherwise: FlyteAdmin's port."""

# An execution of many nodes does not fit into gRPC's 4 MiB; the server's cap is the same.
_MAX_RECEIVE_BYTES = 64 * 1024 * 1024
_PAGE_BYTES = 60 * 1024 * 1024  # the most that the server sends at once
_KEEPALIVE_MS = 60_000  # spanwise's server takes a ping every 5 s
_MOST_FINDINGS = (1 << 31) - 1
_LARGEST_DEPTH = (1 << 32) - 1
_LARGEST_SEQUENCE = (1 << 63) - 1
_ENDPOINT = re.compile(r"(\[[^\[\]\s]+\]|[^\[\]:/\s]+):[0-9]+")
_LOOPBACK = ("127.", "localhost:", "[::1]:")

EventOrder = Literal["recorded", "occurred"]


class EventReceipt(NamedTuple):
    """Where an event went.

    Attributes:
        sequence: Position among the events of its execution, from 1.
        disposition: "ACCEPTED", or "LATE" for an event that is older than what was stored.
    """

    sequence: int
    disposition: str


class Client:
    """A connection to a spanwise server.

        with Client("127.0.0.1:8089") as client:
            client.get_execution_span("flytesnacks/development/a1b2c3").explain()

    Connects when it is first used and again when the connection is lost. May be used by several
    threads at once, but not across a fork. Every method may raise a subclass of SpanwiseError,
    never an error of gRPC.
    """

    def __init__(self, endpoint: str = DEFAULT_ENDPOINT, *, timeout_s: float = 60.0) -> None:
        """Prepare the connection; nothing is sent yet.

        Args:
            endpoint: HOST:PORT of the server's gRPC address, without a scheme. Both are needed.
            timeout_s: Longest wait for one answer, in seconds. A list is one answer a page.

        Raises:
            InvalidRequest: The endpoint does not have that form.
        """
        self._endpoint = checked_endpoint(endpoint)
        self._timeout_s = timeout_s
        self._is_closed = False
        self._channel = grpc.insecure_channel(endpoint, options=channel_options(endpoint))
        self._events = event_service_pb2_grpc.EventServiceStub(self._channel)
        self._spans = span_service_pb2_grpc.SpanServiceStub(self._channel)
        self._workflows = workflow_service_pb2_grpc.WorkflowServiceStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def endpoint(self) -> str:
        """HOST:PORT of the server."""
        return self._endpoint

    def close(self) -> None:
        """Close the connection. Calls that are under way fail. May be called again."""
        self._is_closed = True
        self._channel.close()

    def get_execution_span(
        self,
        execution_id: str | ExecutionId,
        *,
        as_of: Moment | None = None,
        depth: int | None = None,
        include_totals: bool = False,
    ) -> ExecutionSpan:
        """Give the tree of spans of an execution.

        Args:
            execution_id: "project/domain/name", or an ExecutionId.
            as_of: Moment up to which open spans are drawn: an aware datetime or nanoseconds since
                the epoch. None means now.
            depth: Levels below the execution, from 0: the execution alone. None means all.
            include_totals: Whether `ExecutionSpan.totals` are filled in.

        Raises:
            ExecutionNotFound: The server knows no such execution.
            InvalidRequest: An argument does not have its form.
        """
        wanted = _execution_id(execution_id)
        request = span_service_pb2.GetExecutionSpanRequest(
            execution_id=wanted.to_message(),
            include_totals=include_totals,
            max_bytes=_PAGE_BYTES,
        )
        if as_of is not None:
            request.as_of.CopyFrom(moment_to_timestamp(as_of))
        if depth is not None:
            request.selection.depth = _depth(depth)
        subject = f"execution {wanted}"
        pages = list(self._pages(self._spans.GetExecutionSpan, request, subject))
        spans = [span for page in pages for span in page.spans]
        if not spans:
            raise ServerFailed(self._endpoint, subject, "the answer holds no span")
        return ExecutionSpan.from_messages(
            spans, to_ns(pages[0].as_of), truncated=pages[-1].truncated
        )

    def stream_execution_span(self, execution_id: str | ExecutionId) -> Iterator[span_pb2.Span]:
        """Give the spans of an execution as they were sent, one by one: for those that are many.

        In pre-order, a span before its children. Errors come from the iteration.

        Args:
            execution_id: "project/domain/name", or an ExecutionId.

        Raises:
            ExecutionNotFound: The server knows no such execution.
            InvalidRequest: An argument does not have its form.
        """
        wanted = _execution_id(execution_id)
        request = span_service_pb2.StreamExecutionSpanRequest(execution_id=wanted.to_message())
        chunks = self._stream(self._spans.StreamExecutionSpan, request, f"execution {wanted}")
        return (span for chunk in chunks for span in chunk.spans)

    def watch_execution_span(
        self, execution_id: str | ExecutionId, *, depth: int | None = None
    ) -> Iterator[ExecutionSpan]:
        """Give the tree of spans of an execution now, and again whenever it has changed.

            for root in client.watch_execution_span("flytesnacks/development/a1b2c3"):
                print(root.phase, root.duration_ns)

        Each tree is whole, and a new one. The execution need not be known yet: the first tree comes
        once it is. The iterator ends after the tree in which the execution has ended; until then it
        waits, without the `timeout_s` of the client. Whoever is slow misses trees, never the newest
        one. When the server goes away it is called again, about 20 s long; its first tree may then
        be one that was given before. Errors come from the iteration. Close the iterator, or leave
        it to the garbage collector, to stop watching.

        Args:
            execution_id: "project/domain/name", or an ExecutionId.
            depth: Levels below the execution, from 0: the execution alone. None means all.

        Raises:
            ServerUnavailable: No server answered for about 20 s.
            InvalidRequest: An argument does not have its form.
        """
        wanted = _execution_id(execution_id)
        request = span_service_pb2.WatchExecutionSpanRequest(execution_id=wanted.to_message())
        if depth is not None:
            request.selection.depth = _depth(depth)
        subject = f"execution {wanted}"
        call = partial(self._stream, self._spans.WatchExecutionSpan, request, subject)
        return follow_tree(call, self._endpoint, subject)

    def diagnose_execution(
        self,
        execution_id: str | ExecutionId,
        *,
        max_findings: int = 5,
        as_of: Moment | None = None,
    ) -> Diagnosis:
        """Say what cost an execution most, why, and what is known to help.

        Args:
            execution_id: "project/domain/name", or an ExecutionId.
            max_findings: Most findings, at least 1; the server gives no more than 50.
            as_of: Moment up to which open spans are drawn: an aware datetime or nanoseconds since
                the epoch. None means now.

        Raises:
            ExecutionNotFound: The server knows no such execution.
            InvalidRequest: An argument does not have its form.
        """
        wanted = _execution_id(execution_id)
        if not 1 <= max_findings <= _MOST_FINDINGS:
            raise InvalidRequest(f"max_findings {max_findings} is not a number from 1")
        request = span_service_pb2.DiagnoseExecutionRequest(
            execution_id=wanted.to_message(), max_findings=max_findings
        )
        if as_of is not None:
            request.as_of.CopyFrom(moment_to_timestamp(as_of))
        answer = self._call(self._spans.DiagnoseExecution, request, f"execution {wanted}")
        return Diagnosis.from_message(wanted, answer)

    def list_executions(  # noqa: PLR0913 - one keyword for each filter of the call
        self,
        project: str = "",
        domain: str = "",
        *,
        phases: Iterable[str] = (),
        started_after: Moment | None = None,
        started_before: Moment | None = None,
        search: str = "",
        slower_than_usual: bool = False,
        page_size: int = 0,
    ) -> Iterator[span_service_pb2.ExecutionSummary]:
        """Give the executions that the server knows, the newest start first.

        Pages are fetched as the iterator goes on, so errors come from the iteration.

        Args:
            project: Only of this project; "" means of all.
            domain: Only of this domain; "" means of all.
            phases: Only in one of these phases, for instance ["FAILED", "ABORTED"]; none means in
                any.
            started_after: Only those that started at or after this moment.
            started_before: Only those that started before this moment.
            search: Only those whose name, or the name of whose workflow, contains this text, in
                upper or lower case; "" means all.
            slower_than_usual: Only those that took, or take by now, longer than the 95th
                percentile of the last 50 executions of their workflow that succeeded.
            page_size: Most executions of one call, 1 to 1000; 0 leaves it to the server.

        Raises:
            InvalidRequest: An argument does not have its form.
        """
        request = span_service_pb2.ListExecutionsRequest(
            project=checked_text(project),
            domain=checked_text(domain),
            phases=[_phase(phase) for phase in phases],
            search=checked_text(search),
            slower_than_usual=slower_than_usual,
            page_size=page_size,
        )
        if started_after is not None:
            request.started_after.CopyFrom(moment_to_timestamp(started_after))
        if started_before is not None:
            request.started_before.CopyFrom(moment_to_timestamp(started_before))
        pages = self._pages(self._spans.ListExecutions, request, "the list of executions")
        return (summary for page in pages for summary in page.executions)

    def list_events(
        self,
        execution_id: str | ExecutionId,
        *,
        order: EventOrder = "recorded",
        include_payload: bool = False,
        page_size: int = 0,
    ) -> Iterator[event_service_pb2.LoggedEvent]:
        """Give every event of an execution that the server received: accepted, late or refused.

        Pages are fetched as the iterator goes on, so errors come from the iteration.

        Args:
            execution_id: "project/domain/name", or an ExecutionId.
            order: "recorded" for the order of receipt, "occurred" for that of the source's clock.
            include_payload: With the request bytes as they were received.
            page_size: Most events of one call, 1 to 1000; 0 leaves it to the server.

        Raises:
            InvalidRequest: An argument does not have its form.
            ExecutionNotFound: The server knows no such execution.
        """
        wanted = _execution_id(execution_id)
        request = event_service_pb2.ListEventsRequest(
            execution_id=wanted.to_message(),
            order=_order(order),
            include_payload=include_payload,
            page_size=page_size,
        )
        pages = self._pages(self._events.ListEvents, request, f"execution {wanted}")
        return (event for page in pages for event in page.events)

    def watch_events(
        self,
        execution_id: str | ExecutionId,
        *,
        after_sequence: int = 0,
        include_payload: bool = False,
    ) -> Iterator[event_service_pb2.LoggedEvent]:
        """Give every event of an execution, and go on with new ones as they are stored.

            for event in client.watch_events("flytesnacks/development/a1b2c3"):
                print(event.sequence, event.node_id, event.phase)

        Each comes once, in the order of receipt, `sequence` by `sequence` without a gap, whichever
        server took it. Keep the sequence of the last one that you are done with, and give it to go
        on behind it later. The execution need not be known yet. The iterator never ends by itself,
        for events may come after the execution has ended; it waits, without the `timeout_s` of the
        client. When the server goes away it is called again, about 20 s long, and nothing is lost
        or repeated. Errors come from the iteration. Close the iterator, or leave it to the garbage
        collector, to stop watching.

        Args:
            execution_id: "project/domain/name", or an ExecutionId.
            after_sequence: Sequence of the last event that you have; 0 for all events.
            include_payload: With the request bytes as they were received.

        Raises:
            ServerUnavailable: No server answered for about 20 s.
            ExecutionNotFound: It is being deleted, or was deleted since this began.
            InvalidRequest: An argument does not have its form, or the log ends before
                `after_sequence`.
        """
        wanted = _execution_id(execution_id)
        if not 0 <= after_sequence <= _LARGEST_SEQUENCE:
            raise InvalidRequest(f"after_sequence {after_sequence} is not a number from 0")

        def call(cursor: int) -> Iterator[event_service_pb2.WatchEventsResponse]:
            request = event_service_pb2.WatchEventsRequest(
                execution_id=wanted.to_message(),
                after_sequence=cursor,
                include_payload=include_payload,
            )
            return self._stream(self._events.WatchEvents, request, f"execution {wanted}")

        return follow_events(call, after_sequence)

    def create_execution_event(self, event: event_pb2.ExecutionEvent) -> EventReceipt:
        """Store an event of an execution; returns after it is on disk.

        Events may come in any order and more than once. After ServerUnavailable or DeadlinePassed
        the same event can be sent again.

        Raises:
            AlreadyRecorded: It brings no new phase; what else was new in it is kept.
            Refused: It contradicts what is stored; it is logged.
            InvalidRequest: It names no execution.
        """
        request = event_service_pb2.CreateExecutionEventRequest(event=event)
        return self._create(
            self._events.CreateExecutionEvent, request, f"execution {_written(event.execution_id)}"
        )

    def create_node_event(self, event: event_pb2.NodeEvent) -> EventReceipt:
        """Store an event of a node: as create_execution_event."""
        request = event_service_pb2.CreateNodeEventRequest(event=event)
        return self._create(self._events.CreateNodeEvent, request, _written_node(event.node_id))

    def create_task_event(self, event: event_pb2.TaskEvent) -> EventReceipt:
        """Store an event of a task attempt: as create_execution_event."""
        request = event_service_pb2.CreateTaskEventRequest(event=event)
        attempt = event.task_attempt_id
        subject = f"attempt {attempt.retry_attempt} of {_written_node(attempt.node_id)}"
        return self._create(self._events.CreateTaskEvent, request, subject)

    def create_events(self, events: Iterable[AnyEvent]) -> Iterator[EventVerdict]:
        """Store many events, in batches over one call, and give what became of each, in order.

            for verdict in client.create_events(events):
                if not verdict.is_stored:
                    print(verdict.message)

        A verdict is given after its event is on disk. The iterator is what sends: it takes events
        as it goes on, is at most some 2,000 of them ahead of its verdicts, and waits for full
        batches, so a source that is slow is better sent with create_task_event and its like. It may
        take as long as it needs, without the `timeout_s` of the client. After ServerUnavailable,
        the events without a verdict can be sent again. Close the iterator to stop.

        Args:
            events: Events of any kind: spanwise.v1.ExecutionEvent, NodeEvent, TaskEvent, or a
                ReceivedEvent, which is one that a server received before, also from Flyte. An
                execution that several events are about gets them in this order.

        Raises:
            ServerUnavailable: No server answers, or it cannot store events now.
            InvalidRequest: One of the events is something else.
        """
        if self._is_closed:
            raise InvalidRequest("the client is closed")
        return send_events(self._events.CreateEvents, events, self._endpoint)

    def register_workflow(
        self, workflow: workflow_pb2.Workflow | Message | bytes
    ) -> identifiers_pb2.EntityVersion:
        """Store the definition of a workflow, in place of the one of its id, and give the id.

        Trees that are read from then on have its edges. They are those of executions whose events
        name the workflow, and of those that bind_execution binds to it; docs/workflows.md says when
        that is of use.

        Args:
            workflow: A spanwise.v1.Workflow, or the flyteidl.core.CompiledWorkflowClosure that
                FlyteAdmin gives, as a message or serialised.

        Raises:
            InvalidRequest: It is neither, or it contradicts itself: the message says where.
        """
        request = _registration(workflow)
        response = self._call(self._workflows.RegisterWorkflow, request, "the workflow")
        registered: identifiers_pb2.EntityVersion = response.workflow_id
        return registered

    def get_workflow(self, workflow_id: identifiers_pb2.EntityVersion) -> workflow_pb2.Workflow:
        """Give a registered definition, in the words of spanwise however it was registered.

        Raises:
            WorkflowNotFound: Nobody registered it.
            InvalidRequest: The id has no name.
        """
        request = workflow_service_pb2.GetWorkflowRequest(workflow_id=workflow_id)
        subject = f"workflow {_written_version(workflow_id)}"
        response = self._call(
            self._workflows.GetWorkflow, request, subject, not_found=WorkflowNotFound
        )
        workflow: workflow_pb2.Workflow = response.workflow
        return workflow

    def bind_execution(
        self, execution_id: str | ExecutionId, workflow_id: identifiers_pb2.EntityVersion
    ) -> None:
        """Say which workflow an execution runs, in place of what was said before.

        Neither need be known to the server yet. Events of Flyte 1 do not name the workflow.

        Args:
            execution_id: "project/domain/name", or an ExecutionId.
            workflow_id: The id that register_workflow gives.

        Raises:
            InvalidRequest: An argument does not have its form.
        """
        wanted = _execution_id(execution_id)
        request = workflow_service_pb2.BindExecutionRequest(
            execution_id=wanted.to_message(), workflow_id=workflow_id
        )
        self._call(self._workflows.BindExecution, request, f"the workflow of execution {wanted}")

    def _create(self, method: Callable[..., Any], request: Any, subject: str) -> EventReceipt:
        response = self._call(method, request, f"the event of {subject}")
        disposition = enum_name(event_service_pb2.Disposition, response.disposition)
        return EventReceipt(response.sequence, disposition)

    def _call(
        self,
        method: Callable[..., Any],
        request: Any,
        subject: str,
        *,
        not_found: type[RemoteError] = ExecutionNotFound,
    ) -> Any:
        # The generated stubs are untyped, hence the Any.
        if self._is_closed:
            raise InvalidRequest("the client is closed")
        with translated(self._endpoint, subject, not_found=not_found):
            return method(request, timeout=self._timeout_s)

    def _stream(self, method: Callable[..., Any], request: Any, subject: str) -> Iterator[Any]:
        """Give the answers of a call that may last as long as it wants; cancel it when closed."""
        if self._is_closed:
            raise InvalidRequest("the client is closed")
        with translated(self._endpoint, subject):
            call = method(request)
            try:
                yield from call
            finally:
                call.cancel()

    def _pages(self, method: Callable[..., Any], request: Any, subject: str) -> Iterator[Any]:
        """Give the pages of an AIP-158 method."""
        while True:
            page = self._call(method, request, subject)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token


def checked_endpoint(endpoint: str) -> str:
    """Give the endpoint back if it has the form HOST:PORT.

    Raises:
        InvalidRequest: It has another form.
    """
    if not _ENDPOINT.fullmatch(endpoint):
        raise InvalidRequest(f"endpoint {endpoint!r}: write HOST:PORT, for instance localhost:8089")
    return checked_text(endpoint)


def channel_options(endpoint: str) -> list[tuple[str, int]]:
    """Give the gRPC options of a channel to an endpoint."""
    options = [
        ("grpc.max_receive_message_length", _MAX_RECEIVE_BYTES),
        # A watch may be silent for hours, and a server that vanished says nothing either.
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.http2.max_pings_without_data", 0),
    ]
    if endpoint.startswith(_LOOPBACK):
        # gRPC follows http_proxy even for this machine, where no proxy can reach us.
        options.append(("grpc.enable_http_proxy", 0))
    return options


def _execution_id(value: str | ExecutionId) -> ExecutionId:
    if isinstance(value, str):
        return ExecutionId.parse(value)
    if not value.name:
        raise InvalidRequest("an execution id needs a name")
    checked_text(str(value))
    return value


_FLYTE_CLOSURE = "flyteidl.core.CompiledWorkflowClosure"


def _registration(workflow: Any) -> workflow_service_pb2.RegisterWorkflowRequest:
    if isinstance(workflow, workflow_pb2.Workflow):
        return workflow_service_pb2.RegisterWorkflowRequest(workflow=workflow)
    # By name: the client does without Flyte's messages.
    if isinstance(workflow, Message) and workflow.DESCRIPTOR.full_name == _FLYTE_CLOSURE:
        workflow = workflow.SerializeToString()
    if not isinstance(workflow, bytes):
        raise InvalidRequest(
            f"a workflow is a spanwise.v1.Workflow or a {_FLYTE_CLOSURE}, not a"
            f" {type(workflow).__qualname__}; classes of flytekit have to_flyte_idl()"
        )
    return workflow_service_pb2.RegisterWorkflowRequest(flyte_compiled_workflow=workflow)


def _depth(depth: int) -> int:
    if not 0 <= depth <= _LARGEST_DEPTH:
        raise InvalidRequest(f"depth {depth} is not a number from 0")
    return depth


def _order(order: EventOrder) -> event_service_pb2.EventOrder:
    if order == "recorded":
        return event_service_pb2.EVENT_ORDER_RECORDED
    if order == "occurred":
        return event_service_pb2.EVENT_ORDER_OCCURRED
    raise InvalidRequest(f"order {order!r} is neither 'recorded' nor 'occurred'")


def _phase(name: str) -> str:
    phases = [phase_name(number) for number in phase_pb2.Phase.values() if number]
    if name.upper() not in phases:
        raise InvalidRequest(f"{name!r} is no phase: the phases are {', '.join(phases)}")
    return f"PHASE_{name.upper()}"


def _written(message: identifiers_pb2.ExecutionId) -> str:
    return str(ExecutionId.from_message(message))


def _written_node(message: identifiers_pb2.NodeId) -> str:
    return f"node {message.node_id} of {_written(message.execution_id)}"


def _written_version(message: identifiers_pb2.EntityVersion) -> str:
    return f"{message.project}/{message.domain}/{message.name}/{message.version}"

"""Trees of spans as flyteidl.core.Span and back. Needs the package flyteidl."""

from flyteidl.core import identifier_pb2, metrics_pb2

from spanwise import _paths
from spanwise._span import ExecutionSpan
from spanwise._times import to_ns, to_timestamp
from spanwise._values import SpanKind
from spanwise.v1 import identifiers_pb2, span_pb2

_OPERATION_PREFIX = "OPERATION_"
_SUBTASK = "SUBTASK"

MAX_LEVELS = 90
"""Levels of spans in a core.Span. Protobuf parsers refuse messages that are nested 100 deep; what
such a span is sent in and the ids inside it take some of them. The server cuts at the same level.
"""


def to_flyte_idl(root: ExecutionSpan) -> metrics_pb2.Span:
    """Give the tree as a core.Span; see ExecutionSpan.to_flyte_idl."""
    result = metrics_pb2.Span()
    stack = [(root, result, 1)]
    while stack:
        span, target, level = stack.pop()
        target.start_time.CopyFrom(span.message.start_time)
        # Flyte has operations that end before they start; only an open span needs an end.
        end_ns = span.start_ns + span.duration_ns if span.end_ns is None else span.end_ns
        target.end_time.CopyFrom(to_timestamp(end_ns))
        _encode_subject(span, target)
        if level < MAX_LEVELS:
            if span.kind is SpanKind.SUBTASK:
                _add_time_of_subtask(target)
            add = target.spans.add
            stack.extend((child, add(), level + 1) for child in span.children)
    return result


def _add_time_of_subtask(span: metrics_pb2.Span) -> None:
    """Add an operation as long as the sub-task: flytekit shows the time of operations only."""
    span.spans.add(start_time=span.start_time, end_time=span.end_time, operation_id=_SUBTASK)


def _encode_subject(span: ExecutionSpan, target: metrics_pb2.Span) -> None:
    match span.kind:
        case SpanKind.EXECUTION:
            _encode_execution(span, target.workflow_id)
        case SpanKind.NODE:
            _encode_node(span, target.node_id)
        case SpanKind.SUBTASK:
            _encode_node(span, target.node_id)
            subtask = span.message.subtask
            target.node_id.node_id += f"-n{subtask.index}-{subtask.retry_attempt}"
        case SpanKind.TASK_ATTEMPT:
            attempt = span.message.task_attempt
            target.task_id.retry_attempt = attempt.retry_attempt
            _encode_node(span, target.task_id.node_execution_id)
            if attempt.HasField("task_id"):
                task_id = target.task_id.task_id
                task_id.resource_type = identifier_pb2.TASK
                task_id.project = attempt.task_id.project
                task_id.domain = attempt.task_id.domain
                task_id.name = attempt.task_id.name
                task_id.version = attempt.task_id.version
        case _:
            target.operation_id = _paths.label(span)


def _encode_node(span: ExecutionSpan, target: identifier_pb2.NodeExecutionIdentifier) -> None:
    target.node_id = span.node_id
    _encode_execution(span, target.execution_id)


def _encode_execution(
    span: ExecutionSpan, target: identifier_pb2.WorkflowExecutionIdentifier
) -> None:
    above: ExecutionSpan | None = span
    while above is not None and above.kind is not SpanKind.EXECUTION:
        above = above.parent
    if above is not None:
        source = above.message.execution.execution_id
        target.project, target.domain, target.name = source.project, source.domain, source.name
        target.org = source.org


def from_flyte_idl(root: metrics_pb2.Span) -> tuple[list[span_pb2.Span], int]:
    """Read a core.Span.

    Returns:
        The spans as ExecutionSpan.from_messages takes them, and the latest end among them, in
        nanoseconds since the epoch.
    """
    messages: list[span_pb2.Span] = []
    latest_ns = 0
    stack = [(root, b"")]
    while stack:
        source, parent_id = stack.pop()
        # A core.Span has no id; its place in the tree is as good.
        message = span_pb2.Span(
            span_id=(len(messages) + 1).to_bytes(8, "big"), parent_span_id=parent_id
        )
        message.start_time.CopyFrom(source.start_time)
        if source.HasField("end_time"):
            message.end_time.CopyFrom(source.end_time)
            latest_ns = max(latest_ns, to_ns(source.end_time))
        _decode_subject(source, message)
        messages.append(message)
        stack.extend((child, message.span_id) for child in reversed(source.spans))
    return messages, latest_ns


def _decode_subject(source: metrics_pb2.Span, message: span_pb2.Span) -> None:
    match source.WhichOneof("id"):
        case "workflow_id":
            _decode_execution(source.workflow_id, message)
        case "node_id":
            message.node.node_id = source.node_id.node_id
            message.name = source.node_id.node_id
        case "task_id":
            attempt = message.task_attempt
            attempt.retry_attempt = source.task_id.retry_attempt
            task_id = source.task_id.task_id
            attempt.task_id.CopyFrom(
                identifiers_pb2.EntityVersion(
                    project=task_id.project,
                    domain=task_id.domain,
                    name=task_id.name,
                    version=task_id.version,
                )
            )
            message.name = task_id.name
        case _:
            _decode_operation(source.operation_id, message)


def _decode_execution(
    source: identifier_pb2.WorkflowExecutionIdentifier, message: span_pb2.Span
) -> None:
    message.name = source.name
    message.execution.execution_id.CopyFrom(
        identifiers_pb2.ExecutionId(
            project=source.project, domain=source.domain, name=source.name, org=source.org
        )
    )


def _decode_operation(operation_id: str, message: span_pb2.Span) -> None:
    message.name = operation_id
    known = _OPERATION_PREFIX + operation_id in span_pb2.Operation.keys()  # noqa: SIM118 - no dict
    message.operation.CopyFrom(
        span_pb2.OperationSubject(operation=_OPERATION_PREFIX + operation_id)
        if known
        else span_pb2.OperationSubject()
    )

"""Builders of span messages."""

import itertools
from collections.abc import Iterator, Sequence

from spanwise import ExecutionSpan
from spanwise._times import to_timestamp
from spanwise.v1 import event_pb2, span_pb2

SECOND_NS = 1_000_000_000
T0_NS = 1_672_567_200 * SECOND_NS
"""2023-01-01T10:00:00Z."""

_ids: Iterator[int] = itertools.count(1)


def span(
    start_s: float, end_s: float | None, parent: span_pb2.Span | None = None, name: str = ""
) -> span_pb2.Span:
    """Give a span without a subject; times are seconds after T0."""
    message = span_pb2.Span(
        span_id=next(_ids).to_bytes(8, "big"),
        parent_span_id=parent.span_id if parent is not None else b"",
        name=name,
        start_time=to_timestamp(at(start_s)),
    )
    if end_s is not None:
        message.end_time.CopyFrom(to_timestamp(at(end_s)))
    return message


def at(seconds: float) -> int:
    """Give the nanoseconds of a moment in seconds after T0."""
    return T0_NS + round(seconds * SECOND_NS)


def execution(
    start_s: float,
    end_s: float | None,
    name: str = "run",
    parent: span_pb2.Span | None = None,
) -> span_pb2.Span:
    """Give the span of an execution."""
    message = span(start_s, end_s, parent, name)
    message.execution.execution_id.project = "flytesnacks"
    message.execution.execution_id.domain = "development"
    message.execution.execution_id.name = name
    return message


def node(start_s: float, end_s: float | None, parent: span_pb2.Span, node_id: str) -> span_pb2.Span:
    """Give the span of a node."""
    message = span(start_s, end_s, parent, node_id)
    message.node.node_id = node_id
    return message


def attempt(
    start_s: float, end_s: float | None, parent: span_pb2.Span, retry_attempt: int = 0
) -> span_pb2.Span:
    """Give the span of a task attempt."""
    message = span(start_s, end_s, parent)
    message.task_attempt.retry_attempt = retry_attempt
    return message


def subtask(
    start_s: float, end_s: float | None, parent: span_pb2.Span, index: int, retry_attempt: int = 0
) -> span_pb2.Span:
    """Give the span of a sub-task."""
    message = span(start_s, end_s, parent)
    message.subtask.index, message.subtask.retry_attempt = index, retry_attempt
    return message


def operation(
    start_s: float, end_s: float | None, parent: span_pb2.Span, name: str
) -> span_pb2.Span:
    """Give the span of an operation."""
    message = span(start_s, end_s, parent, name)
    message.operation.CopyFrom(span_pb2.OperationSubject(operation=f"OPERATION_{name}"))
    return message


def reason(
    seconds: float,
    text: str,
    phase: str = "QUEUED",
    count: int = 1,
    operation: str = "UNSPECIFIED",
) -> span_pb2.SpanReason:
    """Give a reason."""
    return span_pb2.SpanReason(
        occurred_at=to_timestamp(at(seconds)),
        message=text,
        phase=f"PHASE_{phase}",
        count=count,
        operation=f"OPERATION_{operation}",
    )


def tree(messages: Sequence[span_pb2.Span], as_of_s: float = 100) -> ExecutionSpan:
    """Give the tree of spans in pre-order."""
    return ExecutionSpan.from_messages(messages, at(as_of_s))


def example() -> list[span_pb2.Span]:
    """Give the example of Flyte's page on execution tracing."""
    root = execution(0, 10)
    return [root, attempt(1, 5, root, retry_attempt=1)]


def training_run() -> list[span_pb2.Span]:
    """Give a run with a node of two attempts, the first of which failed, and an open node."""
    root = execution(0, None)
    n0 = node(1, 40, root, "n0")
    n0.name = "train"
    failed = attempt(1.5, 10, n0, 0)
    failed.phase = span_pb2.Span(phase="PHASE_FAILED").phase
    failed.qualities.append(span_pb2.SPAN_QUALITY_COARSE_TIMESTAMP)
    failed.error.CopyFrom(event_pb2.ExecutionError(code="OOMKilled", message="out of memory"))
    failed.reasons.extend(
        [
            reason(1.5, "submitted"),
            reason(2, "0/12 nodes are available"),
            reason(3, "0/12 nodes are available", count=4),
        ]
    )
    setup = operation(1.5, 6, failed, "TASK_SETUP")
    second = attempt(12, 39, n0, 1)
    n1 = node(40, None, root, "n1")
    return [
        root,
        operation(0, 1, root, "WORKFLOW_SETUP"),
        n0,
        operation(1, 1.5, n0, "NODE_SETUP"),
        failed,
        setup,
        operation(2, 5, setup, "SCHEDULING"),
        operation(6, 10, failed, "TASK_RUNTIME"),
        operation(10, 12, n0, "NODE_RESET"),
        second,
        operation(12, 39, second, "TASK_RUNTIME"),
        n1,
    ]


def deep(levels: int) -> list[span_pb2.Span]:
    """Give nodes inside nodes."""
    messages = [execution(0, levels + 1)]
    for level in range(levels):
        messages.append(node(level, levels + 1, messages[-1], f"n{level}"))
    return messages

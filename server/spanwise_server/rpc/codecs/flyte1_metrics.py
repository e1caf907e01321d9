"""Codec of Flyte's metrics: domain metric spans outward, as a tree of flyteidl.core.Span."""

from flyteidl.core.identifier_pb2 import (
    NodeExecutionIdentifier,
    ResourceType,
    WorkflowExecutionIdentifier,
)
from flyteidl.core.metrics_pb2 import Span

from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.metric_spans import MetricAttempt, MetricNode, MetricSpan
from spanwise_server.rpc.codecs.timestamps import SECOND_NS

MAX_LEVELS = 90
"""Levels of spans in an answer. Protobuf parsers refuse messages that are nested 100 deep; the
answer around the tree and the ids inside a span take up to five of them. A node below that level
keeps its times and loses its children: a partial answer instead of a failed call."""


def encode_metrics(root: MetricSpan, message: Span) -> None:
    """Fill a tree of metric spans into `message`."""
    stack = [(root, message, 1)]
    while stack:
        span, target, level = stack.pop()
        target.start_time.seconds, target.start_time.nanos = divmod(span.start_ns, SECOND_NS)
        target.end_time.seconds, target.end_time.nanos = divmod(span.end_ns, SECOND_NS)
        _fill_subject(target, span)
        if level < MAX_LEVELS:
            add = target.spans.add
            stack.extend([(child, add(), level + 1) for child in span.children])


def _fill_subject(message: Span, span: MetricSpan) -> None:
    subject = span.subject
    if isinstance(subject, str):
        message.operation_id = subject
    elif isinstance(subject, ExecutionId):
        _fill_execution(message.workflow_id, subject)
    elif isinstance(subject, MetricNode):
        _fill_node(message.node_id, subject)
    else:
        _fill_attempt(message, subject)


def _fill_attempt(message: Span, attempt: MetricAttempt) -> None:
    target = message.task_id
    _fill_node(target.node_execution_id, MetricNode(attempt.execution_id, attempt.node_id))
    task = target.task_id
    task.resource_type = ResourceType.TASK
    task.project, task.domain, task.name, task.version = attempt.task_id
    target.retry_attempt = attempt.retry_attempt


def _fill_node(message: NodeExecutionIdentifier, node: MetricNode) -> None:
    message.node_id = node.node_id
    _fill_execution(message.execution_id, node.execution_id)


def _fill_execution(message: WorkflowExecutionIdentifier, execution_id: ExecutionId) -> None:
    message.project, message.domain, message.name = execution_id

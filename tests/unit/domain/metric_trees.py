"""Span trees made by hand, as far as metrics are rendered from them. Times are seconds from T0."""

from collections.abc import Sequence
from enum import Enum

from spanwise_server.domain.events import CacheStatus
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.metric_spans import MetricAttempt, MetricNode, MetricSpan
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.spans import (
    ClosureTimes,
    ExecutionSubject,
    NodeSubject,
    Span,
    Subject,
    SubtaskSubject,
    TaskAttemptSubject,
)
from tests import metric_cases
from tests.metric_cases import END_ID, Times

SECOND_NS = 10**9
T0 = 643_852_800
EXECUTION_ID = ExecutionId("flytesnacks", "development", "run")
TASK_ID = EntityVersion("flytesnacks", "development", "train", "v1")

_NO_TIMES = Times(0, 0)


def at(seconds: float) -> int:
    """Give the nanoseconds of a moment."""
    return T0 * SECOND_NS + round(seconds * SECOND_NS)


def closure(times: Times) -> ClosureTimes:
    """Give times as a span has them."""
    started, duration = times.started, times.duration
    return ClosureTimes(
        created_ns=at(times.created),
        started_ns=None if started is None else at(started),
        ran_until_ns=None if started is None or duration is None else at(started + duration),
        updated_ns=at(times.updated),
    )


def execution(
    times: Times | None, children: Sequence[Span] = (), execution_id: ExecutionId = EXECUTION_ID
) -> Span:
    """Give an execution; without times it is a placeholder, as for all that follow."""
    return _span(ExecutionSubject(execution_id, "", EntityVersion()), times, children)


def node(
    node_id: str,
    kind: NodeKind,
    times: Times | None,
    children: Sequence[Span] = (),
    upstream: tuple[str, ...] = (),
) -> Span:
    """Give a node."""
    subject = NodeSubject(
        node_id, "", "", kind, EntityVersion(), CacheStatus.UNSPECIFIED, upstream, ""
    )
    return _span(subject, times, children)


def attempt(times: Times | None, number: int = 0, children: Sequence[Span] = ()) -> Span:
    """Give an attempt."""
    return _span(TaskAttemptSubject(TASK_ID, number, "python-task", (), False), times, children)


def subtask(ordinal: int, start: float, end: float | None, retry_attempt: int = 0) -> Span:
    """Give a sub-task."""
    subject = SubtaskSubject(ordinal, retry_attempt, "", CacheStatus.UNSPECIFIED, ())
    span = _span(subject, None, ())
    span.start_ns, span.end_ns = at(start), None if end is None else at(end)
    return span


def started(*nodes: Span, times: Times = _NO_TIMES) -> Span:
    """Give an execution of nodes, of which the start was reported at 0."""
    return execution(times, [node("start-node", NodeKind.START, Times(0, 0)), *nodes])


class Ends(Enum):
    """What a tree tells of what the end of a workflow waits for."""

    NOTHING = "nothing"
    SEEN = "seen"
    """The end has run, and says it."""
    DEFINED = "defined"
    """The definition of the workflow says it."""


def to_tree(case: metric_cases.Execution, ends: Ends) -> Span:
    """Give what a case is about as a tree."""
    span = execution(case.times)
    _fill(span, case.workflow, "", ends)
    return span


def _fill(span: Span, workflow: metric_cases.Workflow, prefix: str, ends: Ends) -> None:
    """Put the nodes of a workflow into a span."""
    span.children = [*span.children, *(_node(each, prefix, ends) for each in workflow.nodes)]
    there = {each.spec_id for each in workflow.nodes}
    awaited = tuple(prefix + each for each in workflow.end_upstream if each in there)
    if ends is Ends.SEEN:
        span.children = [
            *span.children,
            node(prefix + END_ID, NodeKind.END, Times(5000, 5000), (), awaited),
        ]
    elif ends is Ends.DEFINED:
        span.end_upstream_ids = awaited


def _node(case: metric_cases.Node, prefix: str, ends: Ends) -> Span:
    node_id = prefix + case.spec_id
    attempts = [attempt(times, number) for number, times in enumerate(case.attempts)]
    upstream = tuple(prefix + each for each in case.upstream)
    span = node(node_id, case.kind, case.times, attempts, upstream)
    if case.inside is not None:
        _fill(span, case.inside, f"{node_id}-0-", ends)
    if case.launched is not None:
        launched = execution(case.launched.times, (), EXECUTION_ID._replace(name="launched"))
        _fill(launched, case.launched.workflow, "", ends)
        span.children = [*span.children, launched]
    return span


def _span(subject: Subject, times: Times | None, children: Sequence[Span]) -> Span:
    span = Span(0, "", subject, at(0), None, children=list(children))
    if times is not None:
        span.closure = closure(times)
        span.start_ns, span.end_ns = at(times.created), at(max(times.created, times.updated))
    return span


def operations(span: MetricSpan) -> list[tuple[str, int]]:
    """Give the operations right below a span with their durations, in order."""
    return [
        (child.subject, child.end_ns // SECOND_NS - child.start_ns // SECOND_NS)
        for child in span.children
        if isinstance(child.subject, str)
    ]


def references(span: MetricSpan) -> list[MetricSpan]:
    """Give the spans right below a span that are no operations."""
    return [child for child in span.children if not isinstance(child.subject, str)]


def below(span: MetricSpan, path: str) -> MetricSpan:
    """Give the span at a path of node ids, execution names and numbers of attempts."""
    for name in path.split("/") if path else ():
        (span,) = [each for each in references(span) if step(each) == name]
    return span


def step(span: MetricSpan) -> str:
    """Give what a span stands for, as the step of a path that leads to it."""
    match span.subject:
        case ExecutionId(name=name):
            return name
        case MetricNode(node_id=node_id):
            return node_id
        case MetricAttempt(retry_attempt=retry_attempt):
            return str(retry_attempt)
        case str(operation):
            return operation

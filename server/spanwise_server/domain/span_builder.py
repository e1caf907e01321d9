"""Building of the span tree of one execution from what is known of its entities.

Pure, and a function of the set of events: no order of arrival, replay or answer changes a byte.
Iterative throughout, so that trees of any depth can be built.
"""

from collections.abc import Sequence

from spanwise_server.domain.entities import Attempt, Entity, settle_entities
from spanwise_server.domain.events import ExecutionError, Log
from spanwise_server.domain.history import EntityHistory
from spanwise_server.domain.known import KnownExecution, TimedDetails
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.operations import (
    Block,
    attempt_operations,
    node_operations,
    transition,
    workflow_operations,
)
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import (
    ExecutionSubject,
    Mark,
    NodeSubject,
    PhaseInterval,
    Span,
    TaskAttemptSubject,
)
from spanwise_server.domain.subtasks import subtask_spans

_FAILING = frozenset(
    {Phase.FAILING, Phase.FAILED, Phase.ABORTING, Phase.ABORTED, Phase.TIMED_OUT}
    | {Phase.RETRYABLE_FAILED}
)


def build_span_tree(known: KnownExecution) -> Span:
    """Give the root of the tree of one execution.

    Nothing that an event ever named is missing from it. Every end is at or after its start; an
    inferred bound, parent or upstream carries a flag.
    """
    root, *nodes = settle_entities(known)
    for entity in reversed(nodes):
        entity.span = _node_span(known, entity)
    return _execution_span(known, root)


def _execution_span(known: KnownExecution, root: Entity) -> Span:
    start_node = next((child.block for child in root.children if child.is_start), None)
    nodes = [child.block for child in root.children if not (child.is_start or child.is_end)]
    producer_ids = tuple(sorted(known.producer_ids - {""}))
    if len(producer_ids) > 1:
        root.qualities |= SpanQuality.SEVERAL_PRODUCERS
    subject = ExecutionSubject(known.execution_id, known.facts.org, known.facts.workflow_id)
    span = _entity_span(known, root, known.execution_id.name, subject)
    span.producer_ids = producer_ids
    span.children = _in_order(
        workflow_operations(root.key, root.block, start_node, nodes), _child_spans(root)
    )
    return span


def _node_span(known: KnownExecution, entity: Entity) -> Span:
    facts = entity.facts
    attempts = [_attempt_span(known, attempt) for attempt in entity.attempts]
    kind = facts.kind
    if kind is NodeKind.UNSPECIFIED and attempts:
        kind = NodeKind.TASK
    subject = NodeSubject(
        node_id=entity.node_id,
        spec_node_id=facts.spec_node_id,
        retry_group=facts.retry_group,
        kind=kind,
        target_id=facts.target_id,
        cache_status=facts.cache_status,
        upstream_node_ids=entity.upstream_ids,
        group=facts.group,
    )
    name = facts.node_name or facts.spec_node_id or entity.node_id
    span = _entity_span(known, entity, name, subject)
    operations = node_operations(
        entity.key,
        entity.block,
        [Block(attempt.start_ns, attempt.end_ns) for attempt in attempts],
        [child.block for child in entity.children],
    )
    span.children = _in_order(operations, [*attempts, *_child_spans(entity)])
    return span


def _attempt_span(known: KnownExecution, attempt: Attempt) -> Span:
    record, history = attempt.known, attempt.history
    details = known.details.get(record.key, ())
    operations = attempt_operations(record.key, history, attempt.end_ns)
    subtasks = subtask_spans(
        record.key,
        [(each.occurred_at_ns, each.details.subtasks) for each in details],
        Block(history.start_ns, attempt.end_ns),
    )
    return Span(
        span_id=record.key,
        name=record.task_id.name or f"attempt {record.retry_attempt}",
        subject=TaskAttemptSubject(
            task_id=record.task_id,
            retry_attempt=record.retry_attempt,
            task_type=record.facts.task_type,
            logs=_merge_logs(details),
            interruptible=record.facts.interruptible,
        ),
        start_ns=history.start_ns,
        end_ns=attempt.end_ns,
        phase=history.phase,
        phase_intervals=_closed(history.intervals, attempt.end_ns),
        marks=_distinct(known.marks.get(record.key, ())),
        qualities=attempt.qualities,
        error=_error(history, details),
        last_event_ns=history.last_event_ns,
        closure=history.closure,
        children=_in_order(operations, subtasks),
    )


def _entity_span(
    known: KnownExecution, entity: Entity, name: str, subject: ExecutionSubject | NodeSubject
) -> Span:
    history = entity.history
    span = Span(
        span_id=entity.key,
        name=name,
        subject=subject,
        start_ns=entity.start_ns,
        end_ns=entity.end_ns,
        marks=_distinct(known.marks.get(entity.key, ())),
        qualities=entity.qualities,
    )
    if history is not None:
        span.phase = history.phase
        span.phase_intervals = _closed(history.intervals, entity.end_ns)
        span.error = _error(history, known.details.get(entity.key, ()))
        span.last_event_ns = history.last_event_ns
        span.closure = history.closure
    return span


def _child_spans(entity: Entity) -> list[Span]:
    spans = []
    for child in entity.children:
        if child.upstream_end_ns is not None:
            way = Block(child.upstream_end_ns, child.start_ns)
            spans += transition(entity.key, entity.block, child.node_id, way)
        if child.span is not None:
            spans.append(child.span)
    return spans


def _in_order(operations: list[Span], others: list[Span]) -> list[Span]:
    # The sort is stable, and what is made first starts first among spans of one start.
    return sorted([*operations, *others], key=lambda span: span.start_ns)


def _closed(intervals: tuple[PhaseInterval, ...], end_ns: int | None) -> tuple[PhaseInterval, ...]:
    """Close the last stay of something whose end is inferred."""
    last = intervals[-1]
    if end_ns is None or last.end_ns is not None:
        return intervals
    return (*intervals[:-1], last._replace(end_ns=max(last.start_ns, end_ns)))


def _distinct(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Sort marks by time. The same text of one moment is one mark, whatever versions brought it."""
    if len(marks) == 1:
        return tuple(marks)
    distinct: dict[tuple[int, str], Mark] = {}
    for mark in sorted(marks, key=_place):
        distinct.setdefault((mark.occurred_at_ns, mark.message), mark)
    return tuple(distinct.values())


def _place(mark: Mark) -> tuple[int, Phase, int, int, str]:
    # Pod times are whole seconds. Within one, the sender's own order tells most.
    return mark.occurred_at_ns, mark.phase, mark.phase_version, mark.ordinal, mark.message


def _error(history: EntityHistory, details: Sequence[TimedDetails]) -> ExecutionError | None:
    if history.phase not in _FAILING:
        return None
    until_ns = history.intervals[-1].start_ns
    errors = [
        each.details.error
        for each in details
        if each.details.error is not None and each.occurred_at_ns <= until_ns
    ]
    return errors[-1] if errors else None


def _merge_logs(details: Sequence[TimedDetails]) -> tuple[Log, ...]:
    """Keep every link; a later one replaces one of the same name or address. As FlyteAdmin does."""
    # The last link of each address, then of each name; both keep the order of time.
    logs = [log for each in details for log in each.details.logs]
    by_uri = {log.uri: number for number, log in enumerate(logs)}
    last_uses = sorted(by_uri.values())
    by_name = {logs[number].name or number: number for number in last_uses}
    return tuple(logs[number] for number in sorted(by_name.values()))

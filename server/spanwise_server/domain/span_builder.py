"""Building of the span tree of one execution from what is known of its entities.

Pure, and a function of the set of events: no order of arrival, replay or answer changes a byte.
Iterative throughout, so that trees of any depth can be built.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from spanwise_server.domain.cache_waits import reservation_wait
from spanwise_server.domain.entities import Attempt, Entity
from spanwise_server.domain.events import ExecutionError, Log
from spanwise_server.domain.history import EntityHistory, fold_history, history_of
from spanwise_server.domain.identifiers import EntityKind, ExecutionId
from spanwise_server.domain.known import KnownExecution, TimedDetails
from spanwise_server.domain.liveness import judge_liveness, judge_span
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.operations import (
    Block,
    attempt_operations,
    gate_operations,
    hull,
    node_operations,
    setup_operation,
    transition,
    workflow_operations,
)
from spanwise_server.domain.phases import UNSUCCESSFUL_PHASES, Phase
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.reason_classifier import split_repeats
from spanwise_server.domain.settling import settle_entities
from spanwise_server.domain.spans import (
    ExecutionSubject,
    Mark,
    NodeSubject,
    OperationSubject,
    PhaseInterval,
    Span,
    TaskAttemptSubject,
)
from spanwise_server.domain.subtasks import subtask_spans
from spanwise_server.domain.waits import judge_error, judge_mark

_START = attrgetter("start_ns")

_Family = tuple[KnownExecution, list[Entity]]
"""An execution, with its entities: itself first, and parents before children."""


PlacedSpan = tuple[Span, int, bool]
"""A span at its place in a tree: the span, whose children do not count, the levels between it and
the root, and whether spans below it follow. A plain tuple: large trees have a hundred thousand."""


class SpanWalk(NamedTuple):
    """A tree that is made while it is walked.

    Attributes:
        end_ns: End of its root; None while that is open.
        spans: Its spans in pre-order, each made when it is asked for. To be walked once.
    """

    end_ns: int | None
    spans: Iterator[PlacedSpan]


def build_span_tree(
    known: KnownExecution, children: Mapping[ExecutionId, KnownExecution] | None = None
) -> Span:
    """Give the root of the tree of one execution.

    Nothing that an event ever named is missing from it. Every end is at or after its start; an
    inferred bound, parent, kind or upstream carries a flag.

    Args:
        known: What is known of the execution.
        children: What is known of executions that launch plan nodes in it started, at any level.
            Each stands in the tree once, below the first node that names it. One that is missing
            leaves its node without contents.
    """
    families = _nest(known, children or {})
    for each, order in reversed(families):
        for entity in reversed(order):
            span, below = _make(each, entity)
            span.children = [_made(one) if isinstance(one, Entity) else one for one in below]
            entity.span = span
    return _made(families[0][1][0])


def walk_spans(root: Span) -> Iterator[PlacedSpan]:
    """Give the spans of a tree that is there in pre-order."""
    pending = [(root, 0)]
    while pending:
        span, depth = pending.pop()
        yield span, depth, bool(span.children)
        pending.extend([(child, depth + 1) for child in reversed(span.children)])


def walk_span_tree(
    known: KnownExecution,
    children: Mapping[ExecutionId, KnownExecution],
    as_of_ns: int,
    stale_after_ns: int,
) -> SpanWalk:
    """Give the tree that build_span_tree() and judge_liveness() give, without ever holding it.

    Its spans are many times what is known of its entities: a dozen for each node.
    """
    families = _nest(known, children)
    heard_ns = _hear(families)
    first = families[0][1][0]
    # Without what the entities were made of.
    roots = {order[0].key: each._replace(nodes=(), attempts=()) for each, order in families}
    return SpanWalk(first.end_ns, _walk(first, roots, heard_ns, as_of_ns, stale_after_ns))


def _walk(
    first: Entity,
    roots: Mapping[int, KnownExecution],
    heard_ns: Mapping[int, int | None],
    as_of_ns: int,
    stale_after_ns: int,
) -> Iterator[PlacedSpan]:
    pending: list[tuple[Entity | Span, KnownExecution, int]] = [(first, roots[first.key], 0)]
    while pending:
        item, of, depth = pending.pop()
        below: Sequence[Entity | Span]
        if isinstance(item, Entity):
            of = roots.get(item.key, of)
            span, below = _make(of, item)
            if span.end_ns is None:
                judge_span(span, heard_ns[item.key], as_of_ns, stale_after_ns)
        else:
            span, below = item, item.children
            if span.end_ns is None and not isinstance(span.subject, OperationSubject):
                judge_liveness(span, as_of_ns, stale_after_ns)
        yield span, depth, bool(below)
        if below:
            depth += 1
            pending.extend([(each, of, depth) for each in reversed(below)])


def _hear(families: Sequence[_Family]) -> dict[int, int | None]:
    """Give when each entity was last heard of, by its own events or by those below it."""
    heard: dict[int, int | None] = {}
    for _, order in reversed(families):
        for entity in reversed(order):
            moments = [] if entity.life is None else [entity.life.last_event_ns]
            moments += [attempt.life.last_event_ns for attempt in entity.attempts]
            below = [heard[child.key] for child in entity.children]
            if entity.child_execution is not None:
                below.append(heard[entity.child_execution.key])
            moments += [each for each in below if each is not None]
            heard[entity.key] = max(moments, default=None)
    return heard


def _nest(known: KnownExecution, children: Mapping[ExecutionId, KnownExecution]) -> list[_Family]:
    """Settle an execution and all that it started, those above before those below."""
    families = [(known, settle_entities(known))]
    placed = {known.execution_id}
    for _, order in families:  # grows while it is walked
        for entity in order:
            child_id = entity.facts.child_execution_id
            if child_id is None or child_id in placed or child_id not in children:
                continue
            placed.add(child_id)
            child = children[child_id]
            child_order = settle_entities(child, entity.block)
            entity.child_execution = child_order[0]
            families.append((child, child_order))
    return families


def _made(entity: Entity) -> Span:
    if entity.span is None:
        raise ValueError("spans are made from the leaves upwards")
    return entity.span


def _make(known: KnownExecution, entity: Entity) -> tuple[Span, list[Entity | Span]]:
    """Make the span of an entity, and of what is below it all that is no entity itself."""
    return (_node_span if entity.node_id else _execution_span)(known, entity)


def _execution_span(known: KnownExecution, root: Entity) -> tuple[Span, list[Entity | Span]]:
    start_node = next((child.block for child in root.children if child.is_start), None)
    nodes = [child.block for child in root.children if not child.is_marker]
    producer_ids = tuple(sorted(known.producer_ids - {""}))
    if len(producer_ids) > 1:
        root.qualities |= SpanQuality.SEVERAL_PRODUCERS
    workflow_id = known.facts.workflow_id
    if known.workflow is not None:
        workflow_id = known.workflow.workflow_id
    subject = ExecutionSubject(known.execution_id, known.facts.org, workflow_id)
    span = _entity_span(known, root, known.execution_id.name, subject)
    span.producer_ids = producer_ids
    operations = workflow_operations(root.key, root.block, start_node, nodes)
    return span, _in_order([*operations, *_below(root)])


def _node_span(known: KnownExecution, entity: Entity) -> tuple[Span, list[Entity | Span]]:
    facts, spec = entity.facts, entity.spec
    attempts = [_attempt_span(known, attempt) for attempt in entity.attempts]
    subject = NodeSubject(
        node_id=entity.node_id,
        spec_node_id=facts.spec_node_id,
        retry_group=facts.retry_group,
        kind=entity.kind,
        target_id=facts.target_id if any(facts.target_id) or spec is None else spec.target_id,
        cache_status=facts.cache_status,
        upstream_node_ids=entity.upstream_ids,
        group=facts.group,
    )
    name = facts.node_name or (spec.name if spec else "") or facts.spec_node_id or entity.node_id
    span = _entity_span(known, entity, name, subject)
    operations = _node_operations(entity, span)
    return span, _in_order([*operations, *attempts, *_below(entity)])


def _node_operations(entity: Entity, span: Span) -> list[Span]:
    closure = span.closure
    if entity.kind is NodeKind.GATE and closure is not None:
        return gate_operations(entity.key, entity.block, closure.started_ns, closure.ran_until_ns)
    stages = _stages(entity)
    if not stages and closure is not None and closure.started_ns is not None:
        # It ran, so its set-up was over. What it did is not known: no event of it came.
        return setup_operation(entity.key, entity.block, closure.started_ns)
    has_attempts = bool(entity.attempts)
    reservation = reservation_wait(span.marks, entity.facts.cache_status, has_attempts=has_attempts)
    return node_operations(entity.key, entity.block, stages, reservation)


def _stages(entity: Entity) -> list[Block]:
    """Give what a node does one after the other, in the order of start."""
    stages = [attempt.block for attempt in entity.attempts]
    if entity.child_execution is not None:
        stages.append(entity.child_execution.block)
    stages += map(_stage, entity.families())
    if len(stages) > 1:
        stages.sort(key=_START)
    return stages


def _stage(nodes: Sequence[Entity]) -> Block:
    """Give the bounds of the work of nodes that one attempt of their parent made."""
    work = [node.block for node in nodes if not node.is_marker]
    ready_ns = [node.end_ns for node in nodes if node.is_start and node.end_ns is not None]
    if not work:
        return hull([node.block for node in nodes])
    start_ns, end_ns = hull(work)
    # As FlyteAdmin has it, what comes before the end of the start-node is the parent's.
    return Block(min(ready_ns, default=start_ns), end_ns)


def _attempt_span(known: KnownExecution, attempt: Attempt) -> Span:
    record = attempt.known
    history = fold_history(EntityKind.TASK_ATTEMPT, *known.events[record.key])
    details = known.details.get(record.key, ())
    codes = _error_codes(details)
    marks = _distinct(known.marks.get(record.key, ()), codes)
    said = [mark for mark in marks if mark.message not in codes] if codes else marks
    operations = attempt_operations(record.key, history, attempt.end_ns, said)
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
        marks=marks,
        qualities=attempt.qualities,
        error=_error(history, details),
        last_event_ns=history.last_event_ns,
        closure=history.closure,
        children=sorted([*operations, *subtasks], key=_START),
    )


def _entity_span(
    known: KnownExecution, entity: Entity, name: str, subject: ExecutionSubject | NodeSubject
) -> Span:
    kind = EntityKind.NODE if entity.node_id else EntityKind.EXECUTION
    history = history_of(known, entity.key, kind)
    details = known.details.get(entity.key, ())
    span = Span(
        span_id=entity.key,
        name=name,
        subject=subject,
        start_ns=entity.start_ns,
        end_ns=entity.end_ns,
        marks=_distinct(known.marks.get(entity.key, ()), _error_codes(details)),
        qualities=entity.qualities,
        end_upstream_ids=entity.end_upstream_ids,
    )
    if history is not None:
        span.phase = history.phase
        span.phase_intervals = _closed(history.intervals, entity.end_ns)
        span.error = _error(history, details)
        span.last_event_ns = history.last_event_ns
        span.closure = history.closure
    return span


def _below(entity: Entity) -> list[Entity | Span]:
    """Give the entities in it, each after the way to it."""
    below: list[Entity | Span] = []
    for child in entity.children:
        if child.upstream_end_ns is not None:
            way = Block(child.upstream_end_ns, child.start_ns)
            below += transition(child.node_id, child.key, entity.block, way)
        below.append(child)
    if entity.child_execution is not None:
        below.append(entity.child_execution)
    return below


def _in_order(below: list[Entity | Span]) -> list[Entity | Span]:
    # The sort is stable, and what is made first starts first among spans of one start.
    return sorted(below, key=_START)


def _closed(intervals: tuple[PhaseInterval, ...], end_ns: int | None) -> tuple[PhaseInterval, ...]:
    """Close the last stay of something whose end is inferred."""
    last = intervals[-1]
    if end_ns is None or last.end_ns is not None:
        return intervals
    return (*intervals[:-1], last._replace(end_ns=max(last.start_ns, end_ns)))


def _error_codes(details: Sequence[TimedDetails]) -> dict[str, str]:
    """Give the code of each error, by the text that stands for it among the reasons."""
    errors = [each.details.error for each in details if each.details.error is not None]
    return {error.text: error.code for error in errors}


def _distinct(marks: Sequence[Mark], error_codes: Mapping[str, str]) -> tuple[Mark, ...]:
    """Sort marks by time, with what their texts tell. Errors tell by their codes alone.

    The same text of one moment is one mark, whatever versions brought it, and whether or not it
    says how often it was repeated; the highest count stays.
    """
    if not marks:
        return ()
    distinct: dict[tuple[int, str], Mark] = {}
    for mark in sorted(marks, key=_place):
        text, count = split_repeats(mark.message)
        key = (mark.occurred_at_ns, text)
        kept = distinct.setdefault(key, mark)
        if count is not None and count > (split_repeats(kept.message)[1] or 0):
            distinct[key] = kept._replace(message=mark.message)
    return tuple(
        [
            judge_error(mark, error_codes[mark.message])
            if mark.message in error_codes
            else judge_mark(mark)
            for mark in distinct.values()
        ]
    )


def _place(mark: Mark) -> tuple[int, Phase, int, int, str]:
    # Pod times are whole seconds. Within one, the sender's own order tells most.
    return mark.occurred_at_ns, mark.phase, mark.phase_version, mark.ordinal, mark.message


def _error(history: EntityHistory, details: Sequence[TimedDetails]) -> ExecutionError | None:
    if history.phase not in UNSUCCESSFUL_PHASES:
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

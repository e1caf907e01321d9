"""Building of the span tree of one execution from what is known of its entities.

Pure, and a function of the set of events: no order of arrival, replay or answer changes a byte.
Iterative throughout, so that trees of any depth can be built.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from spanwise_server.domain.events import (
    Details,
    ExecutionError,
    ExecutionFacts,
    Log,
    NodeFacts,
    NodeKind,
    TaskFacts,
)
from spanwise_server.domain.history import EntityHistory, fold_history
from spanwise_server.domain.identifiers import (
    EntityKind,
    EntityVersion,
    ExecutionId,
    node_key,
    root_key,
)
from spanwise_server.domain.operations import (
    Block,
    attempt_operations,
    node_operations,
    transition,
    workflow_operations,
)
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality, SpanQuality
from spanwise_server.domain.spans import (
    ExecutionSubject,
    Mark,
    NodeSubject,
    PhaseInterval,
    Span,
    TaskAttemptSubject,
)
from spanwise_server.domain.subtasks import subtask_spans
from spanwise_server.domain.transitions import Moment

_FAILING = frozenset(
    {Phase.FAILING, Phase.FAILED, Phase.ABORTING, Phase.ABORTED, Phase.TIMED_OUT}
    | {Phase.RETRYABLE_FAILED}
)


class KnownNode(NamedTuple):
    """A node that some event named."""

    key: int
    node_id: str
    facts: NodeFacts


class KnownAttempt(NamedTuple):
    """An attempt that has events."""

    key: int
    node_key: int
    task_id: EntityVersion
    retry_attempt: int
    facts: TaskFacts


class EntityEvents(NamedTuple):
    """The events of one entity: moments in any order, and the union of what is odd of them."""

    moments: Sequence[Moment]
    qualities: EventQuality


class TimedDetails(NamedTuple):
    """Details of one event, with its place in time."""

    occurred_at_ns: int
    details: Details


class KnownExecution(NamedTuple):
    """Everything that is known of one execution.

    Attributes:
        key: Key of the execution.
        execution_id: Its identity.
        facts: What its own events say.
        nodes: Its nodes, in any order.
        attempts: Their attempts, in any order.
        events: Events by entity key. An entity without an entry is a placeholder.
        marks: Reasons by entity key, in any order.
        details: Details by entity key, in the order of time.
        producer_ids: Who reported any of it.
    """

    key: bytes
    execution_id: ExecutionId
    facts: ExecutionFacts
    nodes: Sequence[KnownNode]
    attempts: Sequence[KnownAttempt]
    events: Mapping[int, EntityEvents]
    marks: Mapping[int, Sequence[Mark]]
    details: Mapping[int, Sequence[TimedDetails]]
    producer_ids: frozenset[str]


def build_span_tree(known: KnownExecution) -> Span:
    """Give the root of the tree of one execution.

    Nothing that an event ever named is missing from it. Every end is at or after its start; an
    inferred bound, parent or upstream carries a flag.
    """
    root = _Entity(root_key(known.key), "", NodeFacts(), _history(known, root_key(known.key)))
    order = _plant(known, root)
    _infer_starts(known, order)
    _infer_ends(order)
    for entity in order:
        _find_upstreams(known, entity)
    for entity in reversed(order):
        entity.span = _node_span(known, entity) if entity is not root else None
    return _execution_span(known, root)


@dataclass(slots=True)
class _Attempt:
    """An attempt while the tree is built."""

    known: KnownAttempt
    history: EntityHistory
    end_ns: int | None
    qualities: SpanQuality


@dataclass(slots=True, eq=False)
class _Entity:
    """The execution or a node while the tree is built."""

    key: int
    node_id: str
    facts: NodeFacts
    history: EntityHistory | None
    qualities: SpanQuality = SpanQuality.NONE
    start_ns: int = 0
    end_ns: int | None = None
    attempts: list[_Attempt] = field(default_factory=list)
    children: list["_Entity"] = field(default_factory=list)
    upstream_ids: tuple[str, ...] = ()
    upstream_end_ns: int | None = None
    span: Span | None = None

    @property
    def block(self) -> Block:
        return Block(self.start_ns, self.end_ns)

    @property
    def is_start(self) -> bool:
        return self.facts.kind is NodeKind.START

    @property
    def is_end(self) -> bool:
        return self.facts.kind is NodeKind.END


def _history(known: KnownExecution, key: int) -> EntityHistory | None:
    events = known.events.get(key)
    if events is None:
        return None
    kind = EntityKind.EXECUTION if key == root_key(known.key) else EntityKind.NODE
    return fold_history(kind, events.moments, events.qualities)


def _plant(known: KnownExecution, root: _Entity) -> list[_Entity]:
    """Tie nodes to their parents and attempts to their nodes. Give all, parents before children."""
    entities = {
        node.key: _Entity(node.key, node.node_id, node.facts, _history(known, node.key))
        for node in sorted(known.nodes, key=lambda node: node.node_id)
    }
    for attempt in known.attempts:
        events = known.events[attempt.key]
        history = fold_history(EntityKind.TASK_ATTEMPT, events.moments, events.qualities)
        entities[attempt.node_key].attempts.append(
            _Attempt(attempt, history, history.end_ns, history.qualities)
        )
    for entity in entities.values():
        entity.attempts.sort(
            key=lambda each: (each.history.start_ns, each.known.retry_attempt, each.known.key)
        )
    children: dict[int, list[_Entity]] = defaultdict(list)
    for entity in entities.values():
        parent_id = entity.facts.parent_node_id
        parent_key = node_key(known.key, parent_id) if parent_id else root.key
        children[parent_key if parent_key in entities else root.key].append(entity)
    order = _reach(root, children)
    reached = {entity.key for entity in order}
    for entity in entities.values():
        if entity.key not in reached:
            # It is on a cycle of parents, or below one. One node of the cycle goes to the root.
            loose = _first_of_cycle(known, entities, entity)
            children[node_key(known.key, loose.facts.parent_node_id)].remove(loose)
            loose.qualities |= SpanQuality.INFERRED_PARENT
            root.children.append(loose)
            more = _reach(loose, children)
            order += more
            reached.update(each.key for each in more)
    return order


def _first_of_cycle(
    known: KnownExecution, entities: Mapping[int, _Entity], entity: _Entity
) -> _Entity:
    """Follow parents into their cycle, and give its node with the least id."""
    path: dict[int, _Entity] = {}
    while entity.key not in path:
        path[entity.key] = entity
        entity = entities[node_key(known.key, entity.facts.parent_node_id)]
    cycle = list(path.values())
    cycle = cycle[cycle.index(entity) :]
    return min(cycle, key=lambda each: each.node_id)


def _reach(top: _Entity, children: Mapping[int, list[_Entity]]) -> list[_Entity]:
    order = [top]
    for entity in order:  # grows while it is walked
        below = children.get(entity.key)
        if below:
            entity.children.extend(below)
            order.extend(below)
    return order


def _infer_starts(known: KnownExecution, order: Sequence[_Entity]) -> None:
    """Set bounds from histories. A placeholder starts with the first thing inside it."""
    first_event_ns = min(
        (moment.occurred_at_ns for events in known.events.values() for moment in events.moments),
        default=0,
    )
    for entity in reversed(order):
        history = entity.history
        if history is not None:
            entity.qualities |= history.qualities
            entity.start_ns, entity.end_ns = history.start_ns, history.end_ns
            continue
        entity.qualities |= SpanQuality.PLACEHOLDER | SpanQuality.INFERRED_START
        inside = [child.start_ns for child in entity.children]
        inside += [attempt.history.start_ns for attempt in entity.attempts]
        entity.start_ns = min(inside, default=first_event_ns)


def _infer_ends(order: Sequence[_Entity]) -> None:
    """End what is open inside something that has ended, and mark what sticks out of its parent."""
    for entity in order:
        for child in entity.children:
            if child.end_ns is None and entity.end_ns is not None:
                child.end_ns = max(_last_known_ns(child), entity.end_ns)
                child.qualities |= SpanQuality.NO_TERMINAL_EVENT | SpanQuality.INFERRED_END
            child.qualities |= _sticking_out(child.block, entity.block)
        _infer_attempt_ends(entity)
        entity.children.sort(key=lambda child: (child.start_ns, child.node_id))


def _last_known_ns(entity: _Entity) -> int:
    """Give the moment before which an entity cannot have ended."""
    return entity.start_ns if entity.history is None else entity.history.intervals[-1].start_ns


def _infer_attempt_ends(node: _Entity) -> None:
    for attempt, after in zip_longest(node.attempts, node.attempts[1:]):
        if attempt.end_ns is None:
            until_ns = node.end_ns if after is None else after.history.start_ns
            if until_ns is not None:
                attempt.end_ns = max(attempt.history.intervals[-1].start_ns, until_ns)
                attempt.qualities |= SpanQuality.NO_TERMINAL_EVENT | SpanQuality.INFERRED_END
        attempt.qualities |= _sticking_out(
            Block(attempt.history.start_ns, attempt.end_ns), node.block
        )


def _sticking_out(inner: Block, outer: Block) -> SpanQuality:
    flags = SpanQuality.NONE
    if inner.start_ns < outer.start_ns:
        flags |= SpanQuality.STARTS_BEFORE_PARENT
    if outer.end_ns is not None and (inner.end_ns is None or inner.end_ns > outer.end_ns):
        flags |= SpanQuality.OUTLIVES_PARENT
    return flags


def _find_upstreams(known: KnownExecution, parent: _Entity) -> None:
    """Say for each child of `parent` what it waited for: the sibling that ended last before it.

    FlyteAdmin takes that one among the edges of the compiled workflow. Where no event told the
    edges it is inferred among all siblings.
    """
    end_of = {child.node_id: child.end_ns for child in parent.children}
    ended = sorted(
        (child.end_ns, child.start_ns, child.node_id)
        for child in parent.children
        if child.end_ns is not None and not child.is_end
    )
    for child in parent.children:
        if child.is_start or child.is_end:
            continue
        if told := _told_upstreams(known, child):
            child.upstream_ids = told
            ends_ns = [end_ns for each in told if (end_ns := end_of.get(each)) is not None]
            child.upstream_end_ns = max(ends_ns, default=None)
            continue
        # Of what ends in the moment when it starts, it waited for what comes first by start and id:
        # without that order two nodes without length would have waited for each other.
        last = bisect_left(ended, (child.start_ns, child.start_ns, child.node_id)) - 1
        if last >= 0:
            child.upstream_end_ns, _, upstream_id = ended[last]
            child.upstream_ids = (upstream_id,)
            child.qualities |= SpanQuality.INFERRED_UPSTREAM


def _told_upstreams(known: KnownExecution, node: _Entity) -> tuple[str, ...]:
    details = known.details.get(node.key, ())
    return tuple(sorted({each for timed in details for each in timed.details.upstream_node_ids}))


def _execution_span(known: KnownExecution, root: _Entity) -> Span:
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


def _node_span(known: KnownExecution, entity: _Entity) -> Span:
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


def _attempt_span(known: KnownExecution, attempt: _Attempt) -> Span:
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
    known: KnownExecution, entity: _Entity, name: str, subject: ExecutionSubject | NodeSubject
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


def _child_spans(entity: _Entity) -> list[Span]:
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

"""The entities of one execution, settled: who contains whom, when each began and ended, and why.

A function of the set of events: no order of arrival changes anything. Iterative throughout.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from spanwise_server.domain.events import NodeFacts
from spanwise_server.domain.history import EntityHistory, fold_history
from spanwise_server.domain.identifiers import EntityKind, node_key, root_key
from spanwise_server.domain.known import KnownAttempt, KnownExecution
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.operations import Block
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import Span


@dataclass(slots=True)
class Attempt:
    """An attempt: its life, and its end where that had to be inferred."""

    known: KnownAttempt
    history: EntityHistory
    end_ns: int | None
    qualities: SpanQuality


@dataclass(slots=True, eq=False)
class Entity:
    """The execution, or a node of it.

    Attributes:
        key: Key of the entity, and id of its span.
        node_id: Id of the node; empty for the execution.
        facts: What is known of a node beside its life.
        history: Its life; None for a placeholder.
        qualities: What is inferred, missing or odd about it.
        start_ns: Start.
        end_ns: End; None while it is open.
        attempts: Attempts of its task, in the order of start.
        children: Nodes that it contains, in the order of start.
        upstream_ids: Nodes that it waited for, ascending.
        upstream_end_ns: When the last of them ended; None when that is not known.
        span: Its span, once it was made.
    """

    key: int
    node_id: str
    facts: NodeFacts
    history: EntityHistory | None
    qualities: SpanQuality = SpanQuality.NONE
    start_ns: int = 0
    end_ns: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    children: list["Entity"] = field(default_factory=list)
    upstream_ids: tuple[str, ...] = ()
    upstream_end_ns: int | None = None
    span: Span | None = None

    @property
    def block(self) -> Block:
        """Its bounds."""
        return Block(self.start_ns, self.end_ns)

    @property
    def is_start(self) -> bool:
        """Whether it marks the start of a workflow."""
        return self.facts.kind is NodeKind.START

    @property
    def is_end(self) -> bool:
        """Whether it marks the end of a workflow."""
        return self.facts.kind is NodeKind.END


def settle_entities(known: KnownExecution) -> list[Entity]:
    """Give the execution and its nodes with parents, attempts, bounds and upstreams.

    The execution comes first, and parents before children. Nothing that an event ever named is
    missing. Every end is at or after its start and what is known of its entity; an inferred bound,
    parent or upstream carries a flag.
    """
    key = root_key(known.key)
    root = Entity(key, "", NodeFacts(), _history(known, key))
    order = _plant(known, root)
    _infer_starts(known, order)
    _infer_ends(order)
    for entity in order:
        _find_upstreams(known, entity)
    return order


def _history(known: KnownExecution, key: int) -> EntityHistory | None:
    events = known.events.get(key)
    if events is None:
        return None
    kind = EntityKind.EXECUTION if key == root_key(known.key) else EntityKind.NODE
    return fold_history(kind, events.moments, events.qualities)


def _plant(known: KnownExecution, root: Entity) -> list[Entity]:
    """Tie nodes to their parents and attempts to their nodes. Give all, parents before children."""
    entities = {
        node.key: Entity(node.key, node.node_id, node.facts, _history(known, node.key))
        for node in sorted(known.nodes, key=lambda node: node.node_id)
    }
    for attempt in known.attempts:
        events = known.events[attempt.key]
        history = fold_history(EntityKind.TASK_ATTEMPT, events.moments, events.qualities)
        entities[attempt.node_key].attempts.append(
            Attempt(attempt, history, history.end_ns, history.qualities)
        )
    for entity in entities.values():
        entity.attempts.sort(
            key=lambda each: (each.history.start_ns, each.known.retry_attempt, each.known.key)
        )
    children: dict[int, list[Entity]] = defaultdict(list)
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
    known: KnownExecution, entities: Mapping[int, Entity], entity: Entity
) -> Entity:
    """Follow parents into their cycle, and give its node with the least id."""
    path: dict[int, Entity] = {}
    while entity.key not in path:
        path[entity.key] = entity
        entity = entities[node_key(known.key, entity.facts.parent_node_id)]
    cycle = list(path.values())
    cycle = cycle[cycle.index(entity) :]
    return min(cycle, key=lambda each: each.node_id)


def _reach(top: Entity, children: Mapping[int, list[Entity]]) -> list[Entity]:
    order = [top]
    for entity in order:  # grows while it is walked
        below = children.get(entity.key)
        if below:
            entity.children.extend(below)
            order.extend(below)
    return order


def _infer_starts(known: KnownExecution, order: Sequence[Entity]) -> None:
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


def _infer_ends(order: Sequence[Entity]) -> None:
    """End what is open inside something that has ended, and mark what sticks out of its parent."""
    for entity in order:
        for child in entity.children:
            if child.end_ns is None and entity.end_ns is not None:
                child.end_ns = max(_last_known_ns(child), entity.end_ns)
                child.qualities |= SpanQuality.NO_TERMINAL_EVENT | SpanQuality.INFERRED_END
            child.qualities |= _sticking_out(child.block, entity.block)
        _infer_attempt_ends(entity)
        entity.children.sort(key=lambda child: (child.start_ns, child.node_id))


def _last_known_ns(entity: Entity) -> int:
    """Give the moment before which an entity cannot have ended."""
    return entity.start_ns if entity.history is None else entity.history.intervals[-1].start_ns


def _infer_attempt_ends(node: Entity) -> None:
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


def _find_upstreams(known: KnownExecution, parent: Entity) -> None:
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


def _told_upstreams(known: KnownExecution, node: Entity) -> tuple[str, ...]:
    details = known.details.get(node.key, ())
    return tuple(sorted({each for timed in details for each in timed.details.upstream_node_ids}))

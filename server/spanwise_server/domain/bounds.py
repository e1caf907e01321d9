"""When the execution and its nodes began and ended, as far as that has to be inferred."""

from collections.abc import Sequence
from functools import cache
from itertools import zip_longest

from spanwise_server.domain.entities import Entity
from spanwise_server.domain.known import KnownExecution
from spanwise_server.domain.operations import Block
from spanwise_server.domain.quality import SpanQuality


def settle_bounds(known: KnownExecution, order: Sequence[Entity], within: Block | None) -> None:
    """Say when the execution and its nodes began and ended, and mark what is inferred.

    Args:
        known: What is known of the execution.
        order: The execution and its nodes, parents before children.
        within: Bounds of the node that started the execution, if one did.
    """
    _infer_starts(known, order)
    if within is not None:
        _end_inside(order[0], within)
    _infer_ends(order)


def _infer_starts(known: KnownExecution, order: Sequence[Entity]) -> None:
    """Set bounds from histories. A placeholder starts with the first thing inside it."""

    @cache
    def first_event_ns() -> int:
        of_all = known.events.values()
        return min((each.occurred_at_ns for events in of_all for each in events.moments), default=0)

    for entity in reversed(order):
        life = entity.life
        if life is not None:
            if life.qualities:
                entity.qualities |= life.qualities
            entity.start_ns, entity.end_ns = life.start_ns, life.end_ns
            continue
        entity.qualities |= SpanQuality.PLACEHOLDER | SpanQuality.INFERRED_START
        inside = [child.start_ns for child in entity.children]
        inside += [attempt.life.start_ns for attempt in entity.attempts]
        entity.start_ns = min(inside) if inside else first_event_ns()


def _infer_ends(order: Sequence[Entity]) -> None:
    """End what is open inside something that has ended, and mark what sticks out of its parent."""
    for entity in order:
        for child in entity.children:
            _end_inside(child, entity.block)
        if entity.attempts:
            _infer_attempt_ends(entity)
        entity.children.sort(key=lambda child: (child.start_ns, child.node_id))


def _end_inside(inner: Entity, outer: Block) -> None:
    if inner.end_ns is None and outer.end_ns is not None:
        inner.end_ns = max(_last_known_ns(inner), outer.end_ns)
        inner.qualities |= SpanQuality.NO_TERMINAL_EVENT | SpanQuality.INFERRED_END
    if flags := _sticking_out(inner.block, outer):
        inner.qualities |= flags


def _last_known_ns(entity: Entity) -> int:
    """Give the moment before which an entity cannot have ended."""
    return entity.start_ns if entity.life is None else entity.life.last_start_ns


def _infer_attempt_ends(node: Entity) -> None:
    for attempt, after in zip_longest(node.attempts, node.attempts[1:]):
        if attempt.end_ns is None:
            until_ns = node.end_ns if after is None else after.life.start_ns
            if until_ns is not None:
                attempt.end_ns = max(attempt.life.last_start_ns, until_ns)
                attempt.qualities |= SpanQuality.NO_TERMINAL_EVENT | SpanQuality.INFERRED_END
        if flags := _sticking_out(attempt.block, node.block):
            attempt.qualities |= flags


def _sticking_out(inner: Block, outer: Block) -> SpanQuality:
    flags = SpanQuality.NONE
    if inner.start_ns < outer.start_ns:
        flags |= SpanQuality.STARTS_BEFORE_PARENT
    if outer.end_ns is not None and (inner.end_ns is None or inner.end_ns > outer.end_ns):
        flags |= SpanQuality.OUTLIVES_PARENT
    return flags

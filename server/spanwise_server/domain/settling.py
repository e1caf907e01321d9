"""Settling of what is known of one execution into entities: parents, kinds, bounds, upstreams.

A function of the set of events: no order of arrival changes anything. Iterative throughout.
"""

from spanwise_server.domain.bounds import settle_bounds
from spanwise_server.domain.entities import Entity
from spanwise_server.domain.kinds import settle_kinds
from spanwise_server.domain.known import KnownExecution
from spanwise_server.domain.operations import Block
from spanwise_server.domain.parents import plant
from spanwise_server.domain.upstreams import settle_upstreams


def settle_entities(known: KnownExecution, within: Block | None = None) -> list[Entity]:
    """Give the execution and its nodes with parents, kinds, attempts, bounds and upstreams.

    The execution comes first, and parents before children. Nothing that an event ever named is
    missing. Every end is at or after its start and what is known of its entity; an inferred bound,
    parent, kind or upstream carries a flag.

    Args:
        known: What is known of the execution.
        within: Bounds of the node that started the execution. Once that node has ended, an
            execution that is open as far as is known ends with it.
    """
    order = plant(known)
    settle_kinds(known, order)
    settle_bounds(known, order, within)
    for entity in order:
        settle_upstreams(known, entity)
    return order

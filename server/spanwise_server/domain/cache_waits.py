"""Waits of nodes for another execution that computes the same cached result.

Source: flytepropeller v1.16 controller/nodes/executor.go: with cache_serialize a node that finds
nothing in the cache and its reservation taken stays QUEUED, and looks again from time to time.
"""

from collections.abc import Sequence

from spanwise_server.domain.events import CacheStatus
from spanwise_server.domain.operations import Block
from spanwise_server.domain.spans import Mark, Operation

CACHE_MISS = "cache miss"
"""Beginning of the text of a look-up that found nothing. FlytePropeller has no words for it."""


RESERVATION_FAILED = "cache reservation failed"
"""Text of a reservation that could not be asked for: the node goes on without one."""


def reservation_wait(
    marks: Sequence[Mark], cache_status: CacheStatus, *, has_attempts: bool
) -> Block | None:
    """Give the time in which a node waited for a reservation; None when it did not, as is known.

    A node says so itself, or it found nothing, never ran, and found the result after all: somebody
    else has computed it meanwhile. Without an end the wait lasts as long as the node is set up.

    Args:
        marks: Reasons of the node, in the order of time.
        cache_status: Outcome of its look-ups.
        has_attempts: Whether its task was ever started.
    """
    has_waited = cache_status is CacheStatus.HIT and not has_attempts
    start_ns = None
    for mark in marks:
        if start_ns is not None:
            if mark.message.startswith(RESERVATION_FAILED):
                return Block(start_ns, mark.occurred_at_ns)
        elif mark.operation is Operation.CACHE_RESERVATION or (
            has_waited and mark.message.startswith(CACHE_MISS)
        ):
            start_ns = mark.occurred_at_ns
    return None if start_ns is None else Block(start_ns, None)

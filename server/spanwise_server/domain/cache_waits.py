"""Waits of nodes for another execution that computes the same cached result.

Source: flytepropeller v1.16 controller/nodes/executor.go: with cache_serialize a node that finds
nothing in the cache and its reservation taken stays QUEUED, and looks again from time to time.
"""

from collections.abc import Sequence

from spanwise_server.domain.events import CacheStatus
from spanwise_server.domain.spans import Mark, Operation

CACHE_MISS = "cache miss"
"""Beginning of the text of a look-up that found nothing. FlytePropeller has no words for it."""


def reserved_from_ns(
    marks: Sequence[Mark], cache_status: CacheStatus, *, has_attempts: bool
) -> int | None:
    """Give when a node began to wait for a reservation; None when it did not, as far as is known.

    A node says so itself, or it found nothing, never ran, and found the result after all: somebody
    else has computed it meanwhile.

    Args:
        marks: Reasons of the node, in the order of time.
        cache_status: Outcome of its look-ups.
        has_attempts: Whether its task was ever started.
    """
    has_waited = cache_status is CacheStatus.HIT and not has_attempts
    for mark in marks:
        if mark.operation is Operation.CACHE_RESERVATION:
            return mark.occurred_at_ns
        if has_waited and mark.message.startswith(CACHE_MISS):
            return mark.occurred_at_ns
    return None

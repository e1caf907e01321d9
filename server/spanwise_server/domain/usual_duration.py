"""How long the executions of a workflow usually take, and which took longer."""

from collections.abc import Sequence
from typing import NamedTuple

from spanwise_server.domain.percentiles import percentile

MIN_SAMPLES = 5
"""Fewer say nothing about what is usual."""

MAX_SAMPLES = 50
"""Later ones count: a workflow changes with time."""


class UsualDuration(NamedTuple):
    """How long earlier executions took. `num_samples` is their number."""

    p50_ns: int
    p95_ns: int
    num_samples: int

    def is_exceeded_by(self, duration_ns: int) -> bool:
        """Tell whether a duration is longer than is usual.

        It is if it is longer than the 95th percentile, and a tenth longer than the median: where
        all took nearly the same time, a second more is no news.
        """
        return duration_ns > self.p95_ns and 10 * duration_ns > 11 * self.p50_ns


def find_usual(durations_ns: Sequence[int]) -> UsualDuration | None:
    """Give what is usual after durations, the latest first; None where they are too few."""
    ascending = sorted(durations_ns[:MAX_SAMPLES])
    if len(ascending) < MIN_SAMPLES:
        return None
    return UsualDuration(percentile(ascending, 50), percentile(ascending, 95), len(ascending))

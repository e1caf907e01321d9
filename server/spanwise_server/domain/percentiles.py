"""Percentiles, by one definition wherever spanwise gives some."""

from collections.abc import Sequence


def percentile(ascending: Sequence[int], percent: int) -> int:
    """Give the nearest rank: the least value that at least this share of all do not exceed.

    Args:
        ascending: Values in ascending order, at least one.
        percent: From 1 to 100.
    """
    return ascending[-(-percent * len(ascending) // 100) - 1]

"""Numbers of reasons as marks: "[2]", or "[3-5]" for several.

A reason's number is its place among the reasons of its span, from 1: the same in explain, whole or
shortened, in the waterfall, and in the lists of reasons that dump and JSON give.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Mark(NamedTuple):
    """One or several reasons as one label below a bar.

    Attributes:
        column: Where the label begins, from 0.
        label: For instance "[2]" or "[3-5]".
    """

    column: int
    label: str


class _Cluster(NamedTuple):
    first: int
    last: int
    cell: int

    @property
    def label(self) -> str:
        return mark_label(self.first, self.last)

    def column(self, width: int) -> int:
        return max(min(self.cell, width - len(self.label)), 0)


def mark_label(first: int, last: int) -> str:
    """Give the label of the reasons with the numbers from `first` to `last`."""
    return f"[{first}]" if first == last else f"[{first}-{last}]"


def clustered(cells: Iterable[int], width: int) -> list[Mark]:
    """Give labels that do not overlap, as few reasons in each as the room allows.

    Args:
        cells: Cell of each reason, from 0, in the order of their numbers.
        width: Number of cells. A label that would reach beyond the last one is moved left.
    """
    clusters: list[_Cluster] = []
    for number, cell in enumerate(cells, 1):
        clusters.append(_Cluster(number, number, cell))
        # A merged label is longer and may meet the one before it.
        while len(clusters) > 1 and _overlap(clusters[-2], clusters[-1], width):
            last = clusters.pop()
            first = clusters.pop()
            clusters.append(_Cluster(first.first, last.last, min(first.cell, last.cell)))
    return [Mark(cluster.column(width), cluster.label) for cluster in clusters]


def _overlap(one: _Cluster, other: _Cluster, width: int) -> bool:
    return other.column(width) < one.column(width) + len(one.label)

"""Time on a line of cells: where a stretch of time lies, and how much of each cell it takes."""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

_What = TypeVar("_What")


class Stretch(NamedTuple, Generic[_What]):
    """What something is spent on, from one moment to another, in nanoseconds since the epoch."""

    what: _What
    start_ns: int
    end_ns: int


class Scale(NamedTuple):
    """The stretch of time that the cells of a bar cover, in nanoseconds since the epoch."""

    start_ns: int
    end_ns: int
    cells: int

    @property
    def length_ns(self) -> int:
        """Length of the time, at least 1."""
        return max(self.end_ns - self.start_ns, 1)

    def boundary(self, moment_ns: int) -> int:
        """Give the boundary between cells that is nearest to a moment, from 0 to `cells`."""
        length_ns = self.length_ns
        nearest = ((moment_ns - self.start_ns) * self.cells * 2 + length_ns) // (2 * length_ns)
        return min(max(nearest, 0), self.cells)

    def shares(self, stretches: Iterable[Stretch[_What]]) -> dict[int, dict[_What, int]]:
        """Give how much of each cell stretches take.

        Args:
            stretches: What is to be shown. What lies outside of the scale is left out.

        Returns:
            For each cell that is touched: the shares of what touches it, by what it is. The share
            of a whole cell is `length_ns`, so that all of this is exact.
        """
        whole = self.length_ns
        found: dict[int, dict[_What, int]] = {}
        for what, start_ns, end_ns in stretches:
            first = max((start_ns - self.start_ns) * self.cells, 0)
            last = min((end_ns - self.start_ns) * self.cells, whole * self.cells)
            for cell in range(first // whole, -(-last // whole)):
                share = min(last, (cell + 1) * whole) - max(first, cell * whole)
                shares = found.setdefault(cell, {})
                shares[what] = shares.get(what, 0) + share
        return found


def topmost(stretches: Sequence[Stretch[_What]]) -> list[Stretch[_What]]:
    """Give what is seen of stretches that lie on each other, each on those before it.

    Returns:
        Stretches that do not overlap, in the order of time.
    """
    moments = sorted({moment for each in stretches for moment in (each.start_ns, each.end_ns)})
    to_come = sorted(range(len(stretches)), key=lambda at: stretches[at].start_ns, reverse=True)
    lying: list[int] = []  # negative places, so that the topmost comes first
    found: list[Stretch[_What]] = []
    for start_ns, end_ns in pairwise(moments):
        while to_come and stretches[to_come[-1]].start_ns <= start_ns:
            heappush(lying, -to_come.pop())
        while lying and stretches[-lying[0]].end_ns <= start_ns:
            heappop(lying)
        if lying:
            found.append(Stretch(stretches[-lying[0]].what, start_ns, end_ns))
    return found

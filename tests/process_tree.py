"""The processes that a process started, as Linux tells of them."""

from collections.abc import Iterator
from pathlib import Path


def children_in_order(pid: int) -> list[int]:
    """Give the children of a process; those of one thread in the order of their starts."""
    # Children belong to the thread that started them.
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for each in threads for child in (each / "children").read_text().split()]


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process, its children, theirs and so on."""
    pending = [pid]
    while pending:
        current = pending.pop()
        yield current
        pending += children_in_order(current)

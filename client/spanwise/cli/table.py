"""Tables in plain text."""

import sys
from collections.abc import Container, Iterable, Sequence

from rich.cells import cell_len

from spanwise._text import LONGEST_ID, shortened, write_text

_GAP = "  "


def write_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right_aligned: Container[str] = ()
) -> None:
    """Write a table to standard output, each column as wide as its widest value.

    Args:
        head: Names of the columns.
        rows: Values, one for each column. They may hold any character and any length.
        right_aligned: Names of columns that are aligned at their right side.
    """
    lines = [list(head), *([shortened(value, LONGEST_ID) for value in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            _padded(value, width, to_right=name in right_aligned)
            for value, width, name in zip(line, widths, head, strict=True)
        )
        write_text(f"{_GAP.join(cells).rstrip()}\n", sys.stdout)


def _padded(value: str, width: int, *, to_right: bool) -> str:
    space = " " * (width - cell_len(value))
    return space + value if to_right else value + space

"""Tables in plain text."""

import sys
from collections.abc import Container, Iterable, Mapping, Sequence

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
        _write_line(head, line, widths, right_aligned)


def write_growing_table(
    columns: Mapping[str, int], rows: Iterable[Sequence[str]], right_aligned: Container[str] = ()
) -> None:
    """Write a table whose rows are still to come, each as soon as it is there.

    Args:
        columns: Names of the columns, and widths that usual values fit into. A wider one pushes
            the rest of its line.
        rows: As in write_table. May block.
        right_aligned: As in write_table.
    """
    head, widths = list(columns), list(columns.values())
    _write_line(head, head, widths, right_aligned)
    sys.stdout.flush()
    for row in rows:
        values = [shortened(value, LONGEST_ID) for value in row]
        _write_line(head, values, widths, right_aligned)
        sys.stdout.flush()


def _write_line(
    head: Sequence[str], line: Sequence[str], widths: Sequence[int], right_aligned: Container[str]
) -> None:
    cells = (
        _padded(value, width, to_right=name in right_aligned)
        for value, width, name in zip(line, widths, head, strict=True)
    )
    write_text(f"{_GAP.join(cells).rstrip()}\n", sys.stdout)


def _padded(value: str, width: int, *, to_right: bool) -> str:
    space = " " * (width - cell_len(value))
    return space + value if to_right else value + space

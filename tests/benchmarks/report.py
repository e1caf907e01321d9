"""The table that a benchmark prints."""

from typing import NamedTuple


class Row(NamedTuple):
    """One line: what was measured, the figure, and the target with whether it was met."""

    work: str
    figure: str
    target: str = ""
    met: bool | None = None


def render(rows: list[Row]) -> str:
    """Give the table as text."""
    width = max(len(row.work) for row in rows)
    lines = []
    for row in rows:
        verdict = "" if row.met is None else ("  met" if row.met else "  MISSED")
        target = f"  target {row.target}{verdict}" if row.target else ""
        lines.append(f"{row.work:<{width}}  {row.figure}{target}")
    return "\n".join(lines)

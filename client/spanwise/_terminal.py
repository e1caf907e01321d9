"""Where text meets a terminal, a pipe or a file."""

import os
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console
from rich.text import Text

from spanwise._text import encodable, write_text

WIDTH_ELSEWHERE = 100
"""Columns of what is not a terminal, so that files of different machines are alike."""


def is_coloured(file: TextIO) -> bool:
    """Give whether a file is a terminal that may be coloured: see https://no-color.org."""
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_live(file: TextIO) -> bool:
    """Give whether a file is a terminal whose lines can be drawn again."""
    return file.isatty() and os.environ.get("TERM") not in {None, "", "dumb", "unknown"}


def columns(file: TextIO) -> int:
    """Give the number of columns of a terminal, or WIDTH_ELSEWHERE."""
    return Console(file=file).width if file.isatty() else WIDTH_ELSEWHERE


def write(lines: Iterable[Text], file: TextIO) -> None:
    """Write lines, coloured where the file may be; the terminal breaks those that are too long."""
    if not is_coloured(file):
        for line in lines:
            write_text(f"{line.plain}\n", file)
        return
    console = Console(file=file, highlight=False, soft_wrap=True)
    for line in lines:
        if encodable(line.plain, file) != line.plain:
            line = Text(encodable(line.plain, file), line.style)  # noqa: PLW2901 - escaped
        console.print(line)

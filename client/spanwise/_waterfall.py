"""The waterfall: the spans of an execution as bars over a common time axis, in characters."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from spanwise._marks import clustered
from spanwise._rows import Piece, Row, rows
from spanwise._scale import Scale, Stretch, topmost
from spanwise._text import neutral, padded
from spanwise._times import SECOND_NS, rfc3339, short_duration

if TYPE_CHECKING:
    from spanwise._span import ExecutionSpan

NARROWEST = 40
"""Columns below which nothing is drawn that could be read; less counts as this many."""
_WIDEST_NAME = 44
_LONGEST_NAME = 500  # characters that are looked at: more cannot be shown
_NARROWEST_NOTE = 8  # columns of a note that say something
_GAP = "  "
_LINES_AROUND_ROWS = 5  # axis, what does not fit, and two or three of legend
_TICK_ROOM = 10  # cells between two labels of the axis, at least


class _Look(NamedTuple):
    """How something looks: without colours it is told apart by the character alone."""

    character: str
    ascii: str
    style: str
    legend: str


_BODY = _Look("━", "=", "", "in the rows below, or unknown")
_SETUP = _Look("░", ":", "blue", "set-up")
_RUNTIME = _Look("█", "#", "green", "runtime")
_TEARDOWN = _Look("▒", "%", "magenta", "teardown")
_UNKNOWN = _Look("?", "?", "yellow", "another operation")
_OPERATIONS = {
    "WORKFLOW_SETUP": _SETUP,
    "NODE_SETUP": _SETUP,
    "TASK_SETUP": _SETUP,
    "TASK_RUNTIME": _RUNTIME,
    "TASK_TEARDOWN": _TEARDOWN,
    "NODE_TEARDOWN": _TEARDOWN,
    "WORKFLOW_TEARDOWN": _TEARDOWN,
    "NODE_TRANSITION": _Look("·", ".", "bright_black", "transition"),
    "NODE_RESET": _Look("~", "~", "yellow", "reset"),
    "NODE_IDLE": _Look("z", "z", "yellow", "idle"),
    "QUEUED": _Look("q", "q", "yellow", "queued"),
    "WAITING_FOR_RESOURCES": _Look("w", "w", "yellow", "waiting for resources"),
    "INITIALIZING": _Look("n", "n", "blue", "initializing"),
    "SCHEDULING": _Look("s", "s", "yellow", "scheduling"),
    "SCALE_UP": _Look("u", "u", "yellow", "scale up"),
    "VOLUME_ATTACH": _Look("v", "v", "blue", "volume attach"),
    "IMAGE_PULL": _Look("i", "i", "cyan", "image pull"),
    "IMAGE_PULL_BACKOFF": _Look("b", "b", "red", "image pull backoff"),
    "CONTAINER_START": _Look("c", "c", "blue", "container start"),
    "CRASH_BACKOFF": _Look("r", "r", "red", "crash backoff"),
    "QUOTA_WAIT": _Look("l", "l", "yellow", "quota wait"),
    "CACHE_RESERVATION": _Look("h", "h", "yellow", "cache reservation"),
    "EVICTION": _Look("e", "e", "red", "eviction"),
    "ADMISSION": _Look("a", "a", "red", "admission"),
    "PLUGIN_SETUP": _Look("p", "p", "blue", "plugin setup"),
}
_FAILED = _Look("✗", "X", "bold red", "failed")
_OPEN = _Look("▶", ">", "bold", "still open")
_EARLIER = _Look("«", "{", "bold", "began before the axis")
_LATER = _Look("»", "}", "bold", "ended after the axis")
_MARKS = _Look("[n]", "[n]", "dim", "reasons, by their numbers in explain")
_NOTHING = _Look(" ", " ", "", "")
_LEGEND = tuple(
    dict.fromkeys(
        [_BODY, *_OPERATIONS.values(), _UNKNOWN, _FAILED, _OPEN, _EARLIER, _LATER, _MARKS]
    )
)
_ELLIPSIS = _Look("…", "~", "", "")
_ALL_CHARACTERS = "".join(look.character for look in (*_LEGEND, _ELLIPSIS))

_STEPS_NS = tuple(
    [step * 10**power for power in range(9) for step in (1, 2, 5)]
    + [seconds * SECOND_NS for seconds in (1, 2, 5, 10, 15, 30)]
    + [minutes * 60 * SECOND_NS for minutes in (1, 2, 5, 10, 15, 30)]
    + [hours * 3600 * SECOND_NS for hours in (1, 2, 3, 6, 12)]
    + [days * 86_400 * SECOND_NS * 10**power for power in range(7) for days in (1, 2, 5)]
)


class Waterfall:
    """A tree made ready to be drawn, at any moment and any width."""

    def __init__(self, root: "ExecutionSpan", *, full: bool = False) -> None:
        """Find the rows.

        Args:
            root: Tree.
            full: A row for every sub-task, however many there are.
        """
        self._root = root
        self._rows = rows(root, full=full)

    def lines(
        self,
        width: int,
        *,
        as_of_ns: int | None = None,
        most_lines: int | None = None,
        local_time: bool = False,
        encoding: str = "utf-8",
    ) -> list[Text]:
        """Give the lines, without newlines: head, axis, rows with their marks, legend.

        Args:
            width: Columns. No line has more; less than NARROWEST counts as NARROWEST.
            as_of_ns: Moment up to which open bars are drawn; None takes that of the tree.
            most_lines: Lines that there is room for. Rows that do not fit are left out and
                counted: first those that ended longest ago, last those that are open.
            local_time: The start in the zone of this machine instead of UTC.
            encoding: What it cannot hold is written in ASCII.
        """
        moment_ns = self._root.as_of_ns if as_of_ns is None else as_of_ns
        drawing = _Drawing(self._rows, max(width, NARROWEST), moment_ns, encoding)
        head = drawing.head(_title(self._root, moment_ns, local_time=local_time))
        room = None if most_lines is None else most_lines - len(head)
        found = [*head, *drawing.lines(room)]
        if self._root.is_truncated:
            note = "(the server left spans out: the tree is too large for one answer)"
            found.append(Text(drawing.cut(note), "yellow"))
        return found[:most_lines]


def _title(root: "ExecutionSpan", as_of_ns: int, *, local_time: bool) -> list[str]:
    end_ns = root.end_ns
    duration_ns = max((as_of_ns if end_ns is None else end_ns) - root.start_ns, 0)
    execution_id = root.execution_id if root.parent is None else None
    parts = (
        root.entity if execution_id is None else str(execution_id),
        root.phase,
        short_duration(duration_ns),
        f"from {rfc3339(root.start_ns, local_time=local_time)}",
    )
    return list(filter(None, parts))


class _Drawing:
    """One picture: the widths of its columns, its scale, and what its legend has to explain."""

    def __init__(self, all_rows: Sequence[Row], width: int, as_of_ns: int, encoding: str) -> None:
        self._rows = all_rows
        self._width = width
        self._as_of_ns = as_of_ns
        self._encoding = encoding
        self._is_ascii = not _can_hold(encoding, _ALL_CHARACTERS)
        self._seen: set[_Look] = set()
        self._duration_columns = max(len(self._duration(row)) for row in all_rows)
        room = width - self._duration_columns - 2
        longest = max(2 * row.depth + self._longest_name(row) for row in all_rows)
        widest = max(min(_WIDEST_NAME, room * 2 // 5), 1)
        self._name_columns = min(longest, widest)
        self._scale = Scale(*self._bounds(), max(room - self._name_columns, 1))
        self._cells: dict[int, tuple[int, int]] = {}

    def head(self, parts: Sequence[str]) -> list[Text]:
        """Give the lines above the axis: parts of the title side by side, as far as they fit."""
        found: list[str] = []
        for part in parts:
            shown = self._shortened(self._shown(part), self._width)
            if found and cell_len(found[-1] + _GAP + shown) <= self._width:
                found[-1] += _GAP + shown
            else:
                found.append(shown)
        return [Text(line, "bold") for line in found]

    def lines(self, most_lines: int | None) -> Iterator[Text]:
        """Give the axis, the rows and the legend."""
        yield self._axis()
        shown: Sequence[int] = range(len(self._rows))
        if most_lines is not None:
            shown = self._most_important(most_lines - _LINES_AROUND_ROWS)
        for number in shown:
            self._cells[number] = self._place(self._rows[number])
            yield from self._row(number)
        if len(shown) < len(self._rows):
            note = f"({len(self._rows) - len(shown)} more rows do not fit)"
            yield Text(self.cut(note), "dim")
        yield from self._legend()

    def cut(self, text: str) -> str:
        """Give a text as it may stand in a line of its own."""
        text = self._shown(text)
        if cell_len(text) <= self._width:
            return text
        return set_cell_size(text, self._width - 1) + self._character(_ELLIPSIS)

    def _most_important(self, room: int) -> list[int]:
        """Give the places of as many rows as fit, each with the rows that contain it.

        Without those a node could be one of any execution.
        """

        def importance(number: int) -> tuple[bool, bool, int]:
            row = self._rows[number]
            return (number == 0 or row.end_ns is None, row.is_failed, self._end_ns(row))

        chosen: set[int] = set()
        for number in sorted(range(len(self._rows)), key=importance, reverse=True):
            needed: list[int] = []
            above: int | None = number
            while above is not None and above not in chosen and room >= 0:
                needed.append(above)
                room -= 2 if self._rows[above].reasons_ns else 1
                above = self._rows[above].above
            if room < 0:
                break
            chosen.update(needed)
        return sorted(chosen)

    def _bounds(self) -> tuple[int, int]:
        """Give the time that the axis covers: that of the root, or of all if the root has none.

        Not that of all in any case: one wrong clock would press everything else into one cell.
        """
        root = self._rows[0]
        if self._end_ns(root) > root.start_ns:
            return root.start_ns, self._end_ns(root)
        return (
            min(row.start_ns for row in self._rows),
            max(self._end_ns(row) for row in self._rows),
        )

    def _end_ns(self, row: Row | Piece) -> int:
        return max(self._as_of_ns if row.end_ns is None else row.end_ns, row.start_ns)

    def _duration(self, row: Row) -> str:
        return short_duration(self._end_ns(row) - row.start_ns)

    def _axis(self) -> Text:
        scale = self._scale
        most = max(scale.cells // _TICK_ROOM, 1)
        steps = (step for step in _STEPS_NS if scale.length_ns // step <= most)
        step_ns = next(steps, _STEPS_NS[-1])
        ticks = range(0, scale.end_ns - scale.start_ns + 1, step_ns)
        labels = [
            (scale.boundary(scale.start_ns + tick), f"|{_axis_label(tick)}") for tick in ticks
        ]
        room = self._width - self._name_columns - 1
        fitting = [(cell, label) for cell, label in labels if cell + len(label) <= room]
        return Text(self._beside_names(fitting), "dim")

    def _row(self, number: int) -> Iterator[Text]:
        row = self._rows[number]
        text = Text(padded(self._name(row), self._name_columns + 1))
        if row.is_failed:
            text.stylize("red")
        for look, cells in groupby(self._bar(number)):
            text.append(self._character(look) * len(list(cells)), look.style)
        text.append(f" {self._duration(row):>{self._duration_columns}}")
        yield text
        if row.reasons_ns:
            self._seen.add(_MARKS)
            marks = clustered(self._mark_cells(number), self._scale.cells)
            yield Text(self._beside_names(marks), _MARKS.style)

    def _bar(self, number: int) -> list[_Look]:
        row = self._rows[number]
        first, end = self._cells[number]
        last = end - 1
        bar = [_NOTHING] * self._scale.cells
        if row.waits:
            self._fill(bar, row.waits, dict.fromkeys(range(len(bar)), self._scale.length_ns))
        bar[first:end] = [_BODY] * (end - first)
        if first == last:
            bar[first] = self._most_of(row)
        else:
            whole = Stretch(_BODY, row.start_ns, self._end_ns(row))
            shares = self._scale.shares([whole])
            self._fill(bar, row.pieces, {cell: shares[cell][_BODY] for cell in range(first, end)})
        if row.start_ns < self._scale.start_ns:
            bar[first] = _EARLIER
        if row.is_failed:
            bar[last] = _FAILED
        elif row.end_ns is None:
            bar[last] = _OPEN
        elif row.end_ns > self._scale.end_ns:
            bar[last] = _LATER
        self._seen.update(bar)
        return bar

    def _place(self, row: Row) -> tuple[int, int]:
        """Give the first cell of a row, and the one behind its last.

        The row that contains it has been placed before.
        """
        end_ns = self._end_ns(row)
        first, end = self._scale.boundary(row.start_ns), self._scale.boundary(end_ns)
        if first < end:
            return first, end
        most = self._scale.cells  # too short for the scale, but to be seen
        if row.above is not None:
            above = self._rows[row.above]
            if above.start_ns <= row.start_ns and end_ns <= self._end_ns(above):
                most = self._cells[row.above][1]  # what is inside stands below the bar
        first = min(first, most - 1)
        return first, first + 1

    def _mark_cells(self, number: int) -> Iterator[int]:
        row = self._rows[number]
        first, end = self._cells[number]
        for moment_ns in row.reasons_ns:
            cell = min(self._scale.boundary(moment_ns), self._scale.cells - 1)
            if row.start_ns <= moment_ns <= self._end_ns(row):
                cell = min(max(cell, first), end - 1)  # what is inside stands below the bar
            yield cell

    def _fill(self, bar: list[_Look], pieces: Sequence[Piece], own: Mapping[int, int]) -> None:
        """Put into each cell what takes most of it, unless the rest of it is more.

        Args:
            bar: Cells.
            pieces: What may fill them.
            own: Cells that are there for these pieces, with the share of each that can be filled.
                The others stay as they are unless more than half of them is taken.
        """
        for cell, shares in self._scale.shares(self._seen_pieces(pieces)).items():
            rest = own.get(cell, self._scale.length_ns) - sum(shares.values())
            look = max(shares, key=shares.__getitem__)
            if shares[look] > rest or (cell in own and shares[look] == rest):
                bar[cell] = look

    def _most_of(self, row: Row) -> _Look:
        """Give what took most of a row, which is what has no operation of its own, or one of it."""
        end_ns = self._end_ns(row)
        times_ns = {_BODY: end_ns - row.start_ns}
        for look, piece_start_ns, piece_end_ns in self._seen_pieces(row.pieces):
            inside_ns = min(piece_end_ns, end_ns) - max(piece_start_ns, row.start_ns)
            if inside_ns > 0:
                times_ns[_BODY] -= inside_ns
                times_ns[look] = times_ns.get(look, 0) + inside_ns
        return max(times_ns, key=times_ns.__getitem__)

    def _seen_pieces(self, pieces: Iterable[Piece]) -> list[Stretch[_Look]]:
        return topmost(
            [
                Stretch(
                    _OPERATIONS.get(piece.operation, _UNKNOWN), piece.start_ns, self._end_ns(piece)
                )
                for piece in pieces
            ]
        )

    def _legend(self) -> Iterator[Text]:
        line = Text()
        for look in _LEGEND:
            if look not in self._seen:
                continue
            gap = "   " if line else ""
            entry = f"{self._character(look)} {look.legend}"
            if line and cell_len(line.plain) + len(gap) + len(entry) > self._width:
                yield line
                line, gap = Text(), ""
            line.append(gap)
            line.append(self._character(look), look.style)
            line.append(f" {look.legend}", "dim")
        if line:
            yield line

    # Characters and columns

    def _character(self, look: _Look) -> str:
        return look.ascii if self._is_ascii else look.character

    def _shown(self, text: str) -> str:
        text = neutral(text[:_LONGEST_NAME])
        return text.encode(self._encoding, "backslashreplace").decode(self._encoding)

    def _longest_name(self, row: Row) -> int:
        """Give the columns that the name of a row takes where there is room for all of it."""
        note = cell_len(_GAP + self._shown(row.note)) if row.note else 0
        return cell_len(self._shown(row.name)) + note

    def _name(self, row: Row) -> str:
        """Give the name with its indent: the note only in the room that the name leaves."""
        indent = " " * min(2 * row.depth, self._name_columns // 2)
        room = self._name_columns - len(indent)
        name = self._shortened(self._shown(row.name), room)
        note = self._shown(row.note)
        room -= cell_len(name + _GAP)
        if note and room >= min(cell_len(note), _NARROWEST_NOTE):
            name += _GAP + self._shortened(note, room)
        return indent + name

    def _shortened(self, text: str, columns: int) -> str:
        """Give the text without its middle, if it is too long: ids differ at their ends."""
        if cell_len(text) <= columns:
            return text
        tail = text[len(text) - columns // 2 :]
        while cell_len(tail) > columns // 2:
            tail = tail[1:]
        head = set_cell_size(text, columns - 1 - cell_len(tail))
        return head + self._character(_ELLIPSIS) + tail

    def _beside_names(self, labels: Iterable[tuple[int, str]]) -> str:
        """Give a line that has each label at its cell of the bars."""
        text = " " * (self._name_columns + 1)
        for cell, label in labels:
            column = self._name_columns + 1 + cell
            if column >= len(text):
                text = f"{text:<{column}}{label}"
        return text[: self._width]


def _axis_label(since_ns: int) -> str:
    label = short_duration(since_ns)
    for zero in (" 00s", " 00m", " 00h"):
        label = label.removesuffix(zero)
    return label


def _can_hold(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True

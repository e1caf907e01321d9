"""The table that explain prints.

The widths of the columns are those of flytekit's explain, and grow with what stands in them.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from spanwise import _paths
from spanwise._text import LONGEST_ID, LONGEST_TEXT, encodable, neutral, shortened, write_text
from spanwise._times import rfc3339, short_duration
from spanwise._values import Reason, SpanKind

if TYPE_CHECKING:
    from spanwise._span import ExecutionSpan

_COLUMN = 25
_DURATION = 7
_DEEPEST_INDENT = 30  # deeper levels are not indented further, so that lines stay readable
_GAP = "    "
_SUCCEEDED = {"", "SUCCEEDED"}
_ONLY_IN_FULL = {
    # On almost every row, where they would hide the other flags.
    "COARSE_TIMESTAMP",  # pods have times in whole seconds
    "INFERRED_UPSTREAM",  # Flyte's events do not name the nodes that a node waited for
}
_FAILED = {"FAILED", "ABORTED", "TIMED_OUT", "RETRYABLE_FAILED"}


class Line(NamedTuple):
    """One line of output, the rich style that a terminal gives it, and whether it may be cut."""

    text: str
    style: str
    may_be_cut: bool = False


class _Row(NamedTuple):
    """What stands in the columns for one span, and the lines below it."""

    operation: str
    start: str
    end: str
    duration: str
    entity: str
    style: str
    reasons: list[Line]


class _Options(NamedTuple):
    """How much is shown, and in which zone."""

    local_time: bool
    full: bool


def lines(root: "ExecutionSpan", *, local_time: bool, full: bool) -> Iterator[Line]:
    """Give the lines of the table, without newlines."""
    options = _Options(local_time, full)
    rows = [_row(span, depth, options) for span, depth in _with_depth(root)]
    operation, start, end = (
        max(_COLUMN, *(cell_len(text) + 2 for text in column))
        for column in zip(*((row.operation, row.start, row.end) for row in rows), strict=True)
    )
    duration = max(_DURATION, *(len(row.duration) for row in rows))
    head = (
        f"{'operation':<{operation}}{'start_timestamp':<{start}}{'end_timestamp':<{end}}"
        f"{'duration':>{duration}}{_GAP}entity"
    )
    yield Line(head, "bold")
    for row in rows:
        yield Line(
            f"{_padded(row.operation, operation)}{row.start:<{start}}{row.end:<{end}}"
            f"{row.duration:>{duration}}{_GAP}{row.entity}",
            row.style,
        )
        yield from row.reasons
    if root.is_truncated:
        yield Line("(the server left spans out: the tree is too large for one answer)", "yellow")


def write(table: Iterable[Line], file: TextIO, *, cut: bool) -> None:
    """Write lines to a file.

    Args:
        table: What to write.
        file: Where to. It is coloured if it is a terminal that may be coloured.
        cut: Whether lines that may be cut end at the right edge, if it is a terminal.
    """
    if not file.isatty():
        for line in table:
            write_text(f"{line.text}\n", file)
        return
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    console = Console(file=file, highlight=False, soft_wrap=True)
    for line in table:
        text = _cut(line.text, console.width) if cut and line.may_be_cut else line.text
        if is_plain:
            write_text(f"{text}\n", file)
        else:
            console.print(Text(encodable(text, file), line.style))


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _with_depth(root: "ExecutionSpan") -> Iterator[tuple["ExecutionSpan", int]]:
    stack = [(root, 0)]
    while stack:
        span, depth = stack.pop()
        yield span, depth
        stack.extend((child, depth + 1) for child in reversed(span.children))


def _row(span: "ExecutionSpan", depth: int, options: _Options) -> _Row:
    indent = "  " * min(depth, _DEEPEST_INDENT)
    end_ns = span.end_ns
    longest = _longest(LONGEST_ID, options)
    entity = shortened(span.entity, longest)
    notes = "; ".join(_notes(span, longest, options))
    return _Row(
        operation=indent + shortened(_paths.label(span), longest),
        start=rfc3339(span.start_ns, local_time=options.local_time),
        end="open" if end_ns is None else rfc3339(end_ns, local_time=options.local_time),
        duration=short_duration(span.duration_ns),
        entity=f"{entity}  ({notes})" if notes else entity,
        style=_style(span),
        reasons=list(_reason_lines(span, indent + "  ", options)),
    )


def _notes(span: "ExecutionSpan", longest: int, options: _Options) -> Iterator[str]:
    if span.kind is SpanKind.NODE and span.name not in {"", span.entity}:
        yield shortened(span.name, longest)
    if span.phase not in _SUCCEEDED:
        yield _words(span.phase)
    if span.cache_status in {"HIT", "POPULATED", "LOOKUP_FAILURE", "PUT_FAILURE"}:
        yield f"cache {_words(span.cache_status)}"
    for quality in span.qualities:
        if quality not in _ONLY_IN_FULL or options.full:
            yield _words(quality)
    if span.omitted_descendants:
        yield f"{span.omitted_descendants} below not shown"


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def _style(span: "ExecutionSpan") -> str:
    if span.phase in _FAILED:
        return "red"
    if span.kind is SpanKind.OPERATION:
        return "cyan"
    return "bold" if span.kind is SpanKind.EXECUTION else ""


def _reason_lines(span: "ExecutionSpan", indent: str, options: _Options) -> Iterator[Line]:
    reasons = span.reasons
    for alike in _runs(span, options):
        first, last = alike[0], alike[-1]
        # A source may count up, or send the same again: whichever says more.
        count = max(len(alike), *(reason.count for reason in alike))
        repeated = f" (x{count})" if count > 1 else ""
        if last.occurred_at_ns > first.occurred_at_ns:
            repeated = f" (x{count}, until {_offset(last.occurred_at_ns, span)})"
        text = shortened(first.message.strip(), _longest(LONGEST_TEXT, options))
        phase = span.phase_of(first)
        yield _reason_line(indent, _offset(first.occurred_at_ns, span), phase, text, repeated)
    error = span.error
    if error is not None and not any(error.message in reason.message for reason in reasons):
        text = ": ".join(part for part in (error.code, error.message.strip()) if part)
        text = shortened(text, _longest(LONGEST_TEXT, options))
        moment_ns = span.start_ns + span.duration_ns
        yield _reason_line(indent, _offset(moment_ns, span), span.phase or "error", text)


def _runs(span: "ExecutionSpan", options: _Options) -> Iterator[list[Reason]]:
    """Give neighbours that say the same together, or each alone when all are to be seen."""
    if options.full:
        yield from ([reason] for reason in span.reasons)
        return
    reasons = _without_echoes(span.reasons)
    for _, alike in groupby(reasons, key=lambda each: (span.phase_of(each), each.message)):
        yield list(alike)


def _without_echoes(reasons: Iterable[Reason]) -> list[Reason]:
    """Give the reasons without those that are the end of a neighbour of the same moment.

    Kubernetes tells some things twice: as the state of a pod, "Unschedulable:0/12 nodes are …", and
    as an event, "0/12 nodes are …".
    """
    kept: list[Reason] = []
    for reason in reasons:
        if kept and _is_echo(kept[-1], reason):
            longer = max(kept[-1], reason, key=lambda each: len(each.message))
            kept[-1] = replace(longer, count=max(kept[-1].count, reason.count))
        else:
            kept.append(reason)
    return kept


def _is_echo(one: Reason, other: Reason) -> bool:
    if one.occurred_at_ns != other.occurred_at_ns or one.message == other.message:
        return False
    return one.message.endswith(other.message) or other.message.endswith(one.message)


def _reason_line(indent: str, offset: str, phase: str, text: str, suffix: str = "") -> Line:
    return Line(
        f"{indent}{offset:>9}  {neutral(phase):<12}  {text}{suffix}", "dim", may_be_cut=True
    )


def _offset(moment_ns: int, span: "ExecutionSpan") -> str:
    since_ns = moment_ns - span.start_ns
    return f"{'+' if since_ns >= 0 else ''}{short_duration(since_ns)}"


def _longest(limit: int, options: _Options) -> int:
    return (1 << 31) if options.full else limit


def _padded(text: str, width: int) -> str:
    # By terminal cells, because a wide character takes two of them.
    return text + " " * (width - cell_len(text))

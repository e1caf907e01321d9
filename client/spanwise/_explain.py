"""The table that explain prints.

The widths of the columns are those of flytekit's explain, and grow with what stands in them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TextIO

from rich.cells import cell_len
from rich.text import Text

from spanwise import _paths, _terminal
from spanwise._marks import mark_label
from spanwise._rows import FAILED_PHASES
from spanwise._text import LONGEST_ID, LONGEST_TEXT, broken, neutral, padded, shortened
from spanwise._times import rfc3339, short_duration
from spanwise._values import Reason, SpanKind

if TYPE_CHECKING:
    from spanwise._span import ExecutionSpan

_COLUMN = 25
_DURATION = 7
_DEEPEST_INDENT = 30  # deeper levels are not indented further, so that lines stay readable
_GAP = "    "
_NARROWEST_TEXT = 40  # columns in which a reason can be read
_SUCCEEDED = {"", "SUCCEEDED"}
_ONLY_IN_FULL = {
    # On almost every row, where they would hide the other flags.
    "COARSE_TIMESTAMP",  # pods have times in whole seconds
    "INFERRED_UPSTREAM",  # Flyte's events do not name the nodes that a node waited for
}


class Line(NamedTuple):
    """One line of output.

    Attributes:
        text: All of it.
        style: The rich style that a terminal gives it.
        told_from: Column at which the text of a reason begins, which may go on in lines below; 0
            where a line is one line.
        indent: Column at which such lines begin where that column leaves too little room.
    """

    text: str
    style: str
    told_from: int = 0
    indent: int = 0


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
    rows = [_row(span, depth, options) for span, depth in _with_depth(root, options)]
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
            f"{padded(row.operation, operation)}{row.start:<{start}}{row.end:<{end}}"
            f"{row.duration:>{duration}}{_GAP}{row.entity}",
            row.style,
        )
        yield from row.reasons
    if root.is_truncated:
        yield Line("(the server left spans out: the tree is too large for one answer)", "yellow")


def write(table: Iterable[Line], file: TextIO) -> None:
    """Write lines to a file. On a terminal, reasons that are too long go on in lines below.

    Args:
        table: What to write.
        file: Where to. It is coloured if it is a terminal that may be coloured.
    """
    columns = _terminal.columns(file) if file.isatty() else None
    _terminal.write(
        (Text(text, line.style) for line in table for text in _fitted(line, columns)), file
    )


def _fitted(line: Line, columns: int | None) -> Iterator[str]:
    """Give a line as lines of at most so many columns, nothing of it lost."""
    if columns is None or not line.told_from or cell_len(line.text) <= columns:
        yield line.text
        return
    head, told = line.text[: line.told_from], line.text[line.told_from :]
    at = cell_len(head)
    if columns - at < _NARROWEST_TEXT:  # then all of the text stands below, further left
        yield head.rstrip()
        at = line.indent
        head = " " * at
    for part in broken(told, max(columns - at, _NARROWEST_TEXT)):
        yield head + part
        head = " " * at


def _with_depth(root: "ExecutionSpan", options: _Options) -> Iterator[tuple["ExecutionSpan", int]]:
    stack = [(root, 0)]
    while stack:
        span, depth = stack.pop()
        yield span, depth
        if options.full or _only_part(span) is None:
            stack.extend((child, depth + 1) for child in reversed(span.children))


def _only_part(span: "ExecutionSpan") -> "ExecutionSpan | None":
    """Give the part that an operation is made of alone: a row of its own would tell it again."""
    if span.kind is not SpanKind.OPERATION or len(span.children) != 1 or span.omitted_descendants:
        return None
    part = span.children[0]
    same_time = (part.start_ns, part.end_ns) == (span.start_ns, span.end_ns)
    says_more = part.children or part.reasons or not set(part.qualities) <= set(span.qualities)
    return part if part.kind is SpanKind.OPERATION and same_time and not says_more else None


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
        yield words(span.phase)
    last_event_ns = span.last_event_ns
    if span.is_open and last_event_ns is not None and last_event_ns <= span.as_of_ns:
        yield f"last heard {short_duration(span.as_of_ns - last_event_ns)} ago"
    part = _only_part(span)
    if part is not None and not options.full:
        yield f"all {words(part.operation)}"
    if span.cache_status in {"HIT", "POPULATED", "LOOKUP_FAILURE", "PUT_FAILURE"}:
        yield f"cache {words(span.cache_status)}"
    for quality in span.qualities:
        if quality not in _ONLY_IN_FULL or options.full:
            yield words(quality)
    if span.omitted_descendants:
        yield f"{span.omitted_descendants} below not shown"


def words(name: str) -> str:
    """Give the name of a phase, an operation or a flag as people write it: "image pull"."""
    return name.lower().replace("_", " ")


def _style(span: "ExecutionSpan") -> str:
    if span.phase in FAILED_PHASES:
        return "red"
    if span.kind is SpanKind.OPERATION:
        return "cyan"
    return "bold" if span.kind is SpanKind.EXECUTION else ""


class _Told(NamedTuple):
    """What one line tells of one reason, or of several that say the same."""

    mark: str
    offset: str
    phase: str
    operation: str
    text: str


def _reason_lines(span: "ExecutionSpan", indent: str, options: _Options) -> Iterator[Line]:
    told = list(_told(span, options))
    mark = max((len(each.mark) for each in told), default=0)
    operation = max((len(each.operation) for each in told), default=0)
    for each in told:
        meaning = f"{each.operation:<{operation}}  " if operation else ""
        head = f"{indent}{each.mark:<{mark}}{each.offset:>9}  {neutral(each.phase):<12}  {meaning}"
        yield Line(f"{head}{each.text}", "dim", told_from=len(head), indent=len(indent) + mark + 1)


def _told(span: "ExecutionSpan", options: _Options) -> Iterator[_Told]:
    longest = _longest(LONGEST_TEXT, options)
    reasons = span.reasons
    for alike in _runs(span, reasons, options):
        first, last = alike[0].reason, alike[-1].reason
        # A source may count up, or send the same again: whichever says more.
        count = max(len(alike), *(each.reason.count for each in alike))
        repeated = f" (x{count})" if count > 1 else ""
        if last.occurred_at_ns > first.occurred_at_ns:
            repeated = f" (x{count}, until {_offset(last.occurred_at_ns, span)})"
        yield _Told(
            mark=mark_label(alike[0].first, alike[-1].last),
            offset=_offset(first.occurred_at_ns, span),
            phase=span.phase_of(first),
            operation=neutral(first.operation),
            text=shortened(first.message.strip(), longest) + repeated,
        )
    error = span.error
    if error is not None and not any(error.message in reason.message for reason in reasons):
        text = ": ".join(part for part in (error.code, error.message.strip()) if part)
        moment_ns = span.start_ns + span.duration_ns
        yield _Told(
            mark="[!]",  # no number, because it is none of the reasons
            offset=_offset(moment_ns, span),
            phase=span.phase or "error",
            operation="",
            text=shortened(text, longest),
        )


class _Numbered(NamedTuple):
    """A reason, and the numbers of those that it stands for."""

    first: int
    last: int
    reason: Reason


def _runs(
    span: "ExecutionSpan", reasons: Sequence[Reason], options: _Options
) -> Iterator[list[_Numbered]]:
    """Give neighbours that say the same together, or each alone when all are to be seen."""
    numbered = [_Numbered(number, number, reason) for number, reason in enumerate(reasons, 1)]
    if options.full:
        yield from ([each] for each in numbered)
        return
    alike = groupby(
        _without_echoes(numbered),
        key=lambda each: (span.phase_of(each.reason), each.reason.message),
    )
    yield from (list(run) for _, run in alike)


def _without_echoes(reasons: Iterable[_Numbered]) -> list[_Numbered]:
    """Give the reasons without those that are the end of a neighbour of the same moment.

    Kubernetes tells some things twice: as the state of a pod, "Unschedulable:0/12 nodes are …", and
    as an event, "0/12 nodes are …".
    """
    kept: list[_Numbered] = []
    for each in reasons:
        if kept and _is_echo(kept[-1].reason, each.reason):
            kept[-1] = _joined(kept[-1], each)
        else:
            kept.append(each)
    return kept


def _joined(one: _Numbered, other: _Numbered) -> _Numbered:
    longer, shorter = one.reason, other.reason
    if len(shorter.message) > len(longer.message):
        longer, shorter = shorter, longer
    reason = replace(
        longer,
        count=max(longer.count, shorter.count),
        operation=longer.operation or shorter.operation,
    )
    return _Numbered(one.first, other.last, reason)


def _is_echo(one: Reason, other: Reason) -> bool:
    if one.occurred_at_ns != other.occurred_at_ns or one.message == other.message:
        return False
    return one.message.endswith(other.message) or other.message.endswith(one.message)


def _offset(moment_ns: int, span: "ExecutionSpan") -> str:
    since_ns = moment_ns - span.start_ns
    return f"{'+' if since_ns >= 0 else ''}{short_duration(since_ns)}"


def _longest(limit: int, options: _Options) -> int:
    return (1 << 31) if options.full else limit

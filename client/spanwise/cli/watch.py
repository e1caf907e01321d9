"""The watch command: an execution while it goes on."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Thread
from typing import NamedTuple, TextIO

import typer
from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from spanwise import Client, ExecutionSpan
from spanwise._client import DEFAULT_ENDPOINT
from spanwise._marks import mark_label
from spanwise._terminal import is_live, write
from spanwise._text import (
    LONGEST_ID,
    LONGEST_TEXT,
    encodable,
    encoding_of,
    neutral,
    padded,
    shortened,
    write_text,
)
from spanwise._times import SECOND_NS, rfc3339, short_duration, to_ns
from spanwise._values import Reason, SpanKind
from spanwise._waterfall import Waterfall
from spanwise.cli import options
from spanwise.v1 import span_pb2

_REDRAW_S = 1.0  # open bars grow, and "last heard" counts seconds
_NARROWEST_ENTITY, _WIDEST_ENTITY = 12, 48  # columns; longer ones push the rest of their line
_LINES_BELOW = 2  # what was heard last, and the line that the cursor stands in


def watch(
    execution: options.Execution,
    *,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """Follow an execution until it ends.

    On a terminal, a waterfall that grows and stays when the execution has ended, or after Ctrl-C:
    then with the rows that the terminal had no room for. Elsewhere one line for each change: time,
    what it is about, new phase or new reason. What is in an execution that a launch plan started
    has the name of that execution before it: a1b2c3/n0[0]. The execution need not have begun.

    The exit code is 0 when the execution ended SUCCEEDED, 1 when it ended otherwise, and 130 after
    Ctrl-C.
    """
    with Client(endpoint) as client:
        trees = client.watch_execution_span(execution)
        if is_live(sys.stdout):
            last = draw(trees, execution, sys.stdout)
        else:
            last = tell(trees, sys.stdout)
    raise typer.Exit(0 if last is not None and last.phase == "SUCCEEDED" else 1)


def draw(trees: Iterable[ExecutionSpan], execution: str, file: TextIO) -> ExecutionSpan | None:
    """Draw a waterfall on a terminal, again at every change and every second.

    While it goes on, it has as many rows as the terminal. What stays at the end has all of them,
    also after Ctrl-C and after an error.

    Args:
        trees: A whole tree for each change. May block; what it raises is raised.
        execution: What is watched, for the time before the first tree.
        file: Terminal.

    Returns:
        The last tree; None when there was none.
    """
    arrivals: Queue[_Arrival] = Queue(maxsize=1)
    # A thread of its own, because an iterator cannot be waited for with a limit.
    Thread(target=_forward, args=(trees, arrivals), daemon=True).start()
    screen = _Screen(execution, file)
    arrival = _Arrival(None)
    try:
        with Live(
            console=screen.console,
            auto_refresh=False,
            vertical_overflow="crop",
            transient=True,  # the whole picture takes its place
        ) as live:
            while not arrival.is_last:
                live.update(_unbroken(screen.frame(is_whole=False)), refresh=True)
                with suppress(Empty):
                    arrival = arrivals.get(timeout=_REDRAW_S)
                screen.show(arrival.tree)
    finally:
        write(screen.frame(is_whole=True), file)
    if arrival.error is not None:
        raise arrival.error
    return arrival.tree


class _Screen:
    """What a terminal shows: the newest tree, as of now."""

    def __init__(self, execution: str, file: TextIO) -> None:
        self.console = Console(file=file, highlight=False)
        self._execution = execution
        self._file = file
        self._view: _View | None = None

    def show(self, tree: ExecutionSpan | None) -> None:
        """Show a tree from now on, unless it is shown already."""
        if tree is not None and (self._view is None or tree is not self._view.root):
            self._view = _View(tree)

    def frame(self, *, is_whole: bool) -> list[Text]:
        """Give the lines as of now: all of them, or as many as the terminal has room for."""
        if self._view is None:
            waiting = f"waiting for the first event of {shortened(self._execution, LONGEST_ID)}"
            return [Text(waiting)]
        height = None if is_whole else self.console.height
        return self._view.lines(self.console.width, height, self._file)


def _unbroken(lines: Iterable[Text]) -> Group:
    frame = list(lines)
    for line in frame:
        line.no_wrap, line.overflow = True, "crop"
    return Group(*frame)


class _Arrival(NamedTuple):
    """The newest tree, and whether it stays the newest."""

    tree: ExecutionSpan | None
    is_last: bool = False
    error: Exception | None = None


def _forward(trees: Iterable[ExecutionSpan], arrivals: "Queue[_Arrival]") -> None:
    tree: ExecutionSpan | None = None
    try:
        for tree in trees:
            _replace(arrivals, _Arrival(tree))
    except Exception as error:  # noqa: BLE001 - raised again by the thread that draws
        _replace(arrivals, _Arrival(tree, is_last=True, error=error))
    else:
        _replace(arrivals, _Arrival(tree, is_last=True))


def _replace(arrivals: "Queue[_Arrival]", arrival: _Arrival) -> None:
    """Put an arrival in the place of one that nobody has seen: only the newest tree matters."""
    while True:
        try:
            arrivals.put_nowait(arrival)
        except Full:
            with suppress(Empty):
                arrivals.get_nowait()
        else:
            return


class _View:
    """A tree on the screen, whose time goes on until the next one comes."""

    def __init__(self, root: ExecutionSpan) -> None:
        self.root = root
        self._received_ns = time.monotonic_ns()
        self._waterfall = Waterfall(root)
        heard_ns = root.last_event_ns  # of anything in it
        self._heard_ns = root.start_ns if heard_ns is None else heard_ns
        self._newest = _newest_reason(root)

    def lines(self, columns: int, height: int | None, file: TextIO) -> list[Text]:
        """Give the waterfall as of now, as far as there is room, and what was heard last.

        Args:
            columns: Width of the terminal.
            height: Lines of the terminal; None where there is room for all.
            file: Terminal.
        """
        as_of_ns = self.root.as_of_ns
        if self.root.is_open:
            # The clock of the server goes on as ours does; ours need not tell the same time.
            as_of_ns += time.monotonic_ns() - self._received_ns
        lines = self._waterfall.lines(
            columns,
            as_of_ns=as_of_ns,
            most_lines=None if height is None else max(height - _LINES_BELOW, 1),
            encoding=encoding_of(file),
        )
        return [*lines, Text(encodable(self._heard(as_of_ns), file))]

    def _heard(self, as_of_ns: int) -> str:
        if not self.root.is_open:
            return f"ended: {self.root.phase or 'unknown'}"
        silence_ns = max(as_of_ns - self._heard_ns, 0) // SECOND_NS * SECOND_NS
        return f"last heard {short_duration(silence_ns)} ago{self._newest}"


def _newest_reason(root: ExecutionSpan) -> str:
    newest_ns, found = -1, ""
    for span in root:
        reasons = span.message.reasons
        moment_ns = to_ns(reasons[-1].occurred_at) if reasons else -1
        if moment_ns > newest_ns:
            newest_ns = moment_ns
            found = f": {_entity(span)} {_reason(span.reasons[-1], len(reasons))}"
    return found


def tell(trees: Iterable[ExecutionSpan], file: TextIO) -> ExecutionSpan | None:
    """Write one line for each change, beginning with all that has happened before.

    Args:
        trees: A whole tree for each change.
        file: Where to. It is flushed after each tree.

    Returns:
        The last tree; None when there was none.
    """
    seen = _Seen()
    root: ExecutionSpan | None = None
    for root in trees:
        for line in seen.news(root):
            write_text(f"{line}\n", file)
        file.flush()
    return root


class _News(NamedTuple):
    moment_ns: int
    entity: str
    text: str


class _Seen:
    """What was told before of an execution."""

    def __init__(self) -> None:
        self._entity_columns = _NARROWEST_ENTITY
        self._messages: dict[bytes, span_pb2.Span] = {}
        self._told: set[tuple[bytes, int, str]] = set()

    def news(self, root: ExecutionSpan) -> Iterator[str]:
        """Give a line for each phase and each reason that is new, in the order of time."""
        found = [each for span in root if self._has_changed(span) for each in self._of(span)]
        # It only grows, so that columns seldom move while an execution goes on.
        longest = max((cell_len(each.entity) for each in found), default=0)
        self._entity_columns = max(self._entity_columns, min(longest, _WIDEST_ENTITY))
        for each in sorted(found, key=lambda news: news.moment_ns):
            entity = padded(each.entity, self._entity_columns)
            yield f"{rfc3339(each.moment_ns):<30}  {entity}  {each.text}"

    def _has_changed(self, span: ExecutionSpan) -> bool:
        if span.kind is SpanKind.OPERATION:
            return False
        message = span.message
        before = self._messages.get(message.span_id)
        self._messages[message.span_id] = message
        return before is None or (before is not message and before != message)

    def _of(self, span: ExecutionSpan) -> Iterator[_News]:
        for moment_ns, text in _phases(span):
            if self._is_new(span, moment_ns, text):
                yield _News(moment_ns, _entity(span), text)
        for number, reason in enumerate(span.reasons, 1):
            # Without its number, which a reason that came late may change.
            if self._is_new(span, reason.occurred_at_ns, f"reason {reason.message}"):
                yield _News(reason.occurred_at_ns, _entity(span), _reason(reason, number))

    def _is_new(self, span: ExecutionSpan, moment_ns: int, text: str) -> bool:
        key = (span.message.span_id, moment_ns, text)
        is_new = key not in self._told
        self._told.add(key)
        return is_new


def _phases(span: ExecutionSpan) -> Iterator[tuple[int, str]]:
    # A sub-task may be named before anything tells its phase.
    stays = [(stay.start_ns, stay.phase) for stay in span.phase_intervals if stay.phase]
    if span.phase and span.phase not in {phase for _, phase in stays}:
        stays.append((span.start_ns if span.end_ns is None else span.end_ns, span.phase))
    error = span.error
    for number, (moment_ns, phase) in enumerate(stays, 1):
        text = neutral(phase)
        if error is not None and number == len(stays):
            said = ": ".join(part for part in (error.code, error.message.strip()) if part)
            text = f"{text}  {shortened(said)}"
        yield moment_ns, text


def _entity(span: ExecutionSpan) -> str:
    """Give what a line is about: inside of a child execution, with the name of that one.

    Node ids are those of one execution, and each has an n0.
    """
    entity = shortened(span.entity, LONGEST_ID)
    execution = span if span.kind is SpanKind.EXECUTION else span.parent
    while execution is not None and execution.kind is not SpanKind.EXECUTION:
        execution = execution.parent
    if execution is None or execution is span or execution.parent is None:
        return entity
    return f"{shortened(execution.entity, LONGEST_ID)}/{entity}"


def _reason(reason: Reason, number: int) -> str:
    meaning = f"{neutral(reason.operation)}: " if reason.operation else ""
    return (
        f"{mark_label(number, number)} {meaning}{shortened(reason.message.strip(), LONGEST_TEXT)}"
    )

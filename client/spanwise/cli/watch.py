"""The watch command: an execution while it goes on."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Thread
from typing import NamedTuple, TextIO

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from spanwise import Client, ExecutionSpan
from spanwise._client import DEFAULT_ENDPOINT
from spanwise._marks import mark_label
from spanwise._terminal import is_live
from spanwise._text import (
    LONGEST_ID,
    LONGEST_TEXT,
    encodable,
    encoding_of,
    neutral,
    shortened,
    write_text,
)
from spanwise._times import SECOND_NS, rfc3339, short_duration, to_ns
from spanwise._values import Reason, SpanKind
from spanwise._waterfall import Waterfall
from spanwise.cli import options
from spanwise.v1 import span_pb2

_REDRAW_S = 1.0  # open bars grow, and "last heard" counts seconds
_LINES_BELOW = 2  # what was heard last, and the line that the cursor stands in


def watch(
    execution: options.Execution,
    *,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """Follow an execution until it ends.

    On a terminal, a waterfall that grows and stays when the execution has ended, or after Ctrl-C.
    Elsewhere one line for each change: time, what it is about, new phase or new reason. The
    execution need not have begun.

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
    console = Console(file=file, highlight=False)
    arrival = _Arrival(None)
    view: _View | None = None
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            if view is None:
                frame = [Text(f"waiting for the first event of {shortened(execution, LONGEST_ID)}")]
            else:
                frame = view.lines(console.width, console.height, file)
            live.update(_unbroken(frame), refresh=True)
            if arrival.is_last:
                break
            try:
                arrival = arrivals.get(timeout=_REDRAW_S)
            except Empty:
                continue
            if arrival.tree is not None and (view is None or arrival.tree is not view.root):
                view = _View(arrival.tree)
    if arrival.error is not None:
        raise arrival.error
    return arrival.tree


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

    def lines(self, columns: int, height: int, file: TextIO) -> list[Text]:
        """Give the waterfall as of now, as far as there is room, and what was heard last."""
        as_of_ns = self.root.as_of_ns
        if self.root.is_open:
            # The clock of the server goes on as ours does; ours need not tell the same time.
            as_of_ns += time.monotonic_ns() - self._received_ns
        lines = self._waterfall.lines(
            columns,
            as_of_ns=as_of_ns,
            most_lines=max(height - _LINES_BELOW, 1),
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
        self._messages: dict[bytes, span_pb2.Span] = {}
        self._told: set[tuple[bytes, int, str]] = set()

    def news(self, root: ExecutionSpan) -> Iterator[str]:
        """Give a line for each phase and each reason that is new, in the order of time."""
        found = [each for span in root if self._has_changed(span) for each in self._of(span)]
        for each in sorted(found, key=lambda news: news.moment_ns):
            yield f"{rfc3339(each.moment_ns):<30}  {each.entity:<12}  {each.text}"

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
    stays = [(stay.start_ns, stay.phase) for stay in span.phase_intervals]
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
    return shortened(span.entity, LONGEST_ID)


def _reason(reason: Reason, number: int) -> str:
    meaning = f"{neutral(reason.operation)}: " if reason.operation else ""
    return (
        f"{mark_label(number, number)} {meaning}{shortened(reason.message.strip(), LONGEST_TEXT)}"
    )

"""Commands that move events from one server to another: export and import."""

import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from spanwise import Client, InvalidRequest, RemoteError
from spanwise._client import DEFAULT_ENDPOINT
from spanwise._event_file import decode_line, encode_line
from spanwise._event_stream import EventVerdict
from spanwise._terminal import is_live
from spanwise._text import neutral, shortened, write_text
from spanwise.cli import options
from spanwise.v1 import event_service_pb2

_STDIN = "-"
_MOST_COMPLAINTS = 20

_DISPOSITIONS = ("ACCEPTED", "LATE", "DUPLICATE", "REFUSED")


def export_events(
    executions: Annotated[
        list[str],
        typer.Argument(metavar="PROJECT/DOMAIN/NAME...", help="Executions.", show_default=False),
    ],
    *,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """Write all events of executions to standard output.

    One JSON object a line, with the request that brought the event, byte for byte: what 'spanwise
    import' reads. All events that were received are in it, also those that came late, were repeated
    or were refused. Workflows that somebody registered are not: see docs/bulk.md.
    """
    with Client(endpoint) as client:
        for execution in executions:
            for event in client.list_events(execution, include_payload=True, page_size=500):
                sys.stdout.write(f"{encode_line(event)}\n")


def import_events(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="What 'spanwise export' wrote; - reads standard input."
        ),
    ],
    *,
    from_line: Annotated[
        int, typer.Option(min=1, help="Line to begin at, where an import before broke off.")
    ] = 1,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """Send the events of a file to a server.

    They are stored with the times at which they were first received, in the order of the file. A
    file may be imported again: events that are there count as duplicates. A line that is no event,
    or that the server cannot store, is named on standard error, and the others are imported all the
    same.

    The exit code is 0 when every line is stored, and 1 when one is not or the import broke off; the
    message then says at which line to go on.
    """
    taken = _Taken("standard input" if file == _STDIN else file, from_line)
    failure: RemoteError | None = None
    with _lines_of(file) as lines, Client(endpoint) as client:
        try:
            for verdict in client.create_events(taken.events(lines)):
                taken.count(verdict)
        except RemoteError as error:
            failure = error
    typer.echo(taken.summary())
    if failure is not None:
        typer.echo(
            f"spanwise: {neutral(str(failure))}\n"
            f"spanwise: what is before line {taken.next_line} is imported;"
            f" go on with --from-line {taken.next_line}",
            err=True,
        )
    raise typer.Exit(1 if failure is not None or taken.num_failed else 0)


class _Taken:
    """The lines of a file that were taken in, and what became of them.

    Attributes:
        next_line: Every line before this one is stored, or was complained of.
        num_failed: Lines that were complained of.
    """

    def __init__(self, name: str, from_line: int) -> None:
        self._name = name
        self._from_line = from_line
        self._unanswered: deque[int] = deque()
        self._dispositions: Counter[str] = Counter()
        self.next_line = from_line
        self.num_failed = 0

    def events(self, lines: Iterable[bytes]) -> Iterator[event_service_pb2.ReceivedEvent]:
        """Give the events of the lines, and complain of those that are none."""
        for number, line in enumerate(lines, 1):
            if number < self._from_line or not line.strip():
                continue
            try:
                event = decode_line(line)
            except InvalidRequest as error:
                self._complain(number, str(error))
            else:
                self._unanswered.append(number)
                yield event

    def count(self, verdict: EventVerdict) -> None:
        """Take in what became of the next event."""
        number = self._unanswered.popleft()
        self.next_line = number + 1
        if verdict.is_stored:
            self._dispositions[verdict.disposition] += 1
        else:
            self._complain(number, verdict.message)

    def summary(self) -> str:
        """Give what became of the lines, in one line."""
        told = ", ".join(
            f"{self._dispositions[disposition]} {disposition.lower()}"
            for disposition in _DISPOSITIONS
        )
        return f"{self._dispositions.total()} events: {told}; {self.num_failed} lines failed"

    def _complain(self, number: int, reason: str) -> None:
        self.num_failed += 1
        text = f"spanwise: {self._name}, line {number}: {shortened(reason)}\n"
        if self.num_failed < _MOST_COMPLAINTS:
            write_text(text, sys.stderr)
        elif self.num_failed == _MOST_COMPLAINTS:
            write_text(f"{text}spanwise: further lines that fail are counted only\n", sys.stderr)


@contextmanager
def _lines_of(name: str) -> Iterator[Iterable[bytes]]:
    """Give the lines of a file, with a bar on standard error that shows how far they are read."""
    if name == _STDIN:
        yield sys.stdin.buffer
        return
    path = Path(name)
    with path.open("rb") as file:
        if not is_live(sys.stderr):
            yield file
            return
        with Progress(console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task(f"import {path.name}", total=path.stat().st_size)
            yield _shown(file, progress, bar)


def _shown(file: BinaryIO, progress: Progress, bar: TaskID) -> Iterator[bytes]:
    for line in file:
        yield line
        progress.advance(bar, len(line))

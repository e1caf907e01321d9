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

from spanwise import Client, ExecutionId, InvalidRequest, RemoteError, WorkflowNotFound
from spanwise._client import DEFAULT_ENDPOINT
from spanwise._event_file import decode_line, encode_line
from spanwise._event_names import names_in, workflow_text
from spanwise._event_stream import EventVerdict
from spanwise._terminal import is_live
from spanwise._text import neutral, shortened, write_text
from spanwise._times import to_ns
from spanwise.cli import options
from spanwise.v1 import event_service_pb2, identifiers_pb2

_STDIN = "-"
_MOST_COMPLAINTS = 20
_MOST_NAMES = 20

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
    or were refused. Executions that these started are not, nor workflows that were registered or
    that these were bound to: all are named on standard error at the end. See docs/bulk.md.
    """
    left_out = _LeftOut(executions)
    with Client(endpoint) as client:
        for execution in executions:
            for event in client.list_events(execution, include_payload=True, page_size=500):
                sys.stdout.write(f"{encode_line(event)}\n")
                left_out.take_event(execution, event)
        sys.stdout.flush()
        try:
            left_out.look_up(client)
        except RemoteError as error:  # what was asked for is written
            _say(f"cannot tell whether more belongs to it: {error}")
    for names, what in (
        (left_out.children, "executions that these started; name them as well"),
        (left_out.workflows, "workflows; register them again (docs/bulk.md)"),
        (left_out.bindings, "what executions run; bind them again (docs/bulk.md)"),
    ):
        if names:
            _say(f"not exported: {what}: {_some(sorted(names))}")


class _LeftOut:
    """What the trees of executions need besides their events.

    Attributes:
        children: Other executions that their events name, or that are in their trees.
        workflows: Registered workflows that they run.
        bindings: What they run that no event of theirs says.
    """

    def __init__(self, executions: Iterable[str]) -> None:
        self._exported = {str(ExecutionId.parse(execution)) for execution in executions}
        self._named: set[tuple[str, str]] = set()
        self._times_ns: dict[str, tuple[int, int]] = {}
        self.children: set[str] = set()
        self.workflows: set[str] = set()
        self.bindings: set[str] = set()

    def take_event(self, execution: str, event: event_service_pb2.LoggedEvent) -> None:
        """Take in what an event of an execution names."""
        name = str(ExecutionId.parse(execution))
        child, workflow = names_in(event)
        if child is not None:
            self._add_child(str(child))
        if workflow:
            self._named.add((name, workflow))
        time_ns = to_ns(event.occurred_at)
        first_ns, last_ns = self._times_ns.get(name, (time_ns, time_ns))
        self._times_ns[name] = (min(first_ns, time_ns), max(last_ns, time_ns))

    def look_up(self, client: Client) -> None:
        """Take in what the server knows."""
        workflows: dict[str, identifiers_pb2.EntityVersion] = {}
        for name, (first_ns, last_ns) in self._times_ns.items():
            for span in client.stream_execution_span(name):
                if span.WhichOneof("subject") == "execution":
                    self._add_child(str(ExecutionId.from_message(span.execution.execution_id)))
            execution_id = ExecutionId.parse(name)
            # Its start is the time of one of its events.
            for summary in client.list_executions(
                execution_id.project,
                execution_id.domain,
                started_after=first_ns,
                started_before=last_ns + 1,
                search=execution_id.name,
            ):
                workflow = workflow_text(summary.workflow_id)
                if ExecutionId.from_message(summary.execution_id) != execution_id or not workflow:
                    continue
                workflows[workflow] = summary.workflow_id
                if (name, workflow) not in self._named:
                    self.bindings.add(f"{name}={workflow}")
        self.workflows |= {name for name in workflows if _is_registered(client, workflows[name])}

    def _add_child(self, name: str) -> None:
        if name not in self._exported:
            self.children.add(name)


def _is_registered(client: Client, workflow_id: identifiers_pb2.EntityVersion) -> bool:
    try:
        client.get_workflow(workflow_id)
    except WorkflowNotFound:
        return False
    return True


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return " ".join(names[:_MOST_NAMES]) + more


def _say(text: str) -> None:
    write_text(f"spanwise: {neutral(text)}\n", sys.stderr)


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

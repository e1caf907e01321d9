"""The simulate command."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from spanwise import InvalidRequest
from spanwise._client import DEFAULT_ENDPOINT
from spanwise._errors import INSTALL_SERVER, MissingPackage
from spanwise._identifiers import ExecutionId
from spanwise._terminal import is_live
from spanwise._text import neutral
from spanwise.cli import options
from spanwise.cli.moments import moment_ns
from spanwise.cli.table import write_table

if TYPE_CHECKING:
    from spanwise.simulate import Report, Tally
    from spanwise.simulate.run import OnProgress

_START = "2026-01-01T00:00:00Z"
_BUSY = 0.8  # share of a core, from where on this process may be what is slow
_LATENCIES = ("p50", "p90", "p99", "max")


def simulate(
    *,
    executions: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="How many executions to send.")
    ] = 100,
    nodes: Annotated[
        int,
        typer.Option(
            min=1,
            max=10_000_000,
            help="Nodes of each execution, without start-nodes and end-nodes. "
            "Each is some seven events.",
        ),
    ] = 20,
    propellers: Annotated[
        int,
        typer.Option(min=1, max=32, help="How many propellers share the executions, as shards."),
    ] = 1,
    workers: Annotated[
        int,
        typer.Option(min=1, max=1000, help="Calls that each propeller has in flight at once."),
    ] = 20,
    rate: Annotated[
        float,
        typer.Option(
            min=0,
            help="Most events of each propeller in a second; 0 is no limit, and sends the nodes "
            "of one execution side by side.",
        ),
    ] = 500,
    duplicates: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Share of rounds that are sent twice, as after a restart of propeller.",
        ),
    ] = 0.01,
    seed: Annotated[
        int, typer.Option(help="Picks everything: the same seed sends the same events.")
    ] = 1,
    start: Annotated[
        str, typer.Option(metavar="TIME", help="Start of the first execution in RFC 3339.")
    ] = _START,
    project: Annotated[str, typer.Option(help="Project of the executions.")] = "flytesnacks",
    domain: Annotated[str, typer.Option(help="Domain of the executions.")] = "development",
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
    as_json: Annotated[
        bool, typer.Option("--json", help="The report as one JSON object instead of text.")
    ] = False,
) -> None:
    """Send what a number of FlytePropellers would send, and report how it was taken.

    Executions of many shapes, whose tasks wait for machines and images, fail and are tried again,
    go to any server of Flyte's event calls, as quickly as the rate and the server allow. Their
    names begin with sim-. Progress is on standard error, the report on standard output.

    The exit code is 0 when every event was taken, also those that the server had already, 1 when
    not, and 130 after Ctrl-C, which ends it with the report so far.
    """
    package = _package()
    # What is wrong with an id is told before anything is sent.
    ExecutionId.parse(f"{project}/{domain}/sim")
    if "/" in project or "/" in domain:
        raise InvalidRequest(f"project {project!r}, domain {domain!r}: a slash parts the two")
    simulation = package.Simulation(
        seed=seed, start_ns=moment_ns(start), nodes=nodes, project=project, domain=domain
    )
    load = package.Load(
        executions=executions,
        propellers=propellers,
        workers=workers,
        rate=rate,
        duplicates=duplicates,
    )
    with _progress(executions * nodes) as on_progress:
        report = package.simulate(simulation, load, endpoint, on_progress)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=2))
    else:
        _print(report, endpoint)
    sys.stdout.flush()
    if report.ended_by and report.ended_by != package.INTERRUPTED:
        typer.echo(f"spanwise: {neutral(report.ended_by)}", err=True)
    if report.ended_by == package.INTERRUPTED:
        raise typer.Exit(130)
    raise typer.Exit(0 if report.is_complete else 1)


def _package() -> ModuleType:
    try:
        from spanwise import simulate
    except ImportError as error:
        raise MissingPackage(
            f"the simulation needs the server ({error}): {INSTALL_SERVER}"
        ) from error
    return simulate


@contextmanager
def _progress(nodes: int) -> "Iterator[OnProgress]":
    """Draw a bar on standard error if that is a terminal."""
    if not is_live(sys.stderr):
        yield lambda _: None
        return
    columns = (
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} nodes"),
        TextColumn("{task.fields[events]:,} events"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=nodes, events=0)

        def show(tallies: "Sequence[Tally]") -> None:
            progress.update(
                task,
                completed=sum(tally.nodes for tally in tallies),
                events=sum(tally.taken for tally in tallies),
            )

        yield show


def _print(report: "Report", endpoint: str) -> None:
    total = report.total
    events_per_s = f"{total.taken / report.wall_s:,.0f} events/s"
    calls_per_s = f"{total.answers.total() / report.wall_s:,.0f} calls/s"
    lines = [
        f"{total.finished:,} of {report.executions:,} executions, {total.nodes:,} nodes",
        f"{total.taken:,} events in {report.wall_s:.1f} s: {events_per_s}, {calls_per_s}",
    ]
    if total.sent_again:
        lines.append(f"{total.sent_again:,} calls sent an event again, as propeller does")
    if total.known:
        lines.append(
            f"{total.known:,} events were there before: another --seed makes other executions"
        )
    if total.failed_rounds or total.repeated_calls:
        lines.append(
            f"{total.repeated_calls:,} calls were repeated, {total.failed_rounds:,} rounds failed"
        )
    if total.stopped:
        lines.append(f"{total.stopped:,} executions were given up, among them:")
        lines.extend(f"  {neutral(problem)}" for problem in total.problems)
    if report.cpu_s > _BUSY * report.wall_s:
        lines.append(
            "the generator was busy all the time and may be slower than the server: "
            "run several at once, each with a --seed of its own"
        )
    typer.echo("\n".join(lines))
    typer.echo()
    _print_methods(total)
    if len(report.propellers) > 1:
        typer.echo()
        _print_propellers(report)
    if report.example is not None:
        elsewhere = "" if endpoint == DEFAULT_ENDPOINT else f" --endpoint {endpoint}"
        typer.echo(f"\nLook at one of them: spanwise explain {report.example}{elsewhere}")


def _print_methods(total: "Tally") -> None:
    codes = list(total.codes())
    rows = [
        [method, *_cells(total.codes(method), codes), *_latencies(latencies.to_dict())]
        for method, latencies in sorted(total.latencies.items())
    ]
    rows.append(
        ["all", *_cells(total.codes(), codes), *_latencies(total.all_latencies().to_dict())]
    )
    head = ["call", *codes, *(f"{name} ms" for name in _LATENCIES)]
    write_table(head, rows, right_aligned=head[1:])


def _print_propellers(report: "Report") -> None:
    head = ["propeller", "executions", "events", "events/s", *(f"{name} ms" for name in _LATENCIES)]
    rows = [
        [
            str(number),
            f"{tally.finished:,}",
            f"{tally.taken:,}",
            f"{tally.taken / report.wall_s:,.0f}",
            *_latencies(tally.all_latencies().to_dict()),
        ]
        for number, tally in enumerate(report.propellers)
    ]
    write_table(head, rows, right_aligned=head)


def _cells(counts: dict[str, int], codes: Sequence[str]) -> list[str]:
    return [f"{counts.get(code, 0):,}" for code in codes]


def _latencies(latencies: dict[str, float]) -> list[str]:
    return [f"{latencies[name]:,.1f}" for name in _LATENCIES]

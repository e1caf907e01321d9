"""The `spanwise` command."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from spanwise import SpanwiseError
from spanwise._text import neutral
from spanwise.cli import (
    database,
    demo,
    diagnose,
    read,
    server,
    simulate,
    transfer,
    watch,
)

__all__ = ["app", "main"]

app = typer.Typer(
    name="spanwise",
    no_args_is_help=True,
    add_completion=False,
    # Plain text: the same on every terminal, in documentation and in a log.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spanwise {version('spanwise')}")
        raise typer.Exit


@app.callback()
def _spanwise(
    _: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Why did my Flyte execution take so long?

    spanwise takes the events that FlytePropeller sends, rebuilds every execution as a tree of
    spans, and shows where its time went and why.
    """


for command in (server.serve, server.migrate, server.rebuild, demo.demo, simulate.simulate):
    app.command()(command)
app.command("list")(read.list_executions)
app.command("events")(read.list_events)
app.command()(read.explain)
app.command()(watch.watch)
app.command()(read.dump)
app.command()(diagnose.diagnose)
app.command("export")(transfer.export_events)
app.command("import")(transfer.import_events)
app.command()(database.delete)
app.command()(database.stats)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command and exit the process.

    The exit code is 0 when all went well, 1 after a failure, which is told in one line on standard
    error, 2 when the command line is wrong, and 130 after Ctrl-C.

    Args:
        args: Command line without the name of the program; None takes it from the process.
    """
    try:
        code = _run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def _run(args: Sequence[str] | None) -> int | str | None:
    try:
        app(args)
    except SystemExit as finished:
        return finished.code
    except BrokenPipeError:
        raise
    except (SpanwiseError, OSError) as error:
        typer.echo(f"spanwise: {neutral(str(error))}", err=True)
        return 1
    return 0

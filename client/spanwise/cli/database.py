"""Commands on the database of a server, which may run meanwhile."""

import json
import sys
from typing import Annotated, Any

import typer

from spanwise import ExecutionId
from spanwise._text import write_text
from spanwise._times import rfc3339
from spanwise.cli import options, server
from spanwise.cli.table import write_table

_KB = 1000


def delete(
    execution: options.Execution,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database_url: server.DatabaseUrl = None,
    log_level: server.LogLevel = None,
    config: server.Config = None,
) -> None:
    """Delete an execution and every trace of it.

    All its events and whatever was made of them, from the tables and from the files of the
    database. Nothing brings it back. Servers may run meanwhile. Executions that it started are
    others, and stay. What it does not reach is told in docs/retention.md. It says how much there is
    before it asks.
    """
    execution_id = ExecutionId.parse(execution)
    settings = server.settings_of(config, database_url=database_url, log_level=log_level)

    def confirm(num_events: int, payload_bytes: int) -> None:
        if yes:
            return
        events = "1 event" if num_events == 1 else f"{num_events:,} events"
        found = f"{execution_id} has {events}, with payloads of {_size(payload_bytes)}"
        if not sys.stdin.isatty():
            typer.echo(f"spanwise: {found}; there is no terminal to ask on: add --yes", err=True)
            raise typer.Exit(2)
        typer.echo(found)
        typer.confirm(f"Delete {execution_id} for good?", abort=True)

    raise typer.Exit(server.server_main().delete(settings, tuple(execution_id), confirm))


def stats(
    *,
    as_json: options.Json = False,
    database_url: server.DatabaseUrl = None,
    log_level: server.LogLevel = None,
    config: server.Config = None,
) -> None:
    """Show how much a database holds and how it grows.

    Rows and bytes of each table, executions by phase, and what came in on each of the last seven
    days, counted back from now. Reads the file once, which takes about a second a gigabyte.
    """
    settings = server.settings_of(config, database_url=database_url, log_level=log_level)
    show = _show_json if as_json else _show
    raise typer.Exit(server.server_main().stats(settings, show))


def _show_json(found: dict[str, Any]) -> None:
    write_text(f"{json.dumps(found)}\n", sys.stdout)


def _show(found: dict[str, Any]) -> None:
    write_table(
        ("table", "rows", "size"),
        (
            (each["table"], f"{each['num_rows']:,}", _size(each["size_bytes"]))
            for each in found["tables"]
        ),
        right_aligned={"rows", "size"},
    )
    phases = ", ".join(f"{number:,} {name}" for name, number in found["num_executions"].items())
    share = found["payload_bytes"] / max(found["used_bytes"], 1)
    lines = [
        ("executions", phases or "none"),
        ("oldest start", _moment(found["oldest_start_ns"])),
        ("newest event", _moment(found["newest_event_ns"])),
        ("in use", f"{_size(found['used_bytes'])}, payloads about {share:.0%} of it"),
        ("on disk", f"{_size(found['file_bytes'])}, free space included"),
        (
            "growth",
            f"{found['events_per_day']:,.0f} events a day, about {_size(found['bytes_per_day'])}",
        ),
        ("events by day", ", ".join(f"{number:,}" for number in found["daily_events"])),
    ]
    write_text("\n", sys.stdout)
    for name, value in lines:
        write_text(f"{name:<14} {value}\n", sys.stdout)


def _moment(time_ns: int | None) -> str:
    return "none" if time_ns is None else rfc3339(time_ns)


def _size(size_bytes: float | None) -> str:
    """Give a number of bytes in the largest unit that it has one of."""
    if size_bytes is None:
        return "unknown"
    for unit in ("B", "kB", "MB", "GB"):
        if size_bytes < _KB:
            return f"{size_bytes:.0f} B" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= _KB
    return f"{size_bytes:.1f} TB"

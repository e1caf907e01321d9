"""The command that says what cost an execution most."""

import json
import sys
from typing import Annotated

import typer

from spanwise import Client, Diagnosis, _report, _terminal
from spanwise._client import DEFAULT_ENDPOINT
from spanwise.cli import options

_NARROWEST = 40


def diagnose(
    execution: options.Execution,
    *,
    limit: Annotated[int, typer.Option(min=1, help="Most findings to show, up to 50.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a report.")] = False,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """Say what cost an execution most, why, and what helps.

    Each finding is a cause with its time on the critical path, the stretches that show it with the
    reasons in them, and advice with its source. Then attempts are compared with earlier ones of the
    same task. Causes and definitions are in docs/diagnose.md.
    """
    with Client(endpoint) as client:
        diagnosis = client.diagnose_execution(execution, max_findings=limit)
    if as_json:
        sys.stdout.write(f"{json.dumps(diagnosis.to_dict(), indent=2)}\n")
    else:
        report(diagnosis)


def report(diagnosis: Diagnosis) -> None:
    """Print a diagnosis, wrapped to the terminal."""
    width = max(_terminal.columns(sys.stdout), _NARROWEST)
    _terminal.write(_report.lines(diagnosis, width), sys.stdout)

"""The demo command."""

import sys
import time
from contextlib import nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from spanwise import Client, InvalidRequest, MissingPackage
from spanwise._times import moment_to_timestamp, to_ns
from spanwise.cli.temporary_server import temporary_server

if TYPE_CHECKING:
    from spanwise.demo import Scenario


def demo(
    seed: Annotated[
        int, typer.Option(help="Picks durations and the way in which the training fails.")
    ] = 1,
    running: Annotated[
        bool, typer.Option("--running", help="Stop in the middle of the evaluation.")
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the execution. Default: made from seed and start.", show_default=False
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Start of the execution in RFC 3339. Default: so that it ends now.",
            show_default=False,
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Server to play into. Default: one of its own, which is gone afterwards.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Play a training pipeline and explain it.

    It is sent as FlytePropeller would send it: data preparation, a cache hit, training that waits
    for a GPU machine and an image, fails once and is tried again, and evaluation.
    """
    scenario = _scenario(seed, start, name, running=running)
    with nullcontext(endpoint) if endpoint is not None else temporary_server() as address:
        _play(scenario, address)
        typer.echo(
            f"spanwise: played {scenario.execution_id} into {address}: "
            f"{len(scenario.requests)} events",
            err=True,
        )
        with Client(address) as client:
            span = client.get_execution_span(scenario.execution_id, as_of=scenario.end_ns)
        span.explain()
    sys.stdout.flush()


def _scenario(seed: int, start: str | None, name: str | None, *, running: bool) -> "Scenario":
    try:
        from spanwise import demo as pipeline
    except ImportError as error:
        raise MissingPackage(
            f"the demo needs the server, install the extra: spanwise[server] ({error})"
        ) from error
    if start is None:
        start_ns = pipeline.recent_start_ns(seed, time.time_ns(), running=running)
    else:
        start_ns = _moment_ns(start)
    return pipeline.training_pipeline(seed, start_ns, name=name or None, running=running)


def _play(scenario: "Scenario", endpoint: str) -> None:
    from spanwise.demo import play

    play(scenario, endpoint)


def _moment_ns(text: str) -> int:
    try:
        return to_ns(moment_to_timestamp(datetime.fromisoformat(text)))
    except ValueError as error:
        raise InvalidRequest(
            f"{text!r} is no time of the form 2026-01-31T10:00:00Z ({error})"
        ) from error

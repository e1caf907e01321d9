"""The demo command."""

import signal
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from spanwise import Client, ExecutionId, InvalidRequest
from spanwise._errors import INSTALL_SERVER, MissingPackage, SpanwiseError
from spanwise._times import short_duration, to_ns
from spanwise._values import phase_name
from spanwise.cli.diagnose import report
from spanwise.cli.moments import moment_ns
from spanwise.cli.table import write_table
from spanwise.cli.temporary_server import TemporaryServer, temporary_server

if TYPE_CHECKING:
    from spanwise.demo import Scenario


class ServerEnded(SpanwiseError):
    """The server that a command was to leave running ended."""


class Story(StrEnum):
    """Which sample execution to play."""

    TRAINING = "training"
    IMAGE_PULL = "image-pull"
    GPU_CAPACITY = "gpu-capacity"
    PROPELLER_OVERLOAD = "propeller-overload"


def demo(
    *,
    scenario: Annotated[
        Story, typer.Option(help="Which execution to play: what makes it slow differs.")
    ] = Story.TRAINING,
    seed: Annotated[
        int, typer.Option(help="Picks durations, and the way in which the training fails.")
    ] = 1,
    running: Annotated[
        bool,
        typer.Option("--running", help="Stop in the middle of the evaluation (training only)."),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the execution, which must be new to the server. "
            "Default: made from scenario, seed and start.",
            show_default=False,
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
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Leave the server of its own running until Ctrl-C, and say where its page shows "
            "the execution. What was played is listed, and not explained.",
        ),
    ] = False,
) -> None:
    """Play a sample execution, explain it, and say what cost most.

    It is sent as FlytePropeller would send it. training: data preparation in a subworkflow, a
    dynamic node, a map task, a cache hit, training that waits for a GPU machine, fails once and is
    tried again, evaluation, and a launch plan that deploys. image-pull: fresh machines pull a large
    image. gpu-capacity: pods wait for GPU machines. propeller-overload: many short nodes, with the
    time lost between them.
    """
    if serve and endpoint is not None:
        raise InvalidRequest(
            "--serve leaves a server of the demo's own running, and --endpoint names another one: "
            "leave one of them out"
        )
    played = _tell(scenario, seed, start, name, running=running)
    if endpoint is not None:
        _play(played, endpoint)
        _explain(played, endpoint)
        return
    with temporary_server() as server:
        _play(played, server.endpoint)
        if serve:
            _list(played, server.endpoint)
            _wait_for_ctrl_c(server, played)
        else:
            _explain(played, server.endpoint)


def _list(played: "Scenario", endpoint: str) -> None:
    """Give a line for each execution of a server that has nothing else, in the order of starts."""
    with Client(endpoint) as client:
        summaries = reversed(list(client.list_executions()))
    rows = []
    for summary in summaries:
        end_ns = to_ns(summary.end_time) if summary.HasField("end_time") else played.end_ns
        duration = short_duration(end_ns - to_ns(summary.start_time))
        execution = str(ExecutionId.from_message(summary.execution_id))
        rows.append((execution, phase_name(summary.phase), duration))
    write_table(["execution", "phase", "duration"], rows, right_aligned={"duration"})
    sys.stdout.flush()


def _explain(played: "Scenario", endpoint: str) -> None:
    with Client(endpoint) as client:
        span = client.get_execution_span(played.execution_id, as_of=played.end_ns)
        diagnosis = client.diagnose_execution(played.execution_id, as_of=played.end_ns)
    span.explain()
    typer.echo()
    report(diagnosis)
    sys.stdout.flush()


def _wait_for_ctrl_c(server: TemporaryServer, played: "Scenario") -> None:
    parts = "/".join(quote(part, safe="") for part in played.execution_id)
    typer.echo(f"spanwise: look at it on {server.page}#/e/{parts} until Ctrl-C", err=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server ends with this
    try:
        code = server.process.wait()
    except KeyboardInterrupt:
        return
    raise ServerEnded(f"the server of the demo ended by itself, with {code}")


def _tell(
    story: Story, seed: int, start: str | None, name: str | None, *, running: bool
) -> "Scenario":
    teller = _teller(story, name or None, running=running)
    from spanwise.demo import recent_start_ns

    if start is None:
        return teller(seed, recent_start_ns(teller, seed, time.time_ns()))
    return teller(seed, moment_ns(start))


def _teller(story: Story, name: str | None, *, running: bool) -> "Callable[[int, int], Scenario]":
    """Give what makes the sample from a seed and a start."""
    if running and story is not Story.TRAINING:
        raise InvalidRequest(
            f"--running stops the training in the middle, and {story} has none: "
            "leave one of --running and --scenario out"
        )
    try:
        from spanwise import demo as stories
    except ImportError as error:
        raise MissingPackage(f"the demo needs the server ({error}): {INSTALL_SERVER}") from error
    match story:
        case Story.TRAINING:
            return partial(stories.training_pipeline, name=name, running=running)
        case Story.IMAGE_PULL:
            return partial(stories.image_pull, name=name)
        case Story.GPU_CAPACITY:
            return partial(stories.gpu_capacity, name=name)
        case Story.PROPELLER_OVERLOAD:
            return partial(stories.propeller_overload, name=name)


def _play(scenario: "Scenario", endpoint: str) -> None:
    from spanwise.demo import find_known, play, register

    known = find_known(scenario, endpoint)
    if known is not None:
        # Two stories under one name would contradict each other, and mark what is there.
        raise InvalidRequest(
            f"the server at {endpoint} has {known} already, so nothing was played: "
            "choose another --name"
        )
    play(scenario, endpoint)
    register(scenario, endpoint)  # edges that are known need not be inferred
    typer.echo(
        f"spanwise: played {scenario.execution_id} into {endpoint}: "
        f"{len(scenario.requests)} events",
        err=True,
    )

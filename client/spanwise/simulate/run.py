"""Sends a simulation to a server, as so many FlytePropellers would."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack

import grpc

from spanwise._client import channel_options, checked_endpoint
from spanwise._errors import RemoteError, ServerUnavailable
from spanwise.simulate.calls import Caller
from spanwise.simulate.load import Load
from spanwise.simulate.plan import SimulatedExecution, Simulation
from spanwise.simulate.report import Report, Tally
from spanwise.simulate.shard import Shard

INTERRUPTED = "Ctrl-C"
"""What ends a simulation that somebody stops."""

_CONNECT_TIMEOUT_S = 15.0
_TICK_S = 0.2

OnProgress = Callable[[Sequence[Tally]], None]


def simulate(
    simulation: Simulation, load: Load, endpoint: str, on_progress: OnProgress | None = None
) -> Report:
    """Send a simulation, and give what came of it.

    Answers of the server do not raise once it has been reached: they are in the report. Ctrl-C
    ends it early, with the report so far.

    Args:
        simulation: What is sent.
        load: How much of it, and how.
        endpoint: HOST:PORT of a server of flyteidl.service.AdminService.
        on_progress: Called about five times a second with the counts of all propellers.

    Raises:
        InvalidRequest: The endpoint does not have that form.
        ServerUnavailable: Nobody answers there.
    """
    checked_endpoint(endpoint)
    return asyncio.run(_simulate(simulation, load, endpoint, on_progress or (lambda _: None)))


async def _simulate(
    simulation: Simulation, load: Load, endpoint: str, on_progress: OnProgress
) -> Report:
    async with AsyncExitStack() as stack:
        shards = []
        for number in range(load.propellers):
            channel = grpc.aio.insecure_channel(endpoint, options=_channel_options(endpoint))
            await stack.enter_async_context(channel)
            await _connect(channel, endpoint)
            executions = _executions(simulation, load, number)
            shards.append(Shard(executions, Caller(channel, load), load, endpoint))
        begun_s, begun_cpu_s = time.monotonic(), time.process_time()
        ended_by = await _work(shards, load.workers, on_progress)
        wall_s, cpu_s = time.monotonic() - begun_s, time.process_time() - begun_cpu_s
    return Report(
        executions=load.executions,
        wall_s=wall_s,
        cpu_s=cpu_s,
        propellers=tuple(shard.tally for shard in shards),
        example=next((shard.example for shard in shards if shard.example is not None), None),
        ended_by=ended_by,
    )


def _channel_options(endpoint: str) -> list[tuple[str, int]]:
    return [
        *channel_options(endpoint),
        # Each propeller has a connection of its own, and only one.
        ("grpc.use_local_subchannel_pool", 1),
        # A server that is back is found soon; gRPC would wait for up to two minutes.
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.min_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", 2_000),
    ]


async def _connect(channel: grpc.aio.Channel, endpoint: str) -> None:
    """Wait for a connection; propeller would go on trying, people want to be told."""
    state = channel.get_state(try_to_connect=True)
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            while state is not grpc.ChannelConnectivity.READY:
                if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                    raise ServerUnavailable(endpoint, "the simulation")
                await channel.wait_for_state_change(state)
                state = channel.get_state(try_to_connect=True)
    except TimeoutError:
        raise ServerUnavailable(endpoint, "the simulation") from None


def _executions(simulation: Simulation, load: Load, shard: int) -> Iterator[SimulatedExecution]:
    for number in range(load.executions):
        execution = simulation.execution(number)
        if execution.shard(load.propellers) == shard:
            yield execution


async def _work(shards: list[Shard], workers: int, on_progress: OnProgress) -> str:
    """Let all workers do their work, and give what ended it early."""
    tallies = [shard.tally for shard in shards]
    ended_by = ""
    ticker = asyncio.create_task(_tick(tallies, on_progress))
    try:
        async with asyncio.TaskGroup() as group:
            for shard in shards:
                for _ in range(workers):
                    group.create_task(shard.work())
    except* RemoteError as errors:
        ended_by = str(errors.exceptions[0])
    except* asyncio.CancelledError:
        ended_by = INTERRUPTED
    finally:
        ticker.cancel()
    on_progress(tallies)
    return ended_by


async def _tick(tallies: list[Tally], on_progress: OnProgress) -> None:
    while True:
        on_progress(tallies)
        await asyncio.sleep(_TICK_S)

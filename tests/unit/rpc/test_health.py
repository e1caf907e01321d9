"""Health: what probes and load balancers are told."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import grpc
import grpc.aio
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.rpc import health as health_module
from spanwise_server.rpc.health import Health, HealthServicer
from spanwise_server.rpc.methods import Call, ServerStreamHandler
from spanwise_server.rpc.query_pool import QueryPool
from tests.unit.rpc.in_process import server_stream, serving, unary

SERVING = HealthCheckResponse.SERVING
NOT_SERVING = HealthCheckResponse.NOT_SERVING
DEADLINE_S = 30


@asynccontextmanager
async def serving_health(health: Health) -> AsyncIterator[grpc.aio.Channel]:
    """Serve the health of a server with one service."""
    async with serving(HealthServicer(health, ["t.T"]).methods()) as channel:
        yield channel


async def check(channel: grpc.aio.Channel, service: str) -> int:
    """Ask once."""
    stub = unary(channel, "/grpc.health.v1.Health/Check")
    answer = await stub(HealthCheckRequest(service=service).SerializeToString())
    return HealthCheckResponse.FromString(answer).status


async def watch(channel: grpc.aio.Channel, service: str) -> AsyncGenerator[int, None]:
    """Ask and go on listening."""
    stub = server_stream(channel, "/grpc.health.v1.Health/Watch")
    async for answer in stub(HealthCheckRequest(service=service).SerializeToString()):
        yield HealthCheckResponse.FromString(answer).status


@pytest.mark.parametrize("service", ["", "flyteadmin", "t.T"])
def test_a_served_name_is_healthy_until_the_server_stops(service: str) -> None:
    """The whole server, FlyteAdmin's name, and each service."""

    async def run() -> tuple[int, int]:
        health = Health()
        async with serving_health(health) as channel:
            before = await check(channel, service)
            health.stop()
            return before, await check(channel, service)

    assert asyncio.run(run()) == (SERVING, NOT_SERVING)


def test_an_unknown_name_is_not_found() -> None:
    """As the protocol demands."""

    async def run() -> None:
        async with serving_health(Health()) as channel:
            await check(channel, "nobody")

    with pytest.raises(grpc.aio.AioRpcError) as failed:
        asyncio.run(run())
    assert failed.value.code() is grpc.StatusCode.NOT_FOUND


def test_a_watcher_hears_of_a_change_at_once() -> None:
    """And of the state before it."""

    async def run() -> list[int]:
        health = Health()
        async with serving_health(health) as channel, asyncio.timeout(DEADLINE_S):
            answers = watch(channel, "")
            heard = [await anext(answers)]
            health.stop()
            heard.append(await anext(answers))
            await answers.aclose()
        return heard

    assert asyncio.run(run()) == [SERVING, NOT_SERVING]


def test_a_change_while_a_watcher_is_being_told_is_not_lost() -> None:
    """The generator stands at its yield until the transport has taken the answer."""

    async def run() -> list[int]:
        health = Health()
        handlers = {row.path: row.handler for row in HealthServicer(health, []).methods()}
        watching = cast("ServerStreamHandler", handlers["/grpc.health.v1.Health/Watch"])
        answers = cast(
            "AsyncIterator[HealthCheckResponse]",
            watching(HealthCheckRequest(), cast("Call", None)),
        )
        heard = [(await anext(answers)).status]
        health.stop()
        return [*heard, *[answer.status async for answer in answers]]

    assert asyncio.run(run()) == [SERVING, NOT_SERVING]


def test_a_watcher_of_an_unknown_name_is_told_so_and_kept() -> None:
    """The service may be added later, says the protocol."""

    async def run() -> int:
        async with serving_health(Health()) as channel, asyncio.timeout(DEADLINE_S):
            answers = watch(channel, "nobody")
            status = await anext(answers)
            await answers.aclose()
            return status

    assert asyncio.run(run()) == HealthCheckResponse.SERVICE_UNKNOWN


def test_health_follows_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Away, and back."""
    monkeypatch.setattr(health_module, "PROBE_INTERVAL_S", 0.001)
    is_away = True

    def probe() -> None:
        if is_away:
            raise StoreUnavailable("the disk is gone")

    async def run() -> list[bool]:
        nonlocal is_away
        health, pool = Health(), QueryPool()
        probing = asyncio.create_task(health.watch_store(probe, pool))
        async with asyncio.timeout(DEADLINE_S):
            await health.changed()
            heard = [health.is_serving]
            is_away = False
            await health.changed()
            heard.append(health.is_serving)
        probing.cancel()
        pool.close()
        return heard

    assert asyncio.run(run()) == [False, True]

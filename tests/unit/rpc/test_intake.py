"""Events and queries through the services, over a real store."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
import grpc.aio
import pytest
from flyteidl.core.execution_pb2 import TaskExecution
from google.protobuf.timestamp_pb2 import Timestamp

from spanwise.v1 import event_pb2, event_service_pb2, identifiers_pb2, phase_pb2
from spanwise_server.bootstrap import build_server, open_migrated
from spanwise_server.config import Address, Settings
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.telemetry import Metrics
from tests.unit.rpc.flyte import at, task_event
from tests.unit.rpc.in_process import unary

CREATE_TASK_EVENT = "/flyteidl.service.AdminService/CreateTaskEvent"
DEADLINE_S = 30


@asynccontextmanager
async def running(database: Path) -> AsyncIterator[tuple[grpc.aio.Channel, Metrics]]:
    """Run a whole server, and give a channel to it and its counters."""
    settings = Settings(database_url=f"sqlite:///{database}")
    server = build_server(settings, open_migrated(settings.database_url))
    address = (await server.start(Address("127.0.0.1", 0), None)).grpc
    try:
        async with grpc.aio.insecure_channel(str(address)) as channel:
            yield channel, server.metrics
    finally:
        await server.stop(0)


def test_what_becomes_of_events_is_counted(tmp_path: Path) -> None:
    """By disposition."""
    events = [
        (task_event(phase=TaskExecution.RUNNING, occurred_at=at(10)), "accepted"),
        (task_event(phase=TaskExecution.QUEUED, occurred_at=at(0)), "late"),
        (task_event(phase=TaskExecution.RUNNING, occurred_at=at(10)), "duplicate"),
        (task_event(phase=TaskExecution.SUCCEEDED, occurred_at=at(40)), "accepted"),
        (task_event(phase=TaskExecution.ABORTED, occurred_at=at(50)), "refused"),
    ]

    async def run() -> dict[str, float | None]:
        async with running(tmp_path / "spanwise.db") as (channel, metrics):
            create = unary(channel, CREATE_TASK_EVENT)
            for event, _ in events:
                with suppress(grpc.aio.AioRpcError):
                    await create(event.SerializeToString())
            return {
                disposition: metrics.registry.get_sample_value(
                    "spanwise_events_total", {"disposition": disposition}
                )
                for _, disposition in events
            }

    counts = asyncio.run(run())
    assert counts == {"accepted": 2, "late": 1, "duplicate": 1, "refused": 1}


def test_a_native_sender_hears_where_its_event_went(tmp_path: Path) -> None:
    """Its place in the log of its execution, and whether it was late."""

    def request(phase: int, seconds: int) -> bytes:
        event = event_pb2.ExecutionEvent(
            execution_id=identifiers_pb2.ExecutionId(name="run"),
            phase=phase,  # type: ignore[arg-type]
            occurred_at=Timestamp(seconds=seconds),
        )
        return event_service_pb2.CreateExecutionEventRequest(event=event).SerializeToString()

    async def run() -> list[tuple[int, int]]:
        answers: list[tuple[int, int]] = []
        async with running(tmp_path / "spanwise.db") as (channel, _):
            create = unary(channel, "/spanwise.v1.EventService/CreateExecutionEvent")
            for payload in (
                request(phase_pb2.PHASE_RUNNING, 5),
                request(phase_pb2.PHASE_QUEUED, 1),
            ):
                raw = await create(payload)
                answer = event_service_pb2.CreateExecutionEventResponse.FromString(raw)
                answers.append((answer.sequence, answer.disposition))
        return answers

    assert asyncio.run(run()) == [
        (1, event_service_pb2.DISPOSITION_ACCEPTED),
        (2, event_service_pb2.DISPOSITION_LATE),
    ]


def test_intake_does_not_wait_for_queries() -> None:
    """A large tree is built in a thread; the loop goes on."""

    async def run() -> str:
        pool, release = QueryPool(), threading.Event()
        query = asyncio.ensure_future(pool.run(lambda: release.wait(DEADLINE_S)))
        try:
            async with asyncio.timeout(DEADLINE_S):
                await asyncio.sleep(0)
                assert not query.done()
                release.set()
                return "answered" if await query else "gave up"
        finally:
            pool.close()

    assert asyncio.run(run()) == "answered"


def test_a_query_that_fails_tells_its_caller() -> None:
    """With the error itself."""

    def fail() -> None:
        raise ZeroDivisionError

    async def run() -> None:
        pool = QueryPool()
        try:
            await pool.run(fail)
        finally:
            pool.close()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())

"""Several servers on one database, and senders that use them at the same time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from flyteidl.core.execution_pb2 import TaskExecution

from tests.benchmarks.http2_load import LoadResult, run_load
from tests.e2e.harness import ServerProcess, Stubs
from tests.unit.rpc.flyte import at, task_event

T = TypeVar("T")

METHOD = "/flyteidl.service.AdminService/CreateTaskEvent"
EXECUTION = {"project": "flytesnacks", "domain": "development", "name": "shared"}
EVENTS_OF_A_WRITER = 2_000


@contextmanager
def running_replicas(database: Path | str, count: int) -> Iterator[list[ServerProcess]]:
    """Run servers on one database for the time of a block. They start at the same moment."""
    with ThreadPoolExecutor(count) as starters:
        starting = [starters.submit(ServerProcess, database) for _ in range(count)]
        try:
            yield [each.result() for each in starting]
        finally:
            for each in starting:
                if each.exception() is None:
                    each.result().kill()


@contextmanager
def stubs_of(server: ServerProcess) -> Iterator[Stubs]:
    """Give stubs on a connection of their own, which no other channel of the process shares."""
    with server.channel(use_local_subchannel_pool=1, max_receive_message_length=-1) as channel:
        yield Stubs(channel)


def at_once(works: Sequence[Callable[[], T]]) -> list[T]:
    """Run all of these at the same time, each in a thread, and give their results."""
    with ThreadPoolExecutor(len(works)) as threads:
        running = [threads.submit(work) for work in works]
        return [each.result() for each in running]


def write_many(writer: int, server: ServerProcess) -> LoadResult:
    """Send EVENTS_OF_A_WRITER events of one execution, of an attempt and with a reason each."""
    bodies = [
        task_event(
            parent_node_execution_id={"node_id": f"n{writer}", "execution_id": EXECUTION},
            retry_attempt=number,
            phase=TaskExecution.RUNNING,
            occurred_at=at(number),
            reported_at=at(number),
            reason=f"reason {writer} {number}",
        ).SerializeToString()
        for number in range(EVENTS_OF_A_WRITER)
    ]
    return run_load(int(server.endpoint.rpartition(":")[2]), METHOD, bodies, in_flight=4)

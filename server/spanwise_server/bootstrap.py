"""The composition root: the one place that knows every layer, and ties them together."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import structlog

from spanwise_server.config import (
    Address,
    Settings,
    parse_address,
    parse_http_address,
    split_hosts,
)
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.reader.process import ReaderProcess
from spanwise_server.rpc.admin_service import AdminServicer
from spanwise_server.rpc.codecs.native_watch import SpanView, render_view
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.timestamps import SECOND_NS
from spanwise_server.rpc.codecs.workflow_payloads import (
    decode_definition,
    decode_stored_definition,
)
from spanwise_server.rpc.event_service import EventServicer
from spanwise_server.rpc.fronts.addresses import HTTP_FLAG, listen_on
from spanwise_server.rpc.fronts.front import Front, OpenFront
from spanwise_server.rpc.fronts.grpcio import GrpcFront
from spanwise_server.rpc.health import Health, HealthServicer
from spanwise_server.rpc.interceptors import Interceptors
from spanwise_server.rpc.list_reads import ListReads
from spanwise_server.rpc.methods import Method, service_names
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.rpc.reflection import reflection_methods
from spanwise_server.rpc.span_service import SpanServicer
from spanwise_server.rpc.status import code_name
from spanwise_server.rpc.workflow_service import WorkflowServicer
from spanwise_server.service.commit_wait import Commits
from spanwise_server.service.event_log import EventLog
from spanwise_server.service.event_sink import EventSink
from spanwise_server.service.event_watch import EventWatches
from spanwise_server.service.execution_list import ExecutionLists
from spanwise_server.service.rebuild import rebuild_projections
from spanwise_server.service.retention import Deleted, delete_execution
from spanwise_server.service.retention_sweeper import RetentionSweeper
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.service.span_watch import SpanWatches
from spanwise_server.service.workflow_registry import WorkflowRegistry
from spanwise_server.storage.api import Storage
from spanwise_server.storage.records import LogSize, Statistics
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.migrations import prepare, upgrade, verify
from spanwise_server.telemetry import Metrics
from spanwise_server.web.api import Api, Reads
from spanwise_server.web.app import WebApp
from spanwise_server.web.changes import Changes
from spanwise_server.web.hosts import Hosts
from spanwise_server.web.http_server import HttpServer
from spanwise_server.writer.process import WriterProcess

_log = structlog.get_logger(__name__)

DRAIN_S = 0.2
"""How long a stopping server goes on answering UNAVAILABLE: senders hear it before the port closes,
and stop sending to it."""

LAST_COMMITS_S = 2.0
"""What the last commits may take where calls have less time to finish."""

OVERTIME_S = 4.0
"""How long after the time for calls a stop may take before the process ends all the same. Less than
a supervisor waits, and with the usual 20 s less than Kubernetes does."""


class Served(NamedTuple):
    """Where a server takes calls, with the ports that were bound.

    Attributes:
        grpc: Of gRPC.
        http: Of the page and its API; None: they are not served.
    """

    grpc: Address
    http: Address | None


@dataclass(frozen=True, slots=True)
class Server:
    """Everything that one server process is made of. To be used from one event loop."""

    storage: Storage
    writer: WriterProcess
    reader: ReaderProcess
    sink: EventSink
    pool: QueryPool
    commits: Commits
    watches: SpanWatches[SpanView]
    event_watches: EventWatches
    health: Health
    front: Front
    changes: Changes
    web: HttpServer
    metrics: Metrics
    sweeper: RetentionSweeper
    shares_ports: bool

    async def start(self, grpc: Address, http: Address | None) -> Served:
        """Take calls, and give the addresses with the ports that were bound.

        Raises:
            AddressUnavailableError: An address cannot be taken.
        """
        bound = Served(Address(grpc.host, await self.front.start(*grpc)), None)
        if http is not None:
            try:
                listener = listen_on(*http, flag=HTTP_FLAG, shares_port=self.shares_ports)
            except BaseException:
                await self.front.stop(None)
                raise
            bound = bound._replace(http=Address(http.host, listener.getsockname()[1]))
            await self.web.start(listener)
        # Now, so that the first event and the first reader need not wait for them.
        await self.writer.start()
        await self.reader.start()
        self.sweeper.start()
        return bound

    async def stop(self, grace_s: float) -> None:
        """Let running calls finish, commit what was accepted, close the port and the storage.

        Args:
            grace_s: Seconds after which calls that still run are cancelled, and what is not
                committed is refused.
        """
        begun_s = time.monotonic()
        self.health.stop()
        self.watches.stop()  # they would last as long as their executions
        self.event_watches.stop()
        self.changes.stop()
        # What it leaves can wait for another time.
        sweep = asyncio.create_task(asyncio.to_thread(self.sweeper.stop))
        # First what was accepted is committed. Calls that arrive from now on hear UNAVAILABLE,
        # which senders try again elsewhere; the front would cancel those that it has not begun.
        await self.sink.stop(max(grace_s, LAST_COMMITS_S))
        await asyncio.sleep(DRAIN_S)
        left_s = max(grace_s - (time.monotonic() - begun_s), 0)
        await asyncio.gather(self.front.stop(left_s), self.web.stop(left_s))
        await self.reader.close()
        await sweep
        self.close()

    def close(self) -> None:
        """Give back threads and connections. Call after stop(), or when start() failed."""
        self.sweeper.stop()
        self.pool.close()
        self.storage.close()
        self.commits.close()


def build_server(
    settings: Settings,
    storage: Storage,
    worker: int | None = None,
    open_front: OpenFront | None = None,
) -> Server:
    """Tie a server together over `storage`, which it owns from then on.

    Args:
        settings: Settings.
        storage: Storage.
        worker: Number among the workers that share the address; None when it is alone.
        open_front: Makes the front to serve on; None for that of grpcio.
    """
    metrics = Metrics(worker)
    pool = QueryPool()
    health = Health()
    writer = WriterProcess(
        settings.database_url, settings.log_level, worker, note_trouble=health.note_trouble
    )
    reader = ReaderProcess(
        settings.database_url, settings.stale_after_s * SECOND_NS, settings.log_level, worker
    )
    sink = EventSink(writer, metrics.count_verdicts)
    queries = SpanQueries(
        storage,
        decode_payload,
        decode_stored_definition,
        stale_after_ns=settings.stale_after_s * SECOND_NS,
    )
    commits = Commits(storage.wait_for_commits)
    watches = SpanWatches(queries, pool, render_view, commits)
    log = EventLog(storage)
    event_watches = EventWatches(log, pool, commits)
    lists = ListReads(ExecutionLists(storage), log)
    methods = [
        *AdminServicer(sink, reader).methods(),
        *EventServicer(sink, reader, lists, event_watches, pool).methods(),
        *WorkflowServicer(WorkflowRegistry(storage, decode_definition), pool).methods(),
        *SpanServicer(reader, lists, watches, pool).methods(),
    ]
    shares_ports = worker is not None
    open_front = open_front or partial(GrpcFront, shares_port=shares_ports)
    front = open_front(
        _with_common_services(methods, health),
        Interceptors(metrics),
        max_message_bytes=settings.max_message_bytes,
    )
    changes = Changes(queries.get_versions, pool, commits, reader)
    api = Api(Reads(reader), changes)
    web = WebApp(_hosts(settings), api, code_name, lambda: health.is_serving, metrics.to_text)
    sweeper = RetentionSweeper(
        storage,
        settings.retention.policy(),
        settings.retention.sweep_interval_s,
        metrics.count_deleted,
    )
    return Server(
        storage,
        writer,
        reader,
        sink,
        pool,
        commits,
        watches,
        event_watches,
        health,
        front,
        changes,
        HttpServer(web),
        metrics,
        sweeper,
        shares_ports,
    )


def _hosts(settings: Settings) -> Hosts:
    address = parse_http_address(settings.http_address)
    names = split_hosts(settings.http_hosts)
    if address is not None:
        names.append(address.host)
    return Hosts(names)


def _with_common_services(methods: list[Method], health: Health) -> list[Method]:
    """Add health and reflection, which speak about all services."""
    methods = [*methods, *HealthServicer(health, service_names(methods)).methods()]
    return [*methods, *reflection_methods(service_names(methods))]


async def serve_until(
    settings: Settings,
    stop: asyncio.Event,
    announce: Callable[[Served], None],
    worker: int | None = None,
    open_front: OpenFront | None = None,
) -> None:
    """Serve until `stop` is set, then stop gracefully.

    Args:
        settings: Settings.
        stop: Set from outside to stop.
        announce: Called with the real addresses once calls are taken.
        worker: Number among the workers that share the addresses, whose supervisor has called
            open_prepared(); None when it is alone.
        open_front: Makes the front to serve on; None for that of grpcio.

    Raises:
        AddressUnavailableError: The address cannot be taken.
        ValueError: The database URL cannot be used.
        StoreUnavailable: The database cannot be used.
        WriteConflict: Others kept the database busy.
    """
    open_database = open_prepared if worker is None else open_storage
    storage = await asyncio.to_thread(open_database, settings.database_url)
    server = build_server(settings, storage, worker, open_front)
    try:
        served = await server.start(
            parse_address(settings.grpc_address), parse_http_address(settings.http_address)
        )
    except BaseException:
        server.close()
        raise
    watch = asyncio.create_task(server.health.watch_store(_probe(storage), server.pool))
    announce(served)
    await stop.wait()
    watch.cancel()
    with _ending_after(settings.graceful_stop_s + OVERTIME_S):
        await server.stop(settings.graceful_stop_s)


@contextmanager
def _ending_after(limit_s: float) -> Iterator[None]:
    """End the process when a block takes longer: a store that hangs holds up threads."""

    def end() -> None:
        _log.error("the database, or a process, does not answer: stopped without waiting for it")
        os._exit(1)

    timer = threading.Timer(limit_s, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def open_migrated(url: str) -> Storage:
    """Open a database after bringing it to the tables of this version.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be used.
        WriteConflict: Others kept the database busy.
    """
    upgrade(url)
    return open_storage(url)


def open_prepared(url: str) -> Storage:
    """Open a database for serving: a SQLite file is migrated first, others must be.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be used, or has not the tables of this version.
        WriteConflict: Others kept the database busy.
    """
    prepare(url)
    return open_storage(url)


def rebuild_storage(url: str) -> int:
    """Make the projections of a database anew, and give the number of events read.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be used.
        WriteConflict: Others kept the database busy.
        CorruptRecord: An event of the log cannot be decoded.
    """
    with _verified(url) as storage:
        return rebuild_projections(storage, decode_payload)


def delete_from(url: str, execution_id: ExecutionId, confirm: Callable[[LogSize], None]) -> Deleted:
    """Delete all that a database holds of an execution. Other processes may use it meanwhile.

    Args:
        url: Database.
        execution_id: Execution.
        confirm: Is told what will be deleted before anything is, where there is something. What it
            raises is raised.

    Raises:
        ValueError: The URL cannot be used.
        ExecutionNotFound: It holds nothing of it.
        StoreUnavailable: The database cannot be used.
        WriteConflict: Others kept the database busy.
    """
    with _verified(url) as storage:
        with storage.read() as reader:
            size = reader.get_log_size(execution_key(execution_id))
        if size.num_events:
            confirm(size)
        return delete_execution(storage, execution_id)


def read_statistics(url: str, num_days: int) -> Statistics:
    """Give what a database holds. Other processes may use it meanwhile.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be used.
    """
    with _verified(url) as storage, storage.read() as reader:
        return reader.get_statistics(time.time_ns(), num_days)


@contextmanager
def _verified(url: str) -> Iterator[Storage]:
    """Open a database that has the tables of this version, and close it afterwards."""
    verify(url)  # and not upgrade, which would make an empty database where a path is mistyped
    with closing(open_storage(url)) as storage:
        yield storage


def _probe(storage: Storage) -> Callable[[], None]:
    def read_something() -> None:
        with storage.read() as reader:
            reader.has_execution(bytes(16))

    return read_something

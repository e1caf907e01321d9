"""What the commands run that need the server. Each gives the exit code of its process.

0: done. 1: it failed, for instance because the address is taken. 2: it cannot work with these
settings.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import structlog
import uvloop

from spanwise_server.bootstrap import (
    Served,
    delete_from,
    open_migrated,
    open_prepared,
    read_statistics,
    rebuild_storage,
    serve_until,
)
from spanwise_server.collector import settle_collector
from spanwise_server.config import Settings, without_password
from spanwise_server.domain.errors import SpanwiseError
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.phases import Phase
from spanwise_server.envoy_host import host_envoy
from spanwise_server.rpc.fronts.addresses import AddressUnavailableError
from spanwise_server.rpc.fronts.envoy.process import EnvoyUnavailableError
from spanwise_server.storage.records import Statistics
from spanwise_server.storage.sql.migrations import distribute, partition
from spanwise_server.supervisor import WorkerFailedError, supervise
from spanwise_server.telemetry import configure_logging

_log = structlog.get_logger(__name__)

GROWTH_DAYS = 7
"""Days over which the growth of a database is told: a week has every kind of day."""

DAY_NS = 24 * 60 * 60 * 10**9
LEAST_GROWTH_DAYS = 1 / 24
"""What came in during an hour tells something of a day; the first minute of a load does not."""

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_BAD_SETTINGS = 2


def serve(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT. A second signal ends the process at once.

    Prints `spanwise serves gRPC on HOST:PORT` on stderr once calls are taken, by all workers, after
    `spanwise serves its page on http://HOST:PORT/`.
    """
    configure_logging(settings.log_level)
    if settings.front == "envoy":
        if settings.workers > 1:
            _say(
                f"spanwise: workers is {settings.workers}: the front `envoy` has one; leave"
                " --workers out, or take --front grpcio"
            )
            return EXIT_BAD_SETTINGS
        return _run(lambda: host_envoy(settings), settings)
    if settings.workers > 1:
        return _run(lambda: _serve_with_workers(settings), settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return _run(lambda: runner.run(_serve(settings)), settings)


def migrate(
    settings: Settings, *, num_partitions: int | None = None, is_distributed: bool = False
) -> int:
    """Bring the database to the tables of this version.

    Args:
        settings: Settings.
        num_partitions: Partitions that each large table is to have; None: leave that as it is.
        is_distributed: Whether Citus is to distribute the tables.
    """
    configure_logging(settings.log_level)
    url = settings.database_url
    name = without_password(url)

    def work() -> None:
        if is_distributed:
            tables = ", ".join(distribute(url)) or "nothing, all of them were already"
            _say(f"{name}: distributed {tables}")
        elif num_partitions is not None:
            when = "now" if partition(url, num_partitions) else "already"
            _say(f"{name}: each large table has {num_partitions} partitions {when}")
        else:
            open_migrated(url).close()
        _say(f"{name} has the tables of this version")

    return _run(work, settings)


def rebuild(settings: Settings) -> int:
    """Make the projections anew from the event log."""
    configure_logging(settings.log_level)

    def work() -> None:
        num_events = rebuild_storage(settings.database_url)
        _say(f"rebuilt {without_password(settings.database_url)} from {num_events} events")

    return _run(work, settings)


def _serve_with_workers(settings: Settings) -> None:
    open_prepared(settings.database_url).close()  # once for all of them
    supervise(settings, announce)


def delete(
    settings: Settings,
    execution_id: tuple[str, str, str],
    confirm: Callable[[int, int], None],
) -> int:
    """Delete all that the database holds of an execution, given as (project, domain, name).

    `confirm` is told the number of events and the bytes of their payloads before that, if there are
    any. It ends the command by raising.
    """
    configure_logging(settings.log_level)

    def work() -> None:
        named = ExecutionId(*execution_id)
        deleted = delete_from(settings.database_url, named, lambda size: confirm(*size))
        _say(f"deleted {named}: {deleted.num_events} events, {deleted.num_rows} rows in all")

    return _run(work, settings)


def stats(settings: Settings, show: Callable[[dict[str, Any]], None]) -> int:
    """Show what the database holds, in values as JSON has them."""
    configure_logging(settings.log_level)

    def work() -> None:
        show(_to_values(read_statistics(settings.database_url, GROWTH_DAYS), time.time_ns()))

    return _run(work, settings)


def days_of_growth(oldest_event_ns: int | None, now_ns: int) -> float:
    """Give the days in which what came in lately did: fewer where a database is younger."""
    age_days = GROWTH_DAYS if oldest_event_ns is None else (now_ns - oldest_event_ns) / DAY_NS
    return min(max(age_days, LEAST_GROWTH_DAYS), GROWTH_DAYS)


def _to_values(found: Statistics, now_ns: int) -> dict[str, Any]:
    num_events = sum(each.num_rows for each in found.tables if each.table == "events")
    daily_events = sum(found.daily_events) / days_of_growth(found.oldest_event_ns, now_ns)
    return {
        **found._asdict(),
        "tables": [each._asdict() for each in found.tables],
        "num_executions": {
            # The word of `spanwise list` for an execution that only its nodes and tasks named.
            "unknown" if phase is Phase.UNSPECIFIED else phase.name: number
            for phase, number in sorted(found.num_executions.items())
        },
        "events_per_day": daily_events,
        "bytes_per_day": daily_events * found.used_bytes / max(num_events, 1),
    }


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _on_signal, number, stop)
    await serve_until(settings, stop, announce)
    _log.info("stopped")


def announce(served: Served) -> None:
    """Say where calls are taken. What waits for the line of gRPC knows the page from then on."""
    settle_collector()
    if served.http is not None:
        _say(f"spanwise serves its page on http://{served.http}/")
    _say(f"spanwise serves gRPC on {served.grpc}")


def _on_signal(number: signal.Signals, stop: asyncio.Event) -> None:
    if stop.is_set():
        # Nothing is lost: what was answered with OK is committed.
        _say("stopped at once, without waiting for calls that run")
        os._exit(128 + number)
    stop.set()


def _run(work: Callable[[], int | None], settings: Settings) -> int:
    try:
        return work() or EXIT_DONE
    except Exception as error:
        code = exit_code_of(error, settings)
        if code is None:
            raise
        return code


def exit_code_of(error: Exception, settings: Settings) -> int | None:
    """Tell a failure that was foreseen, and give its exit code; None for any other."""
    match error:
        case ValueError():
            url = without_password(settings.database_url)
            _say(f"spanwise: database_url is {url!r}: {error}")
            return EXIT_BAD_SETTINGS
        case EnvoyUnavailableError():
            _say(f"spanwise: {error}")
            return EXIT_BAD_SETTINGS
        case SpanwiseError() | AddressUnavailableError() | WorkerFailedError():
            _say(f"spanwise: {error}")
            return EXIT_FAILED
        case _:
            return None


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()

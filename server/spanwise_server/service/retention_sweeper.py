"""The sweep of retention, again and again, in a thread of the serving process."""

import random
import threading
import time
from collections.abc import Callable

import structlog

from spanwise_server.domain.errors import SpanwiseError
from spanwise_server.domain.retention import RetentionPolicy
from spanwise_server.service.retention import Deleted, Retention
from spanwise_server.storage.api import Storage

_log = structlog.get_logger(__name__)

STOP_WITHIN_S = 10.0
"""How long a stop waits for the transaction that runs. It takes milliseconds, and as long as this
at most when other processes hold the store; what it does not end is finished another time."""

Count = Callable[[Deleted, float], None]
"""Is told what a sweep deleted, and how many seconds it took."""


class RetentionSweeper:
    """Sweeps at intervals until it is stopped.

    In the serving process rather than in the writer, where batches of events would wait for it.
    """

    def __init__(
        self, storage: Storage, policy: RetentionPolicy, interval_s: float, count: Count
    ) -> None:
        """Delete from `storage` what `policy` lets go, about every `interval_s` seconds."""
        self._stop = threading.Event()
        self._retention = Retention(storage, policy, self._stop.wait)
        self._interval_s = interval_s
        self._count = count
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)

    def start(self) -> None:
        """Begin, with a pause. To be called once."""
        self._thread.start()

    def stop(self) -> None:
        """End, after the transaction that runs. Idempotent; may be called without start()."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(STOP_WITHIN_S)

    def _run(self) -> None:
        # Of different length each time, so that processes that began together do not stay so.
        while not self._stop.wait(self._interval_s * random.uniform(0.5, 1.0)):  # noqa: S311
            self._sweep()

    def _sweep(self) -> None:
        begun_s = time.monotonic()
        try:
            deleted = self._retention.sweep()
        except SpanwiseError as error:
            _log.warning("a sweep broke off; the next one goes on", error=str(error))
            return
        except Exception:  # noqa: BLE001 - the next sweep may succeed, and the server goes on
            _log.exception("a sweep failed in a way that nobody foresaw")
            return
        took_s = time.monotonic() - begun_s
        self._count(deleted, took_s)
        log = _log.info if deleted.num_rows else _log.debug
        log("swept", took_s=round(took_s, 3), **deleted._asdict())

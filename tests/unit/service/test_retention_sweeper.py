"""Sweeps at intervals, in a thread."""

import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.retention import Ages, RetentionPolicy
from spanwise_server.service.retention import Deleted, Retention
from spanwise_server.service.retention_sweeper import RetentionSweeper
from spanwise_server.storage.api import Storage
from spanwise_server.telemetry import Metrics
from tests.storage.records import ended, execution
from tests.storage.steps import put
from tests.unit.service.test_recording import storage_at

DEADLINE_S = 60
POLICY = RetentionPolicy(Ages(ended_ns=1))


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    put(storage, execution(state=ended(1, 2)))
    yield storage
    storage.close()


class Sweeps:
    """What sweeps deleted, one after the other."""

    def __init__(self) -> None:
        self._done: queue.SimpleQueue[Deleted] = queue.SimpleQueue()

    def count(self, deleted: Deleted, took_s: float) -> None:
        assert took_s >= 0
        self._done.put(deleted)

    def next(self) -> Deleted:
        return self._done.get(timeout=DEADLINE_S)


def test_it_sweeps_again_and_again(storage: Storage) -> None:
    sweeps = Sweeps()
    sweeper = RetentionSweeper(storage, POLICY, 0.01, sweeps.count)
    sweeper.start()
    assert sweeps.next() == Deleted(1, 0, 0)
    assert sweeps.next() == Deleted()
    sweeper.stop()


def test_it_stops_in_a_pause_at_once(storage: Storage) -> None:
    sweeper = RetentionSweeper(storage, POLICY, 10**6, Sweeps().count)
    sweeper.start()
    sweeper.stop()
    assert not any(thread.name == "retention" for thread in threading.enumerate())


def test_one_that_was_not_started_can_be_stopped(storage: Storage) -> None:
    RetentionSweeper(storage, POLICY, 1, Sweeps().count).stop()


@pytest.mark.parametrize("error", [StoreUnavailable("away"), RuntimeError("a mistake")])
def test_it_goes_on_after_a_sweep_that_failed(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    real, errors = Retention.sweep, [error]

    def sweep(self: Retention) -> Deleted:
        if errors:
            raise errors.pop()
        return real(self)

    monkeypatch.setattr(Retention, "sweep", sweep)
    sweeps = Sweeps()
    sweeper = RetentionSweeper(storage, POLICY, 0.01, sweeps.count)
    sweeper.start()
    assert sweeps.next() == Deleted(1, 0, 0)
    sweeper.stop()


def test_sweeps_are_counted() -> None:
    metrics = Metrics()
    metrics.count_deleted(Deleted(2, 30, 70), 0.5)
    metrics.count_deleted(Deleted(), 0.25)
    samples = {
        name: metrics.registry.get_sample_value(f"spanwise_{name}")
        for name in ("deleted_executions_total", "deleted_events_total", "sweep_seconds_sum")
    }
    assert samples == {
        "deleted_executions_total": 2,
        "deleted_events_total": 30,
        "sweep_seconds_sum": 0.75,
    }

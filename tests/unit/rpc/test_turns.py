"""Turns of large executions, on a real SQLite file."""

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.rpc import turns as turns_module
from spanwise_server.rpc.turns import Turns
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.records import ExecutionVersion
from tests.unit.service.test_recording import RUN, commit, node, queries_of, storage_at, workflow

TIMEOUT_S = 60
SMALL = ExecutionId("flytesnacks", "development", "nobody sent events of it")


@pytest.fixture
def turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    monkeypatch.setattr(turns_module, "LARGE_EVENTS", 2)
    storage = storage_at(tmp_path / "spanwise.db")
    commit(storage, workflow("RUNNING", 0), node("RUNNING", 1))
    yield Turns(queries_of(storage))
    storage.close()


def test_a_large_execution_waits_for_another_and_a_small_one_does_not(turns: Turns) -> None:
    has_turn = Event()

    def take() -> None:
        with turns.take(RUN):
            has_turn.set()

    with ThreadPoolExecutor(1) as threads:
        with turns.take(RUN):
            waiting = threads.submit(take)
            with turns.take(SMALL):
                assert not has_turn.is_set()
        waiting.result(TIMEOUT_S)
    assert has_turn.is_set()


def test_who_is_alone_gets_the_turn_of_the_execution_for_one_look_at_its_size(
    turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    get_versions = SpanQueries.get_versions

    def count(queries: SpanQueries, keys: Collection[bytes]) -> Mapping[bytes, ExecutionVersion]:
        looks.append(len(keys))
        return get_versions(queries, keys)

    monkeypatch.setattr(SpanQueries, "get_versions", count)
    has_turn = Event()

    def take() -> None:
        with turns.take_alone("another tree", RUN) as turn, turn:
            has_turn.set()

    with ThreadPoolExecutor(1) as threads:
        with turns.take_alone("a tree", RUN) as turn, turn:
            assert looks == [1]
            waiting = threads.submit(take)
            with turns.take_alone("a tree", SMALL) as turn_of_small, turn_of_small:
                assert not has_turn.is_set()
        waiting.result(TIMEOUT_S)
    assert looks == [1, 1, 1]

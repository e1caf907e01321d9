"""Lists of executions: what is usual for each, searches, and pages of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise_server.domain.errors import InvalidPageToken
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.usual_duration import UsualDuration
from spanwise_server.service import execution_list
from spanwise_server.service.execution_list import ExecutionLists, ExecutionPage, Wanted
from spanwise_server.storage.api import Storage
from spanwise_server.storage.records import ExecutionFilter, ExecutionRecord
from tests.storage.records import ended, execution, running_since
from tests.storage.steps import put
from tests.unit.service.test_recording import storage_at

NOW_NS = 10_000
TRAIN = EntityVersion("p", "d", "pipelines.Train", "v1")
EVERYTHING = ExecutionFilter()


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    yield storage
    storage.close()


def run(
    name: str,
    start_ns: int,
    took_ns: int | None,
    workflow_id: EntityVersion = TRAIN,
    phase: Phase = Phase.SUCCEEDED,
) -> ExecutionRecord:
    """Give an execution; one that runs for a duration of None."""
    state = (
        running_since(start_ns) if took_ns is None else ended(start_ns, start_ns + took_ns, phase)
    )
    record = execution(ExecutionId("p", "d", name), state=state)
    return record._replace(facts=record.facts._replace(workflow_id=workflow_id))


def page_of(storage: Storage, wanted: Wanted, page_size: int = 0, token: str = "") -> ExecutionPage:
    return ExecutionLists(storage).list_executions(wanted, page_size, token, NOW_NS)


def names_of(page: ExecutionPage) -> list[str]:
    return [each.record.execution_id.name for each in page.executions]


def walk(storage: Storage, wanted: Wanted, page_size: int) -> list[str]:
    names, token = [], ""
    while True:
        page = page_of(storage, wanted, page_size, token)
        assert len(page.executions) <= page_size
        names += names_of(page)
        token = page.next_page_token
        if not token:
            return names


def put_usual(storage: Storage) -> None:
    put(storage, *(run(f"usual-{number}", 100 * number, 50 + number) for number in range(1, 7)))


def test_usual_is_what_earlier_executions_of_the_workflow_in_any_version_took(
    storage: Storage,
) -> None:
    put_usual(storage)
    put(storage, run("late", 5_000, 100, TRAIN._replace(version="v2")))
    put(storage, run("failed", 900, 1, phase=Phase.FAILED))
    put(storage, run("other", 900, 1, TRAIN._replace(name="other")))

    summaries = {
        each.record.execution_id.name: each for each in page_of(storage, Wanted(EVERYTHING))[0]
    }

    assert summaries["late"].usual == UsualDuration(53, 56, 6)
    assert summaries["late"].is_slower
    assert summaries["usual-6"].usual == UsualDuration(53, 55, 5)
    assert not summaries["usual-6"].is_slower
    assert summaries["usual-5"].usual is None
    assert summaries["other"].usual is None


@pytest.mark.parametrize("page_size", [1, 20, 1000])
def test_usual_is_the_same_whatever_the_page_and_the_filter(
    storage: Storage, page_size: int
) -> None:
    put(storage, *(run(f"r{n}", 100 * n, n) for n in range(1, 131)))
    put(storage, *(run(f"failed-{n}", 100 * n + 1, n, phase=Phase.FAILED) for n in (60, 120)))
    failed = ExecutionFilter(phases=frozenset({Phase.FAILED}))
    for wanted in (Wanted(EVERYTHING), Wanted(failed), Wanted(EVERYTHING, "failed")):
        usual: dict[str, UsualDuration | None] = {}
        token = ""
        while True:
            page = page_of(storage, wanted, page_size, token)
            usual |= {each.record.execution_id.name: each.usual for each in page.executions}
            token = page.next_page_token
            if not token:
                break
        assert usual["failed-120"] == UsualDuration(95, 118, 50)
        assert usual["failed-60"] == UsualDuration(35, 58, 50)


def test_what_still_runs_is_slower_as_soon_as_it_takes_longer(storage: Storage) -> None:
    put_usual(storage)
    put(storage, run("running", 5_000, None))
    lists = ExecutionLists(storage)
    for now_ns, is_slower in ((5_050, False), (5_100, True)):
        page = lists.list_executions(Wanted(EVERYTHING), 1, "", now_ns)
        assert [each.is_slower for each in page.executions] == [is_slower]


def test_those_that_are_slower_are_found(storage: Storage) -> None:
    put_usual(storage)
    put(storage, run("slow", 5_000, 100), run("quick", 6_000, 50), run("slow-too", 7_000, 200))
    wanted = Wanted(EVERYTHING, slower_than_usual=True)
    assert walk(storage, wanted, 10) == walk(storage, wanted, 1) == ["slow-too", "slow"]


@pytest.mark.parametrize("search", ["TRAIN", "pipelines.", "UsuAl-3"])
def test_a_search_looks_at_the_name_and_at_the_workflow(storage: Storage, search: str) -> None:
    put_usual(storage)
    put(storage, run("nothing", 10, 1, EntityVersion()))
    found = names_of(page_of(storage, Wanted(EVERYTHING, search)))
    expected = ["usual-3"] if "3" in search else [f"usual-{number}" for number in range(6, 0, -1)]
    assert found == expected


def test_a_search_goes_on_page_by_page_and_ends(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution_list, "BATCH", 3)
    monkeypatch.setattr(execution_list, "MAX_BATCHES", 2)
    put(storage, *(run(f"{'x' if n % 10 == 0 else 'y'}{n}", n, 1) for n in range(40)))
    wanted = Wanted(EVERYTHING, "x")
    assert walk(storage, wanted, 10) == walk(storage, wanted, 1) == ["x30", "x20", "x10", "x0"]
    first = page_of(storage, wanted, 10)
    assert len(first.executions) < 4
    assert first.next_page_token
    assert walk(storage, Wanted(EVERYTHING, "nowhere"), 10) == []


@pytest.mark.parametrize("page_size", [1, 2, 3, 7, 100])
def test_pages_without_a_search_are_the_whole_list(storage: Storage, page_size: int) -> None:
    put(storage, *(run(f"r{n}", n % 3, 1) for n in range(7)))
    assert walk(storage, Wanted(EVERYTHING), page_size) == walk(storage, Wanted(EVERYTHING), 1000)
    assert len(walk(storage, Wanted(EVERYTHING), page_size)) == 7


def test_a_token_of_another_search_is_refused(storage: Storage) -> None:
    put_usual(storage)
    token = page_of(storage, Wanted(EVERYTHING, "usual"), 1).next_page_token
    for other in (Wanted(EVERYTHING), Wanted(EVERYTHING, "usu"), Wanted(EVERYTHING, "usual", True)):
        with pytest.raises(InvalidPageToken):
            page_of(storage, other, 1, token)

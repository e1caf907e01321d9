"""Sweeps and deletions on a real SQLite file."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spanwise_server.domain.errors import ExecutionNotFound, StoreUnavailable
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.retention import Ages, RetentionPolicy
from spanwise_server.rpc.codecs.arrivals import decode_arrival
from spanwise_server.service import retention
from spanwise_server.service.arrivals import Arrival, Recorded, commit_arrivals
from spanwise_server.service.retention import Deleted, Retention, delete_execution
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import ExecutionRecord
from tests.storage.records import ended, event, execution, running_since
from tests.storage.steps import list_all
from tests.unit.rpc.flyte import EXECUTION, task_event
from tests.unit.service.test_recording import storage_at

DAY_NS = 24 * 60 * 60 * 10**9
NOW_NS = 1_000 * DAY_NS
SHORT = Ages(ended_ns=10 * DAY_NS)


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = storage_at(tmp_path / "spanwise.db")
    yield storage
    storage.close()


def run_id(name: str, project: str = "p", domain: str = "d") -> ExecutionId:
    return ExecutionId(project, domain, name)


def ended_days_ago(
    days: float, run: ExecutionId, phase: Phase = Phase.SUCCEEDED
) -> ExecutionRecord:
    return execution(run, state=ended(0, NOW_NS - round(days * DAY_NS), phase))


def put(storage: Storage, *records: ExecutionRecord, num_events: int = 2) -> None:
    """Store executions with some events, the last of which was recorded 5 days ago."""

    def work(transaction: WriteTransaction) -> None:
        transaction.put_executions(records)
        for record in records:
            at_ns = NOW_NS - 5 * DAY_NS
            transaction.append_events(
                [
                    event(number, execution=record.execution_key)._replace(recorded_at_ns=at_ns)
                    for number in range(1, num_events + 1)
                ]
            )

    storage.write(work)


def on_the_way(_: float) -> bool:
    return False


def sweep(
    storage: Storage, policy: RetentionPolicy, pause: Callable[[float], bool] = on_the_way
) -> Deleted:
    return Retention(storage, policy, pause, lambda: NOW_NS).sweep()


def left(storage: Storage) -> set[str]:
    return {record.execution_id.name for record in list_all(storage)}


def num_rows(storage: Storage) -> int:
    with storage.read() as transaction:
        return sum(each.num_rows for each in transaction.get_statistics(0, 1).tables)


def test_what_ended_long_ago_goes_and_the_rest_stays(storage: Storage) -> None:
    put(
        storage,
        ended_days_ago(11, run_id("old")),
        ended_days_ago(9, run_id("new")),
        execution(run_id("running"), state=running_since(0)),
        execution(run_id("placeholder"), first_seen_ns=0),
    )
    assert sweep(storage, RetentionPolicy(SHORT)) == Deleted(1, 2, 2)
    assert left(storage) == {"new", "running", "placeholder"}


def test_an_execution_goes_at_the_moment_of_its_age(storage: Storage) -> None:
    put(storage, ended_days_ago(10, run_id("just")))
    sweep(storage, RetentionPolicy(SHORT))
    assert left(storage) == set()


def test_failures_are_kept_longer(storage: Storage) -> None:
    for phase in (Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT, Phase.SUCCEEDED):
        put(storage, ended_days_ago(11, run_id(phase.name), phase))
    put(storage, ended_days_ago(31, run_id("older"), Phase.FAILED))
    sweep(storage, RetentionPolicy(SHORT._replace(unsuccessful_ns=30 * DAY_NS)))
    assert left(storage) == {"FAILED", "ABORTED", "TIMED_OUT"}


def test_projects_and_domains_have_ages_of_their_own(storage: Storage) -> None:
    put(
        storage,
        ended_days_ago(11, run_id("default")),
        ended_days_ago(11, run_id("project", "kept")),
        ended_days_ago(11, run_id("domain", "kept", "but")),
    )
    policy = RetentionPolicy(SHORT, {"kept": Ages()}, {("kept", "but"): SHORT})
    sweep(storage, policy)
    assert left(storage) == {"project"}


def test_silent_open_executions_go_where_the_policy_says_so(storage: Storage) -> None:
    records = [
        execution(run_id("running"), state=running_since(0)),
        execution(run_id("placeholder"), first_seen_ns=0),
        execution(run_id("started just now"), state=running_since(NOW_NS)),
    ]
    put(storage, *records)
    assert sweep(storage, RetentionPolicy(Ages(silent_ns=6 * DAY_NS))) == Deleted()
    assert sweep(storage, RetentionPolicy(Ages(silent_ns=5 * DAY_NS))).num_executions == 2
    assert left(storage) == {"started just now"}


def test_above_the_size_what_ended_first_goes_until_it_fits(storage: Storage) -> None:
    runs = [ended_days_ago(number, run_id(f"run{number}"), Phase.FAILED) for number in range(1, 9)]
    put(storage, *runs, num_events=500)
    put(storage, execution(run_id("running"), state=running_since(0)))
    with storage.read() as transaction:
        used_bytes = transaction.get_used_bytes()
    deleted = sweep(storage, RetentionPolicy(max_bytes=used_bytes * 3 // 4))
    assert 2 <= deleted.num_executions <= 4
    kept = 8 - deleted.num_executions
    assert left(storage) == {"running", *(f"run{number}" for number in range(1, kept + 1))}
    with storage.read() as transaction:
        assert transaction.get_used_bytes() <= used_bytes * 3 // 4


def test_a_size_that_cannot_be_reached_ends_the_sweep(storage: Storage) -> None:
    put(storage, ended_days_ago(1, run_id("ended")), execution(run_id("placeholder")))
    assert sweep(storage, RetentionPolicy(max_bytes=1)).num_executions == 1
    assert left(storage) == {"placeholder"}


def test_more_than_a_page_goes_in_one_sweep(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PAGE_EXECUTIONS", 3)
    put(storage, *(ended_days_ago(11, run_id(f"old{number}")) for number in range(10)))
    put(storage, *(ended_days_ago(11, run_id(f"kept{n}", "kept")) for n in range(10)))
    put(storage, *(execution(run_id(f"silent{n}"), first_seen_ns=0) for n in range(10)))
    policy = RetentionPolicy(SHORT._replace(silent_ns=DAY_NS), {"kept": Ages()})
    assert sweep(storage, policy).num_executions == 20
    assert left(storage) == {f"kept{number}" for number in range(10)}


def test_large_executions_go_in_steps_of_bounded_size(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_STEP_ROWS", 7)
    put(storage, *(ended_days_ago(11, run_id(f"old{n}")) for n in range(3)), num_events=50)
    pauses: list[float] = []

    def note(pause_s: float) -> bool:
        pauses.append(pause_s)
        return False

    assert sweep(storage, RetentionPolicy(SHORT), note) == Deleted(3, 150, 150)
    assert len(pauses) >= 150 // 7
    assert num_rows(storage) == 0


@pytest.mark.parametrize("num_steps", range(1, 8))
def test_a_sweep_that_is_stopped_is_finished_by_the_next(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, num_steps: int
) -> None:
    monkeypatch.setattr(retention, "MAX_STEP_ROWS", 20)
    put(storage, *(ended_days_ago(11, run_id(f"old{n}")) for n in range(3)), num_events=50)
    pauses: list[float] = []

    def stop_soon(pause_s: float) -> bool:
        pauses.append(pause_s)
        return len(pauses) >= num_steps

    first = sweep(storage, RetentionPolicy(SHORT), stop_soon)
    assert len(pauses) == num_steps
    assert left(storage) == set()  # nothing is shown in part
    second = sweep(storage, RetentionPolicy())  # whatever the policy is by then
    assert first.plus(second) == Deleted(3, 150, 150)
    assert num_rows(storage) == 0


def test_a_broken_off_sweep_counts_what_it_did_with_the_next(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(storage, ended_days_ago(11, run_id("old")))
    sweeps = Retention(storage, RetentionPolicy(SHORT), on_the_way, lambda: NOW_NS)

    def away(_: Retention) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as broken:
        broken.setattr(Retention, "_sweep_open", away)
        with pytest.raises(StoreUnavailable):
            sweeps.sweep()
    assert sweeps.sweep().num_executions == 1


def test_what_is_heard_of_between_look_and_mark_stays(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(storage, execution(run_id("silent"), first_seen_ns=0))
    real = Retention._delete_due  # noqa: SLF001 - the moment between cannot be met from outside

    def hear_first(self: Retention, *args: object) -> None:
        key = execution_key(run_id("silent"))
        late = event(3, execution=key)._replace(recorded_at_ns=NOW_NS)
        storage.write(lambda transaction: transaction.append_events([late]))
        real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Retention, "_delete_due", hear_first)
    assert sweep(storage, RetentionPolicy(Ages(silent_ns=DAY_NS))) == Deleted()
    assert left(storage) == {"silent"}


def test_a_late_event_makes_a_new_placeholder(storage: Storage) -> None:
    run = ExecutionId(EXECUTION.project, EXECUTION.domain, EXECUTION.name)
    put(storage, ended_days_ago(11, run), num_events=9)
    sweep(storage, RetentionPolicy(SHORT))
    late = Arrival(PayloadType.FLYTE1_TASK_EVENT, task_event().SerializeToString(), NOW_NS)
    [verdict] = commit_arrivals(storage, decode_arrival, [late])
    assert isinstance(verdict, Recorded)
    assert verdict.sequence == 1
    with storage.read() as transaction:
        history = transaction.get_histories([execution_key(run)])[execution_key(run)]
    assert history.execution.state is None
    assert [len(part) for part in (history.nodes, history.attempts)] == [1, 1]


def test_a_named_execution_goes_whatever_it_does(storage: Storage) -> None:
    put(storage, execution(run_id("running"), state=running_since(0)), execution(run_id("other")))
    assert delete_execution(storage, run_id("running")) == Deleted(1, 2, 2)
    assert left(storage) == {"other"}


def test_a_deletion_that_broke_off_is_finished_by_the_next(storage: Storage) -> None:
    put(storage, execution(run_id("run")), num_events=5)
    key = execution_key(run_id("run"))
    storage.write(lambda transaction: transaction.mark_deleted([key]))
    assert delete_execution(storage, run_id("run")) == Deleted(1, 5, 5)
    assert num_rows(storage) == 0


def test_an_unknown_execution_is_not_found_and_leaves_no_mark(storage: Storage) -> None:
    with pytest.raises(ExecutionNotFound):
        delete_execution(storage, run_id("unknown"))
    assert num_rows(storage) == 0

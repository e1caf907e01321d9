"""What every storage knows of the workflows of executions, and of those that succeeded."""

import uuid
from collections.abc import Mapping
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanwise_server.domain import usual_duration
from spanwise_server.domain.identifiers import (
    EntityVersion,
    ExecutionId,
    execution_key,
    workflow_key,
)
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.transitions import EntityState
from spanwise_server.service import execution_list
from spanwise_server.service.execution_list import ExecutionLists, ExecutionSummary, Wanted
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import (
    BindingRecord,
    ExecutionFilter,
    ExecutionRecord,
    FinishedExecution,
    WorkflowName,
    WorkflowPeriod,
)
from tests.storage.records import KEY, binding, ended, execution, running_since, workflow
from tests.storage.steps import put

TRAIN_ALL = WorkflowName("flytesnacks", "development", "train_all")


class TestListingExecutionsWithTheirWorkflows:
    def test_what_it_is_bound_to_goes_before_what_its_events_name(self, storage: Storage) -> None:
        put(storage, runs("named", 15)._replace(execution_key=KEY))
        assert workflows_of(storage) == [workflow().workflow_id]
        storage.write(lambda t: t.put_binding(binding(KEY, workflow("bound"))))
        assert workflows_of(storage) == [workflow("bound").workflow_id]

    def test_it_is_empty_where_nothing_is_known(self, storage: Storage) -> None:
        put(storage, execution())
        assert workflows_of(storage) == [EntityVersion()]


def workflows_of(storage: Storage) -> list[EntityVersion]:
    with storage.read() as transaction:
        listed = transaction.list_executions(ExecutionFilter(), after=None, limit=10)
    return [each.workflow_id for each in listed]


class TestListingSucceededExecutions:
    def test_an_execution_says_what_it_ran_and_how_long_it_took(self, storage: Storage) -> None:
        put(storage, succeeded("run", 10, 30))
        assert succeeded_of(storage) == [
            FinishedExecution(succeeded("run", 10, 30).execution_key, TRAIN_ALL, 10, 30)
        ]

    def test_the_latest_of_each_workflow_come_first(self, storage: Storage) -> None:
        put(storage, *(succeeded(f"run{start}", start, 99) for start in (20, 40, 10, 30)))
        put(storage, *(succeeded(f"o{start}", start, 99, "other") for start in (25, 15, 35)))
        other = WorkflowName("flytesnacks", "development", "other")
        periods = [WorkflowPeriod(each, 0, 100) for each in (TRAIN_ALL, other)]
        found = succeeded_of(storage, *periods, limit=2)
        assert [each.created_at_ns for each in found] == [40, 35, 30, 25]

    def test_only_those_that_succeeded_count(self, storage: Storage) -> None:
        put(storage, succeeded("run", 10, 30), succeeded("failed", 20, 30, phase=Phase.FAILED))
        put(storage, runs("running", 15))
        assert [each.created_at_ns for each in succeeded_of(storage)] == [10]

    @pytest.mark.parametrize("is_bound", [False, True])
    def test_a_period_begins_at_a_moment_and_ends_before_one(
        self, storage: Storage, is_bound: bool
    ) -> None:
        name = "" if is_bound else "train_all"
        records = [succeeded(f"run{start}", start, 99, name) for start in (10, 20, 30, 40)]
        put(storage, *records)
        if is_bound:
            bind(storage, *records)
        for from_ns, before_ns, expected in ((20, 40, [30, 20]), (0, 11, [10]), (41, 99, [])):
            found = succeeded_of(storage, WorkflowPeriod(TRAIN_ALL, from_ns, before_ns))
            assert [each.created_at_ns for each in found] == expected

    def test_one_that_is_bound_to_the_workflow_counts_once(self, storage: Storage) -> None:
        named = succeeded("named", 10, 30)
        bound = succeeded("bound", 20, 30, "")
        put(storage, named, bound)
        bind(storage, named, bound)
        assert succeeded_of(storage) == [
            FinishedExecution(bound.execution_key, TRAIN_ALL, 20, 30),
            FinishedExecution(named.execution_key, TRAIN_ALL, 10, 30),
        ]

    def test_executions_may_be_bound_before_and_after_they_succeed(self, storage: Storage) -> None:
        early, late = succeeded("early", 10, 30, ""), succeeded("late", 20, 40, "")
        bind(storage, early)
        put(storage, early, late)
        bind(storage, late)
        assert [each.created_at_ns for each in succeeded_of(storage)] == [20, 10]

    def test_an_execution_that_is_bound_anew_counts_where_it_is_bound_last(
        self, storage: Storage
    ) -> None:
        put(storage, succeeded("run", 10, 30, ""))
        bind(storage, succeeded("run", 10, 30, ""))
        said = binding(succeeded("run", 10, 30).execution_key, workflow("other"))
        storage.write(lambda t: t.put_binding(said))
        assert succeeded_of(storage) == []

    def test_bound_executions_count_again_after_they_are_rebuilt(self, storage: Storage) -> None:
        record = succeeded("run", 10, 30, "")
        put(storage, record)
        bind(storage, record)
        storage.write(lambda t: t.clear_projections())
        assert succeeded_of(storage) == []
        put(storage, record._replace(state=ended(10, 30, Phase.FAILED)))
        assert succeeded_of(storage) == []
        storage.write(lambda t: t.clear_projections())
        put(storage, succeeded("run", 15, 30, ""))
        assert [each.created_at_ns for each in succeeded_of(storage)] == [15]

    @pytest.mark.parametrize("limit", [1, 2])
    def test_executions_that_are_being_deleted_keep_no_place(
        self, storage: Storage, limit: int
    ) -> None:
        records = [succeeded(f"run{start}", start, 99, "") for start in (10, 20, 30)]
        put(storage, *records)
        bind(storage, *records)
        storage.write(lambda t: t.mark_deleted([records[-1].execution_key]))
        found = succeeded_of(storage, limit=limit)
        assert [each.created_at_ns for each in found] == [20, 10][:limit]

    def test_executions_without_a_workflow_have_none_in_common(self, storage: Storage) -> None:
        put(storage, succeeded("run", 10, 30, ""))
        assert succeeded_of(storage, WorkflowPeriod(WorkflowName("", "", ""), 0, 100)) == []


class Run(NamedTuple):
    """An execution of the property below. Empty workflows are not known."""

    created_at_ns: int
    took_ns: int
    phase: Phase
    named: str
    bound: str
    is_bound_first: bool


RUNS = st.builds(
    Run,
    st.integers(0, 12),
    st.integers(1, 9),
    st.sampled_from([Phase.SUCCEEDED, Phase.SUCCEEDED, Phase.FAILED, Phase.RUNNING]),
    st.sampled_from(["", "one", "two"]),
    st.sampled_from(["", "one", "two"]),
    st.booleans(),
)
EVERYTHING = ExecutionFilter()
FAILED_OR_RUNNING = frozenset({Phase.FAILED, Phase.RUNNING})
NUM_SAMPLES = 4
NOW_NS = 100


class TestWhatIsUsual:
    @pytest.fixture(autouse=True)
    def few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have few executions make several pages and samples."""
        monkeypatch.setattr(usual_duration, "MIN_SAMPLES", 2)
        monkeypatch.setattr(usual_duration, "MAX_SAMPLES", NUM_SAMPLES)
        monkeypatch.setattr(execution_list, "MAX_SAMPLES", NUM_SAMPLES)
        monkeypatch.setattr(execution_list, "BATCH", 5)

    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        some=st.lists(RUNS, min_size=15, max_size=30),
        page_size=st.integers(1, 9),
        only=st.builds(
            Wanted,
            st.sampled_from([EVERYTHING, EVERYTHING._replace(phases=FAILED_OR_RUNNING)]),
            st.sampled_from(["", "7", "one"]),
            st.booleans(),
        ),
    )
    def test_it_depends_on_the_executions_before_alone(
        self, storage: Storage, some: list[Run], page_size: int, only: Wanted
    ) -> None:
        project = uuid.uuid4().hex  # so that no example sees the executions of another
        runs = {ExecutionId(project, "d", f"r{n}"): run for n, run in enumerate(some)}
        put_runs(storage, runs)

        query, search, slower = only
        wanted = Wanted(query._replace(project=project), search, slower)
        found: dict[ExecutionId, ExecutionSummary] = {}
        token = ""
        while True:
            lists = ExecutionLists(storage)
            page = lists.list_executions(wanted, page_size, token, NOW_NS)
            found |= {each.record.execution_id: each for each in page.executions}
            token = page.next_page_token
            if not token:
                break

        expected = {}
        for execution_id, run in runs.items():
            workflow_name = run.bound or run.named
            usual = find_usual_among(runs, run) if workflow_name else None
            took_ns = NOW_NS - run.created_at_ns if run.phase is Phase.RUNNING else run.took_ns
            is_slower = usual is not None and usual.is_exceeded_by(took_ns)
            if query.phases and run.phase not in query.phases:
                continue
            if search not in execution_id.name and search not in workflow_name:
                continue
            if is_slower or not slower:
                expected[execution_id] = (usual, is_slower)
        assert {key: (each.usual, each.is_slower) for key, each in found.items()} == expected


def find_usual_among(
    runs: Mapping[ExecutionId, Run], besides: Run
) -> usual_duration.UsualDuration | None:
    """Give what is usual by looking at all executions."""
    workflow_name = besides.bound or besides.named
    before = [
        (-run.created_at_ns, execution_key(execution_id), run.took_ns)
        for execution_id, run in runs.items()
        if run.phase is Phase.SUCCEEDED
        and workflow_name in (run.bound, run.named)
        and run.created_at_ns < besides.created_at_ns
    ]
    return usual_duration.find_usual([took_ns for _, _, took_ns in sorted(before)[:NUM_SAMPLES]])


def put_runs(storage: Storage, runs: Mapping[ExecutionId, Run]) -> None:
    """Store executions of workflows in the project of the executions."""
    records: list[ExecutionRecord] = []
    first: list[BindingRecord] = []
    last: list[BindingRecord] = []
    for execution_id, run in runs.items():
        ids = [
            EntityVersion(execution_id.project, "d", name, "v") if name else EntityVersion()
            for name in (run.named, run.bound)
        ]
        record = execution(execution_id, state=state_of(run))
        records.append(record._replace(facts=record.facts._replace(workflow_id=ids[0])))
        if run.bound:
            said = BindingRecord(record.execution_key, workflow_key(ids[1]), ids[1])
            (first if run.is_bound_first else last).append(said)

    def write(transaction: WriteTransaction) -> None:
        for said in first:
            transaction.put_binding(said)
        transaction.put_executions(records)
        for said in last:
            transaction.put_binding(said)

    storage.write(write)


def state_of(run: Run) -> EntityState:
    if run.phase is Phase.RUNNING:
        return running_since(run.created_at_ns)
    return ended(run.created_at_ns, run.created_at_ns + run.took_ns, run.phase)


def bind(storage: Storage, *records: ExecutionRecord) -> None:
    """Bind executions to train_all."""
    for record in records:
        said = binding(record.execution_key, workflow())
        storage.write(lambda t, said=said: t.put_binding(said))  # type: ignore[misc]


def runs(name: str, start_ns: int) -> ExecutionRecord:
    record = succeeded(name, start_ns, start_ns)
    return record._replace(state=running_since(start_ns))


def succeeded(
    name: str,
    start_ns: int,
    end_ns: int,
    workflow_name: str = "train_all",
    phase: Phase = Phase.SUCCEEDED,
) -> ExecutionRecord:
    state = ended(start_ns, end_ns, phase)
    record = execution(ExecutionId("p", "d", name), state=state)
    runs = workflow(workflow_name).workflow_id if workflow_name else EntityVersion()
    return record._replace(facts=record.facts._replace(workflow_id=runs))


def succeeded_of(
    storage: Storage, *periods: WorkflowPeriod, limit: int = 10
) -> list[FinishedExecution]:
    with storage.read() as transaction:
        return transaction.list_succeeded_executions(
            periods or [WorkflowPeriod(TRAIN_ALL, 0, 100)], limit=limit
        )

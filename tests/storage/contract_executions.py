"""What every storage knows of the workflows of executions, and of those that succeeded."""

from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.phases import Phase
from spanwise_server.storage.api import Storage
from spanwise_server.storage.records import (
    ExecutionFilter,
    ExecutionRecord,
    FinishedExecution,
    WorkflowName,
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
        found = succeeded_of(storage, TRAIN_ALL, other, limit=2)
        assert [each.created_at_ns for each in found] == [40, 35, 30, 25]

    def test_only_those_that_succeeded_before_the_moment_count(self, storage: Storage) -> None:
        put(storage, succeeded("early", 10, 30), succeeded("late", 50, 60))
        put(storage, succeeded("failed", 20, 30, phase=Phase.FAILED))
        put(storage, runs("running", 15))
        assert [each.created_at_ns for each in succeeded_of(storage, before_ns=50)] == [10]

    def test_one_that_is_bound_to_the_workflow_counts_once(self, storage: Storage) -> None:
        named = succeeded("named", 10, 30)
        bound = succeeded("bound", 20, 30, "")
        put(storage, named, bound)
        for number, each in enumerate((named, bound)):
            said = binding(each.execution_key, workflow(), bound_at_ns=number)
            storage.write(lambda t, said=said: t.put_binding(said))  # type: ignore[misc]
        assert succeeded_of(storage) == [
            FinishedExecution(bound.execution_key, TRAIN_ALL, 20, 30),
            FinishedExecution(named.execution_key, TRAIN_ALL, 10, 30),
        ]
        latest = succeeded_of(storage, limit_bound=1, limit=1)
        assert [each.created_at_ns for each in latest] == [20, 10]

    def test_executions_without_a_workflow_have_none_in_common(self, storage: Storage) -> None:
        put(storage, succeeded("run", 10, 30, ""))
        assert succeeded_of(storage, WorkflowName("", "", "")) == []


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
    storage: Storage,
    *workflows: WorkflowName,
    before_ns: int = 100,
    limit: int = 10,
    limit_bound: int = 10,
) -> list[FinishedExecution]:
    with storage.read() as transaction:
        return transaction.list_succeeded_executions(
            workflows or [TRAIN_ALL], before_ns=before_ns, limit=limit, limit_bound=limit_bound
        )

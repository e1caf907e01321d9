"""What every storage does. A backend's test module subclasses these with a `storage` fixture."""

import threading
from contextlib import suppress
from itertools import pairwise, permutations, product

import pytest

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.events import Severity
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.phases import Phase
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import EventRecord, ExecutionFilter
from spanwise_server.storage.sql import open_storage
from tests.storage.records import (
    ATTEMPT_KEY,
    KEY,
    NODE_KEY,
    OTHER_KEY,
    attempt,
    binding,
    ended,
    event,
    execution,
    logged_key,
    node,
    reason,
    running_since,
    workflow,
)
from tests.storage.steps import append, as_marks, events_of, history_of, list_all, marks_of

EVERYTHING = ExecutionFilter()
DEADLINE_S = 30


class Broken(Exception):
    """What a unit of work raises half-way."""


class TestTransactions:
    def test_write_gives_the_result_of_the_work(self, storage: Storage) -> None:
        assert storage.write(lambda _: "done") == "done"

    def test_nothing_of_a_work_that_raises_is_kept(self, storage: Storage) -> None:
        def work(transaction: WriteTransaction) -> None:
            transaction.append_events([event(1)])
            transaction.put_executions([execution()])
            raise Broken

        with pytest.raises(Broken):
            storage.write(work)

        with storage.read() as transaction:
            assert not transaction.has_execution(KEY)
            assert events_of(transaction) == []

    def test_a_write_after_a_failed_one_is_kept(self, storage: Storage) -> None:
        def work(transaction: WriteTransaction) -> None:
            transaction.append_events([event(1)])
            raise Broken

        with pytest.raises(Broken):
            storage.write(work)
        storage.write(append(event(1)))

        with storage.read() as transaction:
            assert events_of(transaction) == [event(1)]

    def test_a_transaction_sees_what_it_wrote(self, storage: Storage) -> None:
        def work(transaction: WriteTransaction) -> dict[bytes, int]:
            transaction.append_events([event(1), event(2)])
            return transaction.get_last_sequences([KEY])

        assert storage.write(work) == {KEY: 2}

    def test_readers_see_one_snapshot(self, storage: Storage) -> None:
        storage.write(append(event(1)))
        with storage.read() as transaction:
            before = events_of(transaction)
            storage.write(append(event(2)))
            assert events_of(transaction) == before
        with storage.read() as transaction:
            assert len(events_of(transaction)) == 2

    def test_readers_do_not_wait_for_the_writer(self, storage: Storage) -> None:
        def work(transaction: WriteTransaction) -> list[EventRecord]:
            transaction.append_events([event(1)])
            with storage.read() as reader:
                return events_of(reader)

        assert storage.write(work) == []

    def test_several_reads_go_on_at_once(self, storage: Storage) -> None:
        storage.write(append(event(1)))
        with storage.read() as one, storage.read() as other:
            assert events_of(one) == events_of(other)

    def test_writers_of_several_threads_lose_nothing(self, storage: Storage) -> None:
        def add_one(transaction: WriteTransaction) -> None:
            transaction.lock_executions([KEY])
            last = transaction.get_last_sequences([KEY]).get(KEY, 0)
            transaction.append_events([event(last + 1)])

        def add_many() -> None:
            for _ in range(25):
                storage.write(add_one)

        threads = [threading.Thread(target=add_many) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE_S)

        with storage.read() as transaction:
            sequences = [record.sequence for record in events_of(transaction)]
        assert sequences == list(range(1, 101))


class TestClosing:
    def test_a_closed_storage_does_not_write(self, storage: Storage) -> None:
        storage.close()
        with pytest.raises(StoreUnavailable):
            storage.write(append(event(1)))

    def test_a_closed_storage_does_not_read(self, storage: Storage) -> None:
        storage.close()
        with pytest.raises(StoreUnavailable), storage.read():
            pass

    def test_closing_again_does_nothing(self, storage: Storage) -> None:
        storage.close()
        storage.close()

    def test_a_read_that_is_open_when_the_storage_closes_goes_on(self, storage: Storage) -> None:
        storage.write(append(event(1)))
        with storage.read() as transaction:
            storage.close()
            assert events_of(transaction) == [event(1)]


class TestWaitingForCommits:
    LONG_S = 10 * DEADLINE_S

    def test_the_first_wait_is_none(self, storage: Storage) -> None:
        storage.wait_for_commits(self.LONG_S)

    def test_a_wait_ends_with_a_commit_of_events(self, storage: Storage, url: str) -> None:
        other = open_storage(url)  # as another process would
        storage.wait_for_commits(self.LONG_S)
        for sequence in (1, 2, 3):
            waiter = threading.Thread(target=storage.wait_for_commits, args=(self.LONG_S,))
            waiter.start()
            other.write(append(event(sequence)))
            waiter.join(DEADLINE_S)
            assert not waiter.is_alive()
        other.close()

    def test_a_commit_before_the_wait_ends_it_at_once(self, storage: Storage) -> None:
        storage.wait_for_commits(self.LONG_S)
        storage.write(append(event(1)))
        storage.wait_for_commits(self.LONG_S)

    def test_a_wait_without_commits_ends_when_the_time_is_over(self, storage: Storage) -> None:
        for _ in range(2):
            storage.wait_for_commits(0.01)

    def test_closing_ends_a_wait(self, storage: Storage) -> None:
        def wait() -> None:
            with suppress(StoreUnavailable):  # closed before it began
                storage.wait_for_commits(self.LONG_S)

        storage.wait_for_commits(self.LONG_S)
        waiter = threading.Thread(target=wait)
        waiter.start()
        storage.close()
        waiter.join(DEADLINE_S)
        assert not waiter.is_alive()

    def test_a_closed_storage_does_not_wait(self, storage: Storage) -> None:
        storage.close()
        with pytest.raises(StoreUnavailable):
            storage.wait_for_commits(self.LONG_S)


class TestEmptyInput:
    def test_nothing_is_asked_and_nothing_is_found(self, storage: Storage) -> None:
        def work(transaction: WriteTransaction) -> list[object]:
            return [
                transaction.get_executions([]),
                transaction.get_nodes([]),
                transaction.get_attempts([]),
                transaction.find_logged([]),
                transaction.get_last_sequences([]),
            ]

        assert storage.write(work) == [{}, {}, {}, set(), {}]

    def test_nothing_is_written(self, storage: Storage) -> None:
        def work(transaction: WriteTransaction) -> None:
            transaction.lock_executions([])
            transaction.append_events([])
            transaction.put_executions([])
            transaction.put_nodes([])
            transaction.put_attempts([])
            transaction.add_missing_executions([])
            transaction.add_missing_nodes([])
            transaction.merge_reasons([])

        storage.write(work)
        assert list_all(storage) == []

    def test_nothing_is_read(self, storage: Storage) -> None:
        with storage.read() as transaction:
            assert transaction.get_histories([]) == {}
            assert transaction.get_last_sequences([]) == {}
            assert (
                transaction.list_finished_attempts(
                    [], besides=KEY, before_ns=0, limit=9, limit_passed=9
                )
                == []
            )


class TestExecutions:
    def test_a_known_execution_is_given(self, storage: Storage) -> None:
        record = execution(state=ended(10, 20))
        storage.write(lambda transaction: transaction.put_executions([record]))
        found = storage.write(lambda transaction: transaction.get_executions([KEY, OTHER_KEY]))
        assert found == {KEY: record}

    def test_a_put_replaces_all_but_first_seen(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_executions([execution(first_seen_ns=10)]))
        later = execution(first_seen_ns=99, state=running_since(50))
        later = later._replace(facts=later.facts._replace(org="acme"))
        storage.write(lambda t: t.put_executions([later]))
        assert history_of(storage).execution == later._replace(first_seen_ns=10)

    def test_a_missing_execution_is_added(self, storage: Storage) -> None:
        storage.write(lambda t: t.add_missing_executions([execution()]))
        assert history_of(storage).execution == execution()

    def test_adding_leaves_a_known_execution_alone(self, storage: Storage) -> None:
        known = execution(state=running_since(10))
        storage.write(lambda t: t.put_executions([known]))
        storage.write(lambda t: t.add_missing_executions([execution(first_seen_ns=5)]))
        assert history_of(storage).execution == known

    def test_an_execution_may_be_added_twice_at_once(self, storage: Storage) -> None:
        storage.write(lambda t: t.add_missing_executions([execution(), execution()]))
        assert history_of(storage).execution == execution()

    def test_an_execution_that_no_event_named_is_not_there(self, storage: Storage) -> None:
        with storage.read() as transaction:
            assert not transaction.has_execution(KEY)
            assert transaction.get_histories([KEY]) == {}

    def test_a_placeholder_is_there(self, storage: Storage) -> None:
        storage.write(lambda t: t.add_missing_executions([execution()]))
        with storage.read() as transaction:
            assert transaction.has_execution(KEY)


class TestNodes:
    def test_known_nodes_are_given_by_reference(self, storage: Storage) -> None:
        records = [node("n0", state=running_since(10)), node("n1")]
        storage.write(lambda t: t.put_nodes(records))
        refs = [(KEY, record.node_key) for record in records]
        found = storage.write(lambda t: t.get_nodes([*refs, (KEY, 1), (OTHER_KEY, refs[0][1])]))
        assert found == dict(zip(refs, records, strict=True))

    def test_a_put_replaces_a_placeholder(self, storage: Storage) -> None:
        storage.write(lambda t: t.add_missing_nodes([node()]))
        storage.write(lambda t: t.put_nodes([node(state=ended(10, 20))]))
        found = storage.write(lambda t: t.get_nodes([(KEY, NODE_KEY)]))
        assert found == {(KEY, NODE_KEY): node(state=ended(10, 20))}

    def test_a_put_can_take_a_value_away(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_nodes([node(state=ended(10, 20))]))
        storage.write(lambda t: t.put_nodes([node(state=running_since(10))]))
        found = storage.write(lambda t: t.get_nodes([(KEY, NODE_KEY)]))
        assert found[(KEY, NODE_KEY)].state == running_since(10)

    def test_adding_leaves_a_known_node_alone(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_nodes([node(state=running_since(10))]))
        storage.write(lambda t: t.add_missing_nodes([node(), node("n1")]))
        found = storage.write(lambda t: t.get_nodes([(KEY, NODE_KEY)]))
        assert found[(KEY, NODE_KEY)].state == running_since(10)


class TestAttempts:
    def test_known_attempts_are_given_by_reference(self, storage: Storage) -> None:
        records = [attempt(0), attempt(1, state=ended(10, 20, Phase.FAILED))]
        storage.write(lambda t: t.put_attempts(records))
        refs = [(KEY, record.attempt_key) for record in records]
        found = storage.write(lambda t: t.get_attempts([*refs, (KEY, 1)]))
        assert found == dict(zip(refs, records, strict=True))

    def test_a_put_replaces_an_attempt(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_attempts([attempt()]))
        storage.write(lambda t: t.put_attempts([attempt(state=ended(10, 20))]))
        found = storage.write(lambda t: t.get_attempts([(KEY, ATTEMPT_KEY)]))
        assert found == {(KEY, ATTEMPT_KEY): attempt(state=ended(10, 20))}

    def test_more_keys_than_a_statement_takes_are_all_found(self, storage: Storage) -> None:
        records = [attempt(number) for number in range(20_000)]
        storage.write(lambda t: t.put_attempts(records))
        refs = [(KEY, record.attempt_key) for record in records]
        found = storage.write(lambda t: t.get_attempts(refs))
        assert found == dict(zip(refs, records, strict=True))


class TestReasons:
    @pytest.fixture(autouse=True)
    def an_execution(self, storage: Storage) -> None:
        storage.write(lambda t: t.add_missing_executions([execution()]))

    def test_merging_again_changes_nothing(self, storage: Storage) -> None:
        records = [reason(1), reason(2, message="scaling up")]
        for _ in range(2):
            storage.write(lambda t: t.merge_reasons(records))
        assert marks_of(storage) == as_marks(*records)

    def test_the_earliest_time_is_kept_in_any_order(self, storage: Storage) -> None:
        for digest, times in enumerate(permutations((7, 3, 5))):
            for time_ns in times:
                record = reason(digest)._replace(occurred_at_ns=time_ns)
                storage.write(lambda t, record=record: t.merge_reasons([record]))  # type: ignore[misc]
        assert {mark.occurred_at_ns for _, mark in marks_of(storage)} == {3}

    def test_the_least_place_is_kept_in_any_order(self, storage: Storage) -> None:
        for digest, places in enumerate(permutations((2, 0, 1))):
            for place in places:
                record = reason(digest)._replace(ordinal=place)
                storage.write(lambda t, record=record: t.merge_reasons([record]))  # type: ignore[misc]
        assert {mark.ordinal for _, mark in marks_of(storage)} == {0}

    def test_the_highest_grade_count_and_source_are_kept_in_any_order(
        self, storage: Storage
    ) -> None:
        grades = (Severity.INFO, Severity.ERROR)
        counts = (1, 5)
        sources = ("kubelet", "scheduler")
        variants = [
            reason()._replace(severity=severity, occurrences=count, source=source)
            for severity, count, source in product(grades, counts, sources)
        ]
        for record in variants + variants[::-1]:
            storage.write(lambda t, record=record: t.merge_reasons([record]))  # type: ignore[misc]
        expected = reason()._replace(severity=Severity.ERROR, occurrences=5, source="scheduler")
        assert marks_of(storage) == as_marks(expected)

    def test_reasons_are_merged_inside_one_call(self, storage: Storage) -> None:
        later = reason()._replace(occurred_at_ns=99, severity=Severity.ERROR)
        storage.write(lambda t: t.merge_reasons([later, reason()]))
        assert marks_of(storage) == as_marks(reason()._replace(severity=Severity.ERROR))

    def test_the_same_text_of_two_entities_is_two_reasons(self, storage: Storage) -> None:
        records = [reason(), reason()._replace(entity_key=NODE_KEY)]
        storage.write(lambda t: t.merge_reasons(records))
        assert marks_of(storage) == as_marks(*records)


class TestLog:
    def test_an_event_is_known_by_entity_phase_version_and_time(self, storage: Storage) -> None:
        storage.write(append(event(1)))
        known = logged_key(event(1))
        others = [
            known._replace(execution_key=OTHER_KEY),
            known._replace(entity_key=NODE_KEY),
            known._replace(phase=Phase.QUEUED),
            known._replace(phase_version=1),
            known._replace(occurred_at_ns=11),
        ]
        assert storage.write(lambda t: t.find_logged([known, *others])) == {known}

    def test_an_event_that_was_logged_twice_is_found_once(self, storage: Storage) -> None:
        storage.write(append(event(1), event(2)))
        found = storage.write(lambda t: t.find_logged([logged_key(event(1))]))
        assert found == {logged_key(event(1))}

    def test_the_last_sequence_is_that_of_each_execution(self, storage: Storage) -> None:
        storage.write(append(event(1), event(2), event(1, execution=OTHER_KEY)))
        third = execution_key(ExecutionId("p", "d", "third"))
        keys = [KEY, OTHER_KEY, third]
        assert storage.write(lambda t: t.get_last_sequences(keys)) == {KEY: 2, OTHER_KEY: 1}
        with storage.read() as transaction:
            assert transaction.get_last_sequences(keys) == {KEY: 2, OTHER_KEY: 1}

    def test_the_log_is_given_by_execution_and_sequence(self, storage: Storage) -> None:
        records = [
            event(sequence, execution=key) for sequence in range(1, 4) for key in (KEY, OTHER_KEY)
        ]
        storage.write(append(*records))
        log = storage.write(lambda t: list(t.iterate_log()))
        assert sorted(log) == sorted(records)
        for key in (KEY, OTHER_KEY):
            sequences = [record.sequence for record in log if record.execution_key == key]
            assert sequences == [1, 2, 3]
        changes = sum(one.execution_key != other.execution_key for one, other in pairwise(log))
        assert changes == 1

    def test_projections_can_be_written_while_the_log_is_read(self, storage: Storage) -> None:
        num_events = 2_000
        storage.write(append(*(event(number + 1) for number in range(num_events))))

        def rebuild(transaction: WriteTransaction) -> None:
            transaction.clear_projections()
            transaction.add_missing_executions([execution()])
            for record in transaction.iterate_log():
                transaction.put_attempts([attempt(record.sequence)])
                transaction.get_attempts([(KEY, ATTEMPT_KEY)])

        storage.write(rebuild)
        assert len(history_of(storage).attempts) == num_events

    def test_clearing_projections_leaves_the_log_alone(self, storage: Storage) -> None:
        def fill(transaction: WriteTransaction) -> None:
            transaction.append_events([event(1)])
            transaction.put_executions([execution()])
            transaction.put_nodes([node()])
            transaction.put_attempts([attempt()])
            transaction.merge_reasons([reason()])

        storage.write(fill)
        storage.write(lambda t: t.clear_projections())
        storage.write(lambda t: t.add_missing_executions([execution()]))

        history = history_of(storage)
        assert (history.nodes, history.attempts, history.marks) == ([], [], {})
        assert len(history.events) == 1

    def test_clearing_projections_leaves_what_people_registered(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_workflow(workflow()))
        storage.write(lambda t: t.put_binding(binding(KEY, workflow())))
        storage.write(lambda t: t.clear_projections())
        storage.write(lambda t: t.add_missing_executions([execution()]))
        assert history_of(storage).workflow == workflow()

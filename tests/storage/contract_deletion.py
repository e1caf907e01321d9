"""What every storage does about deletions and sizes; as contract.py."""

import pytest

from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.phases import Phase
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import (
    DeletedPart,
    EventRecord,
    ExecutionAge,
    ExecutionRecord,
    KeptChunk,
    KeptTree,
    LogSize,
)
from tests.storage.records import (
    KEY,
    OTHER_KEY,
    RUN,
    attempt,
    binding,
    ended,
    event,
    execution,
    node,
    reason,
    running_since,
    workflow,
)
from tests.storage.steps import append, events_of, history_of, list_all, put

DAY_NS = 24 * 60 * 60 * 10**9
LARGE = b"x" * 1_000


def run_id(name: str) -> ExecutionId:
    return RUN._replace(name=name)


def that_ended(name: str, at_ns: int, phase: Phase = Phase.SUCCEEDED) -> ExecutionRecord:
    return execution(run_id(name), state=ended(1, at_ns, phase))


def put_everything(transaction: WriteTransaction) -> None:
    """Store rows of the execution, and of another one, in every table."""
    transaction.append_events([event(number) for number in range(1, 6)])
    transaction.append_events([event(1, execution=OTHER_KEY)])
    transaction.put_executions([execution(), execution(run_id("other"))])
    transaction.put_nodes([node("n0"), node("n1"), node()._replace(execution_key=OTHER_KEY)])
    transaction.put_attempts([attempt(0), attempt(1)])
    transaction.put_attempts([attempt(0)._replace(execution_key=OTHER_KEY)])
    transaction.merge_reasons([reason(1), reason(2)])
    transaction.merge_reasons([reason(1)._replace(execution_key=OTHER_KEY)])
    for key in (KEY, OTHER_KEY):
        transaction.put_binding(binding(key, workflow()))
        transaction.add_kept_chunk(KeptChunk(key, 1, 0, b"outline", b"spans"))
        transaction.put_kept_tree(KeptTree(key, 1, "test", 10, b"basis", b"\x01"))
    transaction.put_workflow(workflow())


ROWS = 5 + 2 + 2 + 2 + 1 + 1 + 1
"""Rows of the execution besides its own."""


def mark(storage: Storage, *keys: bytes) -> None:
    storage.write(lambda transaction: transaction.mark_deleted(keys))


def delete_part(
    storage: Storage, key: bytes = KEY, *, max_rows: int = 100, max_bytes: int = 10**9
) -> DeletedPart:
    return storage.write(
        lambda transaction: transaction.delete_part(key, max_rows=max_rows, max_bytes=max_bytes)
    )


def marked(storage: Storage) -> list[bytes]:
    with storage.read() as transaction:
        return transaction.list_marked(limit=10)


def log_size(storage: Storage, key: bytes = KEY) -> LogSize:
    with storage.read() as transaction:
        return transaction.get_log_size(key)


def num_rows(storage: Storage) -> dict[str, int]:
    with storage.read() as transaction:
        tables = transaction.get_statistics(0, 1).tables
    return {each.table: each.num_rows for each in tables}


class TestAges:
    def test_executions_come_in_the_order_of_their_ends(self, storage: Storage) -> None:
        put(storage, that_ended("late", 30), that_ended("early", 10, Phase.FAILED))
        with storage.read() as transaction:
            found = transaction.list_ended(before_ns=None, after=None, limit=10)
        early = execution_key(run_id("early"))
        assert found[0] == ExecutionAge(early, RUN.project, RUN.domain, 10, Phase.FAILED)
        assert [each.ended_at_ns for each in found] == [10, 30]

    def test_the_bound_of_ends_is_exclusive(self, storage: Storage) -> None:
        put(storage, that_ended("one", 10), that_ended("two", 11))
        with storage.read() as transaction:
            found = transaction.list_ended(before_ns=11, after=None, limit=10)
        assert [each.ended_at_ns for each in found] == [10]

    def test_pages_of_ends_give_each_once(self, storage: Storage) -> None:
        put(storage, *(that_ended(f"run{number}", 10 + number // 4) for number in range(20)))
        walked: list[tuple[int | None, bytes]] = []
        after = None
        with storage.read() as transaction:
            while page := transaction.list_ended(before_ns=None, after=after, limit=3):
                walked += [(each.ended_at_ns, each.execution_key) for each in page]
                assert page[-1].ended_at_ns is not None
                after = page[-1].ended_at_ns, page[-1].execution_key
        assert walked == sorted(walked)
        assert len(set(walked)) == 20

    def test_open_executions_and_placeholders_are_no_ended_ones(self, storage: Storage) -> None:
        put(
            storage,
            execution(run_id("placeholder"), first_seen_ns=5),
            execution(run_id("open"), state=running_since(7)),
            that_ended("ended", 10),
        )
        with storage.read() as transaction:
            found = transaction.list_open(before_ns=100, after=None, limit=10)
        names = "placeholder", "open"
        assert {each.execution_key for each in found} == {execution_key(run_id(n)) for n in names}
        assert {(each.ended_at_ns, each.phase) for each in found} == {(None, None)}

    def test_the_bound_of_starts_is_exclusive(self, storage: Storage) -> None:
        put(storage, *(execution(run_id(f"at{at}"), first_seen_ns=at) for at in (10, 11)))
        with storage.read() as transaction:
            found = transaction.list_open(before_ns=11, after=None, limit=10)
        assert [each.execution_key for each in found] == [execution_key(run_id("at10"))]

    def test_pages_of_open_executions_give_each_once(self, storage: Storage) -> None:
        put(storage, *(execution(run_id(f"run{number}")) for number in range(10)))
        walked: list[bytes] = []
        with storage.read() as transaction:
            while page := transaction.list_open(
                before_ns=100, after=walked[-1] if walked else None, limit=3
            ):
                walked += [each.execution_key for each in page]
        assert walked == sorted(set(walked))
        assert len(walked) == 10

    def test_the_last_event_tells_when_an_execution_was_heard_of(self, storage: Storage) -> None:
        storage.write(append(event(1, occurred_at_ns=50), event(2, occurred_at_ns=20)))
        keys = [KEY, OTHER_KEY]
        with storage.read() as transaction:
            assert transaction.get_last_recorded(keys) == {KEY: 22}
        assert storage.write(lambda writer: writer.get_last_recorded(keys)) == {KEY: 22}


class TestLogSizes:
    def test_events_and_payloads_are_those_of_the_execution_alone(self, storage: Storage) -> None:
        payloads = [b"\x00\xff\xfe", b"", b"five5"]
        storage.write(
            append(
                *(
                    event(number)._replace(payload=payload)
                    for number, payload in enumerate(payloads, start=1)
                ),
                event(1, execution=OTHER_KEY),
            )
        )
        assert log_size(storage) == LogSize(3, 8)

    def test_payloads_count_as_they_are_stored(self, storage: Storage) -> None:
        storage.write(append(event(1)._replace(payload=LARGE)))
        assert 0 < log_size(storage).payload_bytes < len(LARGE) // 2

    def test_what_no_event_names_has_no_size(self, storage: Storage) -> None:
        storage.write(append(event(1)))
        put(storage, execution(run_id("other")))
        assert log_size(storage, OTHER_KEY) == LogSize(0, 0)

    def test_what_a_deletion_has_left_is_told(self, storage: Storage) -> None:
        storage.write(append(*(event(number)._replace(payload=b"1234") for number in range(1, 6))))
        put(storage, execution())
        mark(storage, KEY)
        assert log_size(storage) == LogSize(5, 20)
        delete_part(storage, max_bytes=8)
        assert log_size(storage) == LogSize(3, 12)
        assert delete_part(storage).is_complete
        assert log_size(storage) == LogSize(0, 0)


class TestDeletion:
    def test_a_marked_execution_is_not_shown(self, storage: Storage) -> None:
        storage.write(put_everything)
        mark(storage, KEY)
        with storage.read() as transaction:
            assert not transaction.has_execution(KEY)
            assert transaction.get_histories([KEY]) == {}
            assert transaction.get_versions([KEY]) == {}
            assert transaction.has_execution(OTHER_KEY)
        assert marked(storage) == [KEY]

    def test_marking_twice_is_marking_once(self, storage: Storage) -> None:
        mark(storage, KEY)
        mark(storage, KEY, OTHER_KEY)
        assert marked(storage) == sorted([KEY, OTHER_KEY])

    def test_marking_nothing_does_nothing(self, storage: Storage) -> None:
        mark(storage)
        assert marked(storage) == []

    def test_nothing_is_left_in_any_table_and_others_are_untouched(self, storage: Storage) -> None:
        storage.write(put_everything)
        before = history_of(storage, OTHER_KEY)
        mark(storage, KEY)
        assert delete_part(storage) == DeletedPart(ROWS, 5, is_complete=True)
        assert num_rows(storage) == {
            "events": 1,
            "executions": 1,
            "node_executions": 1,
            "task_executions": 1,
            "reasons": 1,
            "workflows": 1,
            "workflow_bindings": 1,
            "kept_trees": 1,
            "kept_chunks": 1,
            "deletions": 0,
        }
        assert history_of(storage, OTHER_KEY) == before

    @pytest.mark.parametrize("max_rows", [1, 2, 3, 5, ROWS, ROWS + 1])
    def test_steps_are_bounded_and_come_to_an_end(self, storage: Storage, max_rows: int) -> None:
        storage.write(put_everything)
        mark(storage, KEY)
        parts: list[DeletedPart] = []
        while not parts or not parts[-1].is_complete:
            parts.append(delete_part(storage, max_rows=max_rows))
            assert parts[-1].num_rows <= max_rows
            assert marked(storage) == ([] if parts[-1].is_complete else [KEY])
        assert sum(part.num_rows for part in parts) == ROWS
        assert sum(part.num_events for part in parts) == 5
        assert len(parts) <= ROWS // max_rows + 2
        assert num_rows(storage)["events"] == 1

    def test_a_step_is_bounded_by_the_bytes_of_payloads(self, storage: Storage) -> None:
        def put_large(transaction: WriteTransaction) -> None:
            transaction.append_events([large(number) for number in range(1, 6)])

        storage.write(put_large)
        mark(storage, KEY)
        sizes = delete_part(storage, max_bytes=1), delete_part(storage, max_bytes=10**9)
        assert [part.num_events for part in sizes] == [1, 4]
        assert [part.is_complete for part in sizes] == [False, True]

    def test_one_that_is_not_marked_stays(self, storage: Storage) -> None:
        storage.write(put_everything)
        before = num_rows(storage)
        assert delete_part(storage) == DeletedPart(0, 0, is_complete=True)
        assert num_rows(storage) == before

    def test_what_comes_meanwhile_goes_as_well(self, storage: Storage) -> None:
        storage.write(put_everything)
        mark(storage, KEY)
        delete_part(storage, max_rows=3)
        storage.write(append(event(6)))
        put(storage, execution())
        assert delete_part(storage).is_complete
        with storage.read() as transaction:
            assert not transaction.has_execution(KEY)
            assert events_of(transaction) == []

    def test_what_comes_meanwhile_is_not_shown(self, storage: Storage) -> None:
        storage.write(put_everything)
        mark(storage, KEY)
        delete_part(storage, max_rows=3)
        storage.write(append(event(6)))
        put(storage, execution())
        with storage.read() as transaction:
            assert not transaction.has_execution(KEY)
            assert transaction.get_histories([KEY]) == {}
            assert transaction.get_versions([KEY]) == {}
        assert [record.execution_id.name for record in list_all(storage)] == ["other"]

    def test_what_comes_later_begins_anew(self, storage: Storage) -> None:
        storage.write(put_everything)
        mark(storage, KEY)
        delete_part(storage)
        assert storage.write(lambda writer: writer.get_last_sequences([KEY])) == {}
        storage.write(append(event(1)))
        put(storage, execution())
        history = history_of(storage)
        assert (history.nodes, history.attempts, history.marks) == ([], [], {})
        assert history.version.last_sequence == 1

    def test_kept_trees_are_dropped_in_bounded_steps(self, storage: Storage) -> None:
        storage.write(put_everything)
        dropped: list[int] = []
        while not dropped or dropped[-1]:
            dropped.append(storage.write(lambda writer: writer.drop_kept_trees(max_rows=1)))
        assert dropped == [2, 2, 0]
        with storage.read() as transaction:
            assert transaction.get_kept_tree(OTHER_KEY) is None
            assert transaction.list_kept_chunks(OTHER_KEY, 1, first=0, limit=9) == []

    def test_scrubbing_changes_nothing_that_is_stored(self, storage: Storage) -> None:
        storage.write(put_everything)
        before = history_of(storage)
        storage.scrub()
        assert history_of(storage) == before


class TestStatistics:
    def test_an_empty_database_has_nothing(self, storage: Storage) -> None:
        with storage.read() as transaction:
            found = transaction.get_statistics(0, 7)
        assert sum(each.num_rows for each in found.tables) == 0
        assert (found.num_executions, found.payload_bytes) == ({}, 0)
        assert (found.oldest_start_ns, found.oldest_event_ns, found.newest_event_ns) == (None,) * 3
        assert found.daily_events == [0] * 7

    def test_executions_are_counted_by_phase(self, storage: Storage) -> None:
        put(
            storage,
            execution(run_id("placeholder"), first_seen_ns=5),
            execution(run_id("open"), state=running_since(7)),
            *(that_ended(f"failed{number}", 10, Phase.FAILED) for number in range(3)),
        )
        with storage.read() as transaction:
            found = transaction.get_statistics(0, 1)
        assert found.num_executions == {Phase.UNSPECIFIED: 1, Phase.RUNNING: 1, Phase.FAILED: 3}
        assert found.oldest_start_ns == 1

    def test_events_are_counted_by_day(self, storage: Storage) -> None:
        now_ns = 1_000 * DAY_NS
        days_ago = [0.1, 0.2, 0.9, 1.5, 3.5, 3.6, 9.0]
        recorded = sorted(now_ns - round(days * DAY_NS) for days in days_ago)
        storage.write(
            append(
                *(
                    event(number)._replace(recorded_at_ns=at_ns)
                    for number, at_ns in enumerate(recorded, start=1)
                )
            )
        )
        with storage.read() as transaction:
            found = transaction.get_statistics(now_ns, 4)
        assert found.daily_events == [3, 1, 0, 2]
        assert (found.oldest_event_ns, found.newest_event_ns) == (recorded[0], recorded[-1])

    def test_sizes_follow_what_is_stored(self, storage: Storage) -> None:
        storage.write(append(*(large(number) for number in range(1, 1_001))))
        with storage.read() as transaction:
            full = transaction.get_statistics(0, 1)
            assert transaction.get_used_bytes() == full.used_bytes
        assert full.payload_bytes <= full.used_bytes <= full.file_bytes
        mark(storage, KEY)
        delete_part(storage, max_rows=10_000)
        with storage.read() as transaction:
            empty_bytes = transaction.get_used_bytes()
        assert empty_bytes < full.used_bytes - 300_000


def large(sequence: int) -> EventRecord:
    """Give an event with a payload of a thousand bytes that nothing makes smaller."""
    digits = "".join(execution_key(run_id(f"{sequence}/{part}")).hex() for part in range(32))
    return event(sequence)._replace(payload=digits[: len(LARGE)].encode())

"""What every storage gives to readers: histories, lists and pages."""

import pytest

from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import (
    EntityKind,
    EntityVersion,
    ExecutionId,
    execution_key,
    workflow_key,
)
from spanwise_server.domain.known import KnownAttempt, KnownNode
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.records import (
    AttemptRecord,
    EventRecord,
    ExecutionFilter,
    ExecutionHistory,
    ExecutionRecord,
    ExecutionVersion,
    FinishedAttempt,
    KeptChunk,
    KeptTree,
    WorkflowRecord,
)
from tests.storage.records import (
    ATTEMPT_KEY,
    KEY,
    OTHER_KEY,
    ROOT_KEY,
    RUN,
    TASK_ID,
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
from tests.storage.steps import (
    append,
    as_marks,
    events_of,
    history_of,
    list_all,
    marks_of,
    named,
    names,
    put,
    walk_executions,
)

EVERYTHING = ExecutionFilter()
DEADLINE_S = 30


def known_node() -> KnownNode:
    return KnownNode(*node()[1:4])


def known_attempt() -> KnownAttempt:
    return KnownAttempt(*attempt()[1:6])


class TestHistory:
    def test_it_holds_everything_of_the_execution(self, storage: Storage) -> None:
        told = event(2)._replace(has_details=True, payload=b"told")

        def fill(transaction: WriteTransaction) -> None:
            transaction.append_events([event(1), told])
            transaction.put_executions([execution(state=running_since(10))])
            transaction.put_nodes([node()])
            transaction.put_attempts([attempt()])
            transaction.merge_reasons([reason()])

        storage.write(fill)
        history = history_of(storage)
        assert history.execution == execution(state=running_since(10))
        assert history.nodes == [known_node()]
        assert history.attempts == [known_attempt()]
        assert marks_of(storage) == as_marks(reason())
        [own] = history.events.values()
        assert [moment.occurred_at_ns for moment in own.moments] == [10, 10]
        assert history.details == [(ATTEMPT_KEY, 10, PayloadType.FLYTE1_TASK_EVENT, b"told")]
        assert history.workflow is None

    def test_it_holds_nothing_of_another_execution(self, storage: Storage) -> None:
        def fill(transaction: WriteTransaction) -> None:
            transaction.append_events([event(1, execution=OTHER_KEY)])
            transaction.put_executions([execution()])
            transaction.put_nodes([node()._replace(execution_key=OTHER_KEY)])
            transaction.put_attempts([attempt()._replace(execution_key=OTHER_KEY)])
            transaction.merge_reasons([reason()._replace(execution_key=OTHER_KEY)])

        storage.write(fill)
        history = history_of(storage)
        nothing = ExecutionVersion(0, workflow_key(EntityVersion()), None, 0)
        assert history == ExecutionHistory(
            execution(), [], [], {}, frozenset(), {}, [], None, nothing
        )

    def test_those_of_several_executions_are_given_at_once(self, storage: Storage) -> None:
        other = execution(RUN._replace(name="other"))
        third = execution_key(RUN._replace(name="third"))

        def fill(transaction: WriteTransaction) -> None:
            transaction.add_missing_executions([execution(), other])
            for key in (KEY, OTHER_KEY):
                told = event(2, execution=key)._replace(has_details=True)
                transaction.append_events([event(1, execution=key), told])
                transaction.put_nodes([node()._replace(execution_key=key)])
                transaction.put_attempts([attempt()._replace(execution_key=key)])
                transaction.merge_reasons([reason()._replace(execution_key=key)])

        storage.write(fill)
        with storage.read() as transaction:
            histories = transaction.get_histories([KEY, third, OTHER_KEY, KEY])
        assert histories.keys() == {KEY, OTHER_KEY}
        for key, history in histories.items():
            assert history.execution.execution_key == key
            assert history.nodes == [known_node()]
            assert history.attempts == [known_attempt()]
            assert marks_of(storage, key) == as_marks(reason())
            [own] = history.events.values()
            assert len(own.moments) == 2
            assert len(history.details) == 1

    def test_events_say_what_was_recorded(self, storage: Storage) -> None:
        odd = EventQuality.UNKNOWN_PHASE
        storage.write(
            append(
                event(1)._replace(reported_at_ns=None, qualities=EventQuality.MISSING_TIMESTAMP),
                event(2)._replace(reported_at_ns=25, occurred_at_ns=20, qualities=odd),
            )
        )
        storage.write(lambda t: t.add_missing_executions([execution()]))
        history = history_of(storage)
        first = event(1)
        assert history.producer_ids == {first.producer_id}
        assert history.events.keys() == {first.entity_key}
        own = history.events[first.entity_key]
        assert own.qualities == EventQuality.MISSING_TIMESTAMP | odd
        version = first.phase_version
        assert sorted(own.moments) == [
            (10, 10, first.phase, version),
            (20, 25, first.phase, version),
        ]
        assert all(isinstance(moment.phase, Phase) for moment in own.moments)


class TestVersions:
    def test_the_version_of_a_history_is_the_present_one(self, storage: Storage) -> None:
        storage.write(append(event(1), event(2)))
        storage.write(lambda t: t.add_missing_executions([execution()]))
        storage.write(lambda t: t.put_workflow(workflow()))
        storage.write(lambda t: t.put_binding(binding(KEY, workflow())))
        with storage.read() as transaction:
            versions = transaction.get_versions([KEY, OTHER_KEY])
            history = transaction.get_histories([KEY])[KEY]
        assert versions == {KEY: history.version}
        key, registered_at_ns = workflow().workflow_key, workflow().recorded_at_ns
        assert history.version == ExecutionVersion(
            2, key, registered_at_ns, event(2).recorded_at_ns
        )

    def test_it_changes_with_events_registrations_and_bindings(self, storage: Storage) -> None:
        def version() -> ExecutionVersion:
            with storage.read() as transaction:
                return transaction.get_versions([KEY])[KEY]

        storage.write(append(event(1)))
        storage.write(lambda t: t.add_missing_executions([execution()]))
        seen = [version()]
        storage.write(append(event(2)))
        seen.append(version())
        storage.write(lambda t: t.put_binding(binding(KEY, workflow())))
        seen.append(version())
        storage.write(lambda t: t.put_workflow(workflow()))
        seen.append(version())
        storage.write(lambda t: t.put_workflow(workflow()._replace(recorded_at_ns=10**18)))
        seen.append(version())
        assert len(set(seen)) == len(seen)
        assert version() == seen[-1]


class TestWorkflows:
    def test_a_registered_workflow_is_given(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_workflow(workflow()))
        with storage.read() as transaction:
            assert transaction.get_workflow(workflow().workflow_key) == workflow()
            assert transaction.get_workflow(workflow("other").workflow_key) is None

    def test_registering_again_replaces(self, storage: Storage) -> None:
        later = workflow(payload=b"new")._replace(recorded_at_ns=20)
        for record in (workflow(), later):
            storage.write(lambda t, record=record: t.put_workflow(record))  # type: ignore[misc]
        with storage.read() as transaction:
            assert transaction.get_workflow(later.workflow_key) == later

    def test_the_history_has_what_the_execution_is_bound_to(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_binding(binding(KEY, workflow())))
        storage.write(lambda t: t.put_workflow(workflow()))
        storage.write(lambda t: t.add_missing_executions([execution()]))
        assert history_of(storage).workflow == workflow()

    def test_a_later_binding_replaces_an_earlier_one(self, storage: Storage) -> None:
        storage.write(lambda t: t.add_missing_executions([execution()]))
        for name in ("first", "second"):
            record = workflow(name)
            storage.write(lambda t, record=record: t.put_workflow(record))  # type: ignore[misc]
            storage.write(
                lambda t, record=record: t.put_binding(binding(KEY, record))  # type: ignore[misc]
            )
        assert history_of(storage).workflow == workflow("second")

    def test_the_history_has_the_workflow_that_the_execution_names(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_workflow(workflow()))
        storage.write(lambda t: t.put_executions([naming(workflow())]))
        assert history_of(storage).workflow == workflow()

    def test_a_binding_goes_before_what_the_execution_names(self, storage: Storage) -> None:
        bound = workflow("bound")

        def fill(transaction: WriteTransaction) -> None:
            transaction.put_workflow(workflow())
            transaction.put_executions([naming(workflow())])
            transaction.put_binding(binding(KEY, bound))

        storage.write(fill)
        assert history_of(storage).workflow is None
        storage.write(lambda t: t.put_workflow(bound))
        assert history_of(storage).workflow == bound

    def test_executions_of_one_workflow_share_its_record(self, storage: Storage) -> None:
        other = naming(workflow())._replace(
            execution_key=OTHER_KEY, execution_id=RUN._replace(name="other")
        )
        storage.write(lambda t: t.put_workflow(workflow()))
        storage.write(lambda t: t.put_executions([naming(workflow()), other]))
        with storage.read() as transaction:
            one, another = transaction.get_histories([KEY, OTHER_KEY]).values()
        assert one.workflow is another.workflow is not None


class TestKeptTrees:
    def test_nothing_is_kept_at_first(self, storage: Storage) -> None:
        with storage.read() as transaction:
            assert transaction.get_kept_tree(KEY) is None
            assert transaction.list_kept_chunks(KEY, 1, first=0, limit=9) == []

    def test_a_tree_is_given_with_its_chunks_in_order(self, storage: Storage) -> None:
        for number in (2, 0, 1):
            storage.write(lambda t, number=number: t.add_kept_chunk(kept_chunk(1, number)))  # type: ignore[misc]
        storage.write(lambda t: t.put_kept_tree(kept_tree(1)))
        with storage.read() as transaction:
            assert transaction.get_kept_tree(KEY) == kept_tree(1)
            assert transaction.list_kept_chunks(KEY, 1, first=0, limit=2) == [
                kept_chunk(1, 0),
                kept_chunk(1, 1),
            ]
            assert transaction.list_kept_chunks(KEY, 1, first=2, limit=2) == [kept_chunk(1, 2)]

    def test_a_new_tree_takes_the_place_of_the_one_before(self, storage: Storage) -> None:
        other = kept_chunk(1, 0)._replace(execution_key=OTHER_KEY)
        storage.write(lambda t: t.add_kept_chunk(other))
        for generation in (1, 2):
            storage.write(lambda t, each=generation: t.add_kept_chunk(kept_chunk(each, 0)))  # type: ignore[misc]
            storage.write(lambda t, each=generation: t.put_kept_tree(kept_tree(each)))  # type: ignore[misc]
        with storage.read() as transaction:
            assert transaction.get_kept_tree(KEY) == kept_tree(2)
            assert transaction.list_kept_chunks(KEY, 1, first=0, limit=9) == []
            assert transaction.list_kept_chunks(KEY, 2, first=0, limit=9) == [kept_chunk(2, 0)]
            assert transaction.list_kept_chunks(OTHER_KEY, 1, first=0, limit=9) == [other]

    def test_they_go_with_the_projections(self, storage: Storage) -> None:
        storage.write(lambda t: t.add_kept_chunk(kept_chunk(1, 0)))
        storage.write(lambda t: t.put_kept_tree(kept_tree(1)))
        storage.write(lambda t: t.clear_projections())
        with storage.read() as transaction:
            assert transaction.get_kept_tree(KEY) is None
            assert transaction.list_kept_chunks(KEY, 1, first=0, limit=9) == []


def kept_tree(generation: int) -> KeptTree:
    return KeptTree(KEY, generation, "maker", 10, b"\x00basis", b"\x01\x00")


def kept_chunk(generation: int, number: int) -> KeptChunk:
    return KeptChunk(KEY, generation, number, b"\x00outline", f"{generation} {number}".encode())


def naming(record: WorkflowRecord) -> ExecutionRecord:
    known = execution(state=running_since(10))
    return known._replace(facts=known.facts._replace(workflow_id=record.workflow_id))


TRAIN = TASK_ID[:3]
EVALUATE = ("flytesnacks", "development", "evaluate")


def finished(
    start: int,
    task: tuple[str, str, str] = TRAIN,
    *,
    key: bytes = OTHER_KEY,
    version: str = "v1",
    phase: Phase = Phase.SUCCEEDED,
) -> AttemptRecord:
    return attempt(start, state=ended(start, start + 5, phase))._replace(
        execution_key=key, task_id=EntityVersion(*task, version)
    )


def starts_of(
    storage: Storage,
    *tasks: tuple[str, str, str],
    limit: int = 9,
    before_ns: int = 1000,
    limit_passed: int = 99,
) -> list[tuple[str, int]]:
    with storage.read() as transaction:
        found = transaction.list_finished_attempts(
            tasks, besides=KEY, before_ns=before_ns, limit=limit, limit_passed=limit_passed
        )
    return [(each.task_id.name, each.created_at_ns) for each in found]


class TestListingFinishedAttempts:
    def test_an_attempt_says_how_long_it_took(self, storage: Storage) -> None:
        state = ended(10, 40, Phase.FAILED)._replace(created_at_ns=3)
        record = attempt(state=state)._replace(execution_key=OTHER_KEY, retry_attempt=2)
        storage.write(lambda t: t.put_attempts([record]))
        with storage.read() as transaction:
            [found] = transaction.list_finished_attempts(
                [TRAIN], besides=KEY, before_ns=4, limit=9, limit_passed=1
            )
        assert found == FinishedAttempt(
            execution_key=OTHER_KEY,
            attempt_key=ATTEMPT_KEY,
            task_id=TASK_ID,
            retry_attempt=record.retry_attempt,
            created_at_ns=3,
            started_at_ns=10,
            ended_at_ns=40,
            reported_end_ns=41,
            phase=Phase.FAILED,
        )
        assert isinstance(found.phase, Phase)
        assert isinstance(found.task_id, EntityVersion)

    def test_the_latest_of_each_task_come_first(self, storage: Storage) -> None:
        records = [finished(start) for start in (20, 40, 10, 30)]
        records += [finished(start, EVALUATE) for start in (25, 15, 35)]
        storage.write(lambda t: t.put_attempts(records))
        found = starts_of(storage, TRAIN, EVALUATE, TRAIN, ("p", "d", "unknown"), limit=2)
        assert found == [("train", 40), ("evaluate", 35), ("train", 30), ("evaluate", 25)]

    def test_only_attempts_from_before_the_moment_are_given(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_attempts([finished(start) for start in (10, 20, 30)]))
        assert starts_of(storage, TRAIN, before_ns=20) == [("train", 10)]
        assert starts_of(storage, TRAIN, before_ns=21, limit=1) == [("train", 20)]
        assert starts_of(storage, TRAIN, before_ns=10) == []

    def test_failures_do_not_keep_successes_out(self, storage: Storage) -> None:
        failed = [finished(start, phase=Phase.FAILED) for start in range(50, 90)]
        records = [finished(start) for start in (10, 20, 30)]
        storage.write(lambda t: t.put_attempts([*records, *failed]))
        assert starts_of(storage, TRAIN, limit=2) == [
            ("train", 89),
            ("train", 88),
            ("train", 30),
            ("train", 20),
        ]

    def test_attempts_that_never_ran_do_not_keep_others_out(self, storage: Storage) -> None:
        records = [finished(start, phase=Phase.FAILED) for start in (10, 20, 30)]
        records += [
            each._replace(state=each.state._replace(started_at_ns=None))
            for each in (finished(start, phase=Phase.FAILED) for start in range(50, 60))
        ]
        storage.write(lambda t: t.put_attempts(records))
        assert starts_of(storage, TRAIN, limit=2) == [("train", 30), ("train", 20)]

    def test_first_and_later_attempts_do_not_keep_each_other_out(self, storage: Storage) -> None:
        first = finished(10)._replace(retry_attempt=0)
        storage.write(lambda t: t.put_attempts([first, *map(finished, range(50, 60))]))
        assert starts_of(storage, TRAIN, limit=1) == [("train", 59), ("train", 10)]

    def test_only_so_many_attempts_are_looked_at(self, storage: Storage) -> None:
        failed = [finished(start, phase=Phase.FAILED) for start in range(50, 90)]
        storage.write(lambda t: t.put_attempts([finished(10), *failed]))
        latest = [("train", 89)]
        assert starts_of(storage, TRAIN, limit=1, limit_passed=40) == latest
        assert starts_of(storage, TRAIN, limit=1, limit_passed=41) == [*latest, ("train", 10)]

    def test_versions_of_a_task_are_one_task(self, storage: Storage) -> None:
        records = [finished(10, version="v1"), finished(20, version="v2")]
        storage.write(lambda t: t.put_attempts(records))
        assert starts_of(storage, TRAIN) == [("train", 20), ("train", 10)]

    def test_open_attempts_are_left_out(self, storage: Storage) -> None:
        still_running = attempt()._replace(execution_key=OTHER_KEY)
        storage.write(lambda t: t.put_attempts([still_running]))
        assert starts_of(storage, TRAIN) == []
        over = still_running._replace(state=ended(10, 20))
        storage.write(lambda t: t.put_attempts([over]))
        assert starts_of(storage, TRAIN) == [("train", 10)]

    def test_attempts_of_the_execution_itself_are_left_out(self, storage: Storage) -> None:
        storage.write(lambda t: t.put_attempts([finished(10), finished(20, key=KEY)]))
        assert starts_of(storage, TRAIN, limit=1) == [("train", 10)]

    def test_a_task_without_names_is_a_task(self, storage: Storage) -> None:
        nameless = ("", "", "")
        records = [finished(10, nameless), finished(20), finished(30, EVALUATE)]
        storage.write(lambda t: t.put_attempts(records))
        found = starts_of(storage, nameless, TRAIN, EVALUATE, ("p", "d", "x"), ("p", "d", "y"))
        assert found == [("evaluate", 30), ("train", 20), ("", 10)]

    def test_more_tasks_than_a_statement_takes_are_all_found(self, storage: Storage) -> None:
        tasks = [("p", "d", f"task-{number}") for number in range(6_000)]
        storage.write(lambda t: t.put_attempts([finished(1, tasks[0]), finished(2, tasks[-1])]))
        assert starts_of(storage, *tasks) == [("task-5999", 2), ("task-0", 1)]


class TestListingExecutions:
    def test_the_latest_start_comes_first(self, storage: Storage) -> None:
        starts = {"a": 20, "b": 30, "c": 10}
        put(storage, *(named(name, start=start) for name, start in starts.items()))
        assert names(list_all(storage)) == ["b", "a", "c"]

    def test_executions_of_one_start_are_in_the_order_of_their_keys(self, storage: Storage) -> None:
        records = [named(f"run-{number}", start=10) for number in range(20)]
        put(storage, *records)
        listed = [record.execution_key for record in list_all(storage)]
        assert listed == sorted(record.execution_key for record in records)

    def test_a_placeholder_starts_when_it_was_first_seen(self, storage: Storage) -> None:
        put(storage, named("early", start=10), named("late", start=30))
        placeholder = execution(ExecutionId("p", "d", "named"), first_seen_ns=20)
        storage.write(lambda t: t.add_missing_executions([placeholder]))
        assert names(list_all(storage)) == ["late", "named", "early"]

    def test_a_start_that_moves_moves_the_execution(self, storage: Storage) -> None:
        put(storage, named("a", start=30), named("b", start=20))
        put(storage, named("a", start=10))
        assert names(list_all(storage)) == ["b", "a"]

    def test_pages_follow_each_other(self, storage: Storage) -> None:
        records = [named(f"run-{number}", start=number // 3) for number in range(20)]
        put(storage, *records)
        assert walk_executions(storage, page_size=4) == list_all(storage)

    def test_a_walk_sees_each_execution_once_while_others_arrive(self, storage: Storage) -> None:
        records = [named(f"run-{number}", start=number) for number in range(20)]
        put(storage, *records)
        arrivals = iter(range(1_000, 2_000))

        def arrive() -> None:
            put(storage, named(f"new-{next(arrivals)}", start=next(arrivals)))

        walked = walk_executions(storage, page_size=3, between=arrive)
        assert walked == sorted(records, key=lambda record: -record.first_seen_ns)

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            (ExecutionFilter(project="p"), ["running", "done", "seen"]),
            (ExecutionFilter(project="p", domain="d"), ["running", "done"]),
            (ExecutionFilter(domain="d"), ["running", "done"]),
            (ExecutionFilter(project="q"), []),
            (ExecutionFilter(phases=frozenset({Phase.RUNNING})), ["running"]),
            (
                ExecutionFilter(phases=frozenset({Phase.RUNNING, Phase.SUCCEEDED})),
                ["running", "done"],
            ),
            (ExecutionFilter(phases=frozenset({Phase.UNSPECIFIED})), ["seen"]),
            (ExecutionFilter(started_from_ns=20), ["running", "done"]),
            (ExecutionFilter(started_from_ns=21), ["running"]),
            (ExecutionFilter(started_before_ns=20), ["seen"]),
            (ExecutionFilter(started_before_ns=21), ["done", "seen"]),
            (
                ExecutionFilter("p", "d", frozenset({Phase.SUCCEEDED}), 20, 21),
                ["done"],
            ),
        ],
    )
    def test_a_filter_lets_pass_what_it_says(
        self, storage: Storage, query: ExecutionFilter, expected: list[str]
    ) -> None:
        put(
            storage,
            named("running", start=30),
            execution(ExecutionId("p", "d", "done"), first_seen_ns=20, state=ended(20, 40)),
            execution(ExecutionId("p", "e", "seen"), first_seen_ns=10),
        )
        with storage.read() as transaction:
            listed = transaction.list_executions(query, after=None, limit=10)
        found = [each.record for each in listed]
        assert names(found) == expected
        assert walk_executions(storage, page_size=1, query=query) == found


class TestListingEvents:
    def test_pages_by_sequence_follow_each_other(self, storage: Storage) -> None:
        records = [event(number, occurred_at_ns=-number) for number in range(1, 21)]
        storage.write(append(*records, event(1, execution=OTHER_KEY)))
        seen: list[EventRecord] = []
        with storage.read() as transaction:
            while page := transaction.list_events(
                KEY, after_sequence=len(seen), limit=6, with_payload=True
            ):
                seen += [logged.record for logged in page]
        assert seen == records

    def test_a_walk_sees_each_event_once_while_others_arrive(self, storage: Storage) -> None:
        storage.write(append(*(event(number) for number in range(1, 11))))
        seen: list[int] = []
        while len(seen) < 30:
            with storage.read() as transaction:
                page = transaction.list_events(
                    KEY, after_sequence=len(seen), limit=4, with_payload=False
                )
            seen += [logged.record.sequence for logged in page]
            with storage.read() as transaction:
                last = len(events_of(transaction))
            storage.write(append(event(last + 1), event(last + 2)))
        assert seen == list(range(1, len(seen) + 1))

    def test_pages_by_time_follow_each_other(self, storage: Storage) -> None:
        times = [5, -7, 5, 5, 0, 9, 5, -7, 3, 5]
        records = [event(number, occurred_at_ns=time) for number, time in enumerate(times, 1)]
        storage.write(append(*records, event(1, execution=OTHER_KEY)))
        seen: list[EventRecord] = []
        with storage.read() as transaction:
            after = None
            while page := transaction.list_events_by_time(
                KEY, after=after, limit=3, with_payload=True
            ):
                seen += [logged.record for logged in page]
                after = seen[-1].occurred_at_ns, seen[-1].sequence
        assert seen == sorted(records, key=lambda r: (r.occurred_at_ns, r.sequence))

    @pytest.mark.parametrize("by_time", [False, True])
    def test_the_payload_is_empty_where_it_was_not_asked_for(
        self, storage: Storage, *, by_time: bool
    ) -> None:
        storage.write(append(event(1)))
        with storage.read() as transaction:
            [logged] = (
                transaction.list_events_by_time(KEY, after=None, limit=1, with_payload=False)
                if by_time
                else transaction.list_events(KEY, after_sequence=0, limit=1, with_payload=False)
            )
        assert logged.record == event(1)._replace(payload=b"")

    def test_an_event_comes_with_the_names_of_its_entity(self, storage: Storage) -> None:
        third = attempt(3)

        def fill(transaction: WriteTransaction) -> None:
            transaction.put_nodes([node(), node("n1")])
            transaction.put_attempts([attempt(), third])
            transaction.append_events(
                [
                    event(1)._replace(entity_key=third.attempt_key),
                    event(2)._replace(entity_key=node("n1").node_key, kind=EntityKind.NODE),
                    event(3)._replace(entity_key=ROOT_KEY, kind=EntityKind.EXECUTION),
                ]
            )

        storage.write(fill)
        with storage.read() as transaction:
            by_sequence = transaction.list_events(KEY, after_sequence=0, limit=9, with_payload=True)
            by_time = transaction.list_events_by_time(KEY, after=None, limit=9, with_payload=True)
        named = [(logged.node_id, logged.retry_attempt) for logged in by_sequence]
        assert named == [("n0", 3), ("n1", 0), ("", 0)]
        assert by_time == by_sequence

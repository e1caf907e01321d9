"""The reading transaction."""

from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import TypeVar

from spanwise_server.domain.events import MAX_TIME_NS, MIN_TIME_NS
from spanwise_server.domain.identifiers import workflow_key
from spanwise_server.storage.records import (
    ExecutionAge,
    ExecutionFilter,
    ExecutionHistory,
    ExecutionRecord,
    ExecutionVersion,
    FinishedAttempt,
    FinishedExecution,
    KeptChunk,
    KeptTree,
    ListedExecution,
    LoggedEvent,
    LogSize,
    Statistics,
    WorkflowPeriod,
    WorkflowRecord,
)
from spanwise_server.storage.sql import (
    attempts,
    deletion,
    event_log,
    executions,
    kept_trees,
    nodes,
    reasons,
    stats,
    workflows,
)
from spanwise_server.storage.sql.compiling import (
    KeyLookup,
    Statement,
    compile_statement,
    compile_text,
    single_keys,
)
from spanwise_server.storage.sql.connection import Connection, Row
from spanwise_server.storage.sql.dialect import Database, binary, max_lateral_keys

T = TypeVar("T")

_FIRST = (MIN_TIME_NS, 0)
"""A (time, sequence) before every event: the first sequence is 1."""


class ReadStatements:
    """The statements of reading transactions, compiled. Safe for use by several threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.get_executions = KeyLookup(database, executions.select_with_bindings, 1)
        self.get_nodes = KeyLookup(database, nodes.select_by_execution, 1)
        self.get_attempts = KeyLookup(database, attempts.select_by_execution, 1)
        self.get_lives = KeyLookup(database, event_log.select_lives, 1)
        self.get_reasons = KeyLookup(database, reasons.select_by_execution, 1)
        self.get_registrations = KeyLookup(database, workflows.select_registrations, 1)
        self.get_workflows = KeyLookup(database, workflows.select_by_keys, 1)
        self.get_kept_tree = compile_text(database, kept_trees.select_tree(), ("execution_key",))
        self.count_kept_chunks = compile_text(
            database, kept_trees.select_number_of_chunks(), kept_trees.GENERATION
        )
        self.list_kept_chunks = compile_statement(database, kept_trees.select_chunks())
        self.list_finished_attempts = KeyLookup(
            database,
            attempts.select_finished,
            len(attempts.WANTED_COLUMNS),
            more=("before_ns", "besides", "num_newer", "limit"),
            max_keys=max_lateral_keys(database),
        )
        self.get_last_sequences = KeyLookup(database, event_log.select_last_sequences, 1)
        self.has_execution = compile_text(
            database, executions.select_presence(database), ("execution_key",)
        )
        self.list_ended = compile_statement(database, deletion.select_ended())
        self.list_open = compile_statement(database, deletion.select_open())
        self.get_log_size = compile_text(database, deletion.select_log_size(), ("execution_key",))
        self.list_marked = compile_text(database, deletion.select_marked(), ("limit",))
        self.get_last_recorded = KeyLookup(database, deletion.select_last_recorded, 1)
        self.list_events = {
            with_payload: compile_statement(
                database, event_log.select_events(with_payload=with_payload)
            )
            for with_payload in (False, True)
        }
        self.list_events_by_time = {
            with_payload: compile_statement(
                database, event_log.select_events_by_time(with_payload=with_payload)
            )
            for with_payload in (False, True)
        }

        @cache
        def list_executions(listing: executions.Listing) -> Statement:
            return compile_statement(database, executions.select_listing(database, listing))

        self.list_executions = list_executions
        self.list_succeeded = KeyLookup(
            database,
            executions.select_succeeded,
            len(executions.NAME_COLUMNS) + len(executions.PERIOD_COLUMNS),
            more=("limit",),
            max_keys=max_lateral_keys(database),
        )
        self.list_bound_succeeded = KeyLookup(
            database,
            executions.select_bound_succeeded,
            len(executions.BOUND_NAME_COLUMNS) + len(executions.PERIOD_COLUMNS),
            more=("limit",),
            max_keys=max_lateral_keys(database),
        )


@cache
def read_statements(database: Database) -> ReadStatements:
    """Give the statements, which are compiled once a process."""
    return ReadStatements(database)


class SqlReadTransaction:
    """A ReadTransaction on one connection. For use by one thread."""

    def __init__(self, connection: Connection, statements: ReadStatements) -> None:
        self._connection = connection
        self._statements = statements

    def get_histories(self, keys: Collection[bytes]) -> dict[bytes, ExecutionHistory]:
        """See ReadTransaction."""
        statements = self._statements
        found = self._look_up(
            statements.get_executions, set(keys), executions.with_bindings_from_rows
        )
        known = [execution.execution_key for execution, _ in found]
        lives_of = self._look_up(statements.get_lives, known, event_log.lives_from_rows)
        nodes_of = self._look_up(statements.get_nodes, known, nodes.known_from_rows)
        attempts_of = self._look_up(statements.get_attempts, known, attempts.known_from_rows)
        marks_of = self._look_up(statements.get_reasons, known, reasons.marks_from_rows)
        runs = _runs(found)
        registered = self._get_workflows(set(runs.values()))
        histories = {}
        for execution, _ in found:
            key = execution.execution_key
            lives = lives_of[key]
            workflow = registered.get(runs[key])
            histories[key] = ExecutionHistory(
                execution=execution,
                nodes=nodes_of[key],
                attempts=attempts_of[key],
                events=lives.events,
                producer_ids=frozenset(lives.producer_ids),
                marks=marks_of[key],
                details=lives.details,
                workflow=workflow,
                version=ExecutionVersion(
                    lives.last_sequence,
                    runs[key],
                    None if workflow is None else workflow.recorded_at_ns,
                    lives.last_recorded_at_ns,
                ),
            )
        return histories

    def get_last_sequences(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """See ReadTransaction."""
        return self._look_up(
            self._statements.get_last_sequences, keys, event_log.last_sequences_from_rows
        )

    def get_versions(self, keys: Collection[bytes]) -> dict[bytes, ExecutionVersion]:
        """See ReadTransaction."""
        statements = self._statements
        found = self._look_up(
            statements.get_executions, set(keys), executions.with_bindings_from_rows
        )
        runs = _runs(found)
        registered = self._look_up(
            statements.get_registrations, set(runs.values()), workflows.registrations_from_rows
        )
        sequences, recorded = self.get_last_sequences(runs), self.get_last_recorded(runs)
        return {
            key: ExecutionVersion(
                sequences.get(key, 0), workflow, registered.get(workflow), recorded.get(key, 0)
            )
            for key, workflow in runs.items()
        }

    def get_workflow(self, key: bytes) -> WorkflowRecord | None:
        """See ReadTransaction."""
        return self._get_workflows([key]).get(key)

    def get_kept_tree(self, key: bytes) -> KeptTree | None:
        """See ReadTransaction."""
        found = self._connection.read(
            self._statements.get_kept_tree, (binary(key),), kept_trees.trees_from_rows
        )
        return found[0] if found else None

    def list_kept_chunks(
        self, key: bytes, generation: int, *, first: int, limit: int
    ) -> list[KeptChunk]:
        """See ReadTransaction."""
        statement = self._statements.list_kept_chunks
        parameters = statement.arrange(
            {
                "execution_key": binary(key),
                "generation": generation,
                "first": first,
                "limit": limit,
            }
        )
        return self._connection.read(statement.text, parameters, kept_trees.chunks_from_rows)

    def count_kept_chunks(self, key: bytes, generation: int) -> int:
        """See ReadTransaction."""
        return kept_trees.count_chunks(
            self._connection, self._statements.count_kept_chunks, key, generation
        )

    def list_finished_attempts(
        self,
        tasks: Collection[tuple[str, str, str]],
        *,
        besides: bytes,
        before_ns: int,
        limit: int,
        limit_passed: int,
    ) -> list[FinishedAttempt]:
        """See ReadTransaction."""
        found = self._statements.list_finished_attempts.read(
            self._connection,
            [(*task, *kind) for task in set(tasks) for kind in attempts.KINDS],
            attempts.finished_from_rows,
            (before_ns, binary(besides), limit_passed - 1, limit),
        )
        return sorted(set(found), key=lambda each: (-each.created_at_ns, each[:2]))

    def list_executions(
        self, query: ExecutionFilter, *, after: tuple[int, bytes] | None, limit: int
    ) -> list[ListedExecution]:
        """See ReadTransaction."""
        statement = self._statements.list_executions(executions.listing_of(query, after))
        parameters = statement.arrange(executions.listing_parameters(query, after, limit))
        return self._connection.read(statement.text, parameters, executions.listed_from_rows)

    def list_succeeded_executions(
        self, periods: Collection[WorkflowPeriod], *, limit: int
    ) -> list[FinishedExecution]:
        """See ReadTransaction."""
        wanted = [(*workflow, from_ns, before_ns) for workflow, from_ns, before_ns in periods]
        named, bound = (
            lookup.read(self._connection, wanted, executions.succeeded_from_rows, (limit,))
            for lookup in (self._statements.list_succeeded, self._statements.list_bound_succeeded)
        )
        return sorted({*named, *bound}, key=lambda each: (-each.created_at_ns, *each[:2]))

    def list_events(
        self, key: bytes, *, after_sequence: int, limit: int, with_payload: bool
    ) -> list[LoggedEvent]:
        """See ReadTransaction."""
        statement = self._statements.list_events[with_payload]
        parameters = statement.arrange(
            {"execution_key": binary(key), "after_sequence": after_sequence, "limit": limit}
        )
        return self._connection.read(statement.text, parameters, event_log.logged_events_from_rows)

    def list_events_by_time(
        self, key: bytes, *, after: tuple[int, int] | None, limit: int, with_payload: bool
    ) -> list[LoggedEvent]:
        """See ReadTransaction."""
        statement = self._statements.list_events_by_time[with_payload]
        after_ns, after_sequence = after or _FIRST
        parameters = statement.arrange(
            {
                "execution_key": binary(key),
                "after_ns": after_ns,
                "after_sequence": after_sequence,
                "limit": limit,
            }
        )
        return self._connection.read(statement.text, parameters, event_log.logged_events_from_rows)

    def has_execution(self, key: bytes) -> bool:
        """See ReadTransaction."""
        return bool(self._connection.fetch_all(self._statements.has_execution, (binary(key),)))

    def list_ended(
        self, *, before_ns: int | None, after: tuple[int, bytes] | None, limit: int
    ) -> list[ExecutionAge]:
        """See ReadTransaction."""
        after_ns, after_key = after or (MIN_TIME_NS, b"")
        values = {
            "before_ns": MAX_TIME_NS if before_ns is None else before_ns,
            "after_ns": after_ns,
            "after_key": binary(after_key),
            "limit": limit,
        }
        return self._list_ages(self._statements.list_ended, values)

    def list_open(self, *, before_ns: int, after: bytes | None, limit: int) -> list[ExecutionAge]:
        """See ReadTransaction."""
        values = {"before_ns": before_ns, "after_key": binary(after or b""), "limit": limit}
        return self._list_ages(self._statements.list_open, values)

    def get_last_recorded(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """See ReadTransaction."""
        return self._look_up(
            self._statements.get_last_recorded, keys, event_log.last_sequences_from_rows
        )

    def get_log_size(self, key: bytes) -> LogSize:
        """See ReadTransaction."""
        [(num_events, payload_bytes)] = self._connection.fetch_all(
            self._statements.get_log_size, (binary(key),)
        )
        return LogSize(num_events, int(payload_bytes))

    def list_marked(self, *, limit: int) -> list[bytes]:
        """See ReadTransaction."""
        rows = self._connection.fetch_all(self._statements.list_marked, (limit,))
        return [key for (key,) in rows]

    def get_used_bytes(self) -> int:
        """See ReadTransaction."""
        return stats.read_sizes(self._connection, self._statements.database).used_bytes

    def get_statistics(self, now_ns: int, num_days: int) -> Statistics:
        """See ReadTransaction."""
        return stats.read_statistics(self._connection, self._statements.database, now_ns, num_days)

    def _list_ages(self, statement: Statement, values: dict[str, object]) -> list[ExecutionAge]:
        return self._connection.read(
            statement.text, statement.arrange(values), deletion.ages_from_rows
        )

    def _get_workflows(self, keys: Collection[bytes]) -> dict[bytes, WorkflowRecord]:
        records = self._look_up(self._statements.get_workflows, keys, workflows.from_rows)
        return {record.workflow_key: record for record in records}

    def _look_up(
        self, lookup: KeyLookup, keys: Collection[bytes], consume: Callable[[Iterable[Row]], T]
    ) -> T:
        return lookup.read(self._connection, single_keys(keys), consume)


def _runs(found: Iterable[tuple[ExecutionRecord, bytes | None]]) -> dict[bytes, bytes]:
    """Give the key of the workflow that each execution runs, by what is said of it."""
    return {
        execution.execution_key: bound or workflow_key(execution.facts.workflow_id)
        for execution, bound in found
    }

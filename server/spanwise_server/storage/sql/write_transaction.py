"""The writing transaction."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from sqlalchemy import delete

from spanwise_server.storage.records import (
    AttemptRecord,
    BindingRecord,
    DeletedPart,
    EntityRef,
    EventRecord,
    ExecutionRecord,
    KeptChunk,
    KeptTree,
    LoggedKey,
    NodeRecord,
    ReasonRecord,
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
    workflows,
)
from spanwise_server.storage.sql.compiling import (
    KeyLookup,
    RowInsert,
    compile_insert,
    compile_text,
    single_keys,
)
from spanwise_server.storage.sql.connection import Connection, Row
from spanwise_server.storage.sql.dialect import (
    MAX_LOCKS,
    Database,
    binary,
    lock_each,
    lock_everything,
)
from spanwise_server.storage.sql.schema import (
    EXECUTIONS,
    KEPT_CHUNKS,
    KEPT_TREES,
    NODE_EXECUTIONS,
    REASONS,
    TASK_EXECUTIONS,
)

_PROJECTIONS = (KEPT_TREES, KEPT_CHUNKS, REASONS, TASK_EXECUTIONS, NODE_EXECUTIONS, EXECUTIONS)


class WriteStatements:
    """The statements of writing transactions, compiled. Safe for use by several threads."""

    def __init__(self, database: Database) -> None:
        self.lock_everything = lock_everything(database)
        self.lock_each = lock_each(database)
        self.get_executions = KeyLookup(database, executions.select_by_keys, 1)
        self.get_nodes = KeyLookup(database, nodes.select_by_keys, 2)
        self.get_attempts = KeyLookup(database, attempts.select_by_keys, 2)
        self.find_logged = KeyLookup(
            database, event_log.select_logged, len(event_log.LOGGED_KEY_COLUMNS)
        )
        self.get_last_sequences = KeyLookup(database, event_log.select_last_sequences, 1)
        self.append_event = compile_insert(
            database, event_log.insert_event(database), event_log.COLUMNS
        )
        self.put_execution = compile_insert(
            database, executions.insert_or_update(database), executions.COLUMNS
        )
        self.put_node = compile_insert(database, nodes.insert_or_replace(database), nodes.COLUMNS)
        self.put_attempt = compile_insert(
            database, attempts.insert_or_replace(database), attempts.COLUMNS
        )
        self.find_executions = KeyLookup(database, executions.select_present, 1)
        self.find_nodes = KeyLookup(database, nodes.select_present, 2)
        self.add_missing_execution = compile_insert(
            database, executions.insert_missing(database), executions.COLUMNS
        )
        self.add_missing_node = compile_insert(
            database, nodes.insert_missing(database), nodes.COLUMNS
        )
        self.merge_reason = compile_insert(
            database, reasons.insert_or_merge(database), reasons.COLUMNS
        )
        self.put_workflow = compile_insert(
            database, workflows.insert_or_replace(database), workflows.COLUMNS
        )
        self.get_bindings = KeyLookup(database, workflows.select_bindings, 1)
        self.put_binding = compile_insert(
            database, workflows.insert_or_replace_binding(database), workflows.BINDING_COLUMNS
        )
        self.add_kept_chunk = compile_insert(
            database, kept_trees.insert_chunk(database), kept_trees.CHUNK_COLUMNS
        )
        self.put_kept_tree = compile_insert(
            database, kept_trees.insert_or_replace_tree(database), kept_trees.TREE_COLUMNS
        )
        self.count_kept_chunks = compile_text(
            database, kept_trees.select_number_of_chunks(), kept_trees.GENERATION
        )
        self.delete_other_chunks = compile_text(
            database, kept_trees.delete_other_chunks(), ("execution_key", "generation")
        )
        self.clear_projections = (
            *(compile_text(database, delete(table), ()) for table in _PROJECTIONS),
            compile_text(database, workflows.forget_successes(), ()),
        )
        self.get_last_recorded = KeyLookup(database, deletion.select_last_recorded, 1)
        self.deletion = deletion.Deletion(database)
        self.iterate_log = compile_text(database, event_log.select_log(), ())


@cache
def write_statements(database: Database) -> WriteStatements:
    """Give the statements, which are compiled once a process."""
    return WriteStatements(database)


class SqlWriteTransaction:
    """A WriteTransaction on one connection."""

    def __init__(self, connection: Connection, statements: WriteStatements) -> None:
        self._connection = connection
        self._statements = statements

    def lock_executions(self, keys: Collection[bytes]) -> None:
        """See WriteTransaction."""
        if self._statements.lock_each is None or not keys:
            return
        if len(keys) > MAX_LOCKS:
            self._lock_everything()
            return
        # In one order for all, so that no two transactions wait for each other.
        numbers = sorted(map(_lock_number, keys))
        self._connection.execute(self._statements.lock_each, (tuple(numbers),))

    def get_executions(self, keys: Collection[bytes]) -> dict[bytes, ExecutionRecord]:
        """See WriteTransaction."""
        rows = self._statements.get_executions.fetch(self._connection, single_keys(keys))
        records = executions.from_rows(rows)
        return {record.execution_key: record for record in records}

    def get_nodes(self, refs: Collection[EntityRef]) -> dict[EntityRef, NodeRecord]:
        """See WriteTransaction."""
        rows = self._statements.get_nodes.fetch(self._connection, _pairs(refs))
        records = nodes.from_rows(rows)
        return {record[:2]: record for record in records}

    def get_attempts(self, refs: Collection[EntityRef]) -> dict[EntityRef, AttemptRecord]:
        """See WriteTransaction."""
        rows = self._statements.get_attempts.fetch(self._connection, _pairs(refs))
        records = attempts.from_rows(rows)
        return {record[:2]: record for record in records}

    def find_logged(self, keys: Collection[LoggedKey]) -> set[LoggedKey]:
        """See WriteTransaction."""
        rows = self._statements.find_logged.fetch(
            self._connection, [event_log.logged_key_to_row(key) for key in keys]
        )
        return set(event_log.logged_keys_from_rows(rows))

    def get_last_sequences(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """See WriteTransaction."""
        rows = self._statements.get_last_sequences.fetch(self._connection, single_keys(keys))
        return event_log.last_sequences_from_rows(rows)

    def append_events(self, records: Sequence[EventRecord]) -> None:
        """See WriteTransaction."""
        self._put(self._statements.append_event, [event_log.to_row(record) for record in records])

    def put_executions(self, records: Sequence[ExecutionRecord]) -> None:
        """See WriteTransaction."""
        self._put(self._statements.put_execution, [executions.to_row(record) for record in records])
        ended = {
            record.execution_key: record
            for record in records
            if record.state is not None and record.state.ended is not None
        }
        rows = self._statements.get_bindings.fetch(self._connection, single_keys(ended))
        self._put(
            self._statements.put_binding,
            [
                workflows.binding_to_row(each, ended[each.execution_key])
                for each in workflows.bindings_from_rows(rows)
            ],
        )

    def put_nodes(self, records: Sequence[NodeRecord]) -> None:
        """See WriteTransaction."""
        self._put(self._statements.put_node, [nodes.to_row(record) for record in records])

    def put_attempts(self, records: Sequence[AttemptRecord]) -> None:
        """See WriteTransaction."""
        self._put(self._statements.put_attempt, [attempts.to_row(record) for record in records])

    def add_missing_executions(self, records: Sequence[ExecutionRecord]) -> None:
        """See WriteTransaction."""
        # Nearly all are there, and asking costs much less than an insert that does nothing.
        rows = self._statements.find_executions.fetch(
            self._connection, single_keys(record.execution_key for record in records)
        )
        present = {key for (key,) in rows}
        self._put(
            self._statements.add_missing_execution,
            [
                executions.to_row(record)
                for record in records
                if record.execution_key not in present
            ],
        )

    def add_missing_nodes(self, records: Sequence[NodeRecord]) -> None:
        """See WriteTransaction."""
        rows = self._statements.find_nodes.fetch(
            self._connection, _pairs(record[:2] for record in records)
        )
        present = set(rows)
        self._put(
            self._statements.add_missing_node,
            [nodes.to_row(record) for record in records if record[:2] not in present],
        )

    def merge_reasons(self, records: Sequence[ReasonRecord]) -> None:
        """See WriteTransaction."""
        self._put(self._statements.merge_reason, [reasons.to_row(record) for record in records])

    def put_workflow(self, record: WorkflowRecord) -> None:
        """See WriteTransaction."""
        self._put(self._statements.put_workflow, [workflows.to_row(record)])

    def put_binding(self, record: BindingRecord) -> None:
        """See WriteTransaction."""
        key = record.execution_key
        execution = self.get_executions([key]).get(key)
        self._put(self._statements.put_binding, [workflows.binding_to_row(record, execution)])

    def add_kept_chunk(self, record: KeptChunk) -> None:
        """See WriteTransaction."""
        self._put(self._statements.add_kept_chunk, [kept_trees.chunk_to_row(record)])

    def count_kept_chunks(self, key: bytes, generation: int) -> int:
        """See WriteTransaction."""
        return kept_trees.count_chunks(
            self._connection, self._statements.count_kept_chunks, key, generation
        )

    def put_kept_tree(self, record: KeptTree) -> None:
        """See WriteTransaction."""
        self._put(self._statements.put_kept_tree, [kept_trees.tree_to_row(record)])
        others = (binary(record.execution_key), record.generation)
        self._connection.execute(self._statements.delete_other_chunks, others)

    def clear_projections(self) -> None:
        """See WriteTransaction."""
        self._lock_everything()
        self._connection.lift_limits()
        for text in self._statements.clear_projections:
            self._connection.execute(text)

    def get_last_recorded(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """See ReadTransaction."""
        rows = self._statements.get_last_recorded.fetch(self._connection, single_keys(keys))
        return event_log.last_sequences_from_rows(rows)

    def mark_deleted(self, keys: Collection[bytes]) -> None:
        """See WriteTransaction."""
        self._statements.deletion.mark(self._connection, keys)

    def delete_part(self, key: bytes, *, max_rows: int, max_bytes: int) -> DeletedPart:
        """See WriteTransaction."""
        return self._statements.deletion.delete_part(self._connection, key, max_rows, max_bytes)

    def drop_kept_trees(self, *, max_rows: int) -> int:
        """See WriteTransaction."""
        return self._statements.deletion.drop_kept_trees(self._connection, max_rows)

    def iterate_log(self) -> Iterator[EventRecord]:
        """See WriteTransaction."""
        for rows in self._connection.stream(self._statements.iterate_log, ()):
            yield from event_log.from_rows(rows)

    def _lock_everything(self) -> None:
        if self._statements.lock_everything is not None:
            self._connection.execute(self._statements.lock_everything)

    def _put(self, insert: RowInsert, rows: Sequence[Row]) -> None:
        if rows:
            self._connection.insert_rows(insert.text, insert.num_keys, rows)


def _pairs(refs: Iterable[EntityRef]) -> list[tuple[bytearray, int]]:
    return [(binary(execution_key), entity_key) for execution_key, entity_key in refs]


def _lock_number(key: bytes) -> int:
    return int.from_bytes(key[:8], "big", signed=True)

"""Statements of retention: which executions are old, and the deletion of whole ones in steps.

A deletion takes away the row of the execution first, so that nothing shows it any more, and leaves
a mark in `deletions`; then what hangs on it, table by table, with the events last.
"""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Delete,
    Insert,
    LargeBinary,
    ScalarSelect,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    func,
    literal_column,
    or_,
    select,
    tuple_,
)

from spanwise_server.storage.records import DeletedPart, ExecutionAge
from spanwise_server.storage.sql import dialect
from spanwise_server.storage.sql.compiling import (
    Statement,
    compile_insert,
    compile_statement,
    compile_text,
    limited,
)
from spanwise_server.storage.sql.connection import Connection, Row
from spanwise_server.storage.sql.dialect import Database, binary
from spanwise_server.storage.sql.fields import PHASES, decode
from spanwise_server.storage.sql.schema import (
    DELETIONS,
    EVENTS,
    EXECUTIONS,
    KEPT_CHUNKS,
    KEPT_TREES,
    METADATA,
    WORKFLOW_BINDINGS,
)
from spanwise_server.storage.sql.workflows import forget_successes

PARTS = [
    *(
        table
        for table in METADATA.tables.values()
        if "execution_key" in table.primary_key.columns
        and table not in {EXECUTIONS, EVENTS, DELETIONS}
    ),
    EVENTS,
]
"""Tables that hang on an execution, events last. Whoever adds a table need not think of it here."""

_AGE_COLUMNS = (
    EXECUTIONS.c.execution_key,
    EXECUTIONS.c.project,
    EXECUTIONS.c.domain,
    EXECUTIONS.c.ended_occurred_at_ns,
    EXECUTIONS.c.ended_phase,
)
"""Columns in the order of the fields of ExecutionAge."""


def ages_from_rows(rows: Iterable[Row]) -> list[ExecutionAge]:
    """Read the rows of select_ended() or select_open()."""
    return decode("executions", _age_from_row, rows)


def _age_from_row(row: Row) -> ExecutionAge:
    execution_key, project, domain, ended_at_ns, phase = row
    ended_phase = None if phase is None else PHASES[phase]
    return ExecutionAge(execution_key, project, domain, ended_at_ns, ended_phase)


def select_ended() -> Select[Any]:
    """Read a page of executions that ended, the earliest end first.

    Parameters: before_ns, after_ns, after_key, limit. Rows: see ages_from_rows().
    """
    ended_at_ns, key = EXECUTIONS.c.ended_occurred_at_ns, EXECUTIONS.c.execution_key
    after_ns = bindparam("after_ns", type_=BigInteger)
    return limited(
        select(*_AGE_COLUMNS)
        .where(
            ended_at_ns < bindparam("before_ns", type_=BigInteger),
            # The first condition says no more than the second, but an index can start from it.
            ended_at_ns >= after_ns,
            or_(ended_at_ns > after_ns, key > bindparam("after_key", type_=LargeBinary)),
        )
        .order_by(ended_at_ns, key)
    )


def select_open() -> Select[Any]:
    """Read a page of executions that have not ended, in the order of their keys.

    Parameters: after_key, before_ns, limit. Rows: see ages_from_rows().
    """
    return limited(
        select(*_AGE_COLUMNS)
        .where(
            EXECUTIONS.c.ended_occurred_at_ns.is_(None),
            EXECUTIONS.c.execution_key > bindparam("after_key", type_=LargeBinary),
            EXECUTIONS.c.started_at_ns < bindparam("before_ns", type_=BigInteger),
        )
        # The first has one value only, but names the index in whose order they are.
        .order_by(EXECUTIONS.c.ended_occurred_at_ns, EXECUTIONS.c.execution_key)
    )


def select_last_recorded(database: Database, num_keys: int) -> Select[Any]:
    """Find when the last event of executions was recorded. Keys: execution_key.

    Rows: the key, and the time; NULL, or no row, where there are no events.
    """

    def last(key: ColumnElement[bytes]) -> ScalarSelect[int]:
        return (
            select(EVENTS.c.recorded_at_ns)
            .where(EVENTS.c.execution_key == key)
            .order_by(EVENTS.c.sequence.desc())
            .limit(literal_column("1"))
            .offset(literal_column("0"))
            .scalar_subquery()
        )

    return dialect.select_about_each(
        database, EVENTS.c.execution_key, EVENTS.c.sequence, num_keys, last
    )


def select_marked() -> Select[Any]:
    """Read executions that are being deleted, in the order of their keys. Parameter: limit."""
    return limited(select(DELETIONS.c.execution_key).order_by(DELETIONS.c.execution_key))


def insert_mark(database: Database) -> Insert:
    """Mark an execution as deleted, unless it is. Parameter: execution_key."""
    return dialect.insert_missing(database, DELETIONS, tuple(DELETIONS.c))


def delete_marked() -> Delete:
    """Delete the rows of the executions that are marked."""
    marked = select(DELETIONS.c.execution_key)
    return delete(EXECUTIONS).where(EXECUTIONS.c.execution_key.in_(marked))


def forget_marked() -> Update:
    """Take from the bindings of the executions that are marked what they have of those rows."""
    marked = select(DELETIONS.c.execution_key)
    return forget_successes().where(WORKFLOW_BINDINGS.c.execution_key.in_(marked))


def delete_row(table: Table) -> Delete:
    """Delete the rows of an execution in a table. Parameter: execution_key."""
    return delete(table).where(_is_named(table))


def delete_last(database: Database, table: Table) -> Delete:
    """Delete the last rows of an execution in a table. Parameters: execution_key, limit.

    The last, so that the sequences of the events that are left still have no gap.
    """
    keys = table.primary_key.columns
    last = limited(_select_backwards(table).with_only_columns(*keys))
    found = delete(table).where(tuple_(*keys).in_(last))
    return found.where(_is_named(table)) if dialect.wants_key_everywhere(database) else found


def select_sizes(table: Table) -> Select[Any]:
    """Read the payload bytes of what delete_last() would delete. Parameters: as there."""
    return limited(_select_backwards(table).with_only_columns(func.length(table.c.payload)))


def select_log_size() -> Select[Any]:
    """Read events and payload bytes of an execution. Parameter: execution_key."""
    payload_bytes = func.coalesce(func.sum(func.length(EVENTS.c.payload)), literal_column("0"))
    return select(func.count(), payload_bytes).where(_is_named(EVENTS))


def _select_backwards(table: Table) -> Select[Any]:
    keys = table.primary_key.columns
    return select(table).where(_is_named(table)).order_by(*(key.desc() for key in keys))


def delete_any(table: Table) -> Delete:
    """Delete some rows of a table, of any execution. Parameter: limit."""
    keys = table.primary_key.columns
    return delete(table).where(tuple_(*keys).in_(limited(select(*keys).order_by(*keys))))


def _is_named(table: Table) -> Any:
    return table.c.execution_key == bindparam("execution_key", type_=LargeBinary)


class _Part(NamedTuple):
    """The statements on a table. Where rows have payloads, their sizes are asked for first."""

    delete: Statement
    sizes: str | None


class Deletion:
    """The statements of deletions, compiled, and the steps made of them. Safe for several threads.

    Every step makes a number of statements that depends on the number of tables alone.
    """

    def __init__(self, database: Database) -> None:
        one, some = ("execution_key",), ("execution_key", "limit")
        self._is_marked = compile_text(
            database, select(DELETIONS.c.execution_key).where(_is_named(DELETIONS)), one
        )
        self._mark = compile_insert(database, insert_mark(database), tuple(DELETIONS.c))
        self._hide_marked = tuple(
            compile_text(database, statement, ())
            for statement in (delete_marked(), forget_marked())
        )
        self._hide = compile_text(database, delete_row(EXECUTIONS), one)
        self._count_now = dialect.count_now(database)
        self._unmark = compile_text(database, delete_row(DELETIONS), one)
        self._parts = [
            _Part(
                compile_statement(database, delete_last(database, table)),
                compile_text(database, select_sizes(table), some) if "payload" in table.c else None,
            )
            for table in PARTS
        ]
        self._drop_kept = [
            compile_text(database, delete_any(table), ("limit",))
            for table in (KEPT_TREES, KEPT_CHUNKS)
        ]

    def mark(self, connection: Connection, keys: Collection[bytes]) -> None:
        """See WriteTransaction.mark_deleted."""
        rows = [(binary(key),) for key in keys]
        if rows:
            connection.insert_rows(self._mark.text, self._mark.num_keys, rows)
            for text in self._hide_marked:
                connection.execute(text)

    def delete_part(
        self, connection: Connection, key: bytes, max_rows: int, max_bytes: int
    ) -> DeletedPart:
        """See WriteTransaction.delete_part."""
        name = binary(key)
        if not connection.fetch_all(self._is_marked, (name,)):
            return DeletedPart(0, 0, is_complete=True)
        # Again: an event that came since the mark has put it back.
        connection.change(self._hide, (name,))
        rows_left, bytes_left = max_rows, max_bytes
        deleted, is_complete = 0, True
        for part in self._parts:
            allowed = rows_left
            if part.sizes is not None:
                sizes = connection.fetch_all(part.sizes, (name, rows_left))
                allowed, size_bytes = _fit(sizes, bytes_left)
                bytes_left -= size_bytes
                is_complete = allowed == len(sizes)
            some = part.delete.arrange({"execution_key": name, "limit": allowed})
            deleted = connection.change(part.delete.text, some) if allowed else 0
            is_complete = is_complete and deleted < rows_left
            rows_left -= deleted
            if not is_complete:
                break
        if is_complete:
            connection.change(self._unmark, (name,))
        if self._count_now is not None:
            connection.execute(self._count_now)
        num_events = deleted if part is self._parts[-1] else 0
        return DeletedPart(max_rows - rows_left, num_events, is_complete)

    def drop_kept_trees(self, connection: Connection, max_rows: int) -> int:
        """See WriteTransaction.drop_kept_trees."""
        return sum(connection.change(text, (max_rows,)) for text in self._drop_kept)


def _fit(sizes: Iterable[Row], max_bytes: int) -> tuple[int, int]:
    """Give how many of these rows to delete, one at least, and their bytes."""
    number = size_bytes = 0
    for (row_bytes,) in sizes:
        if number and size_bytes + row_bytes > max_bytes:
            break
        number += 1
        size_bytes += row_bytes
    return number, size_bytes

"""How much a database holds, and how fast that grows.

What is counted comes from pages and indexes. No statement reads the events one by one: there may be
a hundred million of them.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, assert_never

from sqlalchemy import Select, func, select

from spanwise_server.domain.errors import NotSupported
from spanwise_server.domain.phases import Phase
from spanwise_server.storage.records import Statistics, TableSize
from spanwise_server.storage.sql.compiling import compile_text, limited
from spanwise_server.storage.sql.connection import Connection
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.fields import PHASES, decoding
from spanwise_server.storage.sql.schema import EVENTS, EXECUTIONS, METADATA

SAMPLED_EVENTS = 10_000
"""Events whose payloads are measured. Those of the least keys: keys are hashes, so they are a fair
sample, and there are no others in a small database."""

_DAY_NS = 24 * 60 * 60 * 10**9


class Sizes(NamedTuple):
    """Bytes of a database: of what it holds, and with free space."""

    used_bytes: int
    file_bytes: int


class _Growth(NamedTuple):
    """What Statistics tells of the times of events."""

    oldest_event_ns: int | None
    newest_event_ns: int | None
    daily_events: list[int]


def read_sizes(connection: Connection, database: Database) -> Sizes:
    """Give the size of a database."""
    if database is Database.SQLITE:
        [(page_bytes, pages, free_pages)] = connection.fetch_all(_SQLITE_PAGES, ())
        return Sizes((pages - free_pages) * page_bytes, pages * page_bytes)
    if database is Database.POSTGRESQL:
        [(file_bytes,)] = connection.fetch_all(_POSTGRESQL_SIZE, ())
        return Sizes(_estimate_used(connection), file_bytes)
    if database is Database.CITUS:
        raise _not_by_citus()
    assert_never(database)


def _not_by_citus() -> NotSupported:
    return NotSupported("sizes of distributed tables are told by Citus: SELECT * FROM citus_tables")


def read_statistics(
    connection: Connection, database: Database, now_ns: int, num_days: int
) -> Statistics:
    """See ReadTransaction.get_statistics()."""
    sizes = read_sizes(connection, database)
    tables = _read_tables(connection, database)
    num_events = sum(each.num_rows for each in tables if each.table == EVENTS.name)
    [(oldest_start_ns,)] = _fetch(connection, database, _select_oldest_start())
    growth = _read_growth(connection, database, now_ns, num_days)
    return Statistics(
        tables=sorted(tables, key=lambda each: (each.size_bytes or 0, each.num_rows), reverse=True),
        used_bytes=sizes.used_bytes,
        file_bytes=sizes.file_bytes,
        num_executions=_read_phases(connection, database),
        oldest_start_ns=oldest_start_ns,
        payload_bytes=_estimate_payloads(connection, database, num_events),
        **growth._asdict(),
    )


def _select_oldest_start() -> Select[Any]:
    return select(func.min(EXECUTIONS.c.started_at_ns))


def _select_ended_phases() -> Select[Any]:
    """Count the executions that ended, by phase, out of the index of ends."""
    ended_at_ns, phase = EXECUTIONS.c.ended_occurred_at_ns, EXECUTIONS.c.ended_phase
    return select(phase, func.count()).where(ended_at_ns.is_not(None)).group_by(phase)


def _select_open_phases() -> Select[Any]:
    """Count the others, which are few beside them."""
    ended_at_ns, phase = EXECUTIONS.c.ended_occurred_at_ns, EXECUTIONS.c.latest_phase
    return select(phase, func.count()).where(ended_at_ns.is_(None)).group_by(phase)


def _read_phases(connection: Connection, database: Database) -> dict[Phase, int]:
    rows = [
        row
        for statement in (_select_ended_phases(), _select_open_phases())
        for row in _fetch(connection, database, statement)
    ]
    with decoding("executions"):
        return {
            Phase.UNSPECIFIED if phase is None else PHASES[phase]: number for phase, number in rows
        }


def _estimate_payloads(connection: Connection, database: Database, num_events: int) -> int:
    keys = EVENTS.primary_key.columns
    sample = limited(select(EVENTS.c.payload).order_by(*keys)).subquery()
    measured: Select[Any] = select(func.count()).add_columns(
        func.sum(func.length(sample.c.payload))
    )
    text = compile_text(database, measured, ("limit",))
    [(num_sampled, sampled_bytes)] = connection.fetch_all(text, (SAMPLED_EVENTS,))
    return round(sampled_bytes * num_events / num_sampled) if num_sampled else 0


def _fetch(connection: Connection, database: Database, statement: Select[Any]) -> Sequence[Any]:
    return connection.fetch_all(compile_text(database, statement, ()), ())


def _read_tables(connection: Connection, database: Database) -> list[TableSize]:
    if database is Database.SQLITE:
        if connection.fetch_all(_SQLITE_KNOWS_PAGES, ()):
            return _read_sqlite_pages(connection)
        return [
            TableSize(name, number, None)
            for name, table in METADATA.tables.items()
            for [number] in _fetch(connection, database, select(func.count()).select_from(table))
        ]
    if database is Database.POSTGRESQL:
        return [
            TableSize(
                each.name,
                _count(connection, each, _MAX_COUNTED_ROWS),
                each.heap_bytes + each.index_bytes,
            )
            for each in _read_postgresql_tables(connection)
        ]
    if database is Database.CITUS:
        raise _not_by_citus()
    assert_never(database)


def _read_growth(connection: Connection, database: Database, now_ns: int, num_days: int) -> _Growth:
    """Give when events were recorded, and how many were on each of the last days."""
    if database is Database.SQLITE:
        [(first, last)] = connection.fetch_all(_SQLITE_ROWIDS, ())
        if first is None:
            return _Growth(None, None, [0] * num_days)
        [(_, oldest_event_ns)] = connection.fetch_all(_SQLITE_EVENT_FROM, (first,))
        [(_, newest_event_ns)] = connection.fetch_all(_SQLITE_EVENT_FROM, (last,))
        begins = [
            _find_first_rowid(connection, first, last, now_ns - days * _DAY_NS)
            for days in range(num_days + 1)
        ]
        daily = [later - earlier for later, earlier in pairwise(begins)]
        return _Growth(oldest_event_ns, newest_event_ns, daily)
    if database is Database.POSTGRESQL:
        return _sample_growth(connection, now_ns, num_days)
    if database is Database.CITUS:
        raise _not_by_citus()
    assert_never(database)


_SQLITE_PAGES = """
    SELECT page_size, page_count, freelist_count
    FROM pragma_page_size, pragma_page_count, pragma_freelist_count
"""
_SQLITE_KNOWS_PAGES = "SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'"
_SQLITE_TREES = """
    SELECT m.tbl_name, m.type = 'table', d.pagetype = 'leaf', sum(d.pgsize), sum(d.ncell)
    FROM dbstat AS d JOIN sqlite_master AS m ON m.name = d.name
    GROUP BY 1, 2, 3
"""
_SQLITE_ROWIDS = """
    SELECT (SELECT min(rowid) FROM events), (SELECT max(rowid) FROM events)
"""
_SQLITE_EVENT_FROM = """
    SELECT rowid, recorded_at_ns FROM events WHERE rowid >= ? ORDER BY rowid LIMIT 1
"""


def _read_sqlite_pages(connection: Connection) -> list[TableSize]:
    """Give rows and bytes of each table, which SQLite knows by page."""
    num_rows = dict.fromkeys(METADATA.tables, 0)
    size_bytes = dict.fromkeys(METADATA.tables, 0)
    for name, is_table, is_leaf, tree_bytes, num_cells in connection.fetch_all(_SQLITE_TREES, ()):
        table = METADATA.tables.get(name)
        if table is None:  # Alembic's own
            continue
        size_bytes[name] += tree_bytes
        # The pages above the leaves hold rows as well where the key is the tree.
        if is_table and (is_leaf or not table.dialect_options["sqlite"]["with_rowid"]):
            num_rows[name] += num_cells
    return [TableSize(name, num_rows[name], size_bytes[name]) for name in METADATA.tables]


def _find_first_rowid(connection: Connection, first: int, last: int, moment_ns: int) -> int:
    """Give the first rowid of the events that were recorded at a moment or later.

    Rows are appended in the order of commits, so times rise with the rowid, and some twenty looks
    find the place. What was deleted since counts as it came in.
    """
    low, high = first, last + 1
    while low < high:
        middle = (low + high) // 2
        [(rowid, recorded_at_ns)] = connection.fetch_all(_SQLITE_EVENT_FROM, (middle,))
        if recorded_at_ns < moment_ns:
            low = rowid + 1
        else:
            high = middle
    return low


_POSTGRESQL_SIZE = "SELECT pg_database_size(current_database())"
_POSTGRESQL_TABLES = """
    SELECT coalesce(parent.relname, part.relname)::text, sum(n_live_tup)::bigint,
        sum(pg_table_size(relid))::bigint, sum(pg_indexes_size(relid))::bigint
    FROM pg_stat_user_tables AS part
    LEFT JOIN pg_inherits ON inhrelid = relid LEFT JOIN pg_class AS parent ON parent.oid = inhparent
    WHERE schemaname = current_schema()
    GROUP BY 1
"""
_MAX_COUNTED_ROWS = 1_000_000
"""Rows of a table above which PostgreSQL's own count is taken, which lags behind a little: counting
them takes it about a second."""

_MAX_RECOUNTED_ROWS = 20_000
"""The same for what is asked again after every execution that a sweep deletes."""

_MAX_SAMPLED_ROWS = 200_000
"""Events that the growth is read from: there is no index by time of receipt."""

_MEASURED_ROWS = 1_000
_ROW_BYTES = 4
"""What a row takes in its page besides itself."""


class _PostgresTable(NamedTuple):
    """A table as PostgreSQL's statistics have it. Bytes include the space that deletions left."""

    name: str
    num_rows: int
    heap_bytes: int
    index_bytes: int


def _read_postgresql_tables(connection: Connection) -> list[_PostgresTable]:
    rows = connection.fetch_all(_POSTGRESQL_TABLES, ())
    return [_PostgresTable(*row) for row in rows if row[0] in METADATA.tables]


def _estimate_used(connection: Connection) -> int:
    """Give how much of a database is in use.

    PostgreSQL does not tell free space inside of its files, which hardly ever get smaller. So this
    is the number of rows that are there, which it counts at every commit, times the size of some,
    with their share of the indexes.
    """
    return sum(
        round(
            _count(connection, each, _MAX_RECOUNTED_ROWS)
            * _measure_row(connection, each.name)
            * (1 + each.index_bytes / max(each.heap_bytes, 1))
        )
        for each in _read_postgresql_tables(connection)
    )


def _measure_row(connection: Connection, name: str) -> float:
    """Give the bytes of a row. Keys are hashes, so the rows of the least ones are a fair sample."""
    keys = ", ".join(column.name for column in METADATA.tables[name].primary_key.columns)
    # The names are those of the schema, not of anybody's input.
    text = (
        f"SELECT avg(pg_column_size(sample.*))::float8"  # noqa: S608
        f" FROM (SELECT * FROM {name} ORDER BY {keys} LIMIT {_MEASURED_ROWS}) AS sample"
    )
    [(row_bytes,)] = connection.fetch_all(text, ())
    return 0.0 if row_bytes is None else row_bytes + _ROW_BYTES


def _count(connection: Connection, table: _PostgresTable, max_counted: int) -> int:
    if table.num_rows > max_counted:
        return table.num_rows
    statement = select(func.count()).select_from(METADATA.tables[table.name])
    [(number,)] = _fetch(connection, Database.POSTGRESQL, statement)
    return int(number)


def _sample_growth(connection: Connection, now_ns: int, num_days: int) -> _Growth:
    """Do what _read_growth() does with a part of the pages; with all of them if there are few."""
    counted = {each.name: each.num_rows for each in _read_postgresql_tables(connection)}
    percent = min(100.0, 100 * _MAX_SAMPLED_ROWS / max(counted.get(EVENTS.name, 0), 1))
    sampled = f"events TABLESAMPLE SYSTEM ({percent})"
    begin_ns = now_ns - num_days * _DAY_NS
    rows = connection.fetch_all(
        f"SELECT (%s - 1 - recorded_at_ns) / {_DAY_NS}, count(*) FROM {sampled}"  # noqa: S608
        " WHERE recorded_at_ns >= %s AND recorded_at_ns < %s GROUP BY 1",
        (now_ns, begin_ns, now_ns),
    )
    daily = dict.fromkeys(range(num_days), 0) | dict(rows)
    [(oldest_event_ns, newest_event_ns)] = connection.fetch_all(
        f"SELECT min(recorded_at_ns), max(recorded_at_ns) FROM {sampled}",  # noqa: S608
        (),
    )
    daily_events = [round(number * 100 / percent) for number in daily.values()]
    return _Growth(oldest_event_ns, newest_event_ns, daily_events)

"""Where rows are when tables are spread, and that statements say so."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import ClientCursor
from sqlalchemy import UniqueConstraint

from spanwise_server.config import Settings
from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.main import migrate
from spanwise_server.storage.sql import executions, open_storage
from spanwise_server.storage.sql.compiling import KeyLookup, RowInsert, Statement
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.distribution import (
    EXECUTION_KEY,
    PARTITIONED,
    distribution_column,
    distribution_statement,
)
from spanwise_server.storage.sql.migrations import distribute, downgrade, partition, upgrade, verify
from spanwise_server.storage.sql.postgresql import WRITER_SETTINGS, connect
from spanwise_server.storage.sql.read_transaction import read_statements
from spanwise_server.storage.sql.schema import EVENTS, METADATA, WORKFLOWS
from spanwise_server.storage.sql.write_transaction import write_statements
from tests.postgresql import GIVEN_URL, Databases
from tests.storage.records import KEY, attempt, event, execution, node

NUM_PARTITIONS = 4

EXCEPTIONS = {
    "clear_projections": "a rebuild empties whole tables",
    "iterate_log": "a rebuild reads all events",
    "list_executions": "who lists does not know executions yet: each shard gives one page",
    "list_finished_attempts": "history of a task, over all executions: each shard gives a few rows",
    "list_succeeded": "what is usual of a workflow: each shard gives a few rows",
    "list_bound_succeeded": "what is usual of a workflow: each shard gives a few rows",
    "list_ended": "retention: each shard gives a page",
    "list_open": "retention: each shard gives a page",
    "list_marked": "retention: few executions are being deleted at a time",
    "deletion.hide_marked": "retention: each shard compares two of its own tables",
    "deletion.drop_kept": "retention: trees of any execution, when there is too little room",
    "put_workflow": "workflows are by workflow_key",
    "get_workflows": "workflows are by workflow_key",
    "get_registrations": "workflows are by workflow_key",
}
"""Statements on tables that do not name executions, and why that is no harm."""

ANY_LISTING = executions.Listing(
    by_project=True,
    by_domain=True,
    num_phases=1,
    has_start=True,
    has_end=True,
    is_continued=True,
)

TABLE = re.compile(rf"\b(?:FROM|JOIN|INTO) ({'|'.join(METADATA.tables)})\b(?: AS (\w+))?")


def statements_for(database: Database) -> dict[str, list[str]]:
    """Give the texts of all statements of transactions by the names under which they are kept."""
    writing, reading = vars(write_statements(database)), vars(read_statements(database))
    deleting = vars(writing["deletion"])
    members = (
        {name: value for name, value in writing.items() if name != "deletion"}
        | {f"deletion.{name.lstrip('_')}": value for name, value in deleting.items()}
        | {f"{name} of a reader" if name in writing else name: reading[name] for name in reading}
    )
    return {name: texts_of(value) for name, value in members.items() if name != "database"}


def texts_of(value: object) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, RowInsert | Statement):
        return [value.text]
    if isinstance(value, KeyLookup):
        return [value.compile(1).text]
    if isinstance(value, tuple | list):
        return [text for each in value for text in texts_of(each)]
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_of(each)]
    assert callable(value), f"a new kind of statement: {value!r}"
    return texts_of(value(ANY_LISTING))


def is_by_execution(text: str, database: Database = Database.CITUS) -> bool:
    """Say whether a statement says of each of its tables which executions it is about.

    Partitions are found by a column that is joined as well, shards by a value only.
    """
    if text.startswith("INSERT"):
        columns = text.partition("(")[2].partition(")")[0].split(", ")
        targets = re.findall(r"ON CONFLICT \((.*?)\)", text)
        return (
            EXECUTION_KEY in columns
            and all(EXECUTION_KEY in target.split(", ") for target in targets)
            and f"SET {EXECUTION_KEY} =" not in text
            and f", {EXECUTION_KEY} = excluded" not in text
        )
    is_citus = database is Database.CITUS
    starts = {""} if is_citus else {"", "wanted"}
    spread = METADATA.tables if is_citus else [table.name for table in PARTITIONED]
    names = Counter(alias or table for table, alias in TABLE.findall(text) if table in spread)
    equal = re.findall(rf"(\w+)\.{EXECUTION_KEY} = (?:(\w+)\.{EXECUTION_KEY}|%s|ANY \(%s)", text)
    compared = Counter(name for pair in equal for name in pair)
    given = {name for name, other in equal if other in starts}
    joined = [{name, other} for name, other in equal if other]
    for _ in joined:
        given = given.union(*(pair for pair in joined if pair & given))
    # What is read twice, outside and inside of a subquery, has to be compared twice.
    return set(names) <= given and not (is_citus and names - compared)


BY_EXECUTION = [
    (database, name)
    for database in (Database.POSTGRESQL, Database.CITUS)
    for name in statements_for(database)
    if name not in EXCEPTIONS
]


@pytest.mark.parametrize(("database", "name"), BY_EXECUTION)
def test_hot_statements_say_which_executions_they_are_about(database: Database, name: str) -> None:
    texts = statements_for(database)[name]
    assert [text for text in texts if not is_by_execution(text, database)] == []


def test_no_exception_is_left_over() -> None:
    statements = statements_for(Database.CITUS)
    assert [name for name in EXCEPTIONS if all(map(is_by_execution, statements[name]))] == []


def test_workflows_are_found_by_the_column_that_distributes_them() -> None:
    statements = statements_for(Database.CITUS)
    column = distribution_column(WORKFLOWS)
    for name in ("get_workflows", "get_registrations"):
        assert f"WHERE workflows.{column} = ANY (%s" in statements[name][0]
    assert f"ON CONFLICT ({column})" in statements["put_workflow"][0]


@pytest.mark.parametrize("name", statements_for(Database.CITUS))
def test_citus_gets_no_statement_of_a_form_that_it_refuses(name: str) -> None:
    """Or for which it would copy a table: a join, or a subquery, that begins with given keys."""
    for text in statements_for(Database.CITUS)[name]:
        assert "LATERAL" not in text
        if TABLE.search(text) and not text.startswith("INSERT"):
            assert "FROM unnest" not in text
            assert "OUTER JOIN unnest" not in text


def test_a_statement_that_forgets_the_execution_is_noticed() -> None:
    forgetful = [
        "SELECT events.payload FROM events WHERE events.entity_key = %s",
        "DELETE FROM kept_chunks WHERE kept_chunks.generation != %s",
        "SELECT 1 FROM executions AS e JOIN reasons ON digest = %s WHERE e.execution_key = %s",
        "SELECT 1 FROM events JOIN reasons ON reasons.execution_key = events.execution_key",
        "DELETE FROM events WHERE EXISTS (SELECT 1 FROM events WHERE events.execution_key = %s)",
        "INSERT INTO reasons (digest) SELECT 1",
        "INSERT INTO reasons (execution_key, digest) SELECT 1 ON CONFLICT (digest) DO NOTHING",
    ]
    assert not any(map(is_by_execution, forgetful))


def test_keys_begin_with_the_column_that_distributes() -> None:
    """Citus and partitions both want it in every unique key."""
    for table in METADATA.tables.values():
        column = distribution_column(table)
        assert column == ("workflow_key" if table is WORKFLOWS else EXECUTION_KEY)
        unique = [index.columns for index in table.indexes if index.unique] + [
            constraint.columns
            for constraint in table.constraints
            if isinstance(constraint, UniqueConstraint)
        ]
        assert all(column in columns for columns in unique)
        assert not table.foreign_keys


def test_tables_of_executions_are_beside_their_events() -> None:
    for table in METADATA.tables.values():
        beside = "none" if table in {EVENTS, WORKFLOWS} else "events"
        assert f"colocate_with => '{beside}'" in distribution_statement(table)


def tables_of(url: str) -> list[tuple[str, str]]:
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT relname, relkind::text FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1"
        ).fetchall()


@pytest.mark.parametrize("kind", ["postgresql", "citus"])
def test_without_citus_nothing_is_distributed_or_changed(
    postgresql: Databases, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    url = postgresql.create()
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'citus'")
        if found.fetchone():
            pytest.skip("this server has Citus")
    settings = Settings(database_url=url.replace("postgresql:", f"{kind}:"))
    assert migrate(settings, is_distributed=True) == 1
    told = capsys.readouterr().err
    assert "has not the extension citus, so nothing was changed" in told
    assert "shared_preload_libraries" in told
    assert tables_of(url) == []


def test_a_file_is_neither_distributed_nor_partitioned(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(database_url=url)
    assert migrate(settings, is_distributed=True) == 2
    assert "only tables of PostgreSQL can be distributed" in capsys.readouterr().err
    assert migrate(settings, num_partitions=2) == 2
    assert "only tables of PostgreSQL without Citus" in capsys.readouterr().err


def test_tables_that_citus_has_not_distributed_are_not_verified(postgresql: Databases) -> None:
    with (
        postgresql.migrated() as url,
        pytest.raises(StoreUnavailable, match="--distribute") as told,
    ):
        verify(url.replace("postgresql:", "citus:"))
    assert "executions" in str(told.value)


@pytest.fixture(scope="module")
def partitioned(postgresql: Databases) -> str:
    """Give the URL of a partitioned database with an execution in it."""
    url = postgresql.create()
    assert partition(url, NUM_PARTITIONS)
    storage = open_storage(url)
    storage.write(lambda transaction: transaction.append_events([event(1)]))
    storage.write(lambda transaction: transaction.put_executions([execution()]))
    storage.write(lambda transaction: transaction.put_nodes([node()]))
    storage.write(lambda transaction: transaction.put_attempts([attempt()]))
    storage.close()
    return url


def test_the_large_tables_are_partitioned(partitioned: str) -> None:
    names = [table.name for table in PARTITIONED]
    expected = [(f"{name}_p{number}", "r") for name in names for number in range(NUM_PARTITIONS)]
    others = [(name, "r") for name in METADATA.tables if name not in names]
    found = [pair for pair in tables_of(partitioned) if pair[0] != "alembic_version"]
    assert found == sorted([(name, "p") for name in names] + expected + others)


def test_a_partitioned_database_is_verified(partitioned: str) -> None:
    verify(partitioned)


def test_partitions_are_made_once(partitioned: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(database_url=partitioned)
    assert migrate(settings, num_partitions=NUM_PARTITIONS) == 0
    assert f"{NUM_PARTITIONS} partitions already" in capsys.readouterr().err


def test_another_number_of_partitions_is_refused(
    partitioned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tables_of(partitioned)
    assert migrate(Settings(database_url=partitioned), num_partitions=NUM_PARTITIONS + 1) == 1
    assert "spanwise export" in capsys.readouterr().err
    assert tables_of(partitioned) == before


def test_tables_with_rows_are_not_partitioned(postgresql: Databases) -> None:
    with postgresql.migrated() as url:
        before = tables_of(url)
        storage = open_storage(url)
        storage.write(lambda transaction: transaction.append_events([event(1)]))
        storage.close()
        with pytest.raises(StoreUnavailable, match="hold rows: events"):
            partition(url, NUM_PARTITIONS)
        assert tables_of(url) == before


def columns_and_indexes_of(url: str) -> list[tuple[str, ...]]:
    """Give those of all tables but partitions and Alembic's own."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            """
            SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                concat(l.collname, a.attnotnull, a.attgenerated),
                coalesce(pg_get_expr(d.adbin, d.adrelid), '')
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
                AND NOT a.attisdropped
            LEFT JOIN pg_collation l ON l.oid = a.attcollation
            LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
                AND NOT c.relispartition AND c.relname <> 'alembic_version'
            UNION ALL
            SELECT c.relname, i.relname, replace(pg_get_indexdef(i.oid), ' ON ONLY ', ' ON '),
                '', ''
            FROM pg_class c JOIN pg_index x ON x.indrelid = c.oid
            JOIN pg_class i ON i.oid = x.indexrelid
            WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
                AND c.relname <> 'alembic_version'
            ORDER BY 1, 2, 3
            """
        ).fetchall()


def test_partitioned_tables_have_the_columns_and_indexes_of_others(
    partitioned: str, postgresql: Databases
) -> None:
    with postgresql.migrated() as url:
        expected = columns_and_indexes_of(url)
    assert columns_and_indexes_of(partitioned) == expected != []


def test_partitions_leave_room_for_updates(partitioned: str) -> None:
    with psycopg.connect(partitioned) as connection:
        [(options,)] = connection.execute(
            "SELECT reloptions FROM pg_class WHERE relname = 'node_executions_p0'"
        ).fetchall()
    assert options == ["fillfactor=70"]


def test_migrations_lead_through_a_partitioned_database(postgresql: Databases) -> None:
    url = postgresql.create()
    partition(url, 2)
    before = columns_and_indexes_of(url)
    downgrade(url, "0001")
    upgrade(url)
    assert columns_and_indexes_of(url) == before
    downgrade(url, "base")
    assert tables_of(url) == [("alembic_version", "r")]


VALUES = {
    "bytea[]": f"ARRAY['\\x{KEY.hex()}'::bytea]",
    "bytea": f"'\\x{KEY.hex()}'",
    "bigint[]": "'{1}'",
    "bigint": "1",
    "text[]": "'{x}'",
    "text": "'x'",
}

EXECUTED_SCAN = re.compile(r"Scan.* on (\w+)_p(\d+)\b(?!.*never executed)")


@pytest.fixture
def connection(partitioned: str) -> Iterator[ClientCursor[tuple[str, ...]]]:
    with closing(connect(partitioned, WRITER_SETTINGS, None)) as connection:
        cursor = ClientCursor(connection)
        cursor.execute("BEGIN")  # and no COMMIT: some of the statements delete
        yield cursor


LOOKUPS_BY_EXECUTION = [
    (name, number)
    for name, texts in statements_for(Database.POSTGRESQL).items()
    if name not in EXCEPTIONS
    for number, text in enumerate(texts)
    if text.startswith(("SELECT", "DELETE"))
    and any(f" {table.name}" in text for table in PARTITIONED)
]


@pytest.mark.parametrize(("name", "number"), LOOKUPS_BY_EXECUTION)
def test_postgresql_reads_one_partition_for_an_execution(
    name: str, number: int, connection: ClientCursor[tuple[str, ...]]
) -> None:
    """With the plan for any execution that is kept for a prepared statement."""
    parts = statements_for(Database.POSTGRESQL)[name][number].split("%s")
    numbered = (
        "".join(f"{part}${place}" for place, part in enumerate(parts[:-1], start=1)) + parts[-1]
    )
    connection.execute(f"PREPARE wanted AS {numbered}".encode())
    found = connection.execute(
        "SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = 'wanted'"
    )
    values = ", ".join(VALUES[kind] for (kind,) in found.fetchall())
    plan = connection.execute(
        f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE wanted({values})".encode()
    ).fetchall()
    scans = [match.groups() for (line,) in plan for match in EXECUTED_SCAN.finditer(line)]
    assert scans != []
    assert len({number for _, number in scans}) == 1, plan


def test_distribution_of_a_partitioned_database_is_refused(partitioned: str) -> None:
    """By the missing extension, or by its shards."""
    with pytest.raises(StoreUnavailable, match="nothing was changed"):
        distribute(partitioned)


STAND_IN = """
    CREATE TABLE pg_dist_partition (logicalrelid regclass, call text);
    CREATE FUNCTION create_distributed_table(name regclass, key text, colocate_with text)
    RETURNS void LANGUAGE sql AS $$
        INSERT INTO pg_dist_partition VALUES (name, concat_ws(' ', name, key, colocate_with))
    $$;
"""
"""What of Citus `spanwise migrate` touches. It notes calls, and distributes nothing."""


@pytest.fixture
def citus_stand_in(postgresql: Databases) -> Iterator[str]:
    """Give the URL of an empty database whose server has an extension of the name citus."""
    url = postgresql.create()
    with tempfile.TemporaryDirectory() as folder, psycopg.connect(url, autocommit=True) as server:
        if GIVEN_URL or server.info.server_version < 180_000:
            pytest.skip("needs a server that finds extensions in a folder of ours")
        extensions = Path(folder) / "extension"
        extensions.mkdir()
        (extensions / "citus.control").write_text("default_version = '0'")
        (extensions / "citus--0.sql").write_text(STAND_IN)
        for path in (Path(folder), extensions):
            path.chmod(0o755)
        name = server.info.dbname
        server.execute(f"ALTER DATABASE {name} SET extension_control_path = '{folder}'".encode())
        yield url


def test_tables_are_distributed_once(
    citus_stand_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(database_url=citus_stand_in)
    assert migrate(settings, is_distributed=True) == 0
    assert "distributed events, executions" in capsys.readouterr().err
    with psycopg.connect(citus_stand_in) as connection:
        calls = [call for (call,) in connection.execute("SELECT call FROM pg_dist_partition")]
    assert calls[0] == "events execution_key none"
    assert set(calls[1:]) == {"workflows workflow_key none"} | {
        f"{name} execution_key events" for name in METADATA.tables.keys() - {"events", "workflows"}
    }
    assert migrate(settings, is_distributed=True) == 0
    assert "nothing, all of them were already" in capsys.readouterr().err
    with psycopg.connect(citus_stand_in) as connection:
        assert len(connection.execute("SELECT 1 FROM pg_dist_partition").fetchall()) == len(calls)


def test_tables_of_a_later_revision_are_distributed_beside_the_others(citus_stand_in: str) -> None:
    distribute(citus_stand_in)
    downgrade(citus_stand_in, "0002")
    with psycopg.connect(citus_stand_in) as connection:
        connection.execute(
            "DELETE FROM pg_dist_partition WHERE logicalrelid NOT IN (SELECT oid FROM pg_class)"
        )
    upgrade(citus_stand_in)
    url = citus_stand_in.replace("postgresql:", "citus:")
    with pytest.raises(StoreUnavailable, match="kept_trees"):
        verify(url)
    assert {"kept_trees", "kept_chunks"} <= set(distribute(url))
    verify(url)


def test_distributed_tables_want_another_url(citus_stand_in: str) -> None:
    distribute(citus_stand_in)
    verify(citus_stand_in.replace("postgresql:", "citus:"))
    with pytest.raises(StoreUnavailable, match="write citus://"):
        verify(citus_stand_in)


def test_distributed_tables_are_not_partitioned(citus_stand_in: str) -> None:
    distribute(citus_stand_in)
    with pytest.raises(StoreUnavailable, match="Citus parts them into shards"):
        partition(citus_stand_in, 2)


def test_partitioned_tables_are_not_distributed(citus_stand_in: str) -> None:
    partition(citus_stand_in, 2)
    with pytest.raises(StoreUnavailable, match="the tables are partitioned"):
        distribute(citus_stand_in)


def test_what_citus_objects_to_is_told(citus_stand_in: str) -> None:
    with psycopg.connect(citus_stand_in) as connection:
        connection.execute(
            "CREATE FUNCTION create_distributed_table(name regclass, key text, colocate_with text)"
            " RETURNS void LANGUAGE sql AS ''"
        )
    with pytest.raises(StoreUnavailable, match="could not distribute the tables") as told:
        distribute(citus_stand_in)
    assert "already exists" in str(told.value)

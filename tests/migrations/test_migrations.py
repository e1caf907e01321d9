"""Migrations lead to the tables that the code wants, both ways, and from several processes."""

import ast
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from spanwise_server.domain.errors import StoreUnavailable, WriteConflict
from spanwise_server.domain.events import MAX_TIME_NS
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.storage.api import WriteTransaction
from spanwise_server.storage.records import ExecutionFilter, WorkflowName, WorkflowPeriod
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.ddl_snapshot import render_ddl, snapshot_path
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.migrations import downgrade, prepare, runner, upgrade, verify
from spanwise_server.storage.sql.postgresql import MIGRATION_SETTINGS
from spanwise_server.storage.sql.schema import METADATA
from tests.golden import check_golden
from tests.postgresql import Databases
from tests.storage.records import (
    KEY,
    OTHER_KEY,
    TASK_ID,
    attempt,
    binding,
    ended,
    event,
    execution,
    workflow,
)

ROOT = Path(__file__).parents[2]
MIGRATIONS = Path(runner.__file__).parent
DEADLINE_S = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spanwise.db"


@pytest.fixture
def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture(params=[Database.SQLITE, Database.POSTGRESQL])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Give what gives URLs of databases that are empty, or not there yet if they are files."""
    if request.param is Database.SQLITE:
        return lambda: f"sqlite:///{tmp_path}/{uuid.uuid4()}.db"
    databases: Databases = request.getfixturevalue("postgresql")
    return databases.create


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    return new_url()


def execute(url: str, *texts: str) -> None:
    """Run statements past spanwise, and commit."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        for text in texts:
            connection.exec_driver_sql(text)
    engine.dispose()


def schema_of(url: str) -> set[tuple[str, ...]]:
    """Give all that the database says of tables and indexes but Alembic's own."""
    if url.startswith("sqlite:"):
        return _schema_of_sqlite(Path(url.removeprefix("sqlite:///")))
    with psycopg.connect(url) as connection:
        rows = connection.execute(POSTGRESQL_SCHEMA).fetchall()
    return {row for row in rows if not row[0].startswith("alembic_version")}


POSTGRESQL_SCHEMA = """
    SELECT c.relname || coalesce(c.reloptions::text, ''), a.attnum::text, a.attname,
        format_type(a.atttypid, a.atttypmod), coalesce(l.collname, ''), a.attnotnull::text,
        a.attgenerated::text, coalesce(pg_get_expr(d.adbin, d.adrelid), '')
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    UNION ALL SELECT indexname, indexdef, '', '', '', '', '', '' FROM pg_indexes
    WHERE schemaname = 'public'
"""


def _schema_of_sqlite(path: Path) -> set[tuple[str, ...]]:
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'alembic_version'"
    ).fetchall()
    connection.close()
    return {(name, " ".join(sql.split())) for name, sql in rows}


def revisions() -> list[str]:
    """Give the revisions, the first one first."""
    scripts = ScriptDirectory(str(MIGRATIONS))
    return [script.revision for script in scripts.walk_revisions()][::-1]


def test_migrations_make_the_tables_that_the_code_declares(new_url: Callable[[], str]) -> None:
    migrated, declared = new_url(), new_url()
    upgrade(migrated)
    engine = create_engine(declared.replace("postgresql:", "postgresql+psycopg:"))
    METADATA.create_all(engine)
    engine.dispose()
    assert schema_of(migrated) == schema_of(declared) != set()


def test_migrations_lead_back_to_nothing_and_up_again(url: str) -> None:
    upgrade(url)
    tables = schema_of(url)
    downgrade(url, "base")
    assert schema_of(url) == set()
    upgrade(url)
    assert schema_of(url) == tables


def test_an_upgrade_of_an_up_to_date_database_changes_nothing(url: str) -> None:
    upgrade(url)
    storage = open_storage(url)
    storage.write(lambda transaction: transaction.append_events([event(1)]))
    upgrade(url)
    with storage.read() as transaction:
        page = transaction.list_events(KEY, after_sequence=0, limit=9, with_payload=True)
    assert [logged.record for logged in page] == [event(1)]
    storage.close()


def test_attempts_of_an_earlier_version_are_kept_without_their_start(url: str) -> None:
    upgrade(url)
    storage = open_storage(url)
    record = attempt(state=ended(10, 20))
    storage.write(lambda transaction: transaction.put_attempts([record]))
    storage.close()
    downgrade(url, "0001")
    upgrade(url)
    storage = open_storage(url)
    with storage.read() as transaction:
        [found] = transaction.list_finished_attempts(
            [TASK_ID[:3]], besides=b"", before_ns=MAX_TIME_NS, limit=9, limit_passed=9
        )
    storage.close()
    assert (found.created_at_ns, found.ended_at_ns) == (10, 20)
    assert found.started_at_ns is None


def test_bindings_of_an_earlier_version_know_the_workflows_that_are_registered(url: str) -> None:
    upgrade(url)
    storage = open_storage(url)
    runs = workflow()
    storage.write(lambda transaction: transaction.put_workflow(runs))
    for key, each in ((KEY, runs), (OTHER_KEY, workflow("never registered"))):
        said = binding(key, each)
        storage.write(lambda transaction, said=said: transaction.put_binding(said))  # type: ignore[misc]
        listed = execution()._replace(execution_key=key)
        storage.write(lambda t, listed=listed: t.add_missing_executions([listed]))  # type: ignore[misc]
    storage.close()
    downgrade(url, "0004")
    upgrade(url)
    storage = open_storage(url)
    with storage.read() as transaction:
        found = transaction.list_executions(ExecutionFilter(), after=None, limit=9)
    storage.close()
    assert {each.record.execution_key: each.workflow_id for each in found} == {
        KEY: runs.workflow_id,
        OTHER_KEY: EntityVersion(),
    }


def test_bindings_of_an_earlier_version_know_which_executions_succeeded(url: str) -> None:
    upgrade(url)
    storage = open_storage(url)
    runs = workflow()
    state = ended(10, 20)
    storage.write(lambda transaction: transaction.put_workflow(runs))
    storage.write(lambda transaction: transaction.put_executions([execution(state=state)]))
    for said in (binding(KEY, runs), binding(OTHER_KEY, runs)):
        storage.write(lambda transaction, said=said: transaction.put_binding(said))  # type: ignore[misc]
    storage.close()
    downgrade(url, "0004")
    upgrade(url)
    storage = open_storage(url)
    period = WorkflowPeriod(WorkflowName(*runs.workflow_id[:3]), 0, 100)
    with storage.read() as transaction:
        found = transaction.list_succeeded_executions([period], limit=9)
    storage.close()
    assert [(each.execution_key, each.created_at_ns) for each in found] == [(KEY, 10)]


def test_an_upgraded_database_is_verified(url: str) -> None:
    upgrade(url)
    verify(url)


def test_a_missing_file_is_not_verified_and_not_created(sqlite_url: str, path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        verify(sqlite_url)
    assert not path.exists()


def test_a_missing_postgresql_database_is_named(postgresql: Databases) -> None:
    url = f"{postgresql.create()}".replace("spanwise_test", "spanwise_missing")
    for act in (verify, upgrade):
        with pytest.raises(StoreUnavailable, match="spanwise_missing"):
            act(url)


def test_a_server_makes_the_tables_of_a_file(sqlite_url: str) -> None:
    prepare(sqlite_url)
    verify(sqlite_url)


def test_a_server_leaves_the_tables_of_postgresql_to_the_operator(postgresql: Databases) -> None:
    url = postgresql.create()
    with pytest.raises(StoreUnavailable, match="run `spanwise migrate`"):
        prepare(url)
    assert schema_of(url) == set()
    upgrade(url)
    prepare(url)


def test_a_database_without_tables_is_not_verified(url: str) -> None:
    execute(url, "SELECT 1")
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        verify(url)


def test_a_database_of_an_earlier_version_is_not_verified(url: str) -> None:
    upgrade(url)
    downgrade(url, "base")
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        verify(url)


@pytest.mark.parametrize("act", [verify, upgrade])
def test_a_database_of_a_later_version_is_left_alone(url: str, act: object) -> None:
    upgrade(url)
    execute(url, "UPDATE alembic_version SET version_num = '9999'")
    assert callable(act)
    with pytest.raises(StoreUnavailable, match="later version"):
        act(url)


def test_a_file_that_is_no_database_is_unavailable(sqlite_url: str, path: Path) -> None:
    path.write_text("buy milk\n" * 1_000)
    for act in (verify, upgrade):
        with pytest.raises(StoreUnavailable, match="not a SQLite database"):
            act(sqlite_url)


def test_an_upgrade_gives_up_on_a_database_that_stays_locked(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(url)
    monkeypatch.setattr(runner, "_GIVE_UP_AFTER_S", 0.3)
    monkeypatch.setitem(MIGRATION_SETTINGS, "lock_timeout", "200")
    storage = open_storage(url)

    def work(transaction: WriteTransaction) -> None:
        transaction.lock_executions([KEY])
        transaction.get_executions([KEY])  # waits for the answer: only then is the lock held
        with pytest.raises(WriteConflict):
            upgrade(url)

    storage.write(work)
    storage.close()


def test_processes_that_upgrade_at_once_all_succeed(url: str) -> None:
    script = "from spanwise_server.storage.sql.migrations import upgrade; upgrade({!r})"
    program = [sys.executable, "-c", script.format(url)]
    others = [subprocess.Popen(program, stderr=subprocess.PIPE) for _ in range(4)]
    errors = [other.communicate(timeout=DEADLINE_S)[1] for other in others]
    assert errors == [b""] * 4
    assert [other.returncode for other in others] == [0] * 4
    verify(url)


def test_a_failed_migration_leaves_nothing_behind(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upgrade_and_fail(config: Config, revision: str) -> None:
        real_upgrade(config, revision)
        raise OSError

    real_upgrade = command.upgrade
    monkeypatch.setattr(command, "upgrade", upgrade_and_fail)
    with pytest.raises(OSError):  # noqa: PT011 - raised above
        upgrade(url)
    assert schema_of(url) == set()


def test_revisions_are_a_straight_line_of_numbers() -> None:
    assert revisions() == [f"{number:04}" for number in range(1, len(revisions()) + 1)]
    names = sorted(path.stem[:4] for path in (MIGRATIONS / "versions").glob("*.py"))
    assert names == revisions()


def test_revisions_do_not_depend_on_the_code_of_today() -> None:
    for path in (MIGRATIONS / "versions").glob("*.py"):
        imported = {
            name.split(".")[0]
            for statement in ast.walk(ast.parse(path.read_text()))
            for name in (
                [alias.name for alias in statement.names]
                if isinstance(statement, ast.Import)
                else [statement.module or ""]
                if isinstance(statement, ast.ImportFrom)
                else []
            )
        }
        assert imported <= {"alembic", "sqlalchemy"}


@pytest.mark.parametrize("database", Database)
def test_the_ddl_that_people_read_is_fresh(database: Database) -> None:
    check_golden(snapshot_path(database), render_ddl(database))

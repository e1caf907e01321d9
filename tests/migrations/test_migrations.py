"""Migrations lead to the tables that the code wants, both ways, and from several processes."""

import ast
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from spanwise_server.domain.errors import StoreUnavailable, WriteConflict
from spanwise_server.domain.events import MAX_TIME_NS
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.ddl_snapshot import render_ddl, snapshot_path
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.migrations import downgrade, runner, upgrade, verify
from spanwise_server.storage.sql.schema import METADATA
from tests.golden import check_golden
from tests.storage.records import KEY, TASK_ID, attempt, ended, event

ROOT = Path(__file__).parents[2]
MIGRATIONS = Path(runner.__file__).parent
DEADLINE_S = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spanwise.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


def schema_of(path: Path) -> set[tuple[str, str]]:
    """Give name and SQL of all tables and indexes but Alembic's own."""
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


def test_migrations_make_the_tables_that_the_code_declares(url: str, path: Path) -> None:
    upgrade(url)
    declared = path.with_name("declared.db")
    engine = create_engine(f"sqlite:///{declared}")
    METADATA.create_all(engine)
    engine.dispose()
    assert schema_of(path) == schema_of(declared)


def test_migrations_lead_back_to_nothing_and_up_again(url: str, path: Path) -> None:
    upgrade(url)
    tables = schema_of(path)
    downgrade(url, "base")
    assert schema_of(path) == set()
    upgrade(url)
    assert schema_of(path) == tables


def test_an_upgrade_of_an_up_to_date_database_changes_nothing(url: str) -> None:
    upgrade(url)
    storage = open_storage(url)
    storage.write(lambda transaction: transaction.append_events([event(1)]))
    upgrade(url)
    with storage.read() as transaction:
        page = transaction.list_events(KEY, after_sequence=0, limit=9, with_payload=True)
    assert [logged.record for logged in page] == [event(1)]
    storage.close()


def test_attempts_of_an_earlier_version_are_kept_without_their_start(url: str, path: Path) -> None:
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


def test_an_upgraded_database_is_verified(url: str) -> None:
    upgrade(url)
    verify(url)


def test_a_missing_database_is_not_verified_and_not_created(url: str, path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        verify(url)
    assert not path.exists()


def test_a_database_without_tables_is_not_verified(url: str, path: Path) -> None:
    sqlite3.connect(path).close()
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        verify(url)


def test_a_database_of_an_earlier_version_is_not_verified(url: str) -> None:
    upgrade(url)
    downgrade(url, "base")
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        verify(url)


@pytest.mark.parametrize("act", [verify, upgrade])
def test_a_database_of_a_later_version_is_left_alone(url: str, path: Path, act: object) -> None:
    upgrade(url)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    assert callable(act)
    with pytest.raises(StoreUnavailable, match="later version"):
        act(url)


def test_a_file_that_is_no_database_is_unavailable(url: str, path: Path) -> None:
    path.write_text("buy milk\n" * 1_000)
    for act in (verify, upgrade):
        with pytest.raises(StoreUnavailable, match="not a SQLite database"):
            act(url)


def test_an_upgrade_gives_up_on_a_database_that_stays_locked(
    url: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(url)
    monkeypatch.setattr(runner, "_GIVE_UP_AFTER_S", 0.3)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(WriteConflict):
        upgrade(url)
    connection.close()


def test_processes_that_upgrade_at_once_all_succeed(url: str, path: Path) -> None:
    script = "from spanwise_server.storage.sql.migrations import upgrade; upgrade({!r})"
    program = [sys.executable, "-c", script.format(url)]
    others = [subprocess.Popen(program, stderr=subprocess.PIPE) for _ in range(4)]
    errors = [other.communicate(timeout=DEADLINE_S)[1] for other in others]
    assert errors == [b""] * 4
    assert [other.returncode for other in others] == [0] * 4
    verify(url)


def test_a_failed_migration_leaves_nothing_behind(
    url: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upgrade_and_fail(config: Config, revision: str) -> None:
        real_upgrade(config, revision)
        raise OSError

    real_upgrade = command.upgrade
    monkeypatch.setattr(command, "upgrade", upgrade_and_fail)
    with pytest.raises(OSError):  # noqa: PT011 - raised above
        upgrade(url)
    assert schema_of(path) == set()


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

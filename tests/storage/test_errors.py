"""Real errors of the database become errors of the domain."""

import ast
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from random import randbytes

import psycopg
import pytest
from sqlalchemy import event as sqlalchemy_event

from spanwise_server.domain.errors import (
    CorruptRecord,
    InvalidEvent,
    StoreUnavailable,
    WriteConflict,
)
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.sql import engine as engine_module
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql import storage as storage_module
from spanwise_server.storage.sql.errors import translate
from spanwise_server.storage.sql.migrations import upgrade, verify
from spanwise_server.storage.sql.storage import SqlStorage
from tests.storage.records import KEY, event, execution

ROOT = Path(__file__).parents[2]


def append_one(transaction: WriteTransaction) -> None:
    last = transaction.get_last_sequences([KEY]).get(KEY, 0)
    transaction.append_events([event(last + 1)])


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


@pytest.fixture
def database(url: str) -> Iterator[sqlite3.Connection]:
    """Give a connection past spanwise."""
    connection = sqlite3.connect(path_of(url), isolation_level=None)
    yield connection
    connection.close()


def test_a_lock_that_another_keeps_is_a_conflict(
    storage: Storage, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_module, "_GIVE_UP_AFTER_S", 0.3)
    database.execute("BEGIN IMMEDIATE")
    with pytest.raises(WriteConflict):
        storage.write(append_one)


def test_a_write_succeeds_after_a_conflict(
    storage: Storage, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_module, "_GIVE_UP_AFTER_S", 0.0)
    database.execute("BEGIN IMMEDIATE")
    with pytest.raises(WriteConflict):
        storage.write(append_one)
    database.execute("ROLLBACK")
    storage.write(append_one)


def test_a_missing_file_is_unavailable_and_is_not_created(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite:///{tmp_path}/missing.db")
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        storage.write(append_one)
    with pytest.raises(StoreUnavailable, match="spanwise migrate"), storage.read():
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_tables_is_unavailable(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty.db").close()
    storage = open_storage(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        storage.write(append_one)
    with storage.read() as transaction, pytest.raises(StoreUnavailable, match="spanwise migrate"):
        transaction.has_execution(KEY)
    storage.close()


def test_a_read_only_file_is_unavailable(url: str) -> None:
    # A version of the write format that is not known makes SQLite take a file for read-only,
    # whoever runs the tests; permissions would not stop root.
    write_format_version = 18
    with path_of(url).open("r+b") as file:
        file.seek(write_format_version)
        file.write(b"\x03")
    storage = open_storage(url)
    with pytest.raises(StoreUnavailable, match="read-only"):
        storage.write(append_one)
    storage.close()


def test_a_full_disk_is_unavailable_until_there_is_space(storage: SqlStorage) -> None:
    limit = [20]

    @sqlalchemy_event.listens_for(storage._writer, "connect")  # noqa: SLF001
    def limit_pages(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit[0]}")

    large = event(1)._replace(payload=randbytes(10**6))
    with pytest.raises(StoreUnavailable, match="disk is full"):
        storage.write(lambda transaction: transaction.append_events([large]))
    limit[0] = 10**6
    storage.write(lambda transaction: transaction.append_events([large]))
    with storage.read() as transaction:
        assert len(transaction.list_events(KEY, after_sequence=0, limit=9, with_payload=False)) == 1


def test_a_failing_write_to_the_file_is_unavailable(url: str) -> None:
    script = textwrap.dedent(
        """
        import resource, signal, sys
        from random import randbytes
        from spanwise_server.domain.errors import StoreUnavailable
        from spanwise_server.storage.sql import open_storage
        from tests.storage.records import event

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        storage = open_storage(sys.argv[1])
        storage.write(lambda transaction: None)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))
        large = event(1)._replace(payload=randbytes(2 * 10**6))
        try:
            storage.write(lambda transaction: transaction.append_events([large]))
        except StoreUnavailable as exc:
            print(exc)
        """
    )
    command = [sys.executable, "-c", script, url]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    assert "reading or writing its file failed" in done.stdout


def test_a_damaged_file_is_a_corrupt_record(storage: Storage, url: str) -> None:
    storage.write(lambda t: t.append_events([event(number) for number in range(1, 500)]))
    storage.close()
    content = bytearray(path_of(url).read_bytes())
    page_bytes = 8_192
    for start in range(page_bytes, len(content), page_bytes):
        content[start : start + 100] = b"\xff" * 100  # the header of every page but the first
    path_of(url).write_bytes(content)

    damaged = open_storage(url)
    with pytest.raises(CorruptRecord):
        damaged.write(append_one)
    with damaged.read() as transaction, pytest.raises(CorruptRecord):
        transaction.list_events(KEY, after_sequence=0, limit=1_000, with_payload=True)
    damaged.close()


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("buy milk\n" * 1_000)
    storage = open_storage(f"sqlite:///{tmp_path}/notes.db")
    with pytest.raises(StoreUnavailable, match="not a SQLite database"):
        storage.write(append_one)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE executions SET latest_phase = 99, created_at_ns = 1, last_occurred_at_ns = 1",
        "UPDATE executions SET name = CAST(x'ff' AS TEXT)",
    ],
)
def test_a_row_that_cannot_be_decoded_is_a_corrupt_record(
    storage: Storage, database: sqlite3.Connection, damage: str
) -> None:
    storage.write(lambda transaction: transaction.put_executions([execution()]))
    database.execute(damage)
    with storage.read() as transaction, pytest.raises(CorruptRecord):
        transaction.get_histories([KEY])
    with pytest.raises(CorruptRecord):
        storage.write(lambda transaction: transaction.get_executions([KEY]))


def test_readers_wait_no_longer_than_the_time_limit_for_a_connection(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "_CHECKOUT_TIMEOUT_S", 0.1)
    storage = open_storage(url)
    may_end = threading.Event()
    all_busy = threading.Barrier(engine_module._NUM_READERS + 1)  # noqa: SLF001

    def keep_a_connection() -> None:
        with storage.read():
            all_busy.wait(30)
            may_end.wait(30)

    threads = [
        threading.Thread(target=keep_a_connection)
        for _ in range(engine_module._NUM_READERS)  # noqa: SLF001
    ]
    for thread in threads:
        thread.start()
    all_busy.wait(30)
    with pytest.raises(StoreUnavailable, match="no connection"), storage.read():
        pass
    may_end.set()
    for thread in threads:
        thread.join(30)
    storage.close()


def test_a_mistake_in_the_package_is_no_error_of_the_domain(storage: Storage) -> None:
    with pytest.raises(RuntimeError):
        storage.write(lambda transaction: transaction.append_events([event(1), event(1)]))


def test_every_result_code_of_sqlite_is_translated() -> None:
    codes = {
        value
        for name, value in vars(sqlite3).items()
        if name.startswith("SQLITE_") and isinstance(value, int)
    }
    for code in codes:
        error = sqlite3.OperationalError("secret text of the driver")
        error.sqlite_errorcode = code
        translated = translate(error)
        assert isinstance(
            translated, WriteConflict | StoreUnavailable | CorruptRecord | RuntimeError
        )
        assert "secret" not in str(translated)


def test_every_code_of_postgresql_is_translated() -> None:
    classes = [
        value
        for value in vars(psycopg.errors).values()
        if isinstance(value, type) and issubclass(value, psycopg.Error) and value.sqlstate
    ]
    assert len(classes) > 200
    for each in classes:
        translated = translate(each("secret text of the driver"))
        assert isinstance(
            translated,
            WriteConflict | StoreUnavailable | CorruptRecord | InvalidEvent | RuntimeError,
        )
        assert "secret" not in str(translated)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (psycopg.errors.SerializationFailure, WriteConflict),
        (psycopg.errors.DeadlockDetected, WriteConflict),
        (psycopg.errors.LockNotAvailable, WriteConflict),
        (psycopg.errors.AdminShutdown, StoreUnavailable),
        (psycopg.errors.CrashShutdown, StoreUnavailable),
        (psycopg.errors.CannotConnectNow, StoreUnavailable),
        (psycopg.errors.QueryCanceled, StoreUnavailable),
        (psycopg.errors.DiskFull, StoreUnavailable),
        (psycopg.errors.TooManyConnections, StoreUnavailable),
        (psycopg.errors.ReadOnlySqlTransaction, StoreUnavailable),
        (psycopg.errors.UndefinedTable, StoreUnavailable),
        (psycopg.errors.ProgramLimitExceeded, StoreUnavailable),  # of another thing than an id
        (psycopg.errors.StatementTooComplex, StoreUnavailable),
        (psycopg.OperationalError, StoreUnavailable),  # no answer, and so no code
        (psycopg.errors.DataCorrupted, CorruptRecord),
        (psycopg.errors.UniqueViolation, RuntimeError),
        (psycopg.errors.SyntaxError, RuntimeError),
    ],
)
def test_what_postgresql_says_is_told_apart_by_code(
    error: type[psycopg.Error], expected: type[Exception]
) -> None:
    assert type(translate(error())) is expected


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("sqlite3", {"engine.py", "errors.py"}),
        ("psycopg", {"errors.py", "postgresql.py"}),
    ],
)
def test_only_the_border_modules_know_the_drivers(driver: str, expected: set[str]) -> None:
    package = ROOT / "server" / "spanwise_server" / "storage" / "sql"
    users = {
        path.name
        for path in package.rglob("*.py")
        for statement in ast.walk(ast.parse(path.read_text()))
        if isinstance(statement, ast.Import)
        and any(alias.name == driver for alias in statement.names)
    }
    assert users == expected


def test_whoever_has_no_driver_for_postgresql_hears_how_to_get_it(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        sys.modules["psycopg"] = None  # as if it were not installed
        from spanwise_server.storage.sql import open_storage
        from spanwise_server.storage.sql.migrations import upgrade

        upgrade(f"sqlite:///{sys.argv[1]}/spanwise.db")  # needs none
        try:
            open_storage("postgresql://localhost/spanwise")
        except ValueError as exc:
            print(exc)
        """
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    assert "pip install '.[server,postgres]'\" in the clone" in done.stdout


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:se@cret@host/db?nonsense=1",
        "postgresql://user:secret@host:port/db",
        "postgresql://user:cret/cret@host/db",
        "postgresql://user:secret@host/db?sslmode",
    ],
)
def test_a_url_that_postgresql_cannot_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"^(?!.*cret).*$"):
        open_storage(url)


@pytest.mark.parametrize(
    "url",
    [
        "spanwise.db",
        "postgresql+psycopg2://localhost/spanwise",
        "mysql://localhost/spanwise",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///spanwise.db?mode=ro",
        "sqlite://host:port/spanwise.db",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(ValueError, match="write sqlite:///PATH"):
        open_storage(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgres://localhost/spanwise",
        "postgresql://user:p%40ss@one:5432,other:5433/db?target_session_attrs=read-write",
        "postgresql://user@/db?host=/var/run/postgresql",
        "postgresql://[::1]:5432/db?sslmode=require&connect_timeout=3",
    ],
)
def test_a_url_that_the_programs_of_postgresql_take_is_taken(url: str) -> None:
    open_storage(url).close()  # connects when it is used


def test_a_path_may_hold_characters_that_mean_something_in_a_url(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/50% of #1 & ü.db"
    upgrade(url)
    verify(url)
    assert [path.name for path in tmp_path.iterdir()] == ["50% of #1 & ü.db"]

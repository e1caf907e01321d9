"""SQLite keeps the contract of storage, and what is promised of SQLite alone."""

import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.connection import Connection
from spanwise_server.storage.sql.storage import SqlStorage
from tests.storage import steps
from tests.storage.contract import *  # noqa: F403 - all of its classes are tests of this storage
from tests.storage.contract_deletion import *  # noqa: F403 - as above
from tests.storage.contract_executions import *  # noqa: F403 - as above
from tests.storage.contract_reading import *  # noqa: F403 - as above
from tests.storage.records import KEY, RUN, event, execution

DEADLINE_S = 60
FULL = 2
ROOT = Path(__file__).parents[2]


APPEND_IN_ANOTHER_PROCESS = textwrap.dedent(
    """
    import os, sys
    from spanwise_server.storage.sql import open_storage
    from tests.storage.records import KEY, event

    def append_one(transaction):
        last = transaction.get_last_sequences([KEY]).get(KEY, 0)
        transaction.append_events([event(last + 1)])

    storage = open_storage(sys.argv[1])
    for _ in range(int(sys.argv[2])):
        storage.write(append_one)
    os.kill(os.getpid(), 9)  # no clean end: what was committed must be there
    """
)


def append_in_another_process(url: str, num_events: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", APPEND_IN_ANOTHER_PROCESS, url, str(num_events)]
    return subprocess.Popen(command, cwd=ROOT)


def append_one(transaction: WriteTransaction) -> None:
    last = transaction.get_last_sequences([KEY]).get(KEY, 0)
    transaction.append_events([event(last + 1)])


def sequences(storage: Storage) -> list[int]:
    with storage.read() as transaction:
        return [record.sequence for record in steps.events_of(transaction)]


def test_committed_events_outlive_a_process_that_is_killed(url: str) -> None:
    append_in_another_process(url, 5).wait(DEADLINE_S)
    storage = open_storage(url)
    assert sequences(storage) == [1, 2, 3, 4, 5]
    storage.close()


def test_writers_of_several_processes_lose_nothing(url: str, storage: Storage) -> None:
    others = [append_in_another_process(url, 50) for _ in range(2)]
    for _ in range(50):
        storage.write(append_one)
    for other in others:
        other.wait(DEADLINE_S)
    assert sequences(storage) == list(range(1, 151))


def test_work_runs_again_after_a_conflict_with_another_process(url: str, storage: Storage) -> None:
    blocker = open_storage(url)
    is_blocking, may_end = threading.Event(), threading.Event()

    def block(transaction: WriteTransaction) -> None:
        append_one(transaction)
        is_blocking.set()
        may_end.wait(DEADLINE_S)

    thread = threading.Thread(target=blocker.write, args=(block,))
    thread.start()
    assert is_blocking.wait(DEADLINE_S)
    threading.Timer(0.5, may_end.set).start()  # longer than one wait for the lock
    storage.write(append_one)
    thread.join(DEADLINE_S)
    blocker.close()
    assert sequences(storage) == [1, 2]


def test_the_log_of_a_closed_storage_is_in_its_file(url: str, storage: Storage) -> None:
    storage.write(append_one)
    storage.close()
    assert event(1).payload in Path(url.removeprefix("sqlite:///")).read_bytes()


def test_a_read_that_outlives_the_storage_closes_its_connection(url: str, storage: Storage) -> None:
    with storage.read() as transaction:
        storage.close()
        steps.events_of(transaction)
    # The last connection to a file removes the files beside it.
    path = Path(url.removeprefix("sqlite:///"))
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("pragma", "expected"),
    [("synchronous", FULL), ("journal_mode", "wal"), ("fullfsync", 1)],
)
def test_a_commit_is_on_the_disk(storage: SqlStorage, pragma: str, expected: int | str) -> None:
    with storage._writer.connect() as connection:  # noqa: SLF001 - a power cut cannot be staged
        assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == expected


@pytest.mark.parametrize("num_keys", [1, 300])
def test_histories_are_read_in_six_statements(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, num_keys: int
) -> None:
    run_ids = [RUN._replace(name=f"run-{number}") for number in range(num_keys)]
    records = [execution(run_id) for run_id in run_ids]
    storage.write(lambda transaction: transaction.put_executions(records))
    statements = []

    def spy(method: Any) -> Any:
        def counted(self: Connection, text: str, *rest: Any) -> Any:
            statements.append(text)
            return method(self, text, *rest)

        return counted

    monkeypatch.setattr(Connection, "read", spy(Connection.read))
    monkeypatch.setattr(Connection, "fetch_all", spy(Connection.fetch_all))
    with storage.read() as transaction:
        histories = transaction.get_histories([record.execution_key for record in records])
    assert len(histories) == num_keys
    assert len(statements) == 6


def test_readers_cannot_write(storage: SqlStorage) -> None:
    with storage._reader.connect() as connection, pytest.raises(OperationalError):  # noqa: SLF001
        connection.exec_driver_sql("DELETE FROM events")

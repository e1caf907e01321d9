"""What a storage does when PostgreSQL goes away, hangs, or when writers meet there."""

import random
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest

from spanwise_server.domain.errors import StoreUnavailable, WriteConflict
from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.sql import engine as engine_module
from spanwise_server.storage.sql import open_storage, postgresql
from spanwise_server.storage.sql import storage as storage_module
from spanwise_server.storage.sql.connection import PostgresConnection
from spanwise_server.storage.sql.dialect import MAX_LOCKS
from spanwise_server.storage.sql.migrations import upgrade
from spanwise_server.storage.sql.storage import SqlStorage
from spanwise_server.storage.sql.write_transaction import SqlWriteTransaction
from tests.postgresql import Databases, PostgresServer
from tests.storage.records import KEY, OTHER_KEY, event, workflow
from tests.storage.steps import events_of

DEADLINE_S = 60


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Give a server that may be stopped; it is started again after each test that does."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def stoppable_url(server: PostgresServer) -> str:
    url = Databases(server.url).create()
    upgrade(url)
    return url


@pytest.fixture
def stoppable(server: PostgresServer, stoppable_url: str) -> Iterator[Storage]:
    """Give a storage on the server that may be stopped, without events."""
    with psycopg.connect(stoppable_url) as connection:
        connection.execute("TRUNCATE events")
    storage = open_storage(f"{stoppable_url}&connect_timeout=2")
    yield storage
    storage.close()


def append_one(transaction: WriteTransaction, key: bytes = KEY) -> None:
    transaction.lock_executions([key])
    last = transaction.get_last_sequences([key]).get(key, 0)
    transaction.append_events([event(last + 1, execution=key)])


def num_events(storage: Storage) -> int:
    with storage.read() as transaction:
        return len(events_of(transaction))


@pytest.mark.parametrize("stop", [PostgresServer.stop, PostgresServer.kill])
def test_a_restart_that_nobody_met_is_not_noticed(
    server: PostgresServer, stoppable: Storage, stop: Callable[[PostgresServer], None]
) -> None:
    stoppable.write(append_one)
    with stoppable.read() as one, stoppable.read() as other:  # so that there are two connections
        assert len(events_of(one)) == len(events_of(other)) == 1
    stop(server)
    server.start()
    stoppable.write(append_one)
    for _ in range(3):
        assert num_events(stoppable) == 2


def test_a_server_that_is_away_is_unavailable_until_it_is_back(
    server: PostgresServer, stoppable: Storage
) -> None:
    stoppable.write(append_one)
    stoppable.wait_for_commits(0)
    server.stop()
    with pytest.raises(StoreUnavailable):
        stoppable.write(append_one)
    with pytest.raises(StoreUnavailable), stoppable.read():
        pass
    with pytest.raises(StoreUnavailable):
        stoppable.wait_for_commits(DEADLINE_S)
    server.start()
    stoppable.write(append_one)
    assert num_events(stoppable) == 2
    stoppable.wait_for_commits(DEADLINE_S)


def test_a_transaction_whose_server_goes_away_is_unavailable_and_leaves_nothing(
    server: PostgresServer, stoppable: Storage
) -> None:
    def work(transaction: WriteTransaction) -> None:
        append_one(transaction)
        server.kill()

    with pytest.raises(StoreUnavailable, match="may be there or not"):
        stoppable.write(work)
    server.start()
    assert num_events(stoppable) == 0


def test_a_read_whose_server_goes_away_is_unavailable(
    server: PostgresServer, stoppable: Storage
) -> None:
    with stoppable.read() as transaction:
        assert events_of(transaction) == []
        server.kill()
        with pytest.raises(StoreUnavailable):
            events_of(transaction)
    server.start()
    assert num_events(stoppable) == 0


def test_a_server_that_hangs_is_unavailable(
    server: PostgresServer, stoppable_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "WRITER_ANSWER_LIMIT_S", 0.5)
    storage = open_storage(f"{stoppable_url}&connect_timeout=2")
    storage.write(append_one)
    server.pause()
    try:
        for _ in range(2):  # the second finds no connection
            with pytest.raises(StoreUnavailable):
                storage.write(append_one)
    finally:
        server.resume()
    storage.write(append_one)
    storage.close()


def test_a_lock_that_another_keeps_is_a_conflict(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_module, "_GIVE_UP_AFTER_S", 0.3)
    monkeypatch.setitem(postgresql.WRITER_SETTINGS, "lock_timeout", "100")
    holder, other = open_storage(postgresql_url), open_storage(postgresql_url)

    def hold(transaction: WriteTransaction) -> None:
        append_one(transaction)
        with pytest.raises(WriteConflict):
            other.write(append_one)
        other.write(lambda t: append_one(t, OTHER_KEY))  # is not concerned

    holder.write(hold)
    other.write(append_one)
    assert num_events(other) == 2
    holder.close()
    other.close()


@pytest.mark.parametrize(
    "lock_all",
    [
        lambda t: t.clear_projections(),
        lambda t: t.lock_executions([bytes([n // 256, n % 256]) * 8 for n in range(MAX_LOCKS + 1)]),
    ],
    ids=["rebuild", "large batch"],
)
def test_whoever_writes_everything_keeps_all_others_out(
    postgresql_url: str,
    monkeypatch: pytest.MonkeyPatch,
    lock_all: Callable[[WriteTransaction], None],
) -> None:
    monkeypatch.setattr(storage_module, "_GIVE_UP_AFTER_S", 0.3)
    monkeypatch.setitem(postgresql.WRITER_SETTINGS, "lock_timeout", "100")
    holder, other = open_storage(postgresql_url), open_storage(postgresql_url)

    def hold(transaction: WriteTransaction) -> None:
        lock_all(transaction)
        with pytest.raises(WriteConflict):
            other.write(append_one)

    holder.write(hold)
    other.write(append_one)
    holder.close()
    other.close()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("program_limit_exceeded", StoreUnavailable), ("lock_not_available", WriteConflict)],
)
def test_a_commit_that_fails_has_stored_nothing_and_says_nothing_of_the_event(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch, condition: str, expected: type[Exception]
) -> None:
    monkeypatch.setattr(storage_module, "_GIVE_UP_AFTER_S", 0.0)
    storage = open_storage(postgresql_url)
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION fail() RETURNS TRIGGER LANGUAGE plpgsql AS"
            f" 'BEGIN RAISE {condition}; END'".encode()
        )
        connection.execute(
            "CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON events"
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()"
        )
        for _ in range(2):
            with pytest.raises(expected):
                storage.write(append_one)
        connection.execute("DROP FUNCTION fail CASCADE")
    assert num_events(storage) == 0
    storage.write(append_one)
    assert num_events(storage) == 1
    storage.close()


def test_a_driver_that_fails_after_the_commit_takes_neither_it_back_nor_the_connection(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a driver raises as it leaves a pipeline is not always one of its own errors."""
    monkeypatch.setattr(engine_module, "_CHECKOUT_TIMEOUT_S", 0.5)
    storage = open_storage(postgresql_url)

    def fail() -> None:
        raise IndexError

    def work(transaction: WriteTransaction) -> None:
        assert isinstance(transaction, SqlWriteTransaction)
        connection = transaction._connection  # noqa: SLF001 - the driver cannot be made to
        assert isinstance(connection, PostgresConnection)
        connection._pipeline.callback(fail)  # noqa: SLF001
        append_one(transaction)

    for number in (1, 2, 3):
        storage.write(work)
        assert num_events(storage) == number
    storage.close()


def test_a_rebuild_may_take_longer_than_other_writes(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgresql.WRITER_SETTINGS, "statement_timeout", "100")
    monkeypatch.setattr(postgresql, "WRITER_ANSWER_LIMIT_S", 0.2)
    storage = open_storage(postgresql_url)

    def work(transaction: WriteTransaction, *, rebuild: bool) -> None:
        assert isinstance(transaction, SqlWriteTransaction)
        if rebuild:
            transaction.clear_projections()
        transaction._connection.execute("SELECT pg_sleep(0.4)")  # noqa: SLF001 - instead of much data

    storage.write(lambda t: work(t, rebuild=True))
    with pytest.raises(StoreUnavailable):  # and the limits are back
        storage.write(lambda t: work(t, rebuild=False))
    storage.close()


def test_a_batch_that_no_buffer_holds_is_written(postgresql_url: str) -> None:
    storage = open_storage(postgresql_url)
    large = [event(number)._replace(payload=bytes(2**20)) for number in range(1, 21)]
    storage.write(lambda transaction: transaction.append_events(large))
    assert num_events(storage) == len(large)
    storage.close()


def test_writers_of_the_same_new_executions_lose_nothing_and_never_block_each_other(
    postgresql_url: str,
) -> None:
    keys = [bytes([number]) * 16 for number in range(20)]
    num_rounds, errors, tries = 50, [], []

    def append_to_some(transaction: WriteTransaction, chosen: list[bytes]) -> None:
        tries.append(chosen)
        transaction.lock_executions(chosen)
        last = transaction.get_last_sequences(chosen)
        transaction.append_events([event(last.get(key, 0) + 1, execution=key) for key in chosen])

    def append_many(seed: int) -> None:
        rng, storage = random.Random(seed), open_storage(postgresql_url)
        try:
            for _ in range(num_rounds):
                chosen = rng.sample(keys, 10)
                storage.write(lambda t, chosen=chosen: append_to_some(t, chosen))  # type: ignore[misc]
        except Exception as exc:  # noqa: BLE001 - for the test to fail with
            errors.append(exc)
        finally:
            storage.close()

    threads = [threading.Thread(target=append_many, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert errors == []
    assert len(tries) == 4 * num_rounds  # a deadlock would have made one run again
    with psycopg.connect(postgresql_url) as connection:
        rows = connection.execute(
            "SELECT count(*), max(sequence), min(sequence) FROM events GROUP BY execution_key"
        ).fetchall()
    assert sum(count for count, _, _ in rows) == 4 * num_rounds * 10
    assert all((count, 1) == (last, first) for count, last, first in rows)


def test_work_runs_again_after_a_deadlock(postgresql_url: str) -> None:
    both_hold_one = threading.Barrier(2)
    tries = []

    def register(storage: Storage, names: tuple[str, str]) -> None:
        def work(transaction: WriteTransaction) -> None:
            tries.append(names)
            transaction.put_workflow(workflow(names[0]))
            transaction.get_executions([KEY])  # until the server has answered
            if tries.count(names) == 1:
                both_hold_one.wait(DEADLINE_S)
            transaction.put_workflow(workflow(names[1]))

        storage.write(work)

    storages = [open_storage(postgresql_url), open_storage(postgresql_url)]
    orders = [("a", "b"), ("b", "a")]
    threads = [
        threading.Thread(target=register, args=each) for each in zip(storages, orders, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert len(tries) == 3
    with storages[0].read() as transaction:
        for name in ("a", "b"):
            assert transaction.get_workflow(workflow(name).workflow_key) == workflow(name)
    for storage in storages:
        storage.close()


def test_a_commit_waits_for_the_disk_whatever_the_database_says(postgresql_url: str) -> None:
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off".encode())
    storage = open_storage(postgresql_url)
    assert isinstance(storage, SqlStorage)
    with storage._writer.connect() as writer:  # noqa: SLF001 - a power cut cannot be staged
        assert writer.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    storage.close()
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} RESET synchronous_commit".encode())


def test_readers_cannot_write(postgresql_url: str) -> None:
    storage = open_storage(postgresql_url)
    assert isinstance(storage, SqlStorage)
    with storage._reader.connect() as reader, pytest.raises(Exception, match="read-only"):  # noqa: SLF001
        reader.exec_driver_sql("DELETE FROM events")
    storage.close()


def test_a_database_without_tables_names_the_command(postgresql: Databases) -> None:
    storage = open_storage(postgresql.create())
    with pytest.raises(StoreUnavailable, match="spanwise migrate"):
        storage.write(append_one)
    with storage.read() as transaction, pytest.raises(StoreUnavailable, match="spanwise migrate"):
        transaction.has_execution(KEY)
    storage.close()


def test_a_mistake_in_the_package_is_no_error_of_the_domain(postgresql_url: str) -> None:
    storage = open_storage(postgresql_url)
    with pytest.raises(RuntimeError):
        storage.write(lambda transaction: transaction.append_events([event(1), event(1)]))
    storage.write(append_one)
    storage.close()

"""Other applications on the same PostgreSQL, and their NOTIFY: one queue and one lock for all.

spanwise uses neither, so what goes wrong there does not concern it, and it makes nothing go wrong.
"""

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from spanwise_server.storage.api import Storage, WriteTransaction
from spanwise_server.storage.sql import open_storage, postgresql
from spanwise_server.storage.sql import storage as storage_module
from spanwise_server.storage.sql.migrations import upgrade
from tests.postgresql import Databases, PostgresServer
from tests.storage.records import KEY, event
from tests.storage.steps import events_of

DEADLINE_S = 60
SMALL_QUEUE = "max_notify_queue_pages=64"  # 512 KiB
NOTIFY = (
    "SELECT pg_notify(%s, number || repeat('-', 1000)) FROM generate_series(1, 200) AS n(number)"
)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer(SMALL_QUEUE)
    yield server
    server.close()


@pytest.fixture(scope="module")
def module_url(server: PostgresServer) -> str:
    url = Databases(server.url).create()
    upgrade(url)
    return url


@pytest.fixture
def url(module_url: str) -> str:
    """Give a database without events."""
    with psycopg.connect(module_url) as connection:
        connection.execute("TRUNCATE events")
    return module_url


@pytest.fixture
def storage(url: str) -> Iterator[Storage]:
    """Give a storage whose writes are not patient."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage_module, "_GIVE_UP_AFTER_S", 0.0)
        patch.setitem(postgresql.WRITER_SETTINGS, "lock_timeout", "200")
        storage = open_storage(f"{url}&options=-csynchronous_commit%3Dlocal")
        yield storage
        storage.close()


@pytest.fixture
def other(server: PostgresServer) -> Iterator[psycopg.Connection]:
    """Give a session of another application, on another database."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        yield connection


def append_one(transaction: WriteTransaction) -> None:
    transaction.lock_executions([KEY])
    last = transaction.get_last_sequences([KEY]).get(KEY, 0)
    transaction.append_events([event(last + 1)])


def num_events(storage: Storage) -> int:
    with storage.read() as transaction:
        return len(events_of(transaction))


def wait_until_fetched(connection: psycopg.Connection, text: str) -> None:
    """Wait until a statement has a result."""
    give_up_at = time.monotonic() + DEADLINE_S
    while connection.execute(text.encode()).fetchone() is None:
        assert time.monotonic() < give_up_at, text
        time.sleep(0.01)


def notify_without_end(connection: psycopg.Connection, text: str) -> None:
    while True:
        connection.execute(text.encode(), ("things",))


def test_who_has_waited_leaves_nothing_to_be_sent(storage: Storage, url: str) -> None:
    """Whoever listens and does not read lets the queue fill up, and then nobody can NOTIFY."""
    storage.wait_for_commits(0)
    storage.write(append_one)
    storage.wait_for_commits(DEADLINE_S)
    with psycopg.connect(url, autocommit=True) as application:
        for _ in range(20):
            application.execute(NOTIFY, ("spanwise_events",))


def test_a_queue_that_others_have_filled_is_not_noticed(
    storage: Storage, url: str, server: PostgresServer
) -> None:
    storage.wait_for_commits(0)
    with psycopg.connect(url) as application:
        application.execute("LISTEN things")
        application.commit()
        application.execute("SELECT 1")  # a transaction, and as long as it is open it hears nothing
        with psycopg.connect(url, autocommit=True) as busy:
            for text in (NOTIFY, NOTIFY.replace("200", "1")):
                with pytest.raises(psycopg.errors.ProgramLimitExceeded):
                    notify_without_end(busy, text)
        for number in (1, 2, 3):
            storage.write(append_one)
            assert num_events(storage) == number
            storage.wait_for_commits(DEADLINE_S)
    server.stop()  # which empties the queue
    server.start()


def test_a_notify_of_another_database_that_waits_holds_up_nothing(
    storage: Storage, other: psycopg.Connection, server: PostgresServer
) -> None:
    """For a standby, here; it has the one lock that every NOTIFY takes for its commit."""
    storage.wait_for_commits(0)
    storage.write(append_one)
    other.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
    other.execute("SELECT pg_reload_conf()")

    def notify() -> None:
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE things (number BIGINT)")
            connection.execute("NOTIFY things")

    waiting = threading.Thread(target=notify)
    try:
        wait_until_fetched(
            other,
            "SELECT FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting <> ''",
        )
        waiting.start()
        wait_until_fetched(other, "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        for number in (2, 3):
            storage.write(append_one)
            assert num_events(storage) == number
            storage.wait_for_commits(DEADLINE_S)
        assert waiting.is_alive()
    finally:
        other.execute("ALTER SYSTEM RESET synchronous_standby_names")
        other.execute("SELECT pg_reload_conf()")
        waiting.join(DEADLINE_S)

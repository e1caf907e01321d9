"""Tables that are spread keep the contract of storage.

Three ways: partitions of PostgreSQL; the statements for Citus, on a PostgreSQL without it, which
shows that they mean the same; and Citus itself, when SPANWISE_TEST_CITUS_URL names an empty
database of its coordinator.
"""

import os
from collections.abc import Iterator

import psycopg
import pytest

from spanwise_server.domain.errors import NotSupported
from spanwise_server.storage.api import Storage
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.migrations import distribute, partition, verify
from spanwise_server.storage.sql.schema import METADATA
from tests.postgresql import Databases
from tests.storage import contract_deletion
from tests.storage.contract import *  # noqa: F403 - all of its classes are tests of this storage
from tests.storage.contract_deletion import (  # the others are changed below
    TestAges,  # noqa: F401
    TestLogSizes,  # noqa: F401
)
from tests.storage.contract_executions import *  # noqa: F403 - as above
from tests.storage.contract_reading import *  # noqa: F403 - as above
from tests.storage.records import KEY

CITUS_URL = os.environ.get("SPANWISE_TEST_CITUS_URL")
"""Read before the settings of whoever runs the tests are scrubbed."""

NUM_PARTITIONS = 3


@pytest.fixture(scope="module")
def partitioned_url(postgresql: Databases) -> str:
    url = postgresql.create()
    partition(url, NUM_PARTITIONS)
    return url


@pytest.fixture(scope="module")
def citus_url() -> str:
    if not CITUS_URL:
        pytest.skip("SPANWISE_TEST_CITUS_URL is not set")
    url = f"citus:{CITUS_URL.partition(':')[2]}"
    distribute(url)
    verify(url)
    return url


@pytest.fixture(params=["partitions", "statements for Citus", "Citus"])
def url(request: pytest.FixtureRequest, postgresql: Databases) -> Iterator[str]:
    """Give the URL of an empty database with all tables."""
    if request.param == "statements for Citus":
        with postgresql.migrated() as url:
            yield url.replace("postgresql:", "citus:")
        return
    names = {"partitions": "partitioned_url", "Citus": "citus_url"}
    url = request.getfixturevalue(names[request.param])
    yield url
    with psycopg.connect(url.replace("citus:", "postgresql:")) as connection:
        connection.execute("SET lock_timeout = '10s'")
        connection.execute(f"TRUNCATE {', '.join(METADATA.tables)}".encode())


class TestDeletion(contract_deletion.TestDeletion):
    @pytest.fixture(autouse=True)
    def count_citus(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count rows past spanwise, which does not tell the sizes of distributed tables."""

        def num_rows(_: Storage) -> dict[str, int]:
            counts = (f"(SELECT count(*) FROM {name})" for name in METADATA.tables)  # noqa: S608
            with psycopg.connect(url.replace("citus:", "postgresql:")) as connection:
                [row] = connection.execute(f"SELECT {', '.join(counts)}".encode()).fetchall()
            return dict(zip(METADATA.tables, row, strict=True))

        if url.startswith("citus:"):
            monkeypatch.setattr(contract_deletion, "num_rows", num_rows)

    def test_the_last_event_that_is_left_is_found_at_every_step(self, storage: Storage) -> None:
        """Which an event that comes meanwhile gets its sequence from."""
        storage.write(contract_deletion.put_everything)
        contract_deletion.mark(storage, KEY)
        last = []
        while not contract_deletion.delete_part(storage, max_rows=1).is_complete:
            found = storage.write(lambda writer: writer.get_last_sequences([KEY]))
            last += [number for number in found.values() if number not in last]
        assert last == [5, 4, 3, 2, 1]


class TestStatistics(contract_deletion.TestStatistics):
    @pytest.fixture(autouse=True)
    def skip_citus(self, url: str) -> None:
        """Sizes of distributed tables are Citus's to tell."""
        if url.startswith("citus:"):
            pytest.skip("not told by spanwise")


def test_sizes_of_distributed_tables_are_left_to_citus(postgresql: Databases) -> None:
    with postgresql.migrated() as url:
        storage = open_storage(url.replace("postgresql:", "citus:"))
        with storage.read() as transaction, pytest.raises(NotSupported, match="citus_tables"):
            transaction.get_statistics(0, 1)
        with storage.read() as transaction, pytest.raises(NotSupported, match="citus_tables"):
            transaction.get_used_bytes()
        storage.close()

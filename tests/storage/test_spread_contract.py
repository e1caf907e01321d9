"""Tables that are spread keep the contract of storage.

Three ways: partitions of PostgreSQL; the statements for Citus, on a PostgreSQL without it, which
shows that they mean the same; and Citus itself, when SPANWISE_TEST_CITUS_URL names an empty
database of its coordinator.
"""

import os
from collections.abc import Iterator

import psycopg
import pytest

from spanwise_server.storage.sql.migrations import distribute, partition, verify
from spanwise_server.storage.sql.schema import METADATA
from tests.postgresql import Databases
from tests.storage import contract, contract_reading

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


class TestTransactions(contract.TestTransactions):
    pass


class TestWaitingForCommits(contract.TestWaitingForCommits):
    pass


class TestEmptyInput(contract.TestEmptyInput):
    pass


class TestExecutions(contract.TestExecutions):
    pass


class TestNodes(contract.TestNodes):
    pass


class TestAttempts(contract.TestAttempts):
    pass


class TestReasons(contract.TestReasons):
    pass


class TestLog(contract.TestLog):
    pass


class TestHistory(contract_reading.TestHistory):
    pass


class TestWorkflows(contract_reading.TestWorkflows):
    pass


class TestKeptTrees(contract_reading.TestKeptTrees):
    pass


class TestListingFinishedAttempts(contract_reading.TestListingFinishedAttempts):
    pass


class TestListingExecutions(contract_reading.TestListingExecutions):
    pass


class TestListingEvents(contract_reading.TestListingEvents):
    pass

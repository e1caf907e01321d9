"""PostgreSQL keeps the contract of storage, and what is promised of PostgreSQL alone."""

from collections.abc import Iterator

import pytest

from tests.postgresql import Databases
from tests.storage import contract, contract_deletion, contract_reading


@pytest.fixture
def url(postgresql: Databases) -> Iterator[str]:
    """Give the URL of an empty database with all tables."""
    with postgresql.migrated() as url:
        yield url


class TestTransactions(contract.TestTransactions):
    pass


class TestClosing(contract.TestClosing):
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


class TestAges(contract_deletion.TestAges):
    pass


class TestDeletion(contract_deletion.TestDeletion):
    pass


class TestStatistics(contract_deletion.TestStatistics):
    pass

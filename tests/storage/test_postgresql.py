"""PostgreSQL keeps the contract of storage, and what is promised of PostgreSQL alone."""

from collections.abc import Iterator

import pytest

from tests.postgresql import Databases
from tests.storage.contract import *  # noqa: F403 - all of its classes are tests of this storage
from tests.storage.contract_deletion import *  # noqa: F403 - as above
from tests.storage.contract_executions import *  # noqa: F403 - as above
from tests.storage.contract_reading import *  # noqa: F403 - as above


@pytest.fixture
def url(postgresql: Databases) -> Iterator[str]:
    """Give the URL of an empty database with all tables."""
    with postgresql.migrated() as url:
        yield url

"""PostgreSQL keeps the contract of storage, and what is promised of PostgreSQL alone."""

import pytest

from tests.storage.contract import *  # noqa: F403 - all of its classes are tests of this storage
from tests.storage.contract_deletion import *  # noqa: F403 - as above
from tests.storage.contract_executions import *  # noqa: F403 - as above
from tests.storage.contract_reading import *  # noqa: F403 - as above


@pytest.fixture
def url(postgresql_url: str) -> str:
    """Let the storage of the contract be one on PostgreSQL."""
    return postgresql_url

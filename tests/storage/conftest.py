"""Storages for the tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise_server.storage.api import Storage
from spanwise_server.storage.sql import open_storage
from spanwise_server.storage.sql.migrations import upgrade
from tests.postgresql import Databases


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Give the URL of a new database with all tables."""
    url = f"sqlite:///{tmp_path}/spanwise.db"
    upgrade(url)
    return url


@pytest.fixture
def postgresql_url(postgresql: Databases) -> Iterator[str]:
    """Give the URL of an empty PostgreSQL database with all tables."""
    with postgresql.migrated() as url:
        yield url


@pytest.fixture
def storage(url: str) -> Iterator[Storage]:
    """Give a storage, and close it after the test."""
    storage = open_storage(url)
    yield storage
    storage.close()

"""What holds for every test."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.postgresql import GIVEN_URL, Databases, PostgresServer

# Hypothesis measures examples, and how they are made, by the clock on the wall, which tells how
# busy the machine is. A test that hangs is ended by pytest-timeout.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")


@pytest.fixture(scope="session", autouse=True)
def scrubbed_environment() -> Iterator[None]:
    """Keep the settings of whoever runs the tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("SPANWISE_"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Databases]:
    """Give databases on a PostgreSQL server that all tests share."""
    if GIVEN_URL:
        databases = Databases(GIVEN_URL)
        yield databases
        databases.close()
        return
    server = PostgresServer()
    yield Databases(server.url)
    server.close()

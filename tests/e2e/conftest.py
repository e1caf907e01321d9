"""A server that tests share, for those that neither stop it nor depend on what else is in it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.harness import ServerProcess, Stubs, running_server
from tests.postgresql import Databases


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[ServerProcess]:
    """Give a running server; it must still run at the end, and must not have failed inside.

    It keeps its events in a SQLite file, unless the module says ON_EACH_DATABASE.
    """
    with ExitStack() as stack:
        if getattr(request, "param", None) == "postgresql":
            databases: Databases = request.getfixturevalue("postgresql")
            database: Path | str = stack.enter_context(databases.migrated())
        else:
            folders: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
            database = folders.mktemp("server") / "spanwise.db"
        with running_server(database) as server:
            yield server
            assert server.process.poll() is None, server.said()
            assert "nobody foresaw" not in server.said()


@pytest.fixture
def stubs(server: ServerProcess) -> Iterator[Stubs]:
    """Give stubs on a channel that takes answers of any size."""
    with server.channel(max_receive_message_length=-1, max_send_message_length=-1) as channel:
        yield Stubs(channel)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """Give each kind of database in turn, with nothing in it, for servers to run on."""
    if request.param == "sqlite":
        yield tmp_path / "spanwise.db"
        return
    databases: Databases = request.getfixturevalue("postgresql")
    with databases.migrated() as url:
        yield url

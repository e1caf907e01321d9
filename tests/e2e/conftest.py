"""A server that tests share, for those that neither stop it nor depend on what else is in it."""

from collections.abc import Iterator

import pytest

from tests.e2e.harness import ServerProcess, Stubs, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Give a running server; it must still run at the end, and must not have failed inside."""
    with running_server(tmp_path_factory.mktemp("server") / "spanwise.db") as server:
        yield server
        assert server.process.poll() is None, server.said()
        assert "nobody foresaw" not in server.said()


@pytest.fixture
def stubs(server: ServerProcess) -> Iterator[Stubs]:
    """Give stubs on a channel that takes answers of any size."""
    with server.channel(max_receive_message_length=-1, max_send_message_length=-1) as channel:
        yield Stubs(channel)

"""Servers for tests of the wire, which hold for every front, whichever the other tests run on."""

from collections.abc import Iterator

import pytest

from tests.e2e.harness import ServerProcess, Stubs, running_server

FRONTS = ("grpcio", "envoy")

on_every_front = pytest.mark.parametrize("front", FRONTS)


@pytest.fixture(scope="module", params=FRONTS)
def wire_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """Give a running server of each front; it must still run at the end, and have no complaint."""
    database = tmp_path_factory.mktemp("wire") / "spanwise.db"
    with running_server(database, "--front", request.param) as server:
        yield server
        assert server.process.poll() is None, server.said()
        assert "nobody foresaw" not in server.said()
        assert "Exception" not in server.said(), server.said()


@pytest.fixture
def wire(wire_server: ServerProcess) -> Iterator[Stubs]:
    """Give stubs on a channel of its own that takes answers of any size."""
    options = {"max_receive_message_length": -1, "max_send_message_length": -1}
    with wire_server.channel(use_local_subchannel_pool=1, **options) as channel:
        yield Stubs(channel)

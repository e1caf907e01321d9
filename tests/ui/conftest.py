"""A server with the executions of this folder, a browser, and visitors who may meet no trouble."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.benchmarks.report import Row, render
from tests.e2e.harness import ServerProcess, Stubs, running_server
from tests.ui.browser import Visitor, chromium
from tests.ui.fixtures import write_big, write_small

FIGURES = pytest.StashKey[list[Row]]()

NewVisitor = Callable[..., Visitor]


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> list[Row]:
    """Take figures to print at the end."""
    return request.config.stash.setdefault(FIGURES, [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the figures beside their targets."""
    if rows := config.stash.get(FIGURES, None):
        terminalreporter.section("figures of the page")
        terminalreporter.write_line(render(rows))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Give a server with the small executions."""
    database = tmp_path_factory.mktemp("small") / "small.db"
    write_small(database)
    with running_server(database) as server:
        yield server
        assert server.process.poll() is None, server.said()
        assert "nobody foresaw" not in server.said()


@pytest.fixture(scope="session")
def big_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Give a server with the big execution."""
    database = tmp_path_factory.mktemp("big") / "big.db"
    write_big(database)
    with running_server(database) as server:
        yield server
        assert server.process.poll() is None, server.said()
        assert "nobody foresaw" not in server.said()


@pytest.fixture(scope="session")
def stubs(server: ServerProcess) -> Iterator[Stubs]:
    """Give stubs of the server with the small executions."""
    with server.channel(max_receive_message_length=-1) as channel:
        yield Stubs(channel)


@pytest.fixture(scope="session")
def pictures(request: pytest.FixtureRequest) -> Path:
    """Give a folder for pictures of the page that people may want to look at."""
    folder: Path = request.config.cache.mkdir("page")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give a browser."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def new_visitor(browser: Browser) -> Iterator[NewVisitor]:
    """Give a way to have visitors: of the page of a server, with options of their own.

    At the end none of them may have met any trouble.
    """
    visitors: list[Visitor] = []

    def come(server: ServerProcess, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, server.page, **options))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.close()
    assert [trouble for visitor in visitors for trouble in visitor.troubles] == []


@pytest.fixture
def visitor(server: ServerProcess, new_visitor: NewVisitor) -> Visitor:
    """Give a visitor of the server with the small executions."""
    return new_visitor(server)

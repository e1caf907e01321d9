"""The page of the big execution in Chromium: loading, moving about, searching."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser

from tests.benchmarks.report import Row
from tests.e2e.harness import ServerProcess, running_server
from tests.ui.big_timeline import load, move_about, time_expanding, time_search
from tests.ui.browser import Visitor, chromium
from tests.ui.figures import limit_ms
from tests.ui.fixtures import write_big

QUERIES = ("blink", "big-map-12345", "step 7 of 23 is done")


def measure_page() -> list[Row]:
    """Measure what tests/ui measures on the way, by itself; needs /usr/bin/chromium."""
    with _server() as server, chromium() as browser:
        return _measure(browser, server)


@contextmanager
def _server() -> Iterator[ServerProcess]:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "big.db"
        write_big(database)
        with running_server(database) as server:
            yield server


def _measure(browser: Browser, server: ServerProcess) -> list[Row]:
    visitor = Visitor(browser, server.page)
    loading = load(visitor, server)
    timeline = loading.timeline
    rows = [*loading.figures(), *move_about(timeline, "tree").figures()]
    rows += [limit_ms(f"{what} all", ms, 200) for what, ms in time_expanding(timeline).items()]
    for query in QUERIES:
        rows.append(limit_ms(f"search for {query!r}", time_search(timeline, query)[0], 300))
    timeline.search.fill("")
    timeline.switch_to_packed()
    rows += move_about(timeline, "packed").figures()
    visitor.close()
    return rows

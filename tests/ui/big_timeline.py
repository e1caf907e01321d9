"""What is measured on the big execution: the same by tests and by `make bench ARGS=ui`."""

from typing import NamedTuple

import httpx

from spanwise.v1.identifiers_pb2 import ExecutionId as ExecutionMessage
from tests.benchmarks.report import Row
from tests.e2e.harness import ServerProcess
from tests.e2e.http_client import TIMEOUT_S, path_of
from tests.ui.big import BIG
from tests.ui.browser import Visitor, address_of
from tests.ui.figures import limit_mb, limit_ms, p95
from tests.ui.timeline import Timeline

NUM_STEPS = 200
"""Of moving about."""

PLOT_PX = (600.0, 300.0)
"""A place on the plot that bars are at."""


class Loading(NamedTuple):
    """How the page of the big execution came up.

    Attributes:
        timeline: It.
        painted_ms: From the begin of the navigation until rows were drawn.
        interactive_ms: Until a key had its effect.
        heap_bytes: Memory of the page: objects and arrays.
        sent_bytes: Length of the columns, as they were sent.
        payload_bytes: Length of the columns.
    """

    timeline: Timeline
    painted_ms: float
    interactive_ms: float
    heap_bytes: int
    sent_bytes: int
    payload_bytes: int

    def figures(self) -> list[Row]:
        """Give lines to print."""
        return [
            limit_mb("columns of 200,000 spans", self.payload_bytes, 12),
            Row("  on the wire", f"{self.sent_bytes / 1e6:.1f} MB"),
            limit_ms("from navigation to rows", self.painted_ms, 3000),
            limit_ms("from navigation to the effect of a key", self.interactive_ms, 5000),
            limit_mb("memory of the page", self.heap_bytes, 300),
        ]


def load(visitor: Visitor, server: ServerProcess) -> Loading:
    """Open the big execution with nothing in the browser's cache."""
    page = visitor.goto(address_of(BIG))
    timeline = Timeline(page)
    timeline.wait_until_drawn()
    painted_ms = page.evaluate("() => performance.now()")
    timeline.tree.focus()
    timeline.press("ArrowDown")
    timeline.tree.locator("[aria-selected=true]").wait_for()
    interactive_ms = page.evaluate("() => performance.now()")
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")
    session.detach()
    project, domain, name = BIG
    url = server.page + path_of(
        ExecutionMessage(project=project, domain=domain, name=name), "columns"
    )
    compressed = httpx.get(url, headers={"accept-encoding": "zstd, gzip"}, timeout=TIMEOUT_S)
    assert compressed.status_code == 200
    return Loading(
        timeline,
        painted_ms,
        interactive_ms,
        int(heap["usedSize"] + heap.get("backingStorageSize", 0)),
        compressed.num_bytes_downloaded,
        len(compressed.content),
    )


class Smoothness(NamedTuple):
    """How moving about went.

    Attributes:
        mode: tree or packed.
        draw_ms: Time that drawing took, by frame.
        gaps_ms: Times between frames that follow each other.
        long_tasks_ms: Tasks that kept the page from anything else for more than 50 ms.
    """

    mode: str
    draw_ms: list[float]
    gaps_ms: list[float]
    long_tasks_ms: list[float]

    def figures(self) -> list[Row]:
        """Give lines to print."""
        most_ms = 8 if self.mode == "tree" else 14
        return [
            limit_ms(f"drawing a frame, {self.mode}, p95", p95(self.draw_ms), most_ms),
            limit_ms("  between frames, p95", p95(self.gaps_ms), 50),
            limit_ms("  longest task", max(self.long_tasks_ms, default=0), 100),
        ]


def move_about(timeline: Timeline, mode: str) -> Smoothness:
    """Zoom by the wheel, drag, scroll and jump, `NUM_STEPS` steps in all."""
    page = timeline.page
    probe = "() => [window.__spanwise.stats(), window.__probe.longTasksMs]"
    before, tasks_before = page.evaluate(probe)
    x, y = PLOT_PX
    mouse = page.mouse
    mouse.move(x, y)
    for number in range(NUM_STEPS // 4):
        page.keyboard.down("Control")
        mouse.wheel(0, -120 if number % 10 < 6 else 120)
        page.keyboard.up("Control")
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + (40 if number % 2 else -60), y, steps=2)
        mouse.up()
        mouse.wheel(0, 330)
        page.evaluate(
            """share => {
              const scroller = document.querySelector(".tl-scroll");
              scroller.scrollTop = share * scroller.scrollHeight;
            }""",
            (number * 37 % 100) / 100,
        )
    after, tasks = page.evaluate(probe)
    timeline.press("0")
    return Smoothness(
        mode,
        after["drawMs"][len(before["drawMs"]) :],
        after["gapsMs"][len(before["gapsMs"]) :],
        tasks[len(tasks_before) :],
    )


def time_expanding(timeline: Timeline) -> dict[str, float]:
    """Measure from keys to the frame after their effect: expand all, collapse all."""
    timeline.tree.focus()
    return {what: _time_key(timeline, key) for what, key in (("expand", "X"), ("collapse", "x"))}


def _time_key(timeline: Timeline, key: str) -> float:
    timeline.page.evaluate(
        """() => {
          const probe = window.__probe;
          probe.effect = new Promise((resolve) =>
            addEventListener("keydown", ({ timeStamp }) => {
              const count = () => document.querySelector("[role=treegrid]").ariaRowCount;
              const before = count();
              const look = () => count() === before
                ? requestAnimationFrame(look)
                : requestAnimationFrame(() => resolve(performance.now() - timeStamp));
              requestAnimationFrame(look);
            }, { capture: true, once: true }));
        }"""
    )
    timeline.press(key)
    took_ms: float = timeline.page.evaluate("() => window.__probe.effect")
    return took_ms


def time_search(timeline: Timeline, query: str) -> tuple[float, str]:
    """Type a query; give the time from its last letter to the count, and the count as text."""
    page = timeline.page
    timeline.search.fill("")
    timeline.search.press_sequentially(query[:-1])
    page.evaluate(
        """query => {
          const probe = window.__probe;
          probe.counted = new Promise((resolve) =>
            addEventListener("input", ({ timeStamp }) => {
              const live = () => document.querySelector(".tl > [role=status]").textContent;
              const before = live();
              const look = () => {
                const text = document.querySelector(".tl-search-count")?.textContent ?? "…";
                if (text === "…" || live() === before) setTimeout(look, 2);
                else resolve([performance.now() - timeStamp, text]);
              };
              setTimeout(look, 2);
            }, { capture: true, once: true }));
        }""",
        query,
    )
    timeline.search.press(query[-1])
    took_ms, text = page.evaluate("() => window.__probe.counted")
    return took_ms, text

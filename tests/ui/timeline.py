"""The timeline of an execution as somebody uses it: with mouse, keyboard and eyes."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs

from playwright.sync_api import Locator, Page

from spanwise_server.domain.identifiers import ExecutionId
from tests.ui.browser import PATIENCE_MS, Visitor, address_of


class Box(NamedTuple):
    """In CSS pixels of the window."""

    x: float
    y: float
    width: float
    height: float

    @classmethod
    def of(cls, told: dict[str, float]) -> Self:
        """Read it."""
        return cls(told["x"], told["y"], told["width"], told["height"])

    @property
    def middle(self) -> tuple[float, float]:
        """The pixel in its middle."""
        return self.x + self.width / 2, self.y + self.height / 2


class Tick(NamedTuple):
    """A reason, or several so close that they are drawn as one.

    Attributes:
        point: The pixel to point at.
        num_reasons: Number of reasons.
        reasons: Their numbers in the execution.
    """

    point: tuple[float, float]
    num_reasons: int
    reasons: list[int]


class Row(NamedTuple):
    """A row in view."""

    row: int
    span_id: str
    name: str
    bar: Box
    ticks: list[Tick]


class Layout(NamedTuple):
    """What is in view: where bars are drawn, and the rows whose whole height can be seen."""

    plot: Box
    rows: list[Row]

    def named(self, name: str) -> Row:
        """Give the first row of a name."""
        found = [row for row in self.rows if row.name == name]
        assert found, f"no row in view is named {name!r}: {[row.name for row in self.rows]}"
        return found[0]


class Timeline:
    """A timeline in a tab.

    Attributes:
        page: The tab.
        tip: The tooltip, while there is one.
        search: The field to search in.
        tree: The names of the rows.
        details: What is told of the selected span.
        said: What is read out to those who do not see.
    """

    def __init__(self, page: Page) -> None:
        """Use the timeline that `page` shows."""
        self.page = page
        self.tip: Locator = page.get_by_role("tooltip")
        self.search: Locator = page.get_by_role("textbox", name="Search names")
        self.tree: Locator = page.get_by_role("treegrid")
        self.details: Locator = page.get_by_role("complementary", name="Details of")
        self.said: Locator = page.locator(".tl > [role=status]")

    @classmethod
    def open(cls, visitor: Visitor, execution_id: ExecutionId, **state: object) -> Self:
        """Show an execution, and wait until it is drawn."""
        visitor.goto(address_of(execution_id, **state))
        timeline = cls(visitor.page)
        timeline.wait_until_drawn()
        return timeline

    def wait_until_drawn(self) -> None:
        """Wait for the first rows."""
        self.page.wait_for_function("() => window.__spanwise")
        self.page.evaluate("() => window.__spanwise.ready")

    def layout(self) -> Layout:
        """Look at it."""
        told = self.page.evaluate("() => window.__spanwise.layout()")
        plot = Box.of(told["plot"])
        rows = [_row(row) for row in told["rows"]]
        return Layout(plot, [row for row in rows if _is_whole(row, plot)])

    def all_rows(self) -> Iterator[Layout]:
        """Look at all rows, from the top on, scrolling by the wheel."""
        while True:
            layout = self.layout()
            yield layout
            if not self.scroll(layout.plot, layout.plot.height - 3 * 22):
                return

    def scroll(self, plot: Box, by_px: float) -> bool:
        """Turn the wheel over the plot. Give whether anything moved."""
        before, most = self._scroll_state()
        if before >= most:
            return False
        self.page.mouse.move(plot.x + plot.width - 3, plot.y + 3)
        self.page.mouse.wheel(0, by_px)
        self.page.wait_for_function(
            "from => document.querySelector('.tl-scroll').scrollTop !== from"
            " && window.__spanwise.layout().rows[0]?.row > 0",
            arg=before,
        )
        return True

    def point_at(self, point: tuple[float, float]) -> None:
        """Move the mouse there."""
        self.page.mouse.move(*point)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def state(self) -> dict[str, str]:
        """Give what the address says."""
        hash_ = self.page.evaluate("() => location.hash")
        query = hash_.partition("?")[2]
        return {name: values[-1] for name, values in parse_qs(query).items()}

    def view_ns(self) -> tuple[float, float]:
        """Give the bounds of what is in view, which is not the whole run."""
        state = self.state()
        return float(state["t0"]), float(state["t1"])

    def wait_for_view_after(self, before: tuple[float, float]) -> tuple[float, float]:
        """Wait until other bounds than these are in view, and give them."""
        self.page.wait_for_function(
            """([t0, t1]) => {
              const state = new URLSearchParams(location.hash.split("?")[1] ?? "");
              const [from, to] = [Number(state.get("t0")), Number(state.get("t1"))];
              return from < to && (from !== t0 || to !== t1);
            }""",
            arg=list(before),
        )
        return self.view_ns()

    def wheel(self, by_px: float) -> None:
        """Turn the wheel with Ctrl held, which zooms, and wait until the view is another."""
        before = self.view_ns() if "t0" in self.state() else (0.0, 0.0)
        self.page.keyboard.down("Control")
        self.page.mouse.wheel(0, by_px)
        self.page.keyboard.up("Control")
        self.wait_for_view_after(before)

    def axis_marks(self) -> list[tuple[float, str]]:
        """Give the marks of the time axis: pixel of the plot, and text."""
        told = self.page.evaluate(
            """() => Array.from(document.querySelectorAll(".tl-axis-tick"), (tick) => [
              new DOMMatrix(getComputedStyle(tick).transform).m41,
              tick.querySelector(".tl-axis-time").textContent,
            ])"""
        )
        return [(x, text) for x, text in told]

    def switch_to_packed(self) -> None:
        """Show lanes instead of rows, and wait until they are drawn."""
        self.page.get_by_role("button", name="Packed").click()
        self.page.locator(".tl-lanes").wait_for()
        self.wait_until_at_rest()

    def revision(self) -> str:
        """Give the revision that is drawn."""
        revision: str = self.page.evaluate("() => window.__spanwise.rev()")
        return revision

    def frames(self) -> int:
        """Give the number of frames that were drawn."""
        frames: int = self.page.evaluate("() => window.__spanwise.stats().frames")
        return frames

    def scroll_to(self, share: float) -> None:
        """Pull the scroll bar to a share of its length, and wait for the rows there."""
        self.page.evaluate(
            """share => {
              const scroller = document.querySelector(".tl-scroll");
              scroller.scrollTop = share * (scroller.scrollHeight - scroller.clientHeight);
            }""",
            share,
        )
        self.wait_until_at_rest()

    def wait_until_at_rest(self) -> None:
        """Wait until no frame was drawn for a while."""
        self.page.evaluate(
            """async () => {
              const frames = () => window.__spanwise.stats().frames;
              let before = -1;
              while (before !== frames()) {
                before = frames();
                await new Promise((resolve) => setTimeout(resolve, 200));
              }
            }"""
        )

    def frames_while_idle(self, for_ms: int) -> int:
        """Give the number of frames that anything on the page asks for in a time without input."""
        self.wait_until_at_rest()
        num_frames: int = self.page.evaluate(
            """async (forMs) => {
              const before = window.__probe.frames;
              await new Promise((resolve) => setTimeout(resolve, forMs));
              return window.__probe.frames - before;
            }""",
            for_ms,
        )
        return num_frames

    def holds_on(self, condition: str, for_ms: int) -> bool:
        """Tell whether a condition in JavaScript holds all the time for so long from now on."""
        holds: bool = self.page.evaluate(
            """async ([condition, forMs]) => {
              const holds = {
                tip: () => document.querySelector("[role=tooltip]") !== null,
                noTip: () => document.querySelector("[role=tooltip]") === null,
              }[condition];
              const end = performance.now() + forMs;
              while (performance.now() < end) {
                if (!holds()) return false;
                await new Promise((resolve) => setTimeout(resolve, 10));
              }
              return holds();
            }""",
            [condition, for_ms],
        )
        return holds

    def colour_at(self, point: tuple[float, float]) -> tuple[int, ...]:
        """Give red, green and blue of a pixel of the plot, as its layers together show it."""
        colour: list[int] = self.page.evaluate(
            """([x, y]) => {
              const plot = document.querySelector(".tl-plot");
              const { left, top } = plot.getBoundingClientRect();
              const ratio = devicePixelRatio;
              const seen = new OffscreenCanvas(1, 1).getContext("2d");
              seen.fillStyle = getComputedStyle(document.body).backgroundColor;
              seen.fillRect(0, 0, 1, 1);
              const [column, line] = [x - left, y - top].map((each) => Math.floor(each * ratio));
              for (const canvas of plot.querySelectorAll("canvas"))
                seen.drawImage(canvas, column, line, 1, 1, 0, 0, 1, 1);
              return Array.from(seen.getImageData(0, 0, 1, 1).data.slice(0, 3));
            }""",
            list(point),
        )
        return tuple(colour)

    def wait_for_tip(self, text: str, part: str = "") -> str:
        """Wait until the tooltip holds a text, or a part of it is the text. Give all it says."""
        told: str = self.page.evaluate(
            """async ([text, part, patienceMs]) => {
              const end = performance.now() + patienceMs;
              for (;;) {
                const tip = document.querySelector("[role=tooltip]");
                if (part === "" ? tip?.textContent.includes(text)
                    : tip?.querySelector(part)?.textContent === text) return tip.textContent;
                if (performance.now() > end) throw new Error(
                  `the tooltip does not say ${text} but ${tip?.textContent}`);
                await new Promise((resolve) => setTimeout(resolve, 5));
              }
            }""",
            [text, part, PATIENCE_MS],
        )
        return told

    def time_tips(self) -> None:
        """Measure from now on how long tooltips take from the move of the mouse."""
        self.page.evaluate(
            """() => {
              const { __probe: probe } = window;
              addEventListener("pointermove", (event) => (probe.movedAt = event.timeStamp), true);
              let last = null;
              new MutationObserver(() => {
                const text = document.querySelector("[role=tooltip] time")?.textContent ?? null;
                if (text !== null && text !== last)
                  probe.tipMs.push(performance.now() - probe.movedAt);
                last = text;
              }).observe(document.body, { childList: true, characterData: true, subtree: true });
            }"""
        )

    def tips_ms(self) -> list[float]:
        """Give the times that tooltips took."""
        times: list[float] = self.page.evaluate("() => window.__probe.tipMs")
        return times

    def _scroll_state(self) -> tuple[float, float]:
        top, most = self.page.evaluate(
            """() => {
              const scroller = document.querySelector(".tl-scroll");
              return [scroller.scrollTop, scroller.scrollHeight - scroller.clientHeight - 1];
            }"""
        )
        return top, most


def _row(told: dict[str, Any]) -> Row:
    ticks = [
        Tick((tick["lineX"], tick["y"] + tick["height"] / 2), tick["count"], tick["reasons"])
        for tick in told["ticks"]
    ]
    return Row(told["row"], told["spanId"], told["name"], Box.of(told["bar"]), ticks)


def _is_whole(row: Row, plot: Box) -> bool:
    top = row.bar.y - 5
    return plot.y <= top and top + 22 <= plot.y + plot.height


MINUS = "\u2212"

_UNITS_NS = {"d": 86_400e9, "h": 3_600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0}


def parse_duration_ns(text: str) -> int:
    """Read a duration that the page wrote, such as +1m 02.5s."""
    parts = re.findall(r"([\d.]+)(d|h|ms|m|s|µs|ns)\b", text)
    assert parts, f"{text!r} is no duration"
    sign = -1 if text.startswith(MINUS) else 1
    return sign * sum(round(float(number) * _UNITS_NS[unit]) for number, unit in parts)


def parse_moment_ns(text: str) -> int:
    """Read a moment that the page wrote, such as 2026-03-02 13:30:05.25 UTC+05:30."""
    matched = re.search(
        r"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))? UTC(?:([+\u2212])(\d\d):(\d\d))?",
        text,
    )
    assert matched, f"{text!r} is no moment"
    *wall, fraction, sign, hours, minutes = matched.groups()
    year, month, day, hour, minute, second = map(int, wall)
    at = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    ahead_s = (int(hours or 0) * 60 + int(minutes or 0)) * 60 * (-1 if sign == MINUS else 1)
    return (int(at.timestamp()) - ahead_s) * 10**9 + int((fraction or "0").ljust(9, "0"))

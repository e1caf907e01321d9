"""The page follows what happens, and is the same in the end as one that is opened then."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from spanwise.v1.event_pb2 import ExecutionError
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.service.arrivals import Arrival
from tests.ui.browser import address_of
from tests.ui.conftest import NewVisitor
from tests.ui.events import START_NS, Story, said
from tests.ui.restartable import Restartable
from tests.ui.timeline import Timeline

LIVE = ExecutionId("flytesnacks", "development", "live")

NUM_NODES = 60


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Restartable]:
    running = Restartable(tmp_path / "live.db")
    yield running
    running.server.kill()


def begin(at_s: float = 0) -> list[Arrival]:
    story = Story(LIVE)
    story.execution("RUNNING", at_s)
    for number in range(NUM_NODES):
        story.node(f"n{number}", "RUNNING", at_s + 1 + number)
    return story.arrivals


def earlier() -> list[Arrival]:
    """Give late news of nodes that started before a beginning at 100 s."""
    story = Story(LIVE)
    for number in range(10):
        story.node(f"early{number}", "RUNNING", 10 + number)
    return story.arrivals


def go_on() -> list[Arrival]:
    story = Story(LIVE)
    for number in range(NUM_NODES):
        story.task(f"n{number}", "RUNNING", 2 + number, said(2.5 + number, f"reason {number}"))
        story.task(f"n{number}", "SUCCEEDED", 80 + number)
        story.node(f"n{number}", "SUCCEEDED", 81 + number)
    return story.arrivals


def end() -> list[Arrival]:
    story = Story(LIVE)
    story.execution("SUCCEEDED", 200)
    return story.arrivals


def place_of(timeline: Timeline) -> tuple[object, ...]:
    """Give where the visitor is: place of the scroll bar, what is selected, what is in view."""
    top = timeline.page.evaluate("() => document.querySelector('.tl-scroll').scrollTop")
    state = timeline.state()
    return top, state["sel"], state["t0"], state["t1"]


def columns_of(timeline: Timeline) -> str:
    """Give a checksum of what the page would be opened with now."""
    digest: str = timeline.page.evaluate(
        """async () => {
          const path = location.hash.slice("#/e/".length).split("?")[0];
          const response = await fetch(`api/v1/executions/${path}/columns`, { cache: "no-store" });
          const digest = await crypto.subtle.digest("SHA-256", await response.arrayBuffer());
          return Array.from(new Uint8Array(digest), (byte) => byte.toString(16)).join();
        }"""
    )
    return digest


def test_events_appear_and_neither_place_nor_selection_nor_zoom_moves(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    running.send(begin())
    timeline = Timeline.open(new_visitor(running.server), LIVE, open="*")
    layout = timeline.layout()
    timeline.scroll(layout.plot, 440)
    timeline.tree.locator("[aria-rowindex='32']").click()
    timeline.tree.focus()
    timeline.press("w")
    timeline.wait_for_view_after((0, 0))
    before = place_of(timeline)
    arrivals = go_on()
    random.Random(7).shuffle(arrivals)  # late ones
    running.send([*arrivals, *arrivals[:50]])  # and ones that come twice
    expect(timeline.page.locator(".tl-status")).to_contain_text(f"{NUM_NODES} reasons")
    assert place_of(timeline) == before
    names = timeline.page.evaluate("() => window.__spanwise.layout().rows.map(r => r.spanId)")
    assert len(names) == len(set(names))
    running.send(end())
    expect(timeline.page.locator(".tl-status-phase")).to_contain_text("Succeeded")
    assert place_of(timeline) == before
    assert running.server.process.poll() is None


def test_running_bars_grow(running: Restartable, new_visitor: NewVisitor) -> None:
    now_s = (time.time_ns() - START_NS) / 1e9
    story = Story(LIVE)
    story.execution("RUNNING", now_s - 20)
    story.node("short", "RUNNING", now_s - 15)
    story.node("short", "SUCCEEDED", now_s - 10)
    story.node("long", "RUNNING", now_s - 10)
    running.send(story.arrivals)
    timeline = Timeline.open(new_visitor(running.server), LIVE)
    expect(timeline.page.locator(".tl-live")).to_contain_text("Live")
    duration = timeline.page.locator(".tl-status")
    before, told_before = times_as_long(timeline), duration.text_content()
    assert before >= 2  # it is ten seconds old
    timeline.page.wait_for_function(
        """before => {
          const rows = window.__spanwise.layout().rows;
          const width = (name) => rows.find((row) => row.name === name).bar.width;
          return width("long") / width("short") > before + 0.2;  // a second later
        }""",
        arg=before,
    )
    expect(duration).not_to_have_text(told_before or "")


def times_as_long(timeline: Timeline) -> float:
    layout = timeline.layout()
    return layout.named("long").bar.width / layout.named("short").bar.width


def test_the_view_goes_along_with_the_end_only_while_it_follows(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    now_s = (time.time_ns() - START_NS) / 1e9
    story = Story(LIVE)
    story.execution("RUNNING", now_s - 60)
    story.node("long", "RUNNING", now_s - 50)
    running.send(story.arrivals)
    timeline = Timeline.open(new_visitor(running.server), LIVE)
    timeline.tree.focus()
    timeline.press("w", "l")
    expect(timeline.said).to_have_text("Following the end")
    t0, t1 = timeline.wait_for_view_after((0, 0))
    later_t0, later_t1 = timeline.wait_for_view_after((t0, t1))
    for _ in range(3):
        before = later_t0, later_t1
        later_t0, later_t1 = timeline.wait_for_view_after(before)
        assert later_t1 > before[1]
        assert later_t1 - later_t0 == pytest.approx(before[1] - before[0], rel=1e-6)
    timeline.press("l")
    expect(timeline.said).to_have_text("Not following")
    timeline.page.wait_for_function(
        """from => new Promise((resolve) => setTimeout(
             () => resolve(location.hash === from), 1500))""",
        arg=timeline.page.evaluate("() => location.hash"),
    )


def test_a_killed_server_is_told_and_what_it_says_later_is_shown(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    running.send(begin())
    visitor = new_visitor(running.server)
    timeline = Timeline.open(visitor, LIVE)
    status = timeline.page.locator(".tl-status")
    banner = timeline.page.get_by_role("alert").filter(has_text="No answer from the server")
    running.server.kill()
    expect(banner).to_be_visible(timeout=30_000)
    running.start_again()
    expect(banner).to_be_hidden(timeout=30_000)
    running.send([*go_on(), *end()])
    expect(timeline.page.locator(".tl-status-phase")).to_contain_text("Succeeded")
    expect(status).to_contain_text(f"{NUM_NODES} reasons")
    fresh = Timeline.open(new_visitor(running.server), LIVE)
    assert timeline.revision() == fresh.revision()
    assert columns_of(timeline) == columns_of(fresh)
    assert timeline.layout() == fresh.layout()
    visitor.forgive("Failed to load resource")  # while it was away


def test_rows_that_come_above_and_an_earlier_start_move_nothing_in_view(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    running.send(begin(100))
    timeline = Timeline.open(new_visitor(running.server), LIVE)
    timeline.scroll(timeline.layout().plot, 440)
    row = timeline.layout().rows[5]
    timeline.tree.locator(f"[aria-rowindex='{row.row + 2}']").click()
    timeline.tree.focus()
    timeline.press("w")
    t0_ns, t1_ns = timeline.wait_for_view_after((0, 0))
    link = timeline.page.evaluate("() => location.search + location.hash")
    y = timeline.layout().named(row.name).bar.y
    running.send(earlier())
    expect(timeline.page.locator(".tl-status")).to_contain_text(f"{NUM_NODES + 11} rows")
    assert timeline.layout().named(row.name).bar.y == y
    moved_ns = 90e9  # from the first start at first to that of the earliest node
    assert timeline.view_ns() == pytest.approx((t0_ns + moved_ns, t1_ns + moved_ns), abs=1e6, rel=0)
    copy = Timeline(new_visitor(running.server).goto(link))  # from before the start was known
    copy.wait_until_drawn()
    assert copy.view_ns() == timeline.view_ns()


def test_lanes_that_come_above_move_nothing_in_view(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    running.send(begin(100))
    timeline = Timeline.open(new_visitor(running.server), LIVE)
    timeline.switch_to_packed()
    timeline.scroll(timeline.layout().plot, 440)
    uppermost = timeline.page.locator(".tl-lane").first
    expect(uppermost).to_have_text("n20")
    running.send(earlier())
    expect(timeline.page.locator(".tl-status")).to_contain_text(f"{NUM_NODES + 10} lanes")
    expect(uppermost).to_have_text("n20")


def test_reasons_that_come_above_do_not_move_those_in_view(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    running.send([*begin(), *go_on()])
    page = new_visitor(running.server).goto(address_of(LIVE, view="reasons"))
    line = page.locator(".rs-line", has_text="reason 40")
    page.locator(".rs-line").first.wait_for()
    page.evaluate("() => { document.querySelector('.rs-scroll').scrollTop = 38 * 25 }")
    before = line.bounding_box()
    late = Story(LIVE)
    late.node("early", "RUNNING", 0.5, *(said(0.6 + i / 100, f"late {i}") for i in range(20)))
    running.send(late.arrivals)
    expect(page.locator(".rs-count")).to_contain_text(f"{NUM_NODES + 20} reasons")
    assert line.bounding_box() == before


def test_a_page_opened_before_the_first_event_comes_alive(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    visitor = new_visitor(running.server)
    page = visitor.goto(address_of(LIVE))
    missing = page.get_by_role("heading", name="No such execution yet")
    expect(missing).to_be_visible(timeout=30_000)  # the first question wakes the reader up
    running.send(begin())
    Timeline(page).wait_until_drawn()
    expect(page.locator(".tl-live")).to_contain_text("Live")
    visitor.forgive("Failed to load resource")  # while nothing was known of it


def test_what_cost_most_is_told_even_if_that_takes_longer_than_the_next_change(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    running.send(begin())
    visitor = new_visitor(running.server)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    visitor.page.route("**/diagnosis*", hold)
    with visitor.page.expect_request("**/diagnosis*"):
        timeline = Timeline.open(visitor, LIVE)
    revision = timeline.revision()
    running.send(go_on())
    timeline.page.wait_for_function("before => window.__spanwise.rev() !== before", arg=revision)
    assert len(held) == 1
    held[0].fulfill(json={"findings": [{"summary": "As it was a while ago."}]})
    visitor.page.unroute("**/diagnosis*")
    finding = timeline.page.locator(".ex-finding")
    expect(finding).to_have_text("As it was a while ago.")
    expect(finding).not_to_have_text("As it was a while ago.", timeout=30_000)
    expect(finding).to_be_visible()


def test_an_error_is_told_by_its_first_line_that_says_something(
    running: Restartable, new_visitor: NewVisitor
) -> None:
    story = Story(LIVE)
    story.execution("RUNNING", 0)
    error = ExecutionError(code="SYSTEM", message="\n\r\n  Traceback\u202e\n  line 7\n")
    story.execution("FAILED", 9, error=error)
    running.send(story.arrivals)
    page = new_visitor(running.server).goto(address_of(LIVE))
    told = page.locator(".ex-error")
    expect(told.locator("bdi")).to_have_text("Traceback\\u202e")
    told.get_by_role("button", name="All of it").click()
    assert told.locator("pre").text_content() == "Traceback\\u202e\n  line 7"

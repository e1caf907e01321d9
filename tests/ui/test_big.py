"""200,000 spans are loaded, moved about in and searched; figures are printed at the end."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.benchmarks.report import Row
from tests.e2e.harness import ServerProcess
from tests.ui.big import BIG, BLINK, NUM_RETRIED, NUM_SUBTASKS, NUM_TASKS
from tests.ui.big_timeline import Loading, load, move_about, time_expanding, time_search
from tests.ui.browser import Visitor, address_of
from tests.ui.conftest import NewVisitor
from tests.ui.figures import limit_ms
from tests.ui.timeline import Timeline

pytestmark = pytest.mark.timeout(600)  # the first one waits for BIG to be made

SLOWEST_MS = 120_000
"""Of a view: what takes long is made when it is asked for first."""

SIGNS = {
    "timeline": "reasons",
    "packed": "lanes",
    "reasons": "reasons",
}
"""What each view shows once it is there."""

MOST_ELEMENTS = 1_500
IDLE_MS = 5_000


@pytest.fixture(scope="module")
def loading(browser: Browser, big_server: ServerProcess, figures: list[Row]) -> Iterator[Loading]:
    """Give the page of BIG, opened once for the module."""
    visitor = Visitor(browser, big_server.page)
    loading = load(visitor, big_server)
    figures += loading.figures()
    yield loading
    visitor.close()
    assert visitor.troubles == []


@pytest.fixture
def timeline(loading: Loading) -> Timeline:
    """Give the timeline as it is at first."""
    timeline = loading.timeline
    timeline.search.fill("")
    timeline.tree.focus()
    timeline.press("X", "Home", "0")
    return timeline


def test_columns_are_no_larger_than_twelve_megabytes(loading: Loading) -> None:
    assert 1_000_000 < loading.payload_bytes <= 12_000_000


@pytest.mark.parametrize("place", ["top", "middle", "end"])
def test_the_document_stays_small_wherever_it_is_scrolled_to(
    timeline: Timeline, place: str
) -> None:
    share = {"top": 0, "middle": 0.5, "end": 1}[place]
    timeline.scroll_to(share)
    rows = int(timeline.tree.get_attribute("aria-rowcount") or "0")
    first = timeline.page.evaluate("() => window.__spanwise.layout().rows[0].row")
    assert first == pytest.approx(share * rows, abs=40)
    assert timeline.page.locator("*").count() <= MOST_ELEMENTS


def test_moving_about_draws_and_rest_draws_nothing(timeline: Timeline, figures: list[Row]) -> None:
    smoothness = move_about(timeline, "tree")
    figures += smoothness.figures()
    assert len(smoothness.draw_ms) > 50
    idle = timeline.frames_while_idle(IDLE_MS)
    assert idle == 0


def test_moving_about_in_lanes_draws_and_rest_draws_nothing(
    loading: Loading, figures: list[Row]
) -> None:
    timeline = loading.timeline
    timeline.switch_to_packed()
    smoothness = move_about(timeline, "packed")
    figures += smoothness.figures()
    assert len(smoothness.draw_ms) > 50
    assert timeline.frames_while_idle(IDLE_MS) == 0
    timeline.page.get_by_role("button", name="Tree", exact=True).click()
    timeline.tree.wait_for()


def test_all_rows_open_and_shut_at_once(timeline: Timeline, figures: list[Row]) -> None:
    timeline.press("x")
    for what, took_ms in time_expanding(timeline).items():
        figures.append(limit_ms(f"{what} all", took_ms, 200))


@pytest.mark.parametrize(
    ("query", "count"),
    [
        (BLINK, 1),
        ("big-map-12345", 1),
        ("BIG-MAP-", NUM_SUBTASKS),
        ("step 7 of 23 is done", NUM_TASKS + NUM_RETRIED),
        ("no such text", 0),
    ],
)
def test_search_counts_spans_by_name_id_and_reason(
    timeline: Timeline, figures: list[Row], query: str, count: int
) -> None:
    took_ms, text = time_search(timeline, query)
    figures.append(limit_ms(f"search for {query!r}", took_ms, 300))
    assert text == (f"{count:,}" if count else "nothing found")


def test_n_goes_around_and_opens_what_hides_a_match(timeline: Timeline) -> None:
    timeline.press("x")
    expect(timeline.tree).to_have_attribute("aria-rowcount", "67")
    time_search(timeline, "t159")
    count = timeline.page.locator(".tl-search-count")
    total = int((count.text_content() or "").replace(",", ""))
    assert total > 2
    timeline.tree.focus()
    timeline.press("n")
    expect(count).to_have_text(f"1 / {total}")
    active = timeline.tree.get_attribute("aria-activedescendant")
    assert int(timeline.page.locator(f"#{active}").get_attribute("aria-level") or "0") > 2
    first = timeline.state()["sel"]
    timeline.press("n")
    expect(count).to_have_text(f"2 / {total}")
    timeline.press("N", "N")
    expect(count).to_have_text(f"{total} / {total}")
    timeline.press("n")
    expect(count).to_have_text(f"1 / {total}")
    assert timeline.state()["sel"] == first


def test_a_copied_address_shows_the_same_view(
    timeline: Timeline, new_visitor: NewVisitor, big_server: ServerProcess
) -> None:
    timeline.press("x")
    time_search(timeline, "blink")
    timeline.tree.focus()
    timeline.press("n", "f", "s", "s", "c")
    timeline.details.wait_for()
    timeline.wait_until_at_rest()
    address = timeline.page.evaluate("() => location.search + location.hash")
    visitors = [new_visitor(big_server) for _ in range(2)]
    for visitor in visitors:
        visitor.goto(address)
    copied, copied_again = [Timeline(visitor.page) for visitor in visitors]
    copied_again.wait_until_drawn()
    copied.wait_until_drawn()
    copied.details.wait_for()
    copied.wait_until_at_rest()
    assert copied.state() == timeline.state()
    seen = {row.span_id: (row.bar.x, row.bar.width) for row in timeline.layout().rows}
    also_seen = {row.span_id: (row.bar.x, row.bar.width) for row in copied.layout().rows}
    both = seen.keys() & also_seen.keys()
    assert timeline.state()["sel"] in both
    assert {span_id: seen[span_id] for span_id in both} == {
        span_id: also_seen[span_id] for span_id in both
    }
    pictures = [picture_of(each) for each in (copied, copied_again)]
    assert pictures[0] == pictures[1]


def picture_of(timeline: Timeline) -> bytes:
    """Take a picture of the whole window when nothing moves any more."""
    timeline.details.get_by_role("heading", name="Attributes").wait_for()
    timeline.wait_until_at_rest()
    return timeline.page.screenshot(animations="disabled")


@pytest.mark.parametrize("view", ["timeline", "packed", "reasons"])
def test_an_address_looks_the_same_in_two_tabs(
    new_visitor: NewVisitor, big_server: ServerProcess, view: str
) -> None:
    state = {"mode": view} if view == "packed" else {"view": view}
    pictures = []
    for _ in range(2):
        page = new_visitor(big_server).goto(address_of(BIG, q=BLINK, **state))
        page.wait_for_load_state("networkidle")
        expect(page.get_by_role("tabpanel")).to_contain_text(SIGNS[view], timeout=SLOWEST_MS)
        if view in {"timeline", "packed"}:
            expect(page.locator(".tl-search-count")).to_have_text("1")
            Timeline(page).wait_until_at_rest()
        pictures.append(page.screenshot(animations="disabled"))
    assert pictures[0] == pictures[1]

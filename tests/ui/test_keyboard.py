"""Everything works without a mouse, and is said to those who do not see."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.ui.browser import Visitor
from tests.ui.small import RUNNING, SMALL
from tests.ui.timeline import Timeline

TO_THE_TOP = """body => {
  body.tabIndex = -1;
  body.focus();
  body.removeAttribute("tabindex");
}"""

FOCUS = """() => {
  const element = document.activeElement;
  const { x, y, width, height } = element.getBoundingClientRect();
  const role = element.getAttribute("role") ?? element.tagName.toLowerCase();
  return [role, element.getAttribute("aria-label") ?? element.textContent, [x, y, width, height]];
}"""

AROUND_PX = 4


@pytest.fixture
def timeline(visitor: Visitor) -> Timeline:
    return Timeline.open(visitor, SMALL)


def walk(page: Page) -> Iterator[tuple[str, bool]]:
    """Press Tab from the top to the end of the page; give names, and whether each is seen."""
    page.locator("body").evaluate(TO_THE_TOP)
    while True:
        page.keyboard.press("Tab")
        role, name, (x, y, width, height) = page.evaluate(FOCUS)
        if role == "body":
            return
        left, top = max(0, x - AROUND_PX), max(0, y - AROUND_PX)
        size = page.viewport_size
        assert size is not None
        clip = FloatRect(
            x=left,
            y=top,
            width=min(x + width + AROUND_PX, size["width"]) - left,
            height=min(y + height + AROUND_PX, size["height"]) - top,
        )
        focused = page.screenshot(clip=clip)
        page.evaluate("() => document.activeElement.blur()")  # Tab goes on from there
        yield name, page.screenshot(clip=clip) != focused


def test_tab_goes_to_search_then_the_rows_then_the_details_and_is_always_seen(
    visitor: Visitor,
) -> None:
    timeline = Timeline.open(visitor, SMALL)
    timeline.tree.get_by_role("row").filter(has_text="train").click()
    timeline.details.wait_for()
    timeline.page.reload()
    timeline.wait_until_drawn()
    timeline.details.get_by_text("Attributes").wait_for()
    stops = dict(walk(timeline.page))
    places = list(stops)
    search = places.index("Search names, ids and reasons")
    tree = places.index("Spans")
    details = places.index("Close the details")
    assert search < tree < details
    assert [name for name, is_seen in stops.items() if not is_seen] == []


def test_the_focus_on_the_rows_is_seen_before_any_is_selected(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, SMALL)
    for name, is_seen in walk(timeline.page):
        if name == "Spans":
            assert is_seen
            return
    pytest.fail("Tab does not come to the rows")


def test_keys_work_as_soon_as_the_timeline_is_there(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, SMALL)
    expect(timeline.tree).to_be_focused()
    timeline.press("e")
    expect(timeline.said).to_contain_text("failed")


def test_who_types_elsewhere_is_not_taken_away_by_a_timeline_that_comes_late(
    visitor: Visitor,
) -> None:
    timeline = Timeline.open(visitor, SMALL)
    timeline.press("2")  # another view
    expect(timeline.page.get_by_role("table")).to_be_visible()
    tab = timeline.page.get_by_role("tab", name="Timeline")
    tab.focus()
    timeline.press("Enter")
    timeline.wait_until_drawn()
    expect(tab).to_be_focused()


def test_e_walks_through_what_failed_and_says_each(timeline: Timeline) -> None:
    timeline.tree.focus()
    said = []
    for _ in range(4):
        timeline.press("e")
        expect(timeline.tree.locator("[aria-selected=true]")).to_be_visible()
        said.append(timeline.said.text_content() or "")
    assert "failed" in said[0]
    assert len(set(said)) == len(said)
    selected = timeline.tree.locator("[aria-selected=true] .tl-name-text").text_content()
    assert selected is not None
    assert said[-1].startswith(selected)
    timeline.press("E")
    expect(timeline.said).to_have_text(said[-2])


def test_a_full_stop_walks_through_the_reasons_of_a_row_and_says_each(timeline: Timeline) -> None:
    timeline.tree.focus()
    timeline.press("Home", "ArrowDown")
    expect(timeline.said).to_contain_text("train")
    for number, text in ((1, "Insufficient cpu"), (2, "scale-up"), (3, "Quota")):
        timeline.press(".")
        expect(timeline.said).to_contain_text(f"{number} of 15")
        expect(timeline.said).to_contain_text(text)
        assert text in timeline.wait_for_tip(text)
    timeline.press(",")
    expect(timeline.said).to_contain_text("2 of 15")


def test_enter_opens_the_details_and_escape_comes_back(timeline: Timeline) -> None:
    timeline.tree.focus()
    timeline.press("e", ".")
    timeline.wait_for_tip("")
    timeline.press("Enter")
    expect(timeline.details).to_be_focused()
    # It would lie over what is read now.
    expect(timeline.page.get_by_role("tooltip")).to_be_hidden()
    timeline.press("Escape")
    expect(timeline.details).to_be_hidden()
    expect(timeline.tree).to_be_focused()


def test_arrows_open_and_shut_rows_and_go_in_and_out(timeline: Timeline) -> None:
    timeline.tree.focus()
    timeline.press("Home")
    root = timeline.tree.get_by_role("row", name="pipelines.everything")
    expect(root).to_have_attribute("aria-expanded", "true")
    count = timeline.tree.get_attribute("aria-rowcount")
    timeline.press("ArrowLeft")
    expect(root).to_have_attribute("aria-expanded", "false")
    expect(timeline.tree).to_have_attribute("aria-rowcount", "2")
    timeline.press("ArrowRight")
    expect(timeline.tree).to_have_attribute("aria-rowcount", count or "")
    timeline.press("ArrowRight")
    expect(timeline.said).to_contain_text("train")
    timeline.press("ArrowLeft")
    expect(timeline.said).to_contain_text("small, succeeded")


def test_letters_fit_show_all_and_toggle_the_critical_path(timeline: Timeline) -> None:
    timeline.tree.focus()
    timeline.press("Home", "ArrowDown", "f")
    t0, t1 = timeline.wait_for_view_after((0, 0))
    assert t1 - t0 < 40e9
    timeline.press("0")
    timeline.page.wait_for_function("() => !location.hash.includes('t0=')")
    path = timeline.page.get_by_role("button", name="Critical path")
    expect(path).to_have_attribute("aria-pressed", "true")
    timeline.press("c")
    expect(path).to_have_attribute("aria-pressed", "false")
    expect(timeline.said).to_contain_text("Critical path hidden")


def test_l_follows_what_runs(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, RUNNING)
    timeline.tree.focus()
    follow = timeline.page.get_by_role("button", name="Follow the end")
    timeline.press("l")
    expect(follow).to_have_attribute("aria-pressed", "true")
    timeline.press("l")
    expect(follow).to_have_attribute("aria-pressed", "false")


def test_letters_typed_into_the_search_do_nothing_else(timeline: Timeline) -> None:
    timeline.tree.focus()
    timeline.press("/")
    expect(timeline.search).to_be_focused()
    before = timeline.state()
    letters = "ecxflwasdjkt0123n.,"
    timeline.page.keyboard.type(letters)
    expect(timeline.search).to_have_value(letters)
    timeline.page.wait_for_function(
        "text => location.hash.includes(encodeURIComponent(text))", arg=letters
    )
    after = timeline.state()
    assert after.pop("q") == letters
    assert after == before
    timeline.press("Escape")
    expect(timeline.search).to_have_value("")
    timeline.press("Escape")
    expect(timeline.tree).to_be_focused()

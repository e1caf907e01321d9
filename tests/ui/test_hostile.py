"""Whatever a source writes is shown as text, and does nothing else."""

import re
from unicodedata import category

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.harness import ServerProcess
from tests.ui.browser import Visitor, address_of
from tests.ui.small import HOSTILE, HOSTILE_TEXTS, SMALL
from tests.ui.timeline import Timeline

LANE_MIDDLE_PX = 11

SIGNS = {
    "timeline": HOSTILE_TEXTS[0],
    "operations": "Longest",
    "reasons": HOSTILE_TEXTS[0],
    "diagnosis": "What cost most",
    "compare": HOSTILE_TEXTS[0],
}
"""What each view shows of the execution once it is there."""


#: Control and format signs, and ends of lines and paragraphs, by Unicode.
HIDDEN = ("Cc", "Cf", "Zl", "Zp")
ZERO_WIDTH_JOINER = "\u200d"  # emoji are made with it
LINES_AND_TABS = ("\n", "\r\n", "\t")


def check_that_nothing_came_of_texts(page: Page) -> None:
    """Check that there is nothing in the document that a source could have brought."""
    assert page.locator("img, iframe, object, embed, #app script").count() == 0
    assert page.locator("[onerror], [onclick], [onload]").count() == 0
    addresses = page.eval_on_selector_all("a[href]", "links => links.map(({ href }) => href)")
    assert [each for each in addresses if not each.startswith(("http:", "https:"))] == []


def as_name(text: str) -> str:
    """Give a text with codes for its signs that show nothing or turn it around."""
    return "".join(
        f"\\u{ord(sign):04x}" if category(sign) in HIDDEN and sign != ZERO_WIDTH_JOINER else sign
        for sign in text
    )


def as_message(text: str) -> str:
    """Give the same of a text in which lines and tabs stay."""
    return "".join(
        part if part in LINES_AND_TABS else as_name(part) for part in re.split(r"(\r?\n|\t)", text)
    )


@pytest.mark.parametrize("number", range(len(HOSTILE_TEXTS)))
def test_row_details_and_tooltip_of_a_node_tell_its_texts(visitor: Visitor, number: int) -> None:
    text = HOSTILE_TEXTS[number]
    name, message = as_name(text), as_message(text)
    timeline = Timeline.open(visitor, HOSTILE)
    row = timeline.layout().named(text)
    in_tree = timeline.tree.locator(f"[aria-rowindex='{row.row + 2}']")
    assert in_tree.locator(".tl-name-text").text_content() == name
    in_tree.click()
    timeline.details.get_by_role("heading", name="Attributes").wait_for()
    assert timeline.details.get_by_role("heading", level=2).text_content() == name
    assert timeline.details.locator(".tl-reasons .tl-message").first.text_content() == message
    assert timeline.details.locator(".tl-error pre").first.text_content() == message
    links = timeline.details.locator(".tl-links li").all_text_contents()
    assert sorted(links) == sorted([f"{name} javascript:alert(1)", f"{name} too {name}"])
    check_that_nothing_came_of_texts(visitor.page)
    timeline.tree.focus()
    timeline.press(".")
    timeline.wait_for_tip(message, part=".tl-message")
    check_that_nothing_came_of_texts(visitor.page)


def test_lanes_tell_texts_as_text(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, HOSTILE, mode="packed")
    lanes = timeline.page.locator(".tl-lanes")
    expect(lanes).to_contain_text(HOSTILE_TEXTS[0])
    box = timeline.page.locator(".tl-plot").bounding_box()
    assert box is not None
    a_tenth = box["x"] + box["width"] / 10  # 2 of 20 s, when the first node runs in the first lane
    timeline.point_at((a_tenth, box["y"] + LANE_MIDDLE_PX))
    timeline.wait_for_tip(HOSTILE_TEXTS[0])
    check_that_nothing_came_of_texts(visitor.page)


@pytest.mark.parametrize("text", HOSTILE_TEXTS[:2])
def test_what_is_searched_for_is_told_as_text(visitor: Visitor, text: str) -> None:
    timeline = Timeline.open(visitor, HOSTILE)
    timeline.search.fill(text)
    expect(timeline.page.locator(".tl-search-count")).not_to_have_text("…")
    timeline.search.press("Enter")
    expect(timeline.said).to_contain_text(text)
    check_that_nothing_came_of_texts(visitor.page)
    page = visitor.goto("?test=1#/")
    page.get_by_role("textbox").first.fill(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_visible()
    check_that_nothing_came_of_texts(page)


@pytest.mark.parametrize("view", list(SIGNS))
def test_each_view_shows_texts_as_text(visitor: Visitor, view: str) -> None:
    page = visitor.goto(address_of(HOSTILE, view=view, **{"with": "/".join(SMALL)}))
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text(SIGNS[view])
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE.name)
    check_that_nothing_came_of_texts(page)


def test_the_list_shows_names_as_text_and_leads_to_them(
    visitor: Visitor, server: ServerProcess
) -> None:
    page = visitor.goto("?test=1#/")
    link = page.get_by_role("link", name=HOSTILE.name)
    expect(link).to_be_visible()
    check_that_nothing_came_of_texts(page)
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE.name)
    Timeline(page).wait_until_drawn()
    check_that_nothing_came_of_texts(page)

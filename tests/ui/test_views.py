"""The list and the views beside the timeline, as somebody goes about in them."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from spanwise.v1.identifiers_pb2 import ExecutionId as ExecutionMessage
from spanwise.v1.span_service_pb2 import DiagnoseExecutionRequest
from tests.e2e.harness import Stubs
from tests.ui.browser import Visitor, address_of
from tests.ui.small import HOSTILE, HOSTILE_TEXTS, ODD, RUNNING, SMALL
from tests.ui.timeline import Timeline

LIST = "?test=1#/"

HIDDEN = re.compile(r"[\0\x07\x1b\u202e\u202c\u200b\ufeff]")
"""What the hostile texts hold that nobody would see."""


def names(page: Page) -> list[str]:
    return page.get_by_role("rowheader").all_text_contents()


def test_the_way_back_leads_to_what_was_filtered_before(visitor: Visitor) -> None:
    page = visitor.goto(LIST)
    expect(page.get_by_role("rowheader")).not_to_have_count(0)
    everything = names(page)
    page.get_by_label("Phase").select_option("FAILED")
    expect(page.get_by_role("rowheader")).to_have_text([ODD.name, HOSTILE.name])
    page.get_by_label("Slower than usual").check()
    expect(page.get_by_role("heading", name="No execution is like that")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("rowheader")).to_have_text([ODD.name, HOSTILE.name])
    expect(page.get_by_label("Slower than usual")).not_to_be_checked()
    page.go_back()
    expect(page.get_by_role("rowheader")).to_have_text(everything)
    expect(page.get_by_label("Phase")).to_have_value("")


def test_a_search_is_one_step_of_the_way_back_however_slowly_it_is_written(
    visitor: Visitor,
) -> None:
    page = visitor.goto(LIST)
    search = page.get_by_role("textbox", name="Search", exact=True)
    for text in ("r", "ru", "run"):
        search.press(text[-1])
        page.wait_for_function("text => location.hash === `#/?search=${text}`", arg=text)
    expect(page.get_by_role("rowheader")).to_have_text([RUNNING.name])
    page.go_back()
    expect(search).to_have_value("")
    expect(page).to_have_url(re.compile(r"#/$"))


@pytest.mark.parametrize("view", ["timeline", "diagnosis"])
def test_of_an_execution_that_does_not_exist_only_that_is_told(visitor: Visitor, view: str) -> None:
    missing = SMALL._replace(name="no\u202ewhere")
    page = visitor.goto(address_of(missing, view=view))
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_role("heading", name="No such execution yet")).to_be_visible()
    expect(panel).to_contain_text(r"flytesnacks/development/no\u202ewhere")
    expect(panel.locator(".tl, canvas, [role=treegrid]")).to_have_count(0)
    panel.get_by_role("link", name="all executions").click()
    expect(page.get_by_role("rowheader")).not_to_have_count(0)
    visitor.forgive("404")


@pytest.mark.parametrize("way", ["back", "link"])
def test_help_closes_when_the_address_changes(visitor: Visitor, way: str) -> None:
    page = visitor.goto(LIST)
    page.get_by_role("link", name=RUNNING.name).click()
    heading = page.get_by_role("heading", level=1, include_hidden=True)
    expect(heading).to_have_text(RUNNING.name)
    page.get_by_role("button", name="Keys and signs").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    if way == "back":
        page.go_back()
    else:
        page.evaluate("() => { location.hash = '#/?phase=FAILED' }")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(heading).to_have_text("Executions")
    expect(heading).to_be_focused()


def test_help_gives_the_focus_back(visitor: Visitor) -> None:
    page = visitor.goto(LIST)
    opener = page.get_by_role("button", name="Keys and signs")
    opener.click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(opener).to_be_focused()


def test_reasons_have_heads_that_stay(visitor: Visitor) -> None:
    page = visitor.goto(address_of(SMALL, view="reasons"))
    grid = page.get_by_role("grid", name="Reasons")
    heads = grid.get_by_role("columnheader")
    expect(heads).to_have_text(["Time", "Gap", "Phase", "Where", "Reason", "Operation", "Times"])
    lines = grid.get_by_role("row").filter(has=page.get_by_role("gridcell"))
    expect(lines.first).to_have_attribute("aria-rowindex", "2")
    grid.focus()
    page.keyboard.press("End")
    last = int(grid.get_attribute("aria-rowcount") or 0)
    chosen = grid.locator("[aria-selected=true]")
    expect(chosen).to_have_attribute("aria-rowindex", str(last))
    expect(heads.first).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(chosen).to_have_attribute("aria-rowindex", "2")
    boxes = [each.bounding_box() for each in (heads.first, chosen)]
    assert all(boxes)
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]  # type: ignore[index]


def test_the_first_screen_tells_what_cost_most(visitor: Visitor, stubs: Stubs) -> None:
    project, domain, name = SMALL
    message = ExecutionMessage(project=project, domain=domain, name=name)
    told = stubs.spans.DiagnoseExecution(DiagnoseExecutionRequest(execution_id=message))
    timeline = Timeline.open(visitor, SMALL)
    link = timeline.page.get_by_role("link", name=told.findings[0].summary)
    link.click()
    page = timeline.page
    expect(page.get_by_role("heading", name="What cost most")).to_be_visible()
    expect(page.get_by_role("heading", name=told.findings[0].summary)).to_be_visible()
    expect(link).to_have_count(0)


def test_nothing_is_told_to_have_cost_most_where_nothing_did(visitor: Visitor) -> None:
    def answer_nothing(route: Route) -> None:
        route.fulfill(json={})

    visitor.page.route("**/diagnosis*", answer_nothing)
    with visitor.page.expect_response("**/diagnosis*"):
        timeline = Timeline.open(visitor, SMALL)
    expect(timeline.page.locator(".ex-bar a:not([role=tab])")).to_have_count(0)


@pytest.mark.parametrize("view", ["operations", "reasons", "diagnosis", "compare"])
def test_nothing_in_a_text_is_hidden(visitor: Visitor, view: str) -> None:
    page = visitor.goto(address_of(HOSTILE, view=view, **{"with": "/".join(SMALL)}))
    panel = page.get_by_role("tabpanel")
    if view in {"reasons", "compare"}:
        expect(panel).to_contain_text(r"\u202eright to left\u202c")
    expect(panel.get_by_role("status")).to_have_count(0)
    assert HIDDEN.search(page.inner_text("body")) is None


def test_what_the_texts_hide_is_looked_for_as_it_is(visitor: Visitor) -> None:
    text = next(each for each in HOSTILE_TEXTS if "\u202e" in each)
    page = visitor.goto(address_of(HOSTILE, view="reasons"))
    page.get_by_role("textbox", name="Only reasons with this text").fill(text)
    expect(page.locator(".rs-count")).to_contain_text("4 of")


def test_a_message_as_long_as_a_log_takes_a_few_lines_of_the_diagnosis(visitor: Visitor) -> None:
    page = visitor.goto(address_of(SMALL, view="diagnosis"))
    message = page.locator("p.dg-reason").first
    line_px = message.evaluate("each => parseFloat(getComputedStyle(each).lineHeight)")
    message.locator("bdi").evaluate("each => { each.textContent = 'all of it '.repeat(20000) }")
    box = message.bounding_box()
    assert box is not None
    assert line_px * 7 < box["height"] < line_px * 9


def test_nothing_moves_when_what_cost_most_comes(visitor: Visitor) -> None:
    held: list[Route] = []
    visitor.page.route("**/diagnosis*", lambda route: held.append(route))  # noqa: PLW0108
    with visitor.page.expect_request("**/diagnosis*"):
        timeline = Timeline.open(visitor, SMALL)
    before = timeline.layout()
    for each in held:
        each.continue_()
    expect(visitor.page.locator(".ex-finding")).to_be_visible()
    assert timeline.layout() == before

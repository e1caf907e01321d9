"""Each view is usable by everybody: axe finds nothing, and nothing depends on colour or width."""

import re
from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.harness import ServerProcess
from tests.ui.browser import address_of
from tests.ui.conftest import NewVisitor
from tests.ui.small import RUNNING, SMALL
from tests.ui.timeline import Timeline

AXE = Path(__file__).parents[2] / "server/ui/node_modules/axe-core/axe.min.js"

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]

WITH = {"with": "/".join(RUNNING)}

PAGES = {
    "list": "?test=1#/",
    "timeline": address_of(SMALL),
    "packed": address_of(SMALL, mode="packed"),
    "operations": address_of(SMALL, view="operations"),
    "reasons": address_of(SMALL, view="reasons"),
    "diagnosis": address_of(SMALL, view="diagnosis"),
    "compare": address_of(SMALL, view="compare", **WITH),
}

SIGNS = {
    "list": "small-child",
    "timeline": "pipelines.train",
    "packed": "train",
    "operations": "Longest",
    "reasons": "Insufficient cpu",
    "diagnosis": "What cost most",
    "compare": "Whole runs",
}
"""What each shows once it is there."""

VIOLATIONS = """async (tags) => {
  const { violations } = await axe.run(document, { runOnly: { type: "tag", values: tags } });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}"""


def show(page: Page, name: str) -> None:
    expect(page.get_by_role("main")).to_contain_text(SIGNS[name])


def violations(page: Page) -> list[str]:
    page.add_script_tag(path=AXE)
    found: list[str] = page.evaluate(VIOLATIONS, TAGS)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(PAGES))
def test_axe_finds_nothing(
    new_visitor: NewVisitor, server: ServerProcess, name: str, theme: str
) -> None:
    visitor = new_visitor(server, color_scheme=theme, bypass_csp=True)
    page = visitor.goto(PAGES[name])
    show(page, name)
    assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_details_and_tooltip(
    new_visitor: NewVisitor, server: ServerProcess, theme: str
) -> None:
    visitor = new_visitor(server, color_scheme=theme, bypass_csp=True)
    timeline = Timeline.open(visitor, SMALL)
    timeline.tree.focus()
    timeline.press("e")
    timeline.details.get_by_role("heading", name="Attributes").wait_for()
    timeline.press(".")
    timeline.tip.wait_for()
    assert violations(visitor.page) == []


@pytest.mark.parametrize("name", list(PAGES))
def test_nothing_is_cut_off_on_a_page_of_320_pixels(
    new_visitor: NewVisitor, server: ServerProcess, name: str, pictures: Path
) -> None:
    visitor = new_visitor(server, viewport={"width": 320, "height": 640})
    page = visitor.goto(PAGES[name])
    show(page, name)
    page.screenshot(path=pictures / f"{name}-320px.png")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
    outside = page.eval_on_selector_all(
        "button, input, select, [role=tab]",
        """(elements) => elements
          .map((element) => [element, element.getBoundingClientRect()])
          .filter(([element, { left, right, width }]) => width > 1 && (left < -1 || right > 321)
            && element.closest(".vw-scroll-x, [role=tablist], .tl-toolbar") === null)
          .map(([{ outerHTML }]) => outerHTML.slice(0, 200))""",
    )
    assert outside == []


@pytest.mark.parametrize("name", list(PAGES))
def test_pictures_for_people_to_look_at(
    new_visitor: NewVisitor, server: ServerProcess, name: str, pictures: Path
) -> None:
    for suffix, options in (
        ("light", {"color_scheme": "light"}),
        ("dark", {"color_scheme": "dark"}),
        ("forced-colors", {"forced_colors": "active"}),
    ):
        page = new_visitor(server, **options).goto(PAGES[name])
        show(page, name)
        assert page.screenshot(path=pictures / f"{name}-{suffix}.png")


def test_bars_are_seen_with_forced_colours(new_visitor: NewVisitor, server: ServerProcess) -> None:
    timeline = Timeline.open(new_visitor(server, forced_colors="active"), SMALL)
    row = timeline.layout().named("gate")
    x, y = row.bar.middle
    beside = (row.bar.x + row.bar.width + 60, y)
    colours = {timeline.colour_at((x + aside, y)) for aside in range(-6, 6)}
    assert colours != {timeline.colour_at(beside)}


def test_kinds_of_time_are_told_apart_by_pattern_with_forced_colours(
    new_visitor: NewVisitor, server: ServerProcess
) -> None:
    timeline = Timeline.open(new_visitor(server, forced_colors="active"), SMALL)
    bar = timeline.layout().named("train").bar
    y = bar.y + bar.height - 2  # free of ticks' heads and of the sign of a phase
    along = [timeline.colour_at((bar.x + x, y)) for x in range(6, int(bar.width) - 2)]
    lengths = [len(list(same)) for _, same in groupby(along)]
    assert sum(length <= 2 for length in lengths) > len(lengths) / 2  # stripes: set-up
    assert max(lengths) >= 8  # solid: runtime
    swatches = timeline.page.locator(".tl-legend .tl-swatch").evaluate_all(
        "all => all.map((each) => [getComputedStyle(each).background, each.className])"
    )
    groups = [ground for ground, name in swatches if re.search("setup|run|tear|wait", name)]
    assert len(set(groups)) == len(groups) == 4


def test_each_phase_has_a_sign_and_a_word_of_its_own(
    new_visitor: NewVisitor, server: ServerProcess
) -> None:
    timeline = Timeline.open(new_visitor(server, viewport={"width": 2400, "height": 1600}), SMALL)
    signs: dict[str, set[str]] = {}
    for row in timeline.tree.get_by_role("row").filter(has_text="ends as").all():
        word = row.locator(".tl-cell-phase").text_content() or ""
        sign = row.locator("svg.tl-icon:not(.is-button) path").get_attribute("d") or ""
        signs.setdefault(sign, set()).add(word)
    assert len(signs) == 14
    assert all(len(words) == 1 and "" not in words for words in signs.values())
    assert len(set.union(*signs.values())) == 14

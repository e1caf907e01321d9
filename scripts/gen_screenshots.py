"""Take the pictures of the page that the README and docs/page.md show.

Usage: PYTHON scripts/gen_screenshots.py [CHROMIUM]

Needs Chromium, /usr/bin/chromium unless another one is named. The executions are the same on every
run: the demo is played with fixed seeds and starts, into a server of its own.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from spanwise.cli.temporary_server import temporary_server
from spanwise.demo import gpu_capacity, image_pull, play, register, training_pipeline

IMAGES = Path(__file__).parent.parent / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SIZE = {"width": 1280, "height": 720}
HOUR_NS = 3600 * 10**9
START_NS = 1_790_000_000_000_000_000  # 2026-09-21
SLOW, USUAL = "nightly-20", "nightly-19"
TRAINING = f"/#/e/flytesnacks/development/{SLOW}"


def main() -> None:
    """Take all of them."""
    chromium = sys.argv[1] if len(sys.argv) > 1 else CHROMIUM
    with temporary_server() as server, sync_playwright() as playwright:
        _play_in(server.endpoint)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)

        @contextmanager
        def page_at(address: str, scheme: str = "light") -> Iterator[Page]:
            context = browser.new_context(
                viewport=SIZE,  # type: ignore[arg-type]
                color_scheme=scheme,  # type: ignore[arg-type]
                timezone_id="UTC",
            )
            page = context.new_page()
            page.goto(server.page.rstrip("/") + address)
            page.wait_for_load_state("networkidle")
            yield page
            context.close()

        with page_at("/?test=1" + TRAINING.removeprefix("/")) as page:
            page.evaluate("window.__spanwise.ready")
            _hover_reason(page)
            page.screenshot(path=IMAGES / "page-timeline.png")
        with page_at("/") as page:
            page.get_by_text(USUAL, exact=True).wait_for()
            page.screenshot(path=IMAGES / "page-list.png")
        with page_at(f"{TRAINING}?view=diagnosis", "dark") as page:
            page.get_by_text("What cost most").wait_for()
            page.screenshot(path=IMAGES / "page-diagnosis.png")
        base = f"flytesnacks%2Fdevelopment%2F{USUAL}"
        with page_at(f"{TRAINING}?view=compare&with={base}") as page:
            page.get_by_text(USUAL).first.wait_for()
            page.wait_for_load_state("networkidle")
            page.screenshot(path=IMAGES / "page-compare.png")
        browser.close()


def _play_in(endpoint: str) -> None:
    nights = [
        training_pipeline(day, START_NS + 24 * HOUR_NS * (day - 20), name=f"nightly-{day}")
        for day in range(12, 21)
    ]
    others = [
        image_pull(3, START_NS - 2 * HOUR_NS, name="label-images"),
        gpu_capacity(4, START_NS - HOUR_NS, name="tune"),
    ]
    for scenario in (*nights, *others):
        play(scenario, endpoint)
        register(scenario, endpoint)


def _hover_reason(page: Page) -> None:
    """Move the mouse to a reason in the middle of the longest wait, and wait for the text."""
    rows = page.evaluate("window.__spanwise.layout().rows")
    row = max((row for row in rows[1:] if row["ticks"]), key=lambda row: row["bar"]["width"])
    tick = next(tick for tick in row["ticks"][1:] if tick["count"] == 1)
    y = row["bar"]["y"] + row["bar"]["height"] / 2
    page.mouse.move(tick["lineX"] - 20, y)
    page.mouse.move(tick["lineX"], y, steps=4)
    page.get_by_role("tooltip").wait_for()


if __name__ == "__main__":
    main()

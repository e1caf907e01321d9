"""5,000 events in 20 s are followed, and nothing that the reader looks at moves meanwhile."""

import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Response, expect

from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.service.arrivals import Arrival
from tests.benchmarks.report import Row
from tests.ui.conftest import NewVisitor
from tests.ui.events import START_NS, Story, said
from tests.ui.figures import limit_ms, p95
from tests.ui.restartable import Restartable
from tests.ui.timeline import Timeline
from tests.unit.web.decoded import decode_columns

LOAD = ExecutionId("flytesnacks", "development", "load")

NUM_EVENTS = 5_000
SENDING_S = 20.0
SENT_AT_ONCE = 20
EVENTS_OF_A_NODE = 8
NUM_FIRST = 60
"""Nodes that run from the beginning to the end."""

FEWEST_STEPS = 8
"""In which the page comes to show what is sent, on however slow a machine."""

COUNT_REASONS = """() => {
  const seen = (window.__probe.counts = [[Date.now(), 0]]);
  const look = () => {
    const text = document.querySelector(".tl-status")?.textContent ?? "";
    const number = Number(/([\\d,]+) reason/.exec(text)?.[1].replaceAll(",", "") ?? 0);
    if (number !== seen.at(-1)[1]) seen.push([Date.now(), number]);
  };
  new MutationObserver(look).observe(document.body,
    { subtree: true, childList: true, characterData: true });
}"""

TIME_BANNER = """() => {
  const probe = window.__probe;
  new MutationObserver(() => {
    const alerts = Array.from(document.querySelectorAll("[role=alert]"));
    const isThere = alerts.some((each) => each.textContent.startsWith("No answer"));
    if (isThere) probe.bannerAt ??= Date.now();
  }).observe(document.body, { subtree: true, childList: true });
}"""


class Run:
    """What happens, told as it would be if it happened while it is sent."""

    def __init__(self) -> None:
        """Begin now."""
        self._begin_s = (time.time_ns() - START_NS) / 1e9

    def first(self) -> list[Arrival]:
        """Give the begin of the execution, and nodes that run all the time."""
        story = Story(LOAD)
        story.execution("RUNNING", self._begin_s)
        for number in range(NUM_FIRST):
            story.node(f"first{number}", "RUNNING", self._begin_s + number / 1000)
        return story.arrivals

    def middle(self) -> list[Arrival]:
        """Give 5,000 events of nodes of which some run at once; each brings a reason."""
        nodes = range(NUM_EVENTS // EVENTS_OF_A_NODE)
        batches = [nodes[i : i + SENT_AT_ONCE] for i in range(0, len(nodes), SENT_AT_ONCE)]
        in_turns = (zip_longest(*map(self._node, batch)) for batch in batches)
        events = [each for each in chain(*chain(*in_turns)) if each is not None]
        story = Story(LOAD)
        for number, (node_id, is_task, phase) in enumerate(events):
            at_s = self._begin_s + 1 + number * SENDING_S / NUM_EVENTS
            tell = story.task if is_task else story.node
            tell(node_id, phase, at_s, said(at_s, f"reason {number}"))
        return story.arrivals

    def last(self) -> list[Arrival]:
        """Give the end of all that runs."""
        story = Story(LOAD)
        now_s = (time.time_ns() - START_NS) / 1e9
        for number in range(NUM_FIRST):
            story.node(f"first{number}", "SUCCEEDED", now_s)
        story.execution("SUCCEEDED", now_s)
        return story.arrivals

    def _node(self, number: int) -> list[tuple[str, bool, str]]:
        node_id = f"n{number}"
        task = ("QUEUED", "INITIALIZING", "RUNNING", "RUNNING", "SUCCEEDED")
        return [
            (node_id, False, "QUEUED"),
            (node_id, False, "RUNNING"),
            *((node_id, True, phase) for phase in task),
            (node_id, False, "SUCCEEDED"),
        ]


def late_and_repeated(arrivals: list[Arrival]) -> list[Arrival]:
    """Let one in a hundred come up to a hundred events late, and another one twice."""
    chance = random.Random(20)
    places = [
        (place + (chance.randrange(100) if chance.random() < 0.01 else 0), arrival)
        for place, arrival in enumerate(arrivals)
    ]
    places += [(place + 100, arrival) for place, arrival in places if chance.random() < 0.01]
    return [arrival for _, arrival in sorted(places, key=lambda each: each[0])]


def note_columns(page: Page) -> list[Response]:
    """Give a list that takes all columns which a page reads from now on."""
    answers: list[Response] = []

    def note(response: Response) -> None:
        if response.url.endswith("/columns") and response.status == 200:
            answers.append(response)

    page.on("response", note)
    return answers


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Restartable]:
    running = Restartable(tmp_path / "load.db")
    yield running
    running.server.kill()


def test_five_thousand_events_in_twenty_seconds_are_followed(
    running: Restartable, new_visitor: NewVisitor, figures: list[Row]
) -> None:
    run = Run()
    running.send(run.first())
    visitor = new_visitor(running.server)
    answers = note_columns(visitor.page)
    timeline = Timeline.open(visitor, LOAD)
    timeline.scroll(timeline.layout().plot, 440)
    row = timeline.layout().rows[5]
    timeline.tree.locator(f"[aria-rowindex='{row.row + 2}']").click()
    timeline.tree.focus()
    timeline.press("w")
    timeline.wait_for_view_after((0, 0))
    timeline.page.evaluate(COUNT_REASONS)
    place = place_of(timeline)

    arrivals = run.middle()
    sending = late_and_repeated(arrivals)
    with ThreadPoolExecutor(1) as sender:
        sent = sender.submit(running.send, sending, SENDING_S)
        while not sent.done():
            timeline.page.wait_for_timeout(500)  # between two looks; events of the page go on
            assert place_of(timeline) == place
    expect(timeline.page.locator(".tl-status")).to_contain_text(f"{NUM_EVENTS:,} reasons")
    assert place_of(timeline) == place
    check_lags(
        timeline, dict(zip(reversed(sending), reversed(sent.result()), strict=True)), figures
    )

    check_that_it_comes_back(running, timeline, run, figures)
    assert place_of(timeline) == place
    visitor.forgive("Failed to load resource")  # while the server was away
    fresh = new_visitor(running.server)
    fresh_answers = note_columns(fresh.page)
    copied = Timeline.open(fresh, LOAD, **timeline.state())
    assert copied.revision() == timeline.revision()
    assert answers[-1].body() == fresh_answers[-1].body()
    check_columns(answers[-1].body())


def test_a_server_that_falls_silent_is_told_and_heard_again(
    running: Restartable, new_visitor: NewVisitor, figures: list[Row]
) -> None:
    run = Run()
    running.send(run.first())
    timeline = Timeline.open(new_visitor(running.server), LOAD)
    expect(timeline.page.locator(".tl-live")).to_contain_text("Live")
    timeline.page.evaluate(TIME_BANNER)
    stopped_s = time.time()
    running.server.signal(signal.SIGSTOP)
    try:
        banner_of(timeline).wait_for()
    finally:
        running.server.signal(signal.SIGCONT)
    figures.append(time_to_banner(timeline, "silence", stopped_s))
    banner_of(timeline).wait_for(state="detached")
    running.send(run.last())
    expect(timeline.page.locator(".tl-status-phase")).to_contain_text("Succeeded")


def banner_of(timeline: Timeline) -> Locator:
    """Give what tells that the server does not answer."""
    return timeline.page.get_by_role("alert").filter(has_text="No answer from the server")


def time_to_banner(timeline: Timeline, what: str, begin_s: float) -> Row:
    told_ms = timeline.page.evaluate("() => window.__probe.bannerAt")
    return limit_ms(f"from {what} to the banner", told_ms - begin_s * 1000, 5000)


def place_of(timeline: Timeline) -> tuple[object, ...]:
    """Give where the reader is: the scroll bar, the row on top, what is selected and in view."""
    top = timeline.page.evaluate("() => document.querySelector('.tl-scroll').scrollTop")
    state = timeline.state()
    return top, timeline.layout().rows[0].span_id, state["sel"], state["t0"], state["t1"]


def check_lags(timeline: Timeline, sent_s: dict[Arrival, float], figures: list[Row]) -> None:
    """Print how long after its sending each event was seen."""
    seen: list[tuple[float, int]] = timeline.page.evaluate("() => window.__probe.counts")
    lags_ms = []
    for number, at_s in enumerate(sorted(sent_s.values()), 1):
        seen_at_ms = next(at_ms for at_ms, count in seen if count >= number)
        lags_ms.append(seen_at_ms - at_s * 1000)
    assert len(lags_ms) == NUM_EVENTS
    figures.append(limit_ms("from sending an event to the page, p95", p95(lags_ms), 2000))
    figures.append(limit_ms("  slowest of 5,000 in 20 s", max(lags_ms), 2000))
    counts = [count for _, count in seen]
    assert counts == sorted(counts)
    assert len(counts) > FEWEST_STEPS


def check_that_it_comes_back(
    running: Restartable, timeline: Timeline, run: Run, figures: list[Row]
) -> None:
    """Kill the server, start it again, and send the end of the execution."""
    timeline.page.evaluate(TIME_BANNER)
    killed_s = time.time()
    running.server.kill()
    banner = banner_of(timeline)
    banner.wait_for()
    figures.append(time_to_banner(timeline, "a kill", killed_s))
    running.start_again()
    banner.wait_for(state="detached")
    running.send(run.last())
    expect(timeline.page.locator(".tl-status-phase")).to_contain_text("Succeeded")
    expect(timeline.page.locator(".tl-live")).to_have_count(0)


def check_columns(payload: bytes) -> None:
    """Check that each span and each reason is there once."""
    decoded = decode_columns(payload)
    ids = decoded.numbers("span_id")
    assert len(ids) == len(set(ids)) > NUM_EVENTS / 2
    depths = decoded.numbers("span_depth")
    assert depths.count(1) >= NUM_FIRST + NUM_EVENTS // EVENTS_OF_A_NODE
    messages = [decoded.strings[place] for place in decoded.numbers("reason_message")]
    assert sorted(messages) == sorted(f"reason {number}" for number in range(NUM_EVENTS))

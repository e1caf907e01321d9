"""Reasons are on the timeline: each is told exactly, where and when it happened."""

from itertools import pairwise
from typing import NamedTuple

import pytest

from spanwise.v1.identifiers_pb2 import ExecutionId as ExecutionMessage
from spanwise.v1.span_service_pb2 import GetExecutionSpanRequest
from tests.benchmarks.report import Row as Figure
from tests.e2e.harness import Stubs
from tests.ui.browser import Visitor
from tests.ui.figures import limit_ms, p95
from tests.ui.small import SMALL
from tests.ui.timeline import Tick, Timeline, parse_duration_ns, parse_moment_ns

LONGER_THAN_ANY_DELAY_MS = 500


class Told(NamedTuple):
    """A reason as gRPC tells it."""

    message: str
    at_ns: int
    span_start_ns: int
    run_start_ns: int


@pytest.fixture(scope="module")
def reasons(stubs: Stubs) -> list[Told]:
    """Give the reasons of SMALL in the order in which the page numbers them: by span, then time."""
    project, domain, name = SMALL
    execution_id = ExecutionMessage(project=project, domain=domain, name=name)
    spans = stubs.spans.GetExecutionSpan(GetExecutionSpanRequest(execution_id=execution_id)).spans
    start_ns = spans[0].start_time.ToNanoseconds()
    return [
        Told(
            reason.message,
            reason.occurred_at.ToNanoseconds(),
            span.start_time.ToNanoseconds(),
            start_ns,
        )
        for span in spans
        for reason in span.reasons
    ]


@pytest.mark.parametrize("zone", ["local", "utc"])
def test_the_mouse_on_a_tick_shows_message_and_exact_times(
    visitor: Visitor, reasons: list[Told], zone: str, figures: list[Figure]
) -> None:
    timeline = Timeline.open(visitor, SMALL, tz=zone, open="*")
    timeline.time_tips()
    seen: set[int] = set()
    for layout in timeline.all_rows():
        for tick in (tick for row in layout.rows for tick in row.ticks if tick.num_reasons == 1):
            [number] = tick.reasons
            if number in seen:
                continue
            seen.add(number)
            check_tick(timeline, tick, reasons[number], zone)
    assert seen == set(range(len(reasons)))
    figures.append(limit_ms(f"tooltip of a reason, {zone} time, p95", p95(timeline.tips_ms()), 100))


def check_tick(timeline: Timeline, tick: Tick, told: Told, zone: str) -> None:
    timeline.point_at(tick.point)
    timeline.wait_for_tip(told.message, part=".tl-message")
    moment = timeline.tip.locator("time").text_content() or ""
    assert parse_moment_ns(moment) == told.at_ns
    assert moment.endswith("UTC+05:30" if zone == "local" else "UTC")
    offsets = timeline.tip.locator(".tl-tip-times b").all_text_contents()
    assert [parse_duration_ns(offset) for offset in offsets] == [
        told.at_ns - told.span_start_ns,
        told.at_ns - told.run_start_ns,
    ]
    timeline.press("Escape")  # or it would hide what is below it
    timeline.tip.wait_for(state="detached")


def test_a_tick_is_painted_where_the_mouse_finds_it(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, SMALL)
    for tick, following in pairwise(timeline.layout().named("train").ticks[:-1]):
        x, y = tick.point
        aside = (x + following.point[0]) / 2
        head_y = y - 8  # above the bar
        ground = timeline.colour_at((aside, head_y))
        assert contrast(timeline.colour_at((x, head_y)), ground) >= 3
        bar = timeline.colour_at((aside, y))
        assert bar not in (ground, timeline.colour_at((x - 0.5, y)))


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Give the ratio of contrast as WCAG 2.2 defines it."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: tuple[int, ...]) -> float:
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (each / 255 for each in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_tooltip_can_be_entered_and_goes_when_it_is_left(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, SMALL)
    layout = timeline.layout()
    tick = layout.named("train").ticks[2]
    timeline.point_at(tick.point)
    timeline.tip.wait_for()
    box = timeline.tip.bounding_box()
    assert box is not None
    for share in (0.1, 0.5, 0.9):
        timeline.point_at((box["x"] + share * box["width"], box["y"] + share * box["height"]))
    assert timeline.holds_on("tip", LONGER_THAN_ANY_DELAY_MS)
    timeline.point_at((layout.plot.x + 5, layout.plot.y + layout.plot.height - 5))
    timeline.tip.wait_for(state="detached")


def test_escape_closes_a_tooltip_until_the_mouse_goes_elsewhere(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, SMALL)
    tick, other, *_ = timeline.layout().named("train").ticks
    timeline.point_at(tick.point)
    timeline.tip.wait_for()
    timeline.press("Escape")
    timeline.tip.wait_for(state="detached")
    timeline.point_at((tick.point[0] + 1, tick.point[1]))
    assert timeline.holds_on("noTip", LONGER_THAN_ANY_DELAY_MS)
    timeline.point_at(other.point)
    timeline.tip.wait_for()


def test_a_bar_tells_what_the_time_under_the_mouse_went_into(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, SMALL)
    row = timeline.layout().named("cached")
    timeline.point_at((row.bar.x + row.bar.width - 4, row.bar.middle[1]))
    told = timeline.wait_for_tip("cached")
    assert "3s" in told
    assert "pipelines.prepare" in told

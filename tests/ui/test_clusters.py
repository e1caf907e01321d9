"""Zoom goes from hours to microseconds: what is drawn as one comes apart, and nothing is lost."""

import pytest

from tests.ui.browser import Visitor
from tests.ui.small import BLINK_S, CLUSTER, CLUSTER_REASONS
from tests.ui.timeline import Timeline

LENGTH_NS = 2e9
"""The stretch that the reasons fall into."""

MESSAGES = [f"reason {number}" for number in range(CLUSTER_REASONS)]


@pytest.fixture
def timeline(visitor: Visitor) -> Timeline:
    return Timeline.open(visitor, CLUSTER, tz="utc")


def zoom_to_the_cluster(timeline: Timeline) -> None:
    """Turn the wheel over it until it fills about the plot."""
    while True:
        layout = timeline.layout()
        t0, t1 = timeline.view_ns() if "t0" in timeline.state() else (0.0, 1e18)
        if t1 - t0 < 2 * LENGTH_NS:
            return
        x, y = layout.named("n0").ticks[0].point
        timeline.point_at((x, y))
        timeline.wheel(-1000)


def test_reasons_too_close_to_be_told_apart_are_one_cluster_with_their_number(
    timeline: Timeline,
) -> None:
    [cluster] = timeline.layout().named("n0").ticks
    assert cluster.num_reasons == CLUSTER_REASONS
    timeline.point_at(cluster.point)
    told = timeline.wait_for_tip("reason 0")
    shown = timeline.tip.locator(".tl-message").all_text_contents()
    assert shown == MESSAGES[: len(shown)]
    assert f"+{CLUSTER_REASONS - len(shown)} more" in told


def test_zoom_splits_a_cluster_until_the_mouse_reaches_each_reason(timeline: Timeline) -> None:
    zoom_to_the_cluster(timeline)
    found: set[int] = set()
    while len(found) < CLUSTER_REASONS:
        ticks = timeline.layout().named("n0").ticks
        if any(tick.num_reasons > 1 for tick in ticks):
            timeline.point_at(ticks[0].point)
            timeline.wheel(-400)
            continue
        for tick in ticks:
            if not found.issuperset(tick.reasons):
                found.update(tick.reasons)
                timeline.point_at(tick.point)
                timeline.wait_for_tip(MESSAGES[tick.reasons[0]], part=".tl-message")
        before = timeline.view_ns()
        timeline.tree.focus()
        timeline.press("d")
        timeline.wait_for_view_after(before)


def test_the_list_of_reasons_tells_all_of_them_in_the_order_of_time(timeline: Timeline) -> None:
    timeline.tree.get_by_role("row").filter(has_text="n0").click()
    items = timeline.details.locator(".tl-reasons .tl-message")
    more = timeline.details.get_by_role("button", name="more of")
    while more.count():
        before = items.count()
        more.click()
        items.nth(before).wait_for()
    assert items.all_text_contents() == MESSAGES


def test_a_node_of_eight_milliseconds_in_six_hours_is_seen_told_and_zoomed_to(
    timeline: Timeline,
) -> None:
    row = timeline.layout().named("blink")
    assert row.bar.width >= 2
    timeline.point_at((row.bar.x + 1, row.bar.middle[1]))
    assert "8ms" in timeline.wait_for_tip("blink")
    timeline.press("Escape")
    timeline.tree.get_by_role("row").filter(has_text="blink").click()
    timeline.tree.focus()
    timeline.press("f")
    timeline.wait_for_view_after((0, 0))
    layout = timeline.layout()
    bar = layout.named("blink").bar
    assert 0.8 <= bar.width / layout.plot.width <= 1
    assert bar.x >= layout.plot.x
    t0, t1 = timeline.view_ns()
    assert t1 - t0 == pytest.approx(BLINK_S * 1e9, rel=0.2)


def test_the_deepest_zoom_shows_a_microsecond_on_a_hundred_pixels_with_correct_marks(
    timeline: Timeline,
) -> None:
    timeline.tree.get_by_role("row").filter(has_text="blink").click()
    timeline.tree.focus()
    timeline.press("f")
    t0, t1 = timeline.wait_for_view_after((0, 0))
    while not is_deepest(timeline, (t0, t1)):
        timeline.press("W")
        t0, t1 = timeline.wait_for_view_after((t0, t1))
    plot = timeline.layout().plot
    ns_per_px = (t1 - t0) / plot.width
    assert 100 * ns_per_px <= 1000
    marks = timeline.axis_marks()
    assert len({label for _, label in marks}) >= 2
    for x, label in marks:
        # At the edges labels stand beside their marks, so that they are whole.
        off_px = 1 if LABEL_PX < x < plot.width - LABEL_PX else LABEL_PX
        expected = START_OF_DAY_NS + t0 + x * ns_per_px
        assert time_of_day_ns(label) == pytest.approx(expected, abs=off_px * ns_per_px)


LABEL_PX = 60

START_OF_DAY_NS = 8 * 3600 * 10**9
"""Time of day at which the executions start, in UTC."""


def is_deepest(timeline: Timeline, view: tuple[float, float]) -> bool:
    return 100 * (view[1] - view[0]) / timeline.layout().plot.width <= 1000


def time_of_day_ns(label: str) -> int:
    hours, minutes, seconds = label.split(":")
    whole, _, fraction = seconds.partition(".")
    in_s = (int(hours) * 60 + int(minutes)) * 60 + int(whole)
    return in_s * 10**9 + int(fraction.ljust(9, "0"))

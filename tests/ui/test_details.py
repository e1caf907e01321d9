"""The panel beside the rows says what is known of the selected span, and of whom."""

from playwright.sync_api import expect

from tests.ui.browser import Visitor
from tests.ui.small import SMALL
from tests.ui.timeline import Timeline


def test_an_error_of_earlier_attempts_is_told_once_as_theirs(visitor: Visitor) -> None:
    timeline = Timeline.open(visitor, SMALL)
    timeline.tree.get_by_role("row").filter(has_text="retried").first.click()
    errors = timeline.details.locator(".tl-error h3")
    expect(errors.first).to_be_visible()
    expect(timeline.details.get_by_text("Succeeded").first).to_be_visible()
    expect(errors).to_have_text(["attempt 0, attempt 1: OOMKilled (user error)"])

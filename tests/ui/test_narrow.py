"""In a narrow window no more is drawn than in a wide one, and nothing lies over anything else."""

from collections.abc import Iterator

import pytest

from spanwise_server.domain.identifiers import ExecutionId
from tests.e2e.harness import ServerProcess, running_server
from tests.ui.conftest import NewVisitor
from tests.ui.events import Story, store
from tests.ui.timeline import Timeline

MANY = ExecutionId("flytesnacks", "development", "many")

NUM_NODES = 1_500
MOST_ELEMENTS = 1_500


@pytest.fixture(scope="module")
def many_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Give a server with an execution of many rows."""
    story = Story(MANY)
    story.execution("RUNNING", 0)
    for number in range(NUM_NODES):
        story.node(f"n{number}", "RUNNING", 1 + number)
        story.node(f"n{number}", "SUCCEEDED", 2 + number)
    story.execution("SUCCEEDED", 3 + NUM_NODES)
    database = tmp_path_factory.mktemp("many") / "many.db"
    store(f"sqlite:///{database}", story.arrivals)
    with running_server(database) as server:
        yield server


@pytest.mark.parametrize(("width", "height"), [(320, 256), (360, 740), (700, 900)])
def test_a_narrow_window_draws_only_what_is_in_view(
    many_server: ServerProcess, new_visitor: NewVisitor, width: int, height: int
) -> None:
    visitor = new_visitor(many_server, viewport={"width": width, "height": height})
    timeline = Timeline.open(visitor, MANY)
    assert timeline.tree.get_attribute("aria-rowcount") == str(NUM_NODES + 2)
    assert timeline.page.locator("*").count() <= MOST_ELEMENTS
    heights = timeline.page.eval_on_selector_all("canvas", "all => all.map(c => c.height)")
    assert heights
    assert max(heights) <= max(height, 320)
    timeline.tree.locator("[aria-rowindex='3']").click()
    timeline.details.get_by_role("heading", level=2).wait_for()
    rows = timeline.page.locator(".tl-scroll").bounding_box()
    status = timeline.page.locator(".tl-status").bounding_box()
    assert rows is not None
    assert status is not None
    assert rows["height"] >= 3 * 22  # some rows can be seen
    assert rows["y"] + rows["height"] <= status["y"] + 0.5
    assert timeline.page.locator("*").count() <= MOST_ELEMENTS

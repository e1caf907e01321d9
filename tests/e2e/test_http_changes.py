"""The stream of changes: viewers hear of whatever any process commits."""

import signal
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from spanwise.v1.identifiers_pb2 import ExecutionId
from tests.e2e.flyte_run import OK, Run
from tests.e2e.harness import ServerProcess, Stubs, running_server
from tests.e2e.http_client import TIMEOUT_S, path_of, viewing
from tests.e2e.replicas import running_replicas, stubs_of
from tests.unit.web.decoded import decode_columns


def revision_of(server: ServerProcess, execution_id: ExecutionId) -> str:
    """Give the revision that a fresh load of the columns has."""
    got = httpx.get(server.page + path_of(execution_id, "columns"), timeout=TIMEOUT_S)
    return str(decode_columns(got.content).header["revision"])


def test_a_viewer_hears_of_each_change_until_the_end(server: ServerProcess, stubs: Stubs) -> None:
    """And each notice has the revision of what there is to read then."""
    run = Run(stubs)
    assert run.workflow("RUNNING", 0) is OK
    with viewing(server, run.id) as viewer:
        first = viewer.next()
        assert first == {
            "revision": revision_of(server, run.id),
            "phase": "RUNNING",
            "ended": False,
        }
        assert run.node("n0", "RUNNING", 1) is OK
        second = viewer.next()
        assert second == {
            "revision": revision_of(server, run.id),
            "phase": "RUNNING",
            "ended": False,
        }
        assert second != first
        assert run.node("n0", "SUCCEEDED", 2) is OK
        assert run.workflow("SUCCEEDED", 3) is OK
        last = viewer.wait_for(ended=True)
        assert last["phase"] == "SUCCEEDED"
        assert viewer.next() is None
    # What comes late is found by whoever asks.
    assert run.node("n1", "RUNNING", 2) is OK
    assert revision_of(server, run.id) != last["revision"]


def test_a_child_execution_counts(server: ServerProcess, stubs: Stubs) -> None:
    """As it is part of the tree, also before anything was heard of it."""
    parent, child = Run(stubs), Run(stubs)
    assert parent.workflow("RUNNING", 0) is OK
    with viewing(server, parent.id) as viewer:
        before = viewer.next()
        metadata = {"execution_id": child.flyte_id}
        assert parent.node("n0", "RUNNING", 1, workflow_node_metadata=metadata) is OK
        named = viewer.next()
        assert child.workflow("RUNNING", 2) is OK
        begun = viewer.next()
        assert child.node("n0", "RUNNING", 3) is OK
        ran = viewer.next()
    assert None not in (before, named, begun, ran)
    revisions = {notice["revision"] for notice in (before, named, begun, ran) if notice}
    assert len(revisions) == 4


def test_a_viewer_without_news_hears_that_the_server_is_there(
    server: ServerProcess, stubs: Stubs
) -> None:
    """Again and again, so that one that hears nothing knows that it is gone."""
    run = Run(stubs)
    assert run.workflow("RUNNING", 0) is OK
    with viewing(server, run.id) as viewer:
        viewer.next()
        with viewing(server, run.id) as other:
            assert other.next() is not None
        viewer.wait_for_signs(2)


def test_a_viewer_hears_of_what_another_process_commits(tmp_path: Path) -> None:
    """Both see the same revision."""
    with running_replicas(tmp_path / "spanwise.db", 2) as (one, other), stubs_of(other) as stubs:
        run = Run(stubs)
        assert run.workflow("RUNNING", 0) is OK
        with viewing(one, run.id) as viewer:
            viewer.next()
            assert run.node("n0", "RUNNING", 1) is OK
            notice = viewer.next()
            assert notice is not None
            assert notice["revision"] == revision_of(other, run.id) == revision_of(one, run.id)


def test_many_viewers_hear_the_same(server: ServerProcess, stubs: Stubs) -> None:
    """All that have connections."""
    run = Run(stubs)
    assert run.workflow("RUNNING", 0) is OK
    with ExitStack() as stack:
        viewers = [stack.enter_context(viewing(server, run.id)) for _ in range(50)]
        assert len({str(viewer.next()) for viewer in viewers}) == 1
        assert run.workflow("SUCCEEDED", 1) is OK
        assert {viewer.wait_for(ended=True)["phase"] for viewer in viewers} == {"SUCCEEDED"}


def test_streams_end_when_the_server_stops_and_go_on_with_the_next(tmp_path: Path) -> None:
    """A viewer holds no stop up, and finds the same revision afterwards."""
    database = tmp_path / "spanwise.db"
    with running_server(database, "--graceful-stop-s", "60") as server, server.channel() as channel:
        run = Run(Stubs(channel))
        assert run.workflow("RUNNING", 0) is OK
        with viewing(server, run.id) as viewer:
            before = viewer.next()
            server.signal(signal.SIGTERM)
            assert viewer.next() is None
        assert server.wait() == 0
        assert "Traceback" not in server.said()
        address = httpx.URL(server.page).netloc.decode()
    with (
        running_server(database, "--http-address", address) as server,
        viewing(server, run.id) as viewer,
    ):
        assert viewer.next() == before


def test_head_of_a_stream_ends_at_once(server: ServerProcess, stubs: Stubs) -> None:
    """With its headers."""
    run = Run(stubs)
    assert run.workflow("RUNNING", 0) is OK
    head = httpx.head(server.page + path_of(run.id, "changes"), timeout=TIMEOUT_S)
    assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_execution_that_is_not_known_has_no_stream(server: ServerProcess, method: str) -> None:
    """It is not found."""
    missing = ExecutionId(project="p", domain="d", name="nothing-of-this-name")
    got = httpx.request(method, server.page + path_of(missing, "changes"), timeout=TIMEOUT_S)
    assert got.status_code == 404

"""Watching against a server with canned answers."""

import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from spanwise import Client, InvalidRequest, ServerFailed, ServerUnavailable
from spanwise import _watch as watch_module
from spanwise._times import to_timestamp
from spanwise.v1 import span_pb2
from spanwise.v1.event_service_pb2 import LoggedEvent, WatchEventsResponse
from spanwise.v1.span_service_pb2 import SpanDelta, SpanSnapshot, WatchExecutionSpanResponse
from tests.unit.client.canned_server import Canned, running
from tests.unit.client.spans import T0_NS, deep, execution, node

AWAY = (grpc.StatusCode.UNAVAILABLE, "stopping")


class Watched(Canned):
    """Answers each watch with the next list of answers; a status at its end fails the call."""

    def _stream(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        for answer in self._answer(request, context):
            if isinstance(answer, tuple):
                context.abort(*answer)
            yield answer

    WatchExecutionSpan = WatchEvents = _stream


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Do not sleep; give the pauses instead."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def snapshot(*spans: span_pb2.Span, as_of_s: int = 0) -> WatchExecutionSpanResponse:
    """Give a whole tree."""
    return WatchExecutionSpanResponse(
        snapshot=SpanSnapshot(spans=spans), as_of=to_timestamp(T0_NS + as_of_s)
    )


def names(watched: Watched, **options: Any) -> list[list[str]]:
    """Watch to the end, and give the names of each tree."""
    with running(watched) as endpoint, Client(endpoint) as client:
        trees = list(client.watch_execution_span("p/d/n", **options))
    return [[span.name for span in tree] for tree in trees]


def family() -> tuple[span_pb2.Span, span_pb2.Span, span_pb2.Span]:
    """Give an execution and two nodes."""
    root = execution(0, None)
    return root, node(1, None, root, "n0"), node(1, None, root, "n1")


def test_each_answer_gives_a_whole_tree_and_leaves_those_before_as_they_are() -> None:
    """New, changed, and gone."""
    root, n0, n1 = family()
    renamed = span_pb2.Span()
    renamed.CopyFrom(n0)
    renamed.name = "train"
    below = node(2, None, n1, "n2")
    changes = SpanDelta(
        changed_spans=[renamed, n1, below], previous_sibling_ids=[b"", n0.span_id, b""]
    )
    removed = SpanDelta(removed_span_ids=[n1.span_id, below.span_id])
    watched = Watched(
        [
            snapshot(root, n0, as_of_s=1),
            WatchExecutionSpanResponse(delta=changes, as_of=to_timestamp(T0_NS + 2)),
            WatchExecutionSpanResponse(delta=removed, as_of=to_timestamp(T0_NS + 3)),
        ]
    )
    with running(watched) as endpoint, Client(endpoint) as client:
        trees = list(client.watch_execution_span("p/d/n"))
    assert [[span.name for span in tree] for tree in trees] == [
        ["run", "n0"],
        ["run", "train", "n1", "n2"],
        ["run", "train"],
    ]
    assert [tree.as_of_ns - T0_NS for tree in trees] == [1, 2, 3]


def test_a_new_span_stands_behind_the_sibling_that_is_named() -> None:
    """Spans that start together have no other order."""
    root, n0, n1 = family()
    first = WatchExecutionSpanResponse(
        delta=SpanDelta(changed_spans=[n0], previous_sibling_ids=[b""])
    )
    assert names(Watched([snapshot(root, n1), first]))[-1] == ["run", "n0", "n1"]


def test_depth_is_asked_for() -> None:
    """And left out when it is not given."""
    watched = Watched([snapshot(execution(0, 1))], [snapshot(execution(0, 1))])
    with running(watched) as endpoint, Client(endpoint) as client:
        list(client.watch_execution_span("p/d/n", depth=0))
        list(client.watch_execution_span("p/d/n"))
    asked = [request.selection for request in watched.requests]
    assert [(each.HasField("depth"), each.depth) for each in asked] == [(True, 0), (False, 0)]


def test_a_server_that_went_away_is_called_again(hurried: list[float]) -> None:
    """What it says first replaces what was known."""
    root, n0, n1 = family()
    watched = Watched([snapshot(root, n0), AWAY], [AWAY], [snapshot(root, n1)])
    assert names(watched) == [["run", "n0"], ["run", "n1"]]
    assert len(hurried) == 2


def test_a_server_that_stays_away_is_an_error_in_the_end(hurried: list[float]) -> None:
    """After pauses that grow up to a limit; any answer begins the count anew."""
    root, *_ = family()
    limit = watch_module.MAX_FAILURES
    watched = Watched([AWAY], [snapshot(root), AWAY], *[[AWAY]] * (limit - 1))
    with running(watched) as endpoint, Client(endpoint) as client:
        trees = client.watch_execution_span("p/d/n")
        assert next(trees).name == "run"
        with pytest.raises(ServerUnavailable, match="stopping"):
            next(trees)
    assert len(watched.requests) == limit + 1
    assert max(hurried) <= 6
    assert 15 < sum(hurried[1:]) < 25


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.UNIMPLEMENTED])
def test_another_failure_is_an_error_at_once(code: grpc.StatusCode) -> None:
    """A second call would fail as well."""
    watched = Watched([(code, "no")], [snapshot(execution(0, 1))])
    with pytest.raises(Exception, match="no"):
        names(watched)
    assert len(watched.requests) == 1


def test_a_change_that_fits_to_nothing_is_a_failure_of_the_server() -> None:
    """Not a KeyError, and no wrong tree."""
    root, n0, _ = family()
    lost = SpanDelta(changed_spans=[n0])
    with pytest.raises(ServerFailed, match="does not fit"):
        names(Watched([snapshot(root), WatchExecutionSpanResponse(delta=lost)]))
    with pytest.raises(ServerFailed, match="does not fit"):
        names(Watched([WatchExecutionSpanResponse(delta=SpanDelta())]))


def test_bad_arguments_are_told_before_the_iteration() -> None:
    """As for a single tree."""
    with Client("127.0.0.1:1") as client:
        with pytest.raises(InvalidRequest):
            client.watch_execution_span("nonsense")
        with pytest.raises(InvalidRequest):
            client.watch_execution_span("p/d/n", depth=-1)


def test_a_closed_client_watches_nothing() -> None:
    """The error comes from the iteration."""
    client = Client("127.0.0.1:1")
    client.close()
    with pytest.raises(InvalidRequest, match="closed"):
        next(client.watch_execution_span("p/d/n"))


def test_a_tree_of_any_depth_is_put_together() -> None:
    """Without recursion."""
    messages = deep(3_000)
    tree = watch_module.WatchedTree()
    tree.apply(snapshot(*messages))
    last = node(1, None, messages[-1], "last")
    delta = SpanDelta(changed_spans=[last], previous_sibling_ids=[b""])
    grown = tree.apply(WatchExecutionSpanResponse(delta=delta))
    assert sum(1 for _ in grown) == 3_002


def logged(*sequences: int) -> WatchEventsResponse:
    """Give an answer with events."""
    return WatchEventsResponse(events=[LoggedEvent(sequence=sequence) for sequence in sequences])


def heard(watched: Watched, **options: Any) -> list[int]:
    """Watch the events to the end, and give their sequences."""
    with running(watched) as endpoint, Client(endpoint) as client:
        return [event.sequence for event in client.watch_events("p/d/n", **options)]


def test_events_of_a_call_that_broke_off_are_not_asked_for_again(hurried: list[float]) -> None:
    """Each call begins behind the last event that came."""
    watched = Watched([logged(3, 4), logged(5), AWAY], [AWAY], [logged(6)])
    assert heard(watched, after_sequence=2, include_payload=True) == [3, 4, 5, 6]
    asked = [(request.after_sequence, request.include_payload) for request in watched.requests]
    assert asked == [(2, True), (5, True), (5, True)]
    assert len(hurried) == 2


def test_a_quiet_execution_is_watched_however_often_the_server_restarts() -> None:
    """An answer without events shows that there was a server."""
    calls = [[logged(), AWAY] for _ in range(3 * watch_module.MAX_FAILURES)]
    assert heard(Watched(*calls, [logged(1)])) == [1]


def test_events_of_a_server_that_stays_away_are_an_error_in_the_end() -> None:
    """After as many calls as for a tree."""
    watched = Watched([logged(1), AWAY], *[[AWAY]] * (watch_module.MAX_FAILURES - 1))
    with pytest.raises(ServerUnavailable, match="stopping"):
        heard(watched)
    assert {request.after_sequence for request in watched.requests} == {0, 1}


@pytest.mark.parametrize("after_sequence", [-1, 1 << 63])
def test_a_cursor_that_is_none_is_told_before_the_iteration(after_sequence: int) -> None:
    """Without a call."""
    with Client("127.0.0.1:1") as client, pytest.raises(InvalidRequest, match="after_sequence"):
        client.watch_events("p/d/n", after_sequence=after_sequence)

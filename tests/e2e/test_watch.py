"""Watching executions of running servers."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from spanwise import Client
from spanwise._watch import WatchedTree
from spanwise.v1 import span_service_pb2
from spanwise.v1.span_service_pb2 import WatchExecutionSpanRequest, WatchExecutionSpanResponse
from tests.e2e.flyte_run import Run
from tests.e2e.harness import ServerProcess, Stubs, failure, running_server

DEADLINE_S = 60


def watch(stubs: Stubs, run: Run, depth: int | None = None) -> Any:
    """Begin to watch a run: gives the call, which is an iterator of answers."""
    request = WatchExecutionSpanRequest(execution_id=run.id)
    if depth is not None:
        request.selection.depth = depth
    return stubs.spans.WatchExecutionSpan(request, timeout=DEADLINE_S)


def until_sequence(answers: Iterator[WatchExecutionSpanResponse], sequence: int) -> list[str]:
    """Read until an event is taken into account, and give the names in the tree."""
    tree = WatchedTree()
    for answer in answers:
        root = tree.apply(answer)
        if answer.sequence >= sequence:
            return [span.name for span in root]
    raise AssertionError("the watch ended too early")


def test_an_event_that_another_process_took_is_heard_of(tmp_path: Path) -> None:
    """Two servers on one file, as two instances have it."""
    database = tmp_path / "spanwise.db"
    with (
        running_server(database) as one,
        running_server(database) as other,
        one.channel() as channel,
        other.channel() as other_channel,
    ):
        here = Run(Stubs(channel))
        there = Run(Stubs(other_channel), here.name)
        there.workflow("RUNNING", 0)
        answers = watch(Stubs(channel), here)
        first = next(answers)
        assert first.snapshot.spans[0].name == here.name
        there.node("n0", "QUEUED", 1)
        second = next(answers)
        assert (first.sequence, second.sequence) == (1, 2)
        assert second.as_of.ToNanoseconds() > first.as_of.ToNanoseconds()
        changed = second.delta.changed_spans or second.snapshot.spans
        assert "n0" in {span.node.spec_node_id for span in changed}


def test_an_execution_that_is_not_known_yet_is_waited_for(stubs: Stubs) -> None:
    """Nothing is sent until any event names it; a task event does."""
    run = Run(stubs)
    answers = watch(stubs, run)
    run.task("n0", "QUEUED", 1)
    first = next(answers)
    assert first.HasField("snapshot")
    assert first.sequence == 1


def test_the_watch_ends_when_the_execution_ends(stubs: Stubs) -> None:
    """With OK, and with the ends of all that was open in it."""
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("n0", "RUNNING", 1)
    answers = watch(stubs, run)
    tree = WatchedTree()
    assert tree.apply(next(answers)).is_open
    run.workflow("FAILED", 9)
    last = [tree.apply(answer) for answer in answers][-1]
    assert answers.code() is grpc.StatusCode.OK
    assert "n0" in {span.node_id for span in last}
    assert not any(span.is_open for span in last)
    assert [span.message for span in last] == run.spans()
    assert list(watch(stubs, run))[-1].snapshot.spans == run.spans()


def test_watchers_of_one_execution_each_get_their_depth(stubs: Stubs) -> None:
    """What is left out is counted, and a change of the count is told."""
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    whole, top = watch(stubs, run), watch(stubs, run, depth=0)
    counts = [next(top).snapshot.spans[0].omitted_descendants]
    next(whole)
    run.node("n0", "QUEUED", 1)
    run.task("n0", "QUEUED", 2)
    names = until_sequence(watch(stubs, run), 3)
    for answer in top:
        (root,) = answer.snapshot.spans or answer.delta.changed_spans
        counts.append(root.omitted_descendants)
        if answer.sequence == 3:
            break
    assert counts[0] < counts[-1] == len(names) - 1
    assert next(whole).sequence in {2, 3}


def test_events_of_a_child_execution_are_heard_of(stubs: Stubs) -> None:
    """Its first ones, too, which come after the node that names it."""
    parent, child = Run(stubs), Run(stubs)
    parent.workflow("RUNNING", 0)
    parent.node("n0", "RUNNING", 1, workflow_node_metadata={"execution_id": child.flyte_id})
    answers = watch(stubs, parent)
    tree = WatchedTree()
    assert child.name not in {span.name for span in tree.apply(next(answers))}
    child.workflow("RUNNING", 2)
    answer = next(answers)
    assert [span.name for span in tree.apply(answer) if span.kind.name == "EXECUTION"] == [
        parent.name,
        child.name,
    ]
    assert answer.sequence == 2
    child.node("inside", "RUNNING", 3)
    assert "inside" in {span.node_id for span in tree.apply(next(answers))}


@pytest.mark.parametrize(
    ("selection", "field"),
    [
        ({"root_span_id": b"12345678"}, "selection.root_span_id"),
        ({"window_start": {"seconds": 1}}, "selection.window_start"),
        ({"window_end": {"seconds": 1}}, "selection.window_end"),
    ],
)
def test_a_part_that_cannot_be_picked_is_refused(
    stubs: Stubs, selection: dict[str, Any], field: str
) -> None:
    """More than was asked for would be taken for the part."""
    request = WatchExecutionSpanRequest(
        execution_id=Run(stubs).id, selection=span_service_pb2.SpanSelection(**selection)
    )
    with pytest.raises(grpc.RpcError) as refused:
        next(stubs.spans.WatchExecutionSpan(request, timeout=DEADLINE_S))
    code, text = failure(refused.value)
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert f"{field} cannot be watched" in text


def test_an_execution_must_be_named(stubs: Stubs) -> None:
    """Nothing could ever be known of it."""
    with pytest.raises(grpc.RpcError) as refused:
        next(stubs.spans.WatchExecutionSpan(WatchExecutionSpanRequest(), timeout=DEADLINE_S))
    assert failure(refused.value)[0] is grpc.StatusCode.INVALID_ARGUMENT


def test_a_watcher_that_goes_away_harms_nobody(stubs: Stubs, server: ServerProcess) -> None:
    """Neither before the first answer nor after it; those who watch the same go on."""
    run = Run(stubs)
    early, late, other = watch(stubs, run), watch(stubs, run), watch(stubs, run)
    early.cancel()
    run.workflow("RUNNING", 0)
    next(late)
    next(other)
    late.cancel()
    run.node("n0", "QUEUED", 1)
    assert next(other).sequence == 2
    assert server.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_ends_the_watches_and_is_not_held_up(number: signal.Signals, tmp_path: Path) -> None:
    """Of executions that are known, and of those that are not."""
    flags = ("--graceful-stop-s", "3600")
    with running_server(tmp_path / "spanwise.db", *flags) as server, server.channel() as channel:
        stubs = Stubs(channel)
        run = Run(stubs)
        run.workflow("RUNNING", 0)
        known, unknown = watch(stubs, run), watch(stubs, Run(stubs))
        next(known)
        server.signal(number)
        for answers in (known, unknown):
            with pytest.raises(grpc.RpcError) as ended:
                next(answers)
            code, text = failure(ended.value)
            assert code is grpc.StatusCode.UNAVAILABLE
            assert "watch again" in text
        assert server.wait() == 0
        assert "Traceback" not in server.said()


def test_the_client_goes_on_after_a_restart(tmp_path: Path) -> None:
    """On the same address. What happened meanwhile is in the first tree after it."""
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        run = Run(Stubs(channel))
        run.workflow("RUNNING", 0)
        with Client(server.endpoint) as client:
            trees = client.watch_execution_span(f"flytesnacks/development/{run.name}")
            assert next(trees).is_open
            assert server.stop() == 0
            with (
                running_server(database, "--grpc-address", server.endpoint) as again,
                again.channel() as new_channel,
            ):
                Run(Stubs(new_channel), run.name).workflow("SUCCEEDED", 9)
                assert list(trees)[-1].phase == "SUCCEEDED"


def test_what_was_not_heard_of_for_long_is_flagged(tmp_path: Path) -> None:
    """Up to the moment that a request names; whatever is below counts, at any depth."""
    with (
        running_server(tmp_path / "spanwise.db", "--stale-after-s", "60") as server,
        server.channel() as channel,
        Client(server.endpoint) as client,
    ):
        run = Run(Stubs(channel))
        run.workflow("RUNNING", 0)
        run.node("n0", "RUNNING", 1)
        run.task("n0", "RUNNING", 100)
        name = f"flytesnacks/development/{run.name}"
        heard_ns = client.get_execution_span(name, depth=0).last_event_ns
        assert heard_ns is not None
        quiet = client.get_execution_span(name, depth=0, as_of=heard_ns + 60 * 10**9)
        stale = client.get_execution_span(name, as_of=heard_ns + 60 * 10**9 + 1)
        assert not quiet.is_stale
        assert "last heard 1m 00s ago" in quiet.explain_text()
        assert {span.kind.name: span.is_stale for span in stale} == {
            "EXECUTION": True,
            "NODE": True,
            "TASK_ATTEMPT": True,
            "OPERATION": False,
        }
        assert client.get_execution_span(name).is_stale  # as of now

"""Watching the events of running servers."""

import itertools
import json
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from spanwise import Client, RequestRejected
from spanwise.v1.event_service_pb2 import LoggedEvent, WatchEventsRequest, WatchEventsResponse
from tests.e2e.cli_process import TIMEOUT_S, command, run
from tests.e2e.flyte_run import OK, Run
from tests.e2e.harness import MIB, ServerProcess, Stubs, failure, running_server
from tests.e2e.replicas import at_once, running_replicas, stubs_of

DEADLINE_S = 120


def watch(stubs: Stubs, run: Run, after_sequence: int = 0, **fields: Any) -> Any:
    """Begin to watch the events of a run: gives the call, which is an iterator of answers."""
    request = WatchEventsRequest(execution_id=run.id, after_sequence=after_sequence, **fields)
    return stubs.events.WatchEvents(request, timeout=DEADLINE_S)


def read(answers: Iterator[WatchEventsResponse], count: int) -> list[LoggedEvent]:
    """Read answers until so many events have come, or more."""
    events: list[LoggedEvent] = []
    while len(events) < count:
        events += next(answers).events
    return events


def path_of(run: Run) -> str:
    """Give what commands and the client call a run."""
    return f"flytesnacks/development/{run.name}"


def send(run: Run, node_id: str, versions: range) -> set[grpc.StatusCode]:
    """Send versions of a phase of an attempt."""
    return {run.task(node_id, "RUNNING", version, phase_version=version) for version in versions}


def test_a_watch_gives_what_a_list_gives_and_goes_on_after_the_end(stubs: Stubs) -> None:
    """With refused and late events, and payloads only where they are asked for."""
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    with_payload = watch(stubs, run, include_payload=True)
    without = watch(stubs, run)
    run.node("n0", "RUNNING", 1)
    run.workflow("SUCCEEDED", 9)
    run.workflow("RUNNING", 20)
    run.node("n0", "QUEUED", 0.5)
    heard = read(with_payload, 5)
    assert heard == run.log()
    assert run.dispositions() == ["ACCEPTED", "ACCEPTED", "ACCEPTED", "REFUSED", "LATE"]
    for event in heard:
        assert event.payload
        event.ClearField("payload")
    assert read(without, 5) == heard
    assert with_payload.is_active()


def test_the_first_answer_comes_at_once(stubs: Stubs) -> None:
    """Also for an execution that is not known yet. Then every answer has events."""
    run = Run(stubs)
    answers = watch(stubs, run)
    assert next(answers) == WatchEventsResponse()
    run.task("n0", "QUEUED", 1)
    (event,) = next(answers).events
    assert (event.sequence, event.node_id) == (1, "n0")


def test_a_watch_that_is_resumed_gives_exactly_what_came_meanwhile(database: Path | str) -> None:
    """Read to a cursor, disconnect, fifty more from two processes, resume there."""
    with (
        running_replicas(database, 2) as servers,
        stubs_of(servers[0]) as here,
        stubs_of(servers[1]) as there,
    ):
        run = Run(here)
        assert send(run, "n0", range(20)) == {OK}
        first = watch(here, run)
        cursor = read(first, 20)[-1].sequence
        first.cancel()
        at_once(
            [
                partial(send, Run(stubs, run.name), node_id, range(25))
                for stubs, node_id in ((here, "n1"), (there, "n2"))
            ]
        )
        for stubs in (here, there):
            resumed = watch(stubs, run, cursor)
            events = read(resumed, 50)
            assert [event.sequence for event in events] == list(range(21, 71))
            assert {(event.node_id, event.phase_version) for event in events} == set(
                itertools.product(("n1", "n2"), range(25))
            )
            resumed.cancel()


@pytest.mark.timeout(300)
def test_watchers_of_every_process_hear_every_event_of_every_process(database: Path | str) -> None:
    """In the same order, without a gap, while four processes write and watches break off."""
    with running_replicas(database, 4) as servers:
        writers, versions = 3, 20  # writers of each server
        total = 4 * writers * versions

        def write(server: ServerProcess, node_id: str) -> set[grpc.StatusCode]:
            with stubs_of(server) as stubs:
                return send(Run(stubs, "watched"), node_id, range(versions))

        def follow(server: ServerProcess, break_after: int) -> list[tuple[int, str, int]]:
            events: list[LoggedEvent] = []
            with stubs_of(server) as stubs:
                run = Run(stubs, "watched")
                while len(events) < total:
                    answers = watch(stubs, run, len(events))
                    events += read(answers, min(break_after, total - len(events)))
                    answers.cancel()
            return [(event.sequence, event.node_id, event.phase_version) for event in events]

        following = [
            partial(follow, server, break_after)
            for server, break_after in zip(servers, (1, 7, 50, total), strict=True)
        ]
        writing = [
            partial(write, server, f"n{number}-{nth}")
            for number, server in enumerate(servers)
            for nth in range(writers)
        ]
        with ThreadPoolExecutor(1) as thread:
            written = thread.submit(at_once, writing)
            followed = at_once(following)
            assert all(answers == {OK} for answers in written.result())
    assert [sequence for sequence, *_ in followed[0]] == list(range(1, total + 1))
    assert all(events == followed[0] for events in followed)
    assert len({event[1:] for event in followed[0]}) == total


def test_large_payloads_come_in_answers_that_any_client_takes(stubs: Stubs) -> None:
    """Four MiB is the usual cap; in one answer they would be more."""
    run = Run(stubs)
    for number in range(6):
        run.task("n0", "RUNNING", number, phase_version=number, reason="x" * (3 * MIB // 2))
    sizes = []
    answers = watch(stubs, run, include_payload=True)
    events: list[LoggedEvent] = []
    while len(events) < 6:
        answer = next(answers)
        sizes.append(answer.ByteSize())
        events += answer.events
    assert [event.sequence for event in events] == [1, 2, 3, 4, 5, 6]
    assert max(sizes) < 4 * MIB


def test_a_reader_that_does_not_read_holds_up_nothing(tmp_path: Path) -> None:
    """And the server does not gather for it what it does not take."""
    with running_server(tmp_path / "spanwise.db") as server, stubs_of(server) as stubs:
        run = Run(stubs)
        for number in range(40):
            run.task("n0", "RUNNING", number, phase_version=number, reason="x" * MIB)
        other = Run(stubs)
        before = resident_bytes(server)
        with stubs_of(server) as slow_stubs:
            slow = [watch(slow_stubs, run, include_payload=True) for _ in range(10)]
            for answers in slow:
                next(answers)
            assert other.task("n0", "RUNNING", 1) is OK
            (event,) = read(watch(stubs, other), 1)
            assert event.sequence == 1
            # All of them would be ten times 40 MiB.
            assert resident_bytes(server) - before < 200 * MIB
            assert len(read(slow[0], 39)) == 39


def resident_bytes(server: ServerProcess) -> int:
    """Give the memory that a server takes up."""
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


@pytest.mark.parametrize(
    ("request_message", "field"),
    [
        ({}, "execution_id.name"),
        ({"execution_id": {"name": "nobody"}, "after_sequence": -1}, "after_sequence"),
        ({"execution_id": {"name": "nobody"}, "after_sequence": 7}, "after_sequence"),
    ],
)
def test_what_cannot_be_watched_is_told(
    stubs: Stubs, request_message: dict[str, Any], field: str
) -> None:
    """With the field and what is wrong."""
    with pytest.raises(grpc.RpcError) as refused:
        next(stubs.events.WatchEvents(WatchEventsRequest(**request_message), timeout=DEADLINE_S))
    code, text = failure(refused.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert text.startswith(field)


def test_a_stopping_server_ends_the_watches(tmp_path: Path) -> None:
    """With UNAVAILABLE: they go on elsewhere, or after the restart. A stop waits for none."""
    flags = ("--graceful-stop-s", "60")
    with running_server(tmp_path / "spanwise.db", *flags) as server, stubs_of(server) as stubs:
        answers = watch(stubs, Run(stubs))
        next(answers)
        server.signal(signal.SIGTERM)
        with pytest.raises(grpc.RpcError) as ended:
            next(answers)
        code, text = failure(ended.value)
        assert code is grpc.StatusCode.UNAVAILABLE
        assert "watch again" in text
        assert server.wait() == 0
        assert "Traceback" not in server.said()


def test_the_client_goes_on_behind_the_last_event_after_a_restart(tmp_path: Path) -> None:
    """Nothing is lost and nothing comes twice, from either process."""
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, stubs_of(server) as stubs:
        run = Run(stubs)
        send(run, "n0", range(3))
        with Client(server.endpoint) as client:
            events = client.watch_events(path_of(run), after_sequence=1)
            heard = [next(events).sequence, next(events).sequence]
            assert server.stop() == 0
            with (
                running_server(database, "--grpc-address", server.endpoint) as again,
                stubs_of(again) as new_stubs,
            ):
                send(Run(new_stubs, run.name), "n1", range(2))
                heard += [next(events).sequence, next(events).sequence]
                assert heard == [2, 3, 4, 5]
                with pytest.raises(RequestRejected, match="last event is 5"):
                    next(client.watch_events(path_of(run), after_sequence=6))


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_command_follows_until_ctrl_c(
    form: tuple[str, ...], stubs: Stubs, server: ServerProcess
) -> None:
    """A line for each event, as soon as it is stored."""
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    arguments = ("events", path_of(run), "--follow", *form, "--endpoint", server.endpoint)
    with subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        if not form:
            assert next(lines).split()[:2] == ["sequence", "occurred_at"]
        first = next(lines)
        run.task("n0", "QUEUED", 1)
        second = next(lines)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 130
    if form:
        assert [json.loads(line)["sequence"] for line in (first, second)] == [1, 2]
    else:
        assert [line.split()[0] for line in (first, second)] == ["1", "2"]
        assert first.index("RUNNING") == second.index("QUEUED")


def test_the_command_follows_by_receipt_alone() -> None:
    """By the clock of the source, an event that comes later may belong before."""
    done = run("events", "p/d/n", "--follow", "--order", "occurred")
    assert done.returncode == 2
    assert "--follow" in done.stderr

"""How simulated propellers send, and what they do with answers, over a real socket."""

import asyncio
import time
from collections import defaultdict
from itertools import pairwise
from threading import Barrier
from typing import Any

import grpc
import pytest
from flyteidl.core import execution_pb2
from flyteidl.service.admin_pb2_grpc import AdminServiceServicer

from spanwise import ServerUnavailable
from spanwise.simulate import Load, Patience, Report, simulate
from spanwise.simulate.calls import Pacer
from tests.unit.client.simulate_sink import Refusal, Sink, execution_name, key_of, serving
from tests.unit.client.simulate_stories import in_order, simulation

_QUICK = Patience(
    call_timeout_s=20,
    calls=2,
    call_pause_s=0.01,
    rounds=3,
    round_pause_s=0.01,
    longest_pause_s=0.02,
)
_LOAD = Load(executions=6, workers=4, rate=1_000_000, patience=_QUICK)
_QUEUED = execution_pb2.NodeExecution.QUEUED
_NODES = 12
_SEED = 3


def _planned(load: Load) -> list[list[bytes]]:
    plan = simulation(_SEED, _NODES)
    return [
        [key_of(sent.request) for sent in in_order(plan.execution(number))]
        for number in range(load.executions)
    ]


def _run(sink: Sink, load: Load) -> Report:
    with serving(sink) as endpoint:
        return simulate(simulation(_SEED, _NODES), load, endpoint)


def _flat(lists: list[list[bytes]]) -> set[bytes]:
    return {key for keys in lists for key in keys}


@pytest.mark.parametrize(
    "load",
    [
        _LOAD,
        _LOAD._replace(workers=1),
        _LOAD._replace(propellers=3, duplicates=0.5),
        _LOAD._replace(rate=0, workers=16),
        _LOAD._replace(rate=0, propellers=2, duplicates=1),
    ],
)
def test_the_events_are_those_of_the_seed_whoever_sends_them(load: Load) -> None:
    sink = Sink()
    report = _run(sink, load)
    planned = _planned(load)
    assert sink.taken.keys() == _flat(planned)
    assert report.is_complete
    assert report.total.taken == sum(map(len, planned))
    assert report.total.nodes == load.executions * _NODES
    assert report.total.answers.total() == len(sink.received)
    assert report.total.sent_again == len(sink.received) - report.total.taken
    assert (report.total.sent_again > 0) == (load.duplicates > 0)


@pytest.mark.parametrize("workers", [1, 4])
def test_an_execution_is_sent_in_order_by_one_worker_at_a_time(workers: int) -> None:
    sink = Sink()
    _run(sink, _LOAD._replace(workers=workers))
    order: defaultdict[bytes, list[bytes]] = defaultdict(list)
    first_of = {keys[0]: set(keys) for keys in _planned(_LOAD)}
    for request in sink.received:
        (first,) = (first for first, keys in first_of.items() if key_of(request) in keys)
        order[first].append(key_of(request))
    assert sorted(order.values()) == sorted(_planned(_LOAD))


def test_executions_come_in_bursts_that_are_interleaved() -> None:
    """Eight events, and then somebody else's."""
    sink = Sink()
    _run(sink, _LOAD._replace(workers=1, executions=2))
    planned = _planned(_LOAD._replace(executions=2))
    bursts: list[int] = []
    before = None
    for request in sink.received:
        owner = next(number for number, keys in enumerate(planned) if key_of(request) in keys)
        if owner != before:
            bursts.append(0)
        bursts[-1] += 1
        before = owner
    assert bursts.count(8) > 5


def test_without_a_limit_the_nodes_of_one_execution_are_sent_side_by_side() -> None:
    """Each of them in order all the same."""
    strands = list(simulation(1, 60).execution(0).strands())
    one, other = next(pair for pair in pairwise(strands) if pair[0].stage == pair[1].stage)
    both = Barrier(2)
    first_of_each = {key_of(strand.sent[0].request) for strand in (one, other)}

    def hold(request: Any, _context: grpc.ServicerContext) -> None:
        if key_of(request) in first_of_each:
            both.wait(_QUICK.call_timeout_s / 2)  # each waits for the other one

    sink = Sink()
    sink.hold = hold
    with serving(sink) as endpoint:
        load = Load(executions=1, workers=4, rate=0, patience=_QUICK)
        assert simulate(simulation(1, 60), load, endpoint).is_complete
    position = {key_of(request): number for number, request in enumerate(sink.received)}
    for strand in strands:
        places = [position[key_of(sent.request)] for sent in strand.sent]
        assert places == sorted(places)
    assert not both.broken


def test_what_was_sent_twice_is_answered_already_exists() -> None:
    sink = Sink()
    report = _run(sink, _LOAD._replace(duplicates=1))
    assert set(sink.taken.values()) == {2}
    assert report.total.codes() == {"OK": len(sink.taken), "ALREADY_EXISTS": len(sink.taken)}
    assert report.total.known == 0


def test_what_the_server_has_from_before_counts_as_taken() -> None:
    sink = Sink()
    _run(sink, _LOAD)
    again = _run(sink, _LOAD)
    assert again.is_complete
    assert again.total.codes() == {"ALREADY_EXISTS": again.total.taken}
    assert again.total.known == again.total.taken


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    ],
)
def test_a_call_that_may_be_repeated_is(code: grpc.StatusCode) -> None:
    """At once, without sending the rest of its round again."""
    sink = Sink(lambda _request, number: (code, "not now") if number == 20 else None)
    report = _run(sink, _LOAD._replace(workers=1))
    assert report.is_complete
    assert (report.total.repeated_calls, report.total.failed_rounds) == (1, 0)
    assert report.total.codes()[code.name] == 1
    assert set(sink.taken.values()) == {1}


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN])
def test_a_round_that_fails_is_sent_again_from_its_beginning(code: grpc.StatusCode) -> None:
    """Executions begin with a round of two events; the next one has eight."""
    sink = Sink(lambda _request, number: (code, "a fault") if number == 6 else None)
    report = _run(sink, _LOAD._replace(workers=1, executions=1))
    assert report.is_complete
    assert (report.total.repeated_calls, report.total.failed_rounds) == (0, 1)
    (keys,) = _planned(_LOAD._replace(executions=1))
    assert [key_of(request) for request in sink.received] == keys[:7] + keys[2:]
    assert report.total.sent_again == 4


def test_each_of_the_nodes_that_are_sent_side_by_side_may_fail_a_few_times() -> None:
    """Not only one of them: a server that is away for a moment fails all that are in flight."""
    failed: set[bytes] = set()

    def refuse(request: Any, _number: int) -> Refusal | None:
        is_new = key_of(request) not in failed
        failed.add(key_of(request))
        begins = getattr(request.event, "spec_node_id", "") and request.event.phase == _QUEUED
        return (grpc.StatusCode.INTERNAL, "a fault") if begins and is_new else None

    load = Load(executions=1, workers=16, rate=0, patience=_QUICK)
    with serving(Sink(refuse)) as endpoint:
        report = simulate(simulation(1, 60), load, endpoint)
    assert report.is_complete
    assert report.total.failed_rounds > 10 * _QUICK.rounds


def test_failures_between_which_rounds_succeed_do_not_add_up() -> None:
    """However many there are in one execution."""
    sink = Sink(
        lambda _request, number: (grpc.StatusCode.INTERNAL, "a fault") if number % 10 == 9 else None
    )
    with serving(sink) as endpoint:
        load = _LOAD._replace(executions=1, workers=1)
        report = simulate(simulation(1, 60), load, endpoint)
    assert report.is_complete
    assert report.total.failed_rounds > 10 * _QUICK.rounds


def test_an_event_whose_answer_was_lost_was_not_there_before() -> None:
    """The server has it when it is sent again, and had it from us."""
    sink = Sink()
    lost = iter([grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL])

    def hold(_request: Any, context: grpc.ServicerContext) -> None:
        if len(sink.received) in {20, 40}:
            context.abort(next(lost), "lost")

    sink.hold = hold
    report = _run(sink, _LOAD._replace(workers=1))
    assert report.is_complete
    assert report.total.codes()["ALREADY_EXISTS"] > 0
    assert report.total.known == 0


@pytest.mark.parametrize(
    "refusal",
    [
        (grpc.StatusCode.FAILED_PRECONDITION, "already in terminal state"),
        (grpc.StatusCode.NOT_FOUND, "no such execution"),
        (grpc.StatusCode.INVALID_ARGUMENT, "no name"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Received message larger than max (9 vs. 4)"),
    ],
)
@pytest.mark.parametrize("rate", [0, 1_000_000])
def test_what_cannot_be_mended_stops_the_execution_alone(refusal: Refusal, rate: float) -> None:
    name = simulation(_SEED, _NODES).execution(2).execution_id.name

    def refuse(request: Any, _number: int) -> Refusal | None:
        is_late = type(request).__name__ == "TaskExecutionEventRequest"
        return refusal if is_late and execution_name(request) == name else None

    report = _run(Sink(refuse), _LOAD._replace(rate=rate))
    assert not report.is_complete
    assert (report.ended_by, report.total.stopped, report.total.finished) == ("", 1, 5)
    assert report.total.problems == [
        f"flytesnacks/development/{name}: {refusal[0].name}: {refusal[1]}"
    ]


def test_a_repeated_event_may_be_refused_when_its_end_is_known() -> None:
    """FlyteAdmin answers so where spanwise says ALREADY_EXISTS."""
    seen: set[bytes] = set()

    def refuse(request: Any, _number: int) -> Refusal | None:
        if key_of(request) in seen:
            return grpc.StatusCode.FAILED_PRECONDITION, "ended"
        seen.add(key_of(request))
        return None

    assert _run(Sink(refuse), _LOAD._replace(duplicates=1)).is_complete


def test_an_event_that_always_fails_stops_its_execution_in_the_end() -> None:
    """After so many rounds; the others are sent."""
    name = simulation(_SEED, _NODES).execution(2).execution_id.name

    def refuse(request: Any, _number: int) -> Refusal | None:
        is_it = execution_name(request) == name
        return (grpc.StatusCode.INTERNAL, "a fault") if is_it else None

    report = _run(Sink(refuse), _LOAD)
    assert (report.total.stopped, report.total.finished) == (1, 5)
    assert report.total.failed_rounds == _QUICK.rounds + 1
    assert report.total.codes()["INTERNAL"] == _QUICK.rounds + 1


def test_a_server_that_is_away_for_too_long_ends_everything() -> None:
    def refuse(_request: Any, number: int) -> Refusal | None:
        return (grpc.StatusCode.UNAVAILABLE, "gone") if number >= 50 else None

    report = _run(Sink(refuse), _LOAD)
    assert not report.is_complete
    assert "no server answers at 127.0.0.1" in report.ended_by
    assert report.total.taken == 50


def test_a_server_without_these_calls_ends_everything_at_once() -> None:
    with serving(AdminServiceServicer()) as endpoint:
        report = simulate(simulation(_SEED, _NODES), _LOAD, endpoint)
    assert f"the server at {endpoint} does not serve the events of" in report.ended_by
    assert report.total.codes().keys() == {"UNIMPLEMENTED"}


def test_nobody_at_the_endpoint_is_told_before_anything_is_sent() -> None:
    with pytest.raises(ServerUnavailable):
        simulate(simulation(_SEED, _NODES), _LOAD, "127.0.0.1:1")


def test_the_limit_lets_a_burst_through_and_then_its_rate() -> None:
    """Two seconds' worth at once; half of it more takes a second more."""

    async def wait_for(count: int) -> float:
        pacer = Pacer(100)
        begun_s = time.monotonic()
        for _ in range(count):
            await pacer.wait()
        return time.monotonic() - begun_s

    assert asyncio.run(wait_for(300)) >= 0.99


def test_progress_is_told_up_to_the_end() -> None:
    told: list[int] = []
    with serving(Sink()) as endpoint:
        simulate(
            simulation(_SEED, _NODES),
            _LOAD,
            endpoint,
            lambda tallies: told.append(sum(tally.nodes for tally in tallies)),
        )
    assert told == sorted(told)
    assert told[-1] == _LOAD.executions * _NODES

"""CreateEvents over real sockets: what is answered, when, and what that promises."""

import itertools
import os
import queue
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2

from spanwise.v1 import event_pb2, event_service_pb2, identifiers_pb2
from spanwise.v1.event_service_pb2 import (
    CreateEventsRequest,
    CreateEventsResponse,
    Event,
    LoggedEvent,
)
from tests.e2e.harness import MIB, ServerProcess, Stubs, failure, running_server, whole_log
from tests.e2e.processes import wait_until
from tests.e2e.test_writer import writer_of
from tests.unit.rpc.flyte import at, task_event

TIMEOUT_S = 60
STILL_S = 1.0
LARGE_BYTES = 2 * MIB
MANY = 100_000
Batches = Iterable[CreateEventsRequest]

_names = (f"stream{number}" for number in itertools.count())


def execution_id(name: str) -> identifiers_pb2.ExecutionId:
    return identifiers_pb2.ExecutionId(project="flytesnacks", domain="development", name=name)


def event(name: str, version: int, phase: str = "RUNNING", **fields: Any) -> Event:
    """Give an event of the one attempt of an execution, at the second of its version."""
    node_id = identifiers_pb2.NodeId(node_id="n0", execution_id=execution_id(name))
    message = event_pb2.TaskEvent(
        task_attempt_id=identifiers_pb2.TaskAttemptId(node_id=node_id),
        phase=f"PHASE_{phase}",
        phase_version=version,
        occurred_at=at(version),
        **fields,
    )
    return Event(task_event=message)


def batch(batch_id: int, *events: Event) -> CreateEventsRequest:
    return CreateEventsRequest(batch_id=batch_id, events=events)


def sequences(answer: CreateEventsResponse) -> list[int]:
    return [verdict.sequence for verdict in answer.verdicts]


def log_of(stubs: Stubs, name: str) -> list[LoggedEvent]:
    return whole_log(stubs, execution_id(name), include_payload=True)


class Held:
    """Requests that a test gives one by one: the call stays open until close()."""

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[CreateEventsRequest | None] = queue.SimpleQueue()
        self.put = self._requests.put

    def close(self) -> None:
        self._requests.put(None)

    def __iter__(self) -> Iterator[CreateEventsRequest]:
        return iter(self._requests.get, None)


@pytest.fixture
def name() -> str:
    return next(_names)


def call(stubs: Stubs, batches: Batches) -> Any:
    return stubs.events.CreateEvents(iter(batches), timeout=TIMEOUT_S)


def end_of(answers: Any) -> tuple[list[int], tuple[grpc.StatusCode, str]]:
    """Give the ids of the batches that were answered, and how the call ended."""
    answered = []
    try:
        for answer in answers:
            answered.append(answer.batch_id)  # noqa: PERF401 - what came before an error counts
    except grpc.RpcError as error:
        return answered, failure(error)
    return answered, (answers.code(), answers.details())


def test_batches_are_answered_in_order_with_the_places_of_their_events(
    stubs: Stubs, name: str
) -> None:
    versions = itertools.count()
    batches = [
        batch(1000 - number, *(event(name, next(versions)) for _ in range(number % 4)))
        for number in range(40)
    ]
    answers = list(call(stubs, batches))
    assert [answer.batch_id for answer in answers] == [each.batch_id for each in batches]
    assert [len(answer.verdicts) for answer in answers] == [len(each.events) for each in batches]
    flat = [sequence for answer in answers for sequence in sequences(answer)]
    assert flat == list(range(1, 61))
    assert [logged.phase_version for logged in log_of(stubs, name)] == list(range(60))


def test_an_event_is_logged_as_the_request_that_carries_it_alone(stubs: Stubs, name: str) -> None:
    sent = event(name, 3, producer_id="tests")
    list(call(stubs, [batch(1, sent)]))
    (logged,) = log_of(stubs, name)
    request = event_service_pb2.CreateTaskEventRequest(event=sent.task_event)
    assert logged.payload == request.SerializeToString()
    assert logged.payload_type == "spanwise.v1.CreateTaskEventRequest"


def test_events_of_all_kinds_may_stand_in_one_batch(stubs: Stubs, name: str) -> None:
    node_id = identifiers_pb2.NodeId(node_id="n1", execution_id=execution_id(name))
    flyte = task_event()
    flyte.event.parent_node_execution_id.execution_id.name = name
    received = event_service_pb2.ReceivedEvent(
        payload_type=flyte.DESCRIPTOR.full_name, payload=flyte.SerializeToString()
    )
    received.recorded_at.FromSeconds(1_600_000_000)
    events = [
        Event(execution_event=event_pb2.ExecutionEvent(execution_id=execution_id(name))),
        Event(node_event=event_pb2.NodeEvent(node_id=node_id)),
        event(name, 0),
        Event(received_event=received),
    ]
    (answer,) = call(stubs, [batch(1, *events)])
    assert sequences(answer) == [1, 2, 3, 4]
    kinds = [logged.payload_type.rpartition(".")[2] for logged in log_of(stubs, name)]
    assert kinds == [
        "CreateExecutionEventRequest",
        "CreateNodeEventRequest",
        "CreateTaskEventRequest",
        "TaskExecutionEventRequest",
    ]
    last = log_of(stubs, name)[-1]
    assert (last.payload, last.recorded_at) == (received.payload, received.recorded_at)


def test_each_event_of_a_batch_has_its_own_verdict(stubs: Stubs, name: str) -> None:
    unnamed = event(name, 1)
    unnamed.task_event.task_attempt_id.node_id.node_id = ""
    unknown = Event(received_event=event_service_pb2.ReceivedEvent(payload_type="made.up"))
    garbled = event_service_pb2.ReceivedEvent(
        payload_type="flyteidl.admin.TaskExecutionEventRequest", payload=b"\xff"
    )
    events = [
        event(name, 5),
        event(name, 2, "QUEUED"),
        event(name, 5),
        unnamed,
        unknown,
        Event(received_event=garbled),
        Event(),
        event(name, 9, "SUCCEEDED"),
        event(name, 11, "ABORTED"),
    ]
    (answer,) = call(stubs, [batch(7, *events)])
    told = [
        (
            verdict.sequence,
            event_service_pb2.Disposition.Name(verdict.disposition).removeprefix("DISPOSITION_"),
            code_pb2.Code.Name(verdict.code),
        )
        for verdict in answer.verdicts
    ]
    assert told == [
        (1, "ACCEPTED", "OK"),
        (2, "LATE", "OK"),
        (3, "DUPLICATE", "ALREADY_EXISTS"),
        (0, "UNSPECIFIED", "INVALID_ARGUMENT"),
        (0, "UNSPECIFIED", "INVALID_ARGUMENT"),
        (0, "UNSPECIFIED", "INVALID_ARGUMENT"),
        (0, "UNSPECIFIED", "INVALID_ARGUMENT"),
        (4, "ACCEPTED", "OK"),
        (5, "REFUSED", "FAILED_PRECONDITION"),
    ]
    messages = [verdict.message for verdict in answer.verdicts]
    assert "made.up" in messages[4]
    assert "SUCCEEDED" in messages[8]
    assert [bool(message) for message in messages] == [
        verdict.code != code_pb2.OK for verdict in answer.verdicts
    ]


def test_a_batch_is_answered_while_the_call_goes_on(stubs: Stubs, name: str) -> None:
    held = Held()
    answers = call(stubs, held)
    held.put(batch(1, event(name, 1)))
    assert next(answers).batch_id == 1
    held.put(batch(2))
    assert next(answers) == CreateEventsResponse(batch_id=2)
    held.close()
    assert end_of(answers) == ([], (grpc.StatusCode.OK, ""))


def test_a_call_without_a_batch_ends_with_ok(stubs: Stubs) -> None:
    assert end_of(call(stubs, [])) == ([], (grpc.StatusCode.OK, ""))


def test_a_batch_of_too_many_events_ends_the_call_after_the_answers_before(
    stubs: Stubs, name: str
) -> None:
    too_many = batch(2, *([event(name, 1)] * 10_001))
    batches = [batch(1, event(name, 0)), too_many, batch(3, event(name, 2))]
    answered, (code, details) = end_of(call(stubs, batches))
    assert (answered, code) == ([1], grpc.StatusCode.INVALID_ARGUMENT)
    assert "10001" in details
    assert [logged.phase_version for logged in log_of(stubs, name)] == [0]


def test_bytes_that_are_no_batch_end_the_call_after_the_answers_before(
    stubs: Stubs, name: str
) -> None:
    sent = [batch(1, event(name, 0)).SerializeToString(), b"\xff"]
    stream: Any = stubs.channel.stream_stream("/spanwise.v1.EventService/CreateEvents")
    answers = stream(iter(sent), timeout=TIMEOUT_S)
    assert CreateEventsResponse.FromString(next(answers)).batch_id == 1
    with pytest.raises(grpc.RpcError) as raised:
        next(answers)
    assert failure(raised.value)[0] is grpc.StatusCode.INVALID_ARGUMENT


def test_what_was_answered_before_a_cancellation_is_stored(stubs: Stubs, name: str) -> None:
    answers = call(stubs, (batch(number, event(name, number)) for number in range(MANY)))
    answered = [next(answers).batch_id for _ in range(50)]
    answers.cancel()
    logged = [logged.phase_version for logged in log_of(stubs, name)]
    assert logged[: len(answered)] == answered


def test_a_call_whose_time_is_over_ends_and_hurts_no_other(stubs: Stubs, name: str) -> None:
    held = Held()
    answers = stubs.events.CreateEvents(iter(held), timeout=0.5)
    held.put(batch(1, event(name, 1)))
    answered, (code, _) = end_of(answers)
    held.close()
    assert (answered, code) == ([1], grpc.StatusCode.DEADLINE_EXCEEDED)
    assert [answer.batch_id for answer in call(stubs, [batch(2)])] == [2]


def test_what_was_answered_is_there_after_the_server_was_killed(tmp_path: Path, name: str) -> None:
    database = tmp_path / "spanwise.db"
    with running_server(database) as server, server.channel() as channel:
        batches = (
            batch(number, *(event(name, number * 10 + each) for each in range(10)))
            for number in range(MANY)
        )
        answers = call(Stubs(channel), batches)
        answered = [next(answers).batch_id for _ in range(30)]
        server.process.kill()
        rest, (code, _) = end_of(answers)
        answered += rest
    assert code is grpc.StatusCode.UNAVAILABLE
    with running_server(database) as server, server.channel() as channel:
        logged = [logged.phase_version for logged in log_of(Stubs(channel), name)]
    assert answered == list(range(len(answered)))
    # In whole batches, and without a gap.
    assert logged == list(range(len(logged)))
    assert len(logged) % 10 == 0
    assert len(logged) >= len(answered) * 10


def test_a_call_ends_with_unavailable_when_the_writer_dies_and_a_new_one_is_taken(
    tmp_path: Path, name: str
) -> None:
    with running_server(tmp_path / "spanwise.db") as server, server.channel() as channel:
        stubs = Stubs(channel)
        answers = call(stubs, (batch(number, event(name, number)) for number in range(MANY)))
        answered = [next(answers).batch_id for _ in range(5)]
        os.kill(writer_of(server), signal.SIGKILL)
        rest, (code, _) = end_of(answers)
        answered += rest
        assert code is grpc.StatusCode.UNAVAILABLE
        logged = [logged.phase_version for logged in log_of(stubs, name)]
        assert logged[: len(answered)] == answered
        (again,) = call(stubs, [batch(1, event(name, 0))])
        assert again.verdicts[0].disposition == event_service_pb2.DISPOSITION_DUPLICATE


def test_an_idle_call_does_not_keep_a_server_from_stopping(tmp_path: Path, name: str) -> None:
    with running_server(tmp_path / "spanwise.db", "--graceful-stop-s", "3600") as server:
        with server.channel() as channel:
            held = Held()
            answers = call(Stubs(channel), held)
            held.put(batch(1, event(name, 1)))
            assert next(answers).batch_id == 1
            server.signal(signal.SIGTERM)
            answered, (code, _) = end_of(answers)
            held.close()
        assert (answered, code) == ([], grpc.StatusCode.UNAVAILABLE)
        assert server.wait() == 0


def resident_bytes(server: ServerProcess) -> int:
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Counted:
    """Endless large batches with large answers, and a count of those that were taken."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.taken = 0

    def __iter__(self) -> Iterator[CreateEventsRequest]:
        reason = event_pb2.Reason(message="x" * LARGE_BYTES)
        while True:
            self.taken += 1
            large = event(self._name, self.taken, reasons=[reason])
            yield batch(self.taken, large, *([Event()] * 1000))  # each of which is told to be bad

    def wait_until_not_taken(self) -> None:
        """Wait until no more are taken for a while."""
        seen, since = self.taken, time.monotonic()

        def is_still() -> bool:
            nonlocal seen, since
            if self.taken != seen:
                seen, since = self.taken, time.monotonic()
            return time.monotonic() - since > STILL_S

        wait_until(is_still)


def test_a_caller_that_reads_no_answers_is_not_read_either(tmp_path: Path, name: str) -> None:
    # Without probing, the client's own window for answers keeps the size that it begins with.
    with (
        running_server(tmp_path / "spanwise.db") as server,
        server.channel(**{"http2.bdp_probe": 0}) as channel,
    ):
        before_bytes = resident_bytes(server)
        batches = Counted(name)
        answers = call(Stubs(channel), batches)
        batches.wait_until_not_taken()
        stalled_at = batches.taken
        assert resident_bytes(server) - before_bytes < 100 * MIB
        assert stalled_at < 100
        for _ in range(stalled_at):
            next(answers)
        wait_until(lambda: batches.taken > stalled_at)
        answers.cancel()

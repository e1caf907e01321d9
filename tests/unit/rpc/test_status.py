"""The status table: every error of the domain reaches a caller as what it means."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import grpc
import grpc.aio
import pytest
from flyteidl.admin.event_pb2 import EventFailureReason
from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2
from google.rpc.status_pb2 import Status

from spanwise_server.domain.errors import (
    AlreadyInTerminalPhase,
    CorruptRecord,
    EventAlreadyRecorded,
    EventRefused,
    ExecutionNotFound,
    IllegalTransition,
    InvalidEvent,
    InvalidPageToken,
    InvalidQuery,
    InvalidWorkflow,
    NotFound,
    NotSupported,
    SpanNotFound,
    SpanwiseError,
    StoreUnavailable,
    WorkflowNotFound,
    WriteConflict,
)
from spanwise_server.domain.phases import Phase
from spanwise_server.rpc.methods import Answers, Call, Method, StreamKind
from spanwise_server.rpc.status import MAX_TEXT_BYTES, TABLE, encode_status, internal_status
from tests.unit.rpc.in_process import bidirectional, server_stream, serving, unary

NEVER_RAISED = {SpanwiseError, EventRefused}
"""Bases, which say nothing of their own."""

ROWS: list[tuple[SpanwiseError, grpc.StatusCode, list[type[Message]]]] = [
    (
        InvalidEvent("event.id", "is empty"),
        grpc.StatusCode.INVALID_ARGUMENT,
        [error_details_pb2.BadRequest],
    ),
    (
        InvalidQuery("page_size", "is -1"),
        grpc.StatusCode.INVALID_ARGUMENT,
        [error_details_pb2.BadRequest],
    ),
    (InvalidPageToken(), grpc.StatusCode.INVALID_ARGUMENT, [error_details_pb2.BadRequest]),
    (
        InvalidWorkflow("workflow.nodes[0].node_id", "is empty"),
        grpc.StatusCode.INVALID_ARGUMENT,
        [error_details_pb2.BadRequest],
    ),
    (NotFound("no such service"), grpc.StatusCode.NOT_FOUND, []),
    (
        WorkflowNotFound("p", "d", "train", "v1"),
        grpc.StatusCode.NOT_FOUND,
        [error_details_pb2.ResourceInfo],
    ),
    (
        ExecutionNotFound("p", "d", "run"),
        grpc.StatusCode.NOT_FOUND,
        [error_details_pb2.ResourceInfo],
    ),
    (SpanNotFound(b"12345678"), grpc.StatusCode.NOT_FOUND, [error_details_pb2.ResourceInfo]),
    (EventAlreadyRecorded(Phase.RUNNING), grpc.StatusCode.ALREADY_EXISTS, []),
    (
        AlreadyInTerminalPhase(Phase.SUCCEEDED),
        grpc.StatusCode.FAILED_PRECONDITION,
        [EventFailureReason, error_details_pb2.ErrorInfo],
    ),
    (
        IllegalTransition(Phase.RUNNING, Phase.QUEUED),
        grpc.StatusCode.FAILED_PRECONDITION,
        [error_details_pb2.PreconditionFailure],
    ),
    (
        StoreUnavailable("the disk is full"),
        grpc.StatusCode.UNAVAILABLE,
        [error_details_pb2.RetryInfo],
    ),
    (WriteConflict("busy"), grpc.StatusCode.UNAVAILABLE, [error_details_pb2.RetryInfo]),
    (CorruptRecord("event 7"), grpc.StatusCode.DATA_LOSS, []),
    (NotSupported("not yet"), grpc.StatusCode.UNIMPLEMENTED, []),
]


def taxonomy(base: type[SpanwiseError] = SpanwiseError) -> Iterator[type[SpanwiseError]]:
    """Give a class of errors and all below it."""
    yield base
    for subclass in base.__subclasses__():
        yield from taxonomy(subclass)


def test_every_error_of_the_domain_has_a_row() -> None:
    """And there is no row for anything else."""
    ours = {error for error in taxonomy() if error.__module__ == SpanwiseError.__module__}
    assert set(TABLE) == ours - NEVER_RAISED


def test_every_row_is_tested_here() -> None:
    """So that none is changed unnoticed."""
    assert {type(error) for error, _, _ in ROWS} == set(TABLE)


def methods_raising(error: Exception) -> list[Method]:
    """Give a unary method, a stream that fails at once, and one that fails after an answer."""

    async def call(request: StringValue, call: Call) -> Message:
        raise error

    async def stream(request: StringValue, call: Call) -> Answers:
        if request.value:
            yield request
        raise error

    async def conversation(requests: AsyncIterator[StringValue], call: Call) -> Answers:
        async for request in requests:
            if request.value:
                yield request
            raise error

    return [
        Method("/t.T/Unary", StringValue, StreamKind.UNARY, call),
        Method("/t.T/Stream", StringValue, StreamKind.SERVER, stream),
        Method("/t.T/Conversation", StringValue, StreamKind.BIDIRECTIONAL, conversation),
    ]


async def failures(error: Exception) -> list[grpc.aio.AioRpcError]:
    """Give what callers of all kinds of methods get when a handler raises `error`."""
    caught = []
    async with serving(methods_raising(error)) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await unary(channel, "/t.T/Unary")(b"")
        caught.append(failed.value)
        for request in (b"", StringValue(value="first").SerializeToString()):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                async for _ in server_stream(channel, "/t.T/Stream")(request):
                    pass
            caught.append(failed.value)
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                async for _ in bidirectional(channel, "/t.T/Conversation")(iter([request])):
                    pass
            caught.append(failed.value)
    return caught


def status_of(failure: grpc.aio.AioRpcError) -> Status:
    """Give the status in the trailers of a failed call."""
    trailers = dict(failure.trailing_metadata())
    details = trailers["grpc-status-details-bin"]
    assert isinstance(details, bytes)
    return Status.FromString(details)


@pytest.mark.parametrize(("error", "code", "details"), ROWS, ids=lambda row: type(row).__name__)
def test_a_caller_gets_code_text_and_details(
    error: SpanwiseError, code: grpc.StatusCode, details: list[type[Message]]
) -> None:
    """Over a real socket, from unary and streaming methods."""
    for failure in asyncio.run(failures(error)):
        status = status_of(failure)
        assert (failure.code(), failure.details()) == (code, str(error))
        assert (status.code, status.message) == (code.value[0], str(error))
        assert [detail.TypeName() for detail in status.details] == [
            detail.DESCRIPTOR.full_name for detail in details
        ]


def test_an_unforeseen_error_is_internal_and_says_nothing_but_where_to_look() -> None:
    """UNKNOWN would make flytekit log in; a text could leak what is nobody's business."""
    for failure in asyncio.run(failures(RuntimeError("password=hunter2"))):
        assert failure.code() is grpc.StatusCode.INTERNAL
        assert "hunter2" not in str(failure.details())
        assert "request" in str(failure.details())


def test_the_stored_phase_is_what_the_sender_reads_first() -> None:
    """FlytePropeller takes the first EventFailureReason among the details."""
    status = encode_status(AlreadyInTerminalPhase(Phase.ABORTED))
    reason = EventFailureReason()
    assert status.details[0].Unpack(reason)
    assert reason.already_in_terminal_state.current_phase == "ABORTED"
    info = error_details_pb2.ErrorInfo()
    assert status.details[1].Unpack(info)
    assert info.metadata["current_phase"] == "ABORTED"


def test_a_backward_transition_is_no_end_to_the_sender() -> None:
    """With an EventFailureReason it would mark its workflow failed."""
    status = encode_status(IllegalTransition(Phase.RUNNING, Phase.QUEUED))
    failure = error_details_pb2.PreconditionFailure()
    assert status.details[0].Unpack(failure)
    assert failure.violations[0].subject == "RUNNING"


@pytest.mark.parametrize("text", ["x", "ü", "\0", "日"])
def test_a_long_id_fits_into_the_trailers(text: str) -> None:
    """A client would refuse them, and take the call for another failure."""
    for failure in asyncio.run(failures(ExecutionNotFound("p", "d", text * 10_000))):
        assert failure.code() is grpc.StatusCode.NOT_FOUND
        assert len(str(failure.details()).encode()) <= MAX_TEXT_BYTES


def test_a_subclass_without_a_row_takes_the_row_of_its_base() -> None:
    """A backend may say more than the domain asks for."""

    class DiskFull(StoreUnavailable):
        pass

    assert encode_status(DiskFull("disk")).code == grpc.StatusCode.UNAVAILABLE.value[0]


def test_a_base_that_is_never_raised_has_no_status() -> None:
    """It would hide a row that is missing."""
    with pytest.raises(TypeError, match="SpanwiseError"):
        encode_status(SpanwiseError("x"))


def read_as_flytepropeller(status: Status) -> str:
    """Give the class that FlytePropeller puts a reply into.

    Source: flytepropeller v1.16 events/errors/errors.go, WrapError.
    """
    for detail in status.details:
        reason = EventFailureReason()
        if detail.Unpack(reason):
            return str(reason.WhichOneof("reason"))
    if status.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]:
        return "too large" if "message larger than max" in status.message else "rate limit"
    return {
        grpc.StatusCode.ALREADY_EXISTS.value[0]: "recorded before",
        grpc.StatusCode.NOT_FOUND.value[0]: "execution is gone",
        grpc.StatusCode.INVALID_ARGUMENT.value[0]: "bad event",
    }.get(status.code, "sink error")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (EventAlreadyRecorded(Phase.RUNNING), "recorded before"),
        (AlreadyInTerminalPhase(Phase.FAILED), "already_in_terminal_state"),
        (IllegalTransition(Phase.RUNNING, Phase.QUEUED), "sink error"),
        (StoreUnavailable("x" * 10_000 + "message larger than max"), "sink error"),
        (WriteConflict("busy"), "sink error"),
        (InvalidEvent("event.id.node_id", "is empty"), "bad event"),
        (NotSupported("not yet"), "sink error"),
    ],
)
def test_flytepropeller_reads_a_reply_as_it_is_meant(error: SpanwiseError, expected: str) -> None:
    """Each class has an effect on somebody's workflow; see the table in status.py."""
    assert read_as_flytepropeller(encode_status(error)) == expected


def test_an_unforeseen_error_is_a_sink_error_to_flytepropeller() -> None:
    """The round is played again."""
    assert read_as_flytepropeller(internal_status("r1")) == "sink error"

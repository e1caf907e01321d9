"""The status table: which gRPC status every domain error becomes, and with which details.

The sender gives these codes a meaning that reaches users' workflows. FlytePropeller looks first for
an EventFailureReason among the details, then at the code:

    reply                               means to it         and makes it
    OK                                  recorded            go on
    detail already_in_terminal_state    came after the end  workflow event: mark the workflow failed
                                                            node, task: go on if the event is
                                                            terminal itself, else fail the round
    detail incompatible_cluster         not my execution    fail the workflow
    ALREADY_EXISTS                      recorded before     go on
    NOT_FOUND                           execution is gone   fail the workflow
    INVALID_ARGUMENT                    bad event           node event: fail the user's node
    RESOURCE_EXHAUSTED with "message    too large           node event: fail the user's node
    larger than max" in its text
    RESOURCE_EXHAUSTED otherwise        rate limit          try again, then fail the round
    UNAVAILABLE                         sink is away        try again, then fail the round
    any other code                      sink error          fail the round

A failed round is played again from its start; after ten of them the workflow fails.

So no event is answered with NOT_FOUND, and with INVALID_ARGUMENT only when it names nothing that it
could be stored under. UNKNOWN is never sent: flytekit answers it with a login.

Source: flytepropeller v1.16 events/errors/errors.go, events/*_event_recorder.go,
pkg/controller/workflow/executor.go, pkg/controller/nodes/executor.go; flytekit 1.16
clients/auth_helper.py.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from flyteidl.admin.event_pb2 import EventErrorAlreadyInTerminalState, EventFailureReason
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2
from google.rpc.status_pb2 import Status

from spanwise_server.domain.errors import (
    AlreadyInTerminalPhase,
    CorruptRecord,
    EventAlreadyRecorded,
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
from spanwise_server.rpc.codecs.flyte1_enums import flyte_phase_name

ERROR_DOMAIN = "spanwise"
"""Domain of google.rpc.ErrorInfo."""

RETRY_DELAY_S = 1
"""Advice for callers of a store that is away. FlytePropeller has its own back-off; this one spares
other senders from hammering a database that starts."""

MAX_TEXT_BYTES = 512
"""Bounds each text that goes into the trailers. Clients refuse trailers of more than 8 KiB, and a
percent-encoded text takes three times its size: a long id must not turn one status into another."""


class _Row(NamedTuple):
    code: int
    details: Callable[[Any], list[Message]]


def encode_status(error: SpanwiseError) -> Status:
    """Give the status of a domain error, with its details."""
    row = _row_of(error)
    return build_status(row.code, str(error), row.details(error))


def code_name(error: SpanwiseError) -> str:
    """Give the name of the code of a domain error, for instance NOT_FOUND."""
    return str(code_pb2.Code.Name(_row_of(error).code))


def _row_of(error: SpanwiseError) -> _Row:
    for ancestor in type(error).__mro__:
        if ancestor in TABLE:
            return TABLE[ancestor]
    raise TypeError(f"{type(error).__name__} has no row in the status table")


def build_status(code: int, text: str, details: list[Message]) -> Status:
    """Give a status, with its text cut to MAX_TEXT_BYTES."""
    status = Status(code=code, message=_cut(text))
    for detail in details:
        status.details.add().Pack(detail)
    return status


def internal_status(request_id: str) -> Status:
    """Give the status of an error that nobody foresaw: nothing but where to find it in the log."""
    return Status(
        code=code_pb2.INTERNAL, message=f"internal error; request {request_id} in the server's log"
    )


def _cut(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MAX_TEXT_BYTES:
        return encoded.decode()
    return encoded[: MAX_TEXT_BYTES - 3].decode("utf-8", "ignore") + "..."


def _nothing(error: SpanwiseError) -> list[Message]:
    return []


def _bad_request(error: InvalidEvent | InvalidQuery | InvalidWorkflow) -> list[Message]:
    violation = error_details_pb2.BadRequest.FieldViolation(
        field=_cut(error.field), description=_cut(error.reason)
    )
    return [error_details_pb2.BadRequest(field_violations=[violation])]


def _execution(error: ExecutionNotFound) -> list[Message]:
    return [_resource("spanwise.v1.ExecutionId", error.name)]


def _span(error: SpanNotFound) -> list[Message]:
    return [_resource("spanwise.v1.Span", error.span_id.hex())]


def _workflow(error: WorkflowNotFound) -> list[Message]:
    return [_resource("spanwise.v1.EntityVersion", error.name)]


def _resource(message_type: str, name: str) -> Message:
    return error_details_pb2.ResourceInfo(resource_type=message_type, resource_name=_cut(name))


def _terminal_phase(error: AlreadyInTerminalPhase) -> list[Message]:
    # FlyteAdmin names the stored phase for workflows, and for nodes and tasks the requested one by
    # mistake. The field is documented as the current phase, and the sender only prints it.
    current = flyte_phase_name(error.current)
    return [
        # First, because FlytePropeller takes the first detail that it knows.
        EventFailureReason(
            already_in_terminal_state=EventErrorAlreadyInTerminalState(current_phase=current)
        ),
        error_details_pb2.ErrorInfo(
            reason="ALREADY_IN_TERMINAL_PHASE",
            domain=ERROR_DOMAIN,
            metadata={"current_phase": error.current.name},
        ),
    ]


def _precondition(error: IllegalTransition) -> list[Message]:
    # Without an EventFailureReason, as FlyteAdmin answers it.
    violation = error_details_pb2.PreconditionFailure.Violation(
        type="PHASE",
        subject=error.current.name,
        description=f"cannot go back to {error.requested.name}",
    )
    return [error_details_pb2.PreconditionFailure(violations=[violation])]


def _retry(error: StoreUnavailable | WriteConflict) -> list[Message]:
    info = error_details_pb2.RetryInfo()
    info.retry_delay.seconds = RETRY_DELAY_S
    return [info]


TABLE: dict[type, _Row] = {
    InvalidEvent: _Row(code_pb2.INVALID_ARGUMENT, _bad_request),
    InvalidQuery: _Row(code_pb2.INVALID_ARGUMENT, _bad_request),
    InvalidPageToken: _Row(code_pb2.INVALID_ARGUMENT, _bad_request),
    InvalidWorkflow: _Row(code_pb2.INVALID_ARGUMENT, _bad_request),
    NotFound: _Row(code_pb2.NOT_FOUND, _nothing),
    ExecutionNotFound: _Row(code_pb2.NOT_FOUND, _execution),
    SpanNotFound: _Row(code_pb2.NOT_FOUND, _span),
    WorkflowNotFound: _Row(code_pb2.NOT_FOUND, _workflow),
    EventAlreadyRecorded: _Row(code_pb2.ALREADY_EXISTS, _nothing),
    AlreadyInTerminalPhase: _Row(code_pb2.FAILED_PRECONDITION, _terminal_phase),
    IllegalTransition: _Row(code_pb2.FAILED_PRECONDITION, _precondition),
    StoreUnavailable: _Row(code_pb2.UNAVAILABLE, _retry),
    # Not ABORTED, which FlytePropeller does not try again but throws its round away for.
    WriteConflict: _Row(code_pb2.UNAVAILABLE, _retry),
    CorruptRecord: _Row(code_pb2.DATA_LOSS, _nothing),
    NotSupported: _Row(code_pb2.UNIMPLEMENTED, _nothing),
}

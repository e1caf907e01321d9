"""gRPC's errors stop at the client."""

import pickle
import traceback

import grpc
import pytest

import spanwise
from spanwise import Client, RemoteError, SpanwiseError
from spanwise._errors import _STATUS
from tests.unit.client.canned_server import Canned, running

_CASES = [
    (grpc.StatusCode.ABORTED, spanwise.ServerUnavailable),
    (grpc.StatusCode.ALREADY_EXISTS, spanwise.AlreadyRecorded),
    (grpc.StatusCode.CANCELLED, spanwise.ServerFailed),
    (grpc.StatusCode.DATA_LOSS, spanwise.ServerFailed),
    (grpc.StatusCode.DEADLINE_EXCEEDED, spanwise.DeadlinePassed),
    (grpc.StatusCode.FAILED_PRECONDITION, spanwise.Refused),
    (grpc.StatusCode.INTERNAL, spanwise.ServerFailed),
    (grpc.StatusCode.INVALID_ARGUMENT, spanwise.RequestRejected),
    (grpc.StatusCode.NOT_FOUND, spanwise.ExecutionNotFound),
    (grpc.StatusCode.OUT_OF_RANGE, spanwise.RequestRejected),
    (grpc.StatusCode.PERMISSION_DENIED, spanwise.AccessDenied),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, spanwise.Overloaded),
    (grpc.StatusCode.UNAUTHENTICATED, spanwise.AccessDenied),
    (grpc.StatusCode.UNAVAILABLE, spanwise.ServerUnavailable),
    (grpc.StatusCode.UNIMPLEMENTED, spanwise.NotServed),
    (grpc.StatusCode.UNKNOWN, spanwise.ServerFailed),
]


def test_every_status_code_is_mapped() -> None:
    """A code that gRPC adds must be thought about."""
    assert set(_STATUS) == set(grpc.StatusCode) - {grpc.StatusCode.OK}
    assert {code for code, _ in _CASES} == set(_STATUS)


@pytest.mark.parametrize(("code", "kind"), _CASES)
def test_a_status_becomes_an_error_that_names_the_server_and_the_subject(
    code: grpc.StatusCode, kind: type[RemoteError]
) -> None:
    """Over a real socket; the message says what the server said."""
    canned = Canned((code, "it said so"))
    with (
        running(canned) as endpoint,
        Client(endpoint) as client,
        pytest.raises(SpanwiseError) as caught,
    ):
        client.get_execution_span("p/d/n")
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, RemoteError)
    assert (error.endpoint, error.subject) == (endpoint, "execution p/d/n")
    assert error.details == "it said so"
    assert endpoint in str(error)
    is_told_by_the_sentence = kind is spanwise.ExecutionNotFound
    assert str(error).endswith(": it said so") is not is_told_by_the_sentence
    assert isinstance(error.__context__, grpc.RpcError)
    assert "grpc" not in "".join(traceback.format_exception(error)).replace(error.endpoint, "")


@pytest.mark.parametrize("kind", [spanwise.ExecutionNotFound, spanwise.WorkflowNotFound])
def test_what_is_not_known_is_named_once(kind: type[RemoteError]) -> None:
    """The server names it as well, in `details`."""
    details = "nothing is stored of the execution p/d/n: it was deleted"
    error = kind("host:1", "execution p/d/n", details)
    assert str(error).count("p/d/n") == 1
    assert error.details == details


def test_invalid_requests_are_one_kind_wherever_they_are_found() -> None:
    """By the client or by the server."""
    assert issubclass(spanwise.RequestRejected, spanwise.InvalidRequest)


def test_errors_survive_the_way_between_processes() -> None:
    """Pools pickle them."""
    error = spanwise.ExecutionNotFound("host:1", "execution p/d/n", "why")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (str(copy), copy.endpoint) == (str(error), "host:1")


def test_nobody_at_the_endpoint_is_told_with_a_way_out() -> None:
    """Port 1 has no server."""
    with Client("127.0.0.1:1") as client, pytest.raises(spanwise.ServerUnavailable) as caught:
        next(client.list_executions())
    assert "127.0.0.1:1" in str(caught.value)
    assert "spanwise serve" in str(caught.value)

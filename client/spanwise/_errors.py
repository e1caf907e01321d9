"""Errors of the client. gRPC's own stop here.

SpanwiseError
├── InvalidRequest        the request can never be right: a bad id, a bad argument
│   └── RequestRejected   … found by the server (a RemoteError as well)
├── MissingPackage        an optional package is not installed
└── RemoteError           comes from a call; carries endpoint, subject and details
    ├── ExecutionNotFound the server knows no such execution
    ├── WorkflowNotFound  nobody registered such a workflow
    ├── AlreadyRecorded   the event brings no new phase (a sender counts this as success)
    ├── Refused           the event contradicts what is stored, for instance after the end
    ├── NotServed         the server does not have this method
    ├── AccessDenied      credentials are missing or not enough
    ├── ServerUnavailable nobody answers at the endpoint, or not now
    ├── DeadlinePassed    no answer in time
    ├── Overloaded        too much at once, or a message too large
    └── ServerFailed      the server answered with a failure of its own
"""

from collections.abc import Iterator
from contextlib import contextmanager

import grpc


class SpanwiseError(Exception):
    """Base of every error that spanwise raises on purpose; never raised itself."""


class InvalidRequest(SpanwiseError, ValueError):
    """The request can never be right. Sending it again does not help."""


class MissingPackage(SpanwiseError, ImportError):
    """An optional package is not installed. The message says how to install it."""


INSTALL_SERVER = "install it with \"pip install '.[server]'\" in the clone of spanwise"
"""What to do where the packages of the server are missing: spanwise is on no package index."""


class RemoteError(SpanwiseError):
    """Base of the errors that come from a call.

    Attributes:
        endpoint: Server that was called, HOST:PORT.
        subject: What the call was about, for instance an execution id.
        details: What the server, or the gRPC library, said. May be empty.
    """

    _sentence = "the server at {endpoint} failed on {subject}"
    _ends_with_details = True

    def __init__(self, endpoint: str, subject: str, details: str = "") -> None:
        self.endpoint = endpoint
        self.subject = subject
        self.details = details
        text = self._sentence.format(endpoint=endpoint, subject=subject)
        if details and self._ends_with_details:
            text = f"{text}: {details}"
        super().__init__(text)

    def __reduce__(self) -> tuple[type["RemoteError"], tuple[str, str, str]]:
        # BaseException would rebuild it from the finished text; errors cross process pools.
        return (type(self), (self.endpoint, self.subject, self.details))


class RequestRejected(RemoteError, InvalidRequest):
    """The server found the request invalid. Sending it again does not help."""

    _sentence = "the server at {endpoint} calls the request for {subject} invalid"


class ExecutionNotFound(RemoteError):
    """The server knows no such execution. `spanwise list` shows the ones it knows."""

    _sentence = (
        "the server at {endpoint} knows no {subject}: no event has named it, or it was deleted "
        "('spanwise list' shows what it knows)"
    )
    _ends_with_details = False  # they say the same


class WorkflowNotFound(RemoteError):
    """Nobody registered such a workflow: Client.register_workflow does."""

    _sentence = (
        "the server at {endpoint} knows no {subject}: nobody registered it "
        "(Client.register_workflow does)"
    )
    _ends_with_details = False  # they say the same


class AlreadyRecorded(RemoteError):
    """The event brings no new phase. What else was new in it is kept: count it as success."""

    _sentence = "the server at {endpoint} has this phase already for {subject}"


class Refused(RemoteError):
    """The event contradicts what is stored. It is logged and does not change the end."""

    _sentence = "the server at {endpoint} refused {subject}"


class NotServed(RemoteError):
    """The server does not have this method: another server, or an older one."""

    _sentence = (
        "the server at {endpoint} does not serve {subject}: is it a spanwise server, "
        "and not older than this client?"
    )


class AccessDenied(RemoteError):
    """Credentials are missing or not enough."""

    _sentence = "the server at {endpoint} denies access to {subject}"


class ServerUnavailable(RemoteError):
    """Nobody answers at the endpoint, or not now. The call may be repeated as it is."""

    _sentence = (
        "no server answers at {endpoint}: start one with 'spanwise serve', "
        "or name another (--endpoint or SPANWISE_ENDPOINT)"
    )


class DeadlinePassed(RemoteError):
    """No answer in time. Whether an event was stored is not known: send it again."""

    _sentence = "the server at {endpoint} gave no answer in time about {subject}"


class Overloaded(RemoteError):
    """Too much at once, or a message too large for this server or this client."""

    _sentence = "too much for the server at {endpoint} or for this client, on {subject}"


class ServerFailed(RemoteError):
    """The server answered with a failure of its own. Its log says more."""


_STATUS: dict[grpc.StatusCode, type[RemoteError]] = {
    grpc.StatusCode.ABORTED: ServerUnavailable,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyRecorded,
    grpc.StatusCode.CANCELLED: ServerFailed,
    grpc.StatusCode.DATA_LOSS: ServerFailed,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlinePassed,
    grpc.StatusCode.FAILED_PRECONDITION: Refused,
    grpc.StatusCode.INTERNAL: ServerFailed,
    grpc.StatusCode.INVALID_ARGUMENT: RequestRejected,
    grpc.StatusCode.NOT_FOUND: ExecutionNotFound,
    grpc.StatusCode.OUT_OF_RANGE: RequestRejected,
    grpc.StatusCode.PERMISSION_DENIED: AccessDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Overloaded,
    grpc.StatusCode.UNAUTHENTICATED: AccessDenied,
    grpc.StatusCode.UNAVAILABLE: ServerUnavailable,
    grpc.StatusCode.UNIMPLEMENTED: NotServed,
    grpc.StatusCode.UNKNOWN: ServerFailed,
}


@contextmanager
def translated(
    endpoint: str, subject: str, *, not_found: type[RemoteError] = ExecutionNotFound
) -> Iterator[None]:
    """Turn what gRPC raises inside the block into an error of this module.

    Args:
        endpoint: Server that is called.
        subject: What the call is about, as it shall stand in the message.
        not_found: What NOT_FOUND stands for.

    Raises:
        RemoteError: The subclass that the status code stands for.
    """
    try:
        yield
    except grpc.RpcError as error:
        kind = _STATUS.get(error.code(), ServerFailed)
        if kind is ExecutionNotFound:
            kind = not_found
        # from None: a traceback shows this error alone. gRPC's stays reachable as __context__.
        raise kind(endpoint, subject, error.details() or "") from None

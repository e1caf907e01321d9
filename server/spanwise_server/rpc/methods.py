"""The method table: what every service gives to a front, and all that a handler sees of a call.

A front binds rows to a wire; a handler knows none. A handler takes a message and gives or yields
messages, or raises a domain error, which guards.py turns into a status.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, Protocol

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from spanwise_server.domain.errors import NotSupported


class Call(Protocol):
    """One call, as its handler sees it. Parts are looked up when asked for: most calls need none.

    Attributes:
        payload: The request as it was received, byte for byte; where requests are a stream, the one
            that was taken last.
    """

    payload: bytes

    @property
    def metadata(self) -> Mapping[str, str | bytes]:
        """Metadata of the caller, with lower-case keys; of a repeated key the last value."""

    @property
    def peer(self) -> str:
        """Address of the caller, in the words of the transport."""

    @property
    def remaining_s(self) -> float | None:
        """Seconds until the caller gives up; None when it waits for ever.

        A call that the caller gives up or cancels is cancelled as an asyncio task.
        """


class StreamKind(Enum):
    """Which side of a call is a stream. No API of ours streams requests alone."""

    UNARY = "unary"
    SERVER = "server"
    BIDIRECTIONAL = "bidirectional"


class Answer(Protocol):
    """What a handler gives: a message, or one that was encoded elsewhere."""

    def SerializeToString(self) -> bytes:  # noqa: N802 - the name that messages have
        """Give the bytes to send."""


class Encoded:
    """An Answer that was encoded elsewhere."""

    def __init__(self, payload: bytes) -> None:
        """Send `payload` as it is."""
        self._payload = payload

    def SerializeToString(self) -> bytes:  # noqa: N802 - as above
        """See Answer."""
        return self._payload


UnaryHandler = Callable[[Any, Call], Awaitable[Answer]]
"""Of StreamKind.UNARY: takes the request, gives the answer."""

Answers = AsyncGenerator[Answer, None]
"""A stream of answers. A generator, so that it can be closed when the call ends early."""

ServerStreamHandler = Callable[[Any, Call], Answers]
"""Of StreamKind.SERVER: takes the request, yields answers."""

BidirectionalHandler = Callable[[AsyncIterator[Any], Call], Answers]
"""Of StreamKind.BIDIRECTIONAL: takes the requests as they come, yields answers."""

Handler = UnaryHandler | ServerStreamHandler | BidirectionalHandler


class Method(NamedTuple):
    """One row: a method of a service. The handler is of the type that the kind names."""

    path: str
    request_type: type[Message]
    kind: StreamKind
    handler: Handler


def _require_all(method: str) -> str:
    raise ValueError(f"{method} has no handler")


def service_methods(
    service: ServiceDescriptor,
    handlers: Mapping[str, Handler],
    explain_unserved: Callable[[str], str] = _require_all,
) -> list[Method]:
    """Give a row for every method that a service declares.

    Args:
        service: The declaration.
        handlers: Handlers by name of method.
        explain_unserved: Gives the text of UNIMPLEMENTED for the name of a method without handler;
            by default every method needs one.

    Raises:
        ValueError: A handler is of no method of the service, or a method needs one.
    """
    unknown = handlers.keys() - service.methods_by_name.keys()
    if unknown:
        raise ValueError(f"{service.full_name} has no methods {sorted(unknown)}")
    return [
        Method(
            f"/{service.full_name}/{method.name}",
            GetMessageClass(method.input_type),
            _kind(method),
            handlers.get(method.name) or _unserved(_kind(method), explain_unserved(method.name)),
        )
        for method in service.methods
    ]


def service_names(methods: list[Method]) -> list[str]:
    """Give the full names of the services of a table, ascending."""
    return sorted({method.path.split("/")[1] for method in methods})


def _kind(method: MethodDescriptor) -> StreamKind:
    if method.client_streaming:
        return StreamKind.BIDIRECTIONAL
    return StreamKind.SERVER if method.server_streaming else StreamKind.UNARY


def _unserved(kind: StreamKind, text: str) -> Handler:
    async def refuse_call(request: Any, call: Call) -> Answer:
        raise NotSupported(text)

    async def refuse_stream(request: Any, call: Call) -> Answers:
        raise NotSupported(text)
        yield  # makes it a stream

    return refuse_call if kind is StreamKind.UNARY else refuse_stream

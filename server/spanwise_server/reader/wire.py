"""What the serving process and its reader say to each other: in the frames of child_process."""

from enum import IntEnum
from typing import Any, NamedTuple

from spanwise_server.domain.errors import SpanwiseError


class Verb(IntEnum):
    """What a request asks for."""

    READ = 1
    """Answer the request `payload` of the method `name`."""
    OPEN = 2
    """Begin to answer it with a stream, under the number of this request."""
    NEXT = 3
    """Give the next answer of the stream that `number` opened; None after the last one."""
    CLOSE = 4
    """Forget what `number` asked for: its caller has left. There is no answer, nor will there be
    one to what is under way."""
    PREPARE = 5
    """Keep the tree of the execution `payload`, which has ended. There is no answer."""


class Request(NamedTuple):
    """A request. Numbers are the serving process's; a stream has one number all along."""

    number: int
    verb: Verb
    name: str
    payload: Any


class Answer(NamedTuple):
    """An answer to the request of that number: bytes, None after the last one, or an error."""

    number: int
    result: bytes | SpanwiseError | RuntimeError | None

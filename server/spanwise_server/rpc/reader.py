"""What services ask of the reader, the process beside them: see reader/."""

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from google.protobuf.message import Message

from spanwise_server.domain.events import Event
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.rpc.methods import Call, Encoded, UnaryHandler
from spanwise_server.service.span_queries import LARGE_EVENTS


class Reader(Protocol):
    """Answers requests that take long to answer."""

    async def read(self, name: str, payload: bytes) -> bytes:
        """Give the answer to a request of a method, both encoded. Raises domain errors."""

    def stream(self, name: str, payload: bytes) -> AsyncGenerator[bytes, None]:
        """Yield the answers to a request of a method, all encoded. Raises domain errors."""

    def prepare(self, execution_id: ExecutionId) -> None:
        """Make ready for those who will read an execution that has ended. Returns at once."""


def answered_by(reader: Reader, name: str) -> UnaryHandler:
    """Give the handler of a call that the reader answers."""

    async def read(request: Message, call: Call) -> Encoded:
        return Encoded(await reader.read(name, call.payload))

    return read


def prepare_ended(reader: Reader, sequence: int, decode: Callable[[], Event]) -> None:
    """Have the tree of a large execution made ready when it ends.

    Args:
        reader: Makes it ready.
        sequence: Of an event of the execution itself that was stored: tells how large it is.
        decode: Gives that event. Called for large executions alone.
    """
    if sequence < LARGE_EVENTS:
        return
    event = decode()
    if event.phase.is_terminal:
        reader.prepare(event.execution_id)

"""What services ask of the reader, the process beside them: see reader/."""

from collections.abc import AsyncGenerator
from typing import Protocol

from spanwise_server.domain.identifiers import ExecutionId

LARGE_EVENTS = 1_000
"""An execution with this many events counts as large when it ends: its tree is kept, so that the
first to read it need not wait for seconds."""


class Reader(Protocol):
    """Answers requests that take long to answer."""

    async def read(self, name: str, payload: bytes) -> bytes:
        """Give the answer to a request of a method, both encoded. Raises domain errors."""

    def stream(self, name: str, payload: bytes) -> AsyncGenerator[bytes, None]:
        """Yield the answers to a request of a method, all encoded. Raises domain errors."""

    def prepare(self, execution_id: ExecutionId) -> None:
        """Make ready for those who will read an execution that has ended. Returns at once."""

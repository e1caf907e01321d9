"""Where the work of an event loop is done that would hold it up."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Threads(Protocol):
    """Where blocking work is done."""

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """Run `work` in a thread and give its result."""

"""Callers: for whom a thread works, and whether they still wait for what it makes."""

from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from threading import Lock, local

_of_thread = local()


class CallerLeft(Exception):
    """Nobody waits for the answer any more. Not an error: there is nobody to tell."""


class Caller:
    """Waits for an answer that a thread makes, and may leave before it is there. Thread-safe."""

    def __init__(self) -> None:
        """Begin with one that is there."""
        self._lock = Lock()
        self._has_left = False
        self._turn: Future[None] | None = None

    def leave(self) -> None:
        """Give up. Ends the wait for a turn with CallerLeft, also one that is still to begin."""
        with self._lock:
            self._has_left = True
            if self._turn is not None:
                self._turn.cancel()

    def require(self) -> None:
        """Raise CallerLeft if nobody waits any more."""
        if self._has_left:
            raise CallerLeft

    def wait_for(self, turn: "Future[None]") -> None:
        """Wait until a turn is given. Raises CallerLeft, and then it is cancelled."""
        with self._lock:
            self._turn = turn
            if self._has_left:
                turn.cancel()
        try:
            turn.result()
        except CancelledError as error:
            raise CallerLeft from error
        finally:
            with self._lock:
                self._turn = None

    @contextmanager
    def served(self) -> Iterator[None]:
        """Let this thread work for this caller for the time of a block."""
        _of_thread.caller = self
        try:
            yield
        finally:
            _of_thread.caller = None


def present_caller() -> Caller | None:
    """Give whom this thread works for; None if it works for nobody in particular."""
    caller: Caller | None = getattr(_of_thread, "caller", None)
    return caller

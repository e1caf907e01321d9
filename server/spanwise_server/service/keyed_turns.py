"""Turns by key: what two threads would do for the same key, one does, and the other finds done."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Lock, RLock


class KeyedTurns:
    """Lets one thread at a time work on a key. A thread whose turn it is may take it again."""

    def __init__(self) -> None:
        """Begin with no turns taken."""
        self._lock = Lock()
        self._turns: dict[Hashable, tuple[RLock, int]] = {}  # with the number of those who want it

    @contextmanager
    def take(self, key: Hashable) -> Iterator[None]:
        """Wait for the turn of a key."""
        with self._lock:
            turn, num_takers = self._turns.get(key, (RLock(), 0))
            self._turns[key] = turn, num_takers + 1
        try:
            with turn:
                yield
        finally:
            with self._lock:
                turn, num_takers = self._turns.pop(key)
                if num_takers > 1:
                    self._turns[key] = turn, num_takers - 1

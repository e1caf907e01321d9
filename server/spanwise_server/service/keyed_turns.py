"""Turns by key: what two threads would do for the same key, one does, and the other finds done."""

from collections import deque
from collections.abc import Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, get_ident

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.service.callers import CallerLeft, present_caller


@dataclass
class _Turn:
    """A turn that a thread has, and the threads that wait for it, in the order of their coming."""

    thread: int
    num_takes: int = 1
    waiting: "deque[tuple[int, Future[None]]]" = field(default_factory=deque)


class KeyedTurns:
    """Lets one thread at a time work on a key. A thread whose turn it is may take it again.

    Turns are given in the order in which they are asked for. A thread whose caller leaves waits no
    longer.
    """

    def __init__(self) -> None:
        """Begin with no turns taken."""
        self._lock = Lock()
        self._turns: dict[Hashable, _Turn] = {}
        self._num_waiting = 0

    @contextmanager
    def take(self, key: Hashable, max_waiting: int | None = None) -> Iterator[None]:
        """Wait for the turn of a key.

        Args:
            key: The key.
            max_waiting: Do not wait if so many that gave a bound wait already, for any key. Counts
                only threads that work for a caller.

        Raises:
            StoreUnavailable: So many wait.
            CallerLeft: The caller of this thread left while it waited.
        """
        bound = None if present_caller() is None else max_waiting
        turn = self._enter(key, bound)
        if turn is not None:
            self._wait(key, turn, is_counted=bound is not None)
        try:
            yield
        finally:
            self._release(key)

    def _enter(self, key: Hashable, bound: int | None) -> "Future[None] | None":
        """Take a turn that is free; else give what will say that it is this thread's."""
        with self._lock:
            taken = self._turns.get(key)
            if taken is None:
                self._turns[key] = _Turn(get_ident())
                return None
            if taken.thread == get_ident():
                taken.num_takes += 1
                return None
            if bound is not None:
                if self._num_waiting >= bound:
                    raise StoreUnavailable(
                        f"{bound} reads of large executions wait for their turn already; try again"
                        " in a moment, with fewer at once"
                    )
                self._num_waiting += 1
            turn: Future[None] = Future()
            taken.waiting.append((get_ident(), turn))
            return turn

    def _wait(self, key: Hashable, turn: "Future[None]", *, is_counted: bool) -> None:
        caller = present_caller()
        try:
            if caller is None:
                turn.result()
            else:
                caller.wait_for(turn)
        except CallerLeft:
            self._forget(key, turn)
            raise
        finally:
            if is_counted:
                with self._lock:
                    self._num_waiting -= 1

    def _forget(self, key: Hashable, turn: "Future[None]") -> None:
        with self._lock:
            taken = self._turns.get(key)
            if taken is not None:
                taken.waiting = deque(each for each in taken.waiting if each[1] is not turn)

    def _release(self, key: Hashable) -> None:
        with self._lock:
            turn = self._turns[key]
            turn.num_takes -= 1
            if turn.num_takes:
                return
            while turn.waiting:
                turn.thread, following = turn.waiting.popleft()
                if following.set_running_or_notify_cancel():  # it can no longer be cancelled
                    turn.num_takes = 1
                    following.set_result(None)
                    return
            del self._turns[key]

"""Answers in memory, which are given again while nothing has changed that they were made of."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from itertools import accumulate
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from spanwise_server.service.kept_trees import TreeBasis
from spanwise_server.service.span_queries import SpanQueries

_ENTRY_BYTES = 1_000
_VERSION_BYTES = 400
"""What an answer takes beside its own bytes, and what each version that it depends on takes."""

T = TypeVar("T")


class _Held(NamedTuple, Generic[T]):
    answer: T
    basis: TreeBasis
    size_bytes: int


class HeldAnswers(Generic[T]):
    """Holds answers up to a bound; what was used longest ago goes first. Thread-safe."""

    def __init__(self, queries: SpanQueries, max_bytes: int) -> None:
        """Ask `queries` for versions, and hold at most `max_bytes`, or one that is larger."""
        self._queries = queries
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._held: OrderedDict[Hashable, _Held[T]] = OrderedDict()  # the latest used last

    def find(self, key: Hashable) -> T | None:
        """Give what was held last under a key, if all has still the versions that it had then."""
        with self._lock:
            held = self._held.get(key)
        if held is None:
            return None
        is_same = self._queries.get_versions(held.basis.execution_keys) == held.basis.versions
        with self._lock:
            if self._held.get(key) is held:
                if is_same:
                    self._held.move_to_end(key)
                else:
                    del self._held[key]
        return held.answer if is_same else None

    def hold(self, key: Hashable, answer: T, basis: TreeBasis, size_bytes: int) -> None:
        """Hold an answer of so many bytes, its key included, in the place of the one before."""
        size_bytes += _ENTRY_BYTES + _VERSION_BYTES * len(basis.execution_keys)
        with self._lock:
            self._held.pop(key, None)
            self._held[key] = _Held(answer, basis, size_bytes)
            held_bytes = sum(each.size_bytes for each in self._held.values())
            # The latest one stays, however large: its next page is asked for next.
            while held_bytes > self._max_bytes and len(self._held) > 1:
                _, oldest = self._held.popitem(last=False)
                held_bytes -= oldest.size_bytes


class EncodedList:
    """Messages of a list, encoded one after the other, from which pages are cut."""

    def __init__(self, messages: Iterable[bytes], fingerprint: str) -> None:
        """Take encoded messages, and the fingerprint of what they were made of."""
        pieces = list(messages)
        self.fingerprint = fingerprint
        self.payload = b"".join(pieces)
        self._starts = list(accumulate(map(len, pieces), initial=0))

    @property
    def count(self) -> int:
        """Give the number of messages."""
        return len(self._starts) - 1

    @property
    def size_bytes(self) -> int:
        """Give what it takes in memory, places of messages included."""
        return len(self.payload) + 40 * len(self._starts)

    def cut(self, first: int, max_messages: int, max_bytes: int) -> tuple[bytes, int]:
        """Give the messages from number `first` on, and the number of the one behind them.

        At least one is given, however large, unless there is none.
        """
        if first >= self.count:
            return b"", self.count
        begin = self._starts[first]
        fitting = bisect_right(self._starts, begin + max_bytes) - 1
        end = min(max(fitting, first + 1), first + max_messages, self.count)
        return self.payload[begin : self._starts[end]], end

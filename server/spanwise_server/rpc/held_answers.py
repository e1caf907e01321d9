"""Answers in memory, which are given again while nothing has changed that they were made of."""

from bisect import bisect_right
from collections.abc import Hashable, Iterable
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

from spanwise_server.service.kept_trees import TreeBasis
from spanwise_server.service.latest import Latest
from spanwise_server.service.span_queries import SpanQueries

_ENTRY_BYTES = 1_000
_VERSION_BYTES = 400
"""What an answer takes beside its own bytes, and what each version that it depends on takes."""

T = TypeVar("T")


class _Held(NamedTuple, Generic[T]):
    answer: T
    basis: TreeBasis


class HeldAnswers(Generic[T]):
    """Holds answers up to a bound; what was used longest ago goes first. Thread-safe."""

    def __init__(self, queries: SpanQueries, max_bytes: int) -> None:
        """Ask `queries` for versions, and hold at most `max_bytes`, or one that is larger."""
        self._queries = queries
        self._latest: Latest[_Held[T]] = Latest(max_bytes)

    def find(self, key: Hashable) -> T | None:
        """Give what was held last under a key, if all has still the versions that it had then."""
        held = self._latest.find(key)
        if held is None:
            return None
        if self._queries.get_versions(held.basis.execution_keys) != held.basis.versions:
            self._latest.drop(key, held)
            return None
        return held.answer

    def hold(self, key: Hashable, answer: T, basis: TreeBasis, size_bytes: int) -> None:
        """Hold an answer of so many bytes, its key included, in the place of the one before."""
        size_bytes += _ENTRY_BYTES + _VERSION_BYTES * len(basis.execution_keys)
        self._latest.hold(key, _Held(answer, basis), size_bytes)


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

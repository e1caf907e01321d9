"""What was used latest, in memory, up to a bound."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class _Held(NamedTuple, Generic[T]):
    value: T
    size_bytes: int


class Latest(Generic[T]):
    """Holds values up to a number of bytes; what was used longest ago goes first. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        """Hold at most `max_bytes`, or one value that is larger."""
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._held: OrderedDict[Hashable, _Held[T]] = OrderedDict()  # the latest used last

    def find(self, key: Hashable) -> T | None:
        """Give what is held under a key. It counts as used."""
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return None
            self._held.move_to_end(key)
            return held.value

    def hold(self, key: Hashable, value: T, size_bytes: int) -> None:
        """Hold a value of so many bytes in the place of the one before."""
        with self._lock:
            self._held.pop(key, None)
            self._held[key] = _Held(value, size_bytes)
            held_bytes = sum(each.size_bytes for each in self._held.values())
            # The latest one stays, however large: whoever asked for it asks again soon.
            while held_bytes > self._max_bytes and len(self._held) > 1:
                _, oldest = self._held.popitem(last=False)
                held_bytes -= oldest.size_bytes

    def drop(self, key: Hashable, value: T | None = None) -> None:
        """Forget what is held under a key; if `value` is given, only that and nothing later."""
        with self._lock:
            held = self._held.get(key)
            if held is not None and (value is None or held.value is value):
                del self._held[key]

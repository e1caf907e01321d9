"""Watching of executions: whoever watches the same one shares one look at it.

Other processes may write to the same database, and nothing of a database tells a reader of that. So
one statement asks again and again for the last sequences of all executions that are watched, and a
tree is built only when they moved, or when silence makes a span stale.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.span_queries import LiveTree, SpanQueries

POLL_INTERVAL_S = 0.25
"""Pause between two looks at the sequences. Watchers are to hear of a commit within a second, and
the statement takes a fraction of a millisecond."""

REST_FACTOR = 3
"""How many times as long as a tree took to build it is then left alone, so that a large execution
under a stream of events takes a quarter of one core at most."""

T = TypeVar("T")
V = TypeVar("V")


class Threads(Protocol):
    """Where blocking work is done."""

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """Run `work` in a thread and give its result."""


class Render(Protocol[V]):
    """Makes of a tree what its watchers are to see. Runs in a thread."""

    def __call__(self, tree: LiveTree, as_of_ns: int, depth: int | None, previous: V | None) -> V:
        """Give the view of a tree.

        Args:
            tree: Tree.
            as_of_ns: Moment that it was built for.
            depth: Levels below the root to show; None for all.
            previous: The view before; to be given back itself when there is nothing new to see.
        """


class _Look(NamedTuple, Generic[V]):
    view: V
    execution_keys: frozenset[bytes]
    sequences: Mapping[bytes, int]
    next_stale_ns: int | None
    has_ended: bool


@dataclass(eq=False)
class _Followed(Generic[V]):
    """An execution, down to some depth, that somebody watches.

    Attributes:
        keys: Executions whose events change the tree.
        sequences: Their last sequences that the last look took into account.
        look: The newest look; None while the execution is not known.
        error: Why there will be no further look.
        is_looking: Whether a look is being taken, or waits for its turn.
        rest_until_s: Time of the event loop before which no other look is taken.
        changed: Set, and replaced, when there is something new to hear.
    """

    execution_id: ExecutionId
    depth: int | None
    keys: frozenset[bytes]
    sequences: Mapping[bytes, int] = field(default_factory=dict)
    look: _Look[V] | None = None
    error: Exception | None = None
    num_watchers: int = 0
    is_looking: bool = False
    rest_until_s: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def announce(self) -> None:
        """Wake all who wait."""
        # Whoever waits holds the old event; whoever comes later waits for the next change.
        self.changed.set()
        self.changed = asyncio.Event()


class SpanWatches(Generic[V]):
    """Lets any number of watchers follow executions. To be used from one event loop.

    One tree is built at a time, whatever is watched, so that other queries always find a thread.
    """

    def __init__(
        self,
        queries: SpanQueries,
        threads: Threads,
        render: Render[V],
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Build with `queries` and show with `render`, both in `threads`, as of `now_ns`."""
        self._queries = queries
        self._threads = threads
        self._render = render
        self._now_ns = now_ns
        self._followed: dict[tuple[ExecutionId, int | None], _Followed[V]] = {}
        self._turn = asyncio.Lock()
        self._joined = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None
        self._looks: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    async def watch(self, execution_id: ExecutionId, depth: int | None) -> AsyncGenerator[V, None]:
        """Yield the view of an execution, and the newest one whenever it changed.

        Nothing is yielded until any event has named the execution. Ends after the view in which it
        has ended. A watcher that takes its time misses the views between, and only those. To be
        closed when it is not read to its end.

        Args:
            execution_id: Execution.
            depth: Levels below it to show; None for all.

        Raises:
            StoreUnavailable: The store is away, or the server stops.
            CorruptRecord: A payload of the log cannot be decoded.
        """
        followed = self._join(execution_id, depth)
        seen: V | None = None
        try:
            while True:
                if followed.error is not None:
                    raise followed.error
                look = followed.look
                if look is not None and look.view is not seen:
                    seen = look.view
                    yield seen
                    if look.has_ended:
                        return
                    continue  # it may have changed again while that was sent
                await followed.changed.wait()
        finally:
            self._leave(followed)

    def stop(self) -> None:
        """End every watch with StoreUnavailable, those that begin from now on included."""
        self._is_stopped = True
        for followed in list(self._followed.values()):
            self._fail(followed, _stopping())
        if self._poller is not None:
            self._poller.cancel()

    def _join(self, execution_id: ExecutionId, depth: int | None) -> _Followed[V]:
        if self._is_stopped:
            raise _stopping()
        followed = self._followed.get((execution_id, depth))
        if followed is None:
            keys = frozenset({execution_key(execution_id)})
            followed = self._followed[execution_id, depth] = _Followed(execution_id, depth, keys)
        followed.num_watchers += 1
        self._joined.set()
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        return followed

    def _leave(self, followed: _Followed[V]) -> None:
        followed.num_watchers -= 1
        if not followed.num_watchers:
            self._forget(followed)

    def _forget(self, followed: _Followed[V]) -> None:
        """Let those who come from now on begin anew."""
        key = (followed.execution_id, followed.depth)
        if self._followed.get(key) is followed:
            del self._followed[key]

    def _fail(self, followed: _Followed[V], error: Exception) -> None:
        self._forget(followed)
        followed.error = error
        followed.announce()

    async def _poll(self) -> None:
        """Look at the sequences as long as anybody watches, and take the looks that are due."""
        loop = asyncio.get_running_loop()
        while self._followed:
            self._joined.clear()
            keys = frozenset().union(*(each.keys for each in self._followed.values()))
            try:
                last = await self._threads.run(partial(self._queries.get_last_sequences, keys))
            except Exception as error:  # noqa: BLE001 - each watcher must hear of it
                for followed in list(self._followed.values()):
                    self._fail(followed, error)
                break
            for followed in self._followed.values():
                if _is_due(followed, last, loop.time(), self._now_ns()):
                    followed.is_looking = True
                    task = asyncio.create_task(self._take_look(followed))
                    self._looks.add(task)
                    task.add_done_callback(self._looks.discard)
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_INTERVAL_S):
                    await self._joined.wait()  # the first look is not to wait for the next round
        self._poller = None

    async def _take_look(self, followed: _Followed[V]) -> None:
        loop = asyncio.get_running_loop()
        async with self._turn:
            if not followed.num_watchers or followed.error is not None:
                return
            begun_s = loop.time()
            previous = None if followed.look is None else followed.look.view
            try:
                look = await self._threads.run(partial(self._look, followed, previous))
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(followed, error)
                return
        # With the wait for a thread, so that watches give way when queries are many.
        followed.rest_until_s = loop.time() + REST_FACTOR * (loop.time() - begun_s)
        followed.is_looking = False
        followed.look = look
        followed.keys, followed.sequences = look.execution_keys, look.sequences
        if look.has_ended:
            self._forget(followed)
        if look.view is not previous:
            followed.announce()

    def _look(self, followed: _Followed[V], previous: V | None) -> _Look[V]:
        as_of_ns = self._now_ns()
        tree = self._queries.get_live_tree(followed.execution_id, as_of_ns)
        return _Look(
            view=self._render(tree, as_of_ns, followed.depth, previous),
            execution_keys=tree.execution_keys,
            sequences=tree.sequences,
            next_stale_ns=tree.next_stale_ns,
            has_ended=tree.root.end_ns is not None,
        )


def _is_due(followed: _Followed[V], last: dict[bytes, int], now_s: float, now_ns: int) -> bool:
    if followed.is_looking or now_s < followed.rest_until_s:
        return False
    if {key: last[key] for key in followed.keys if key in last} != followed.sequences:
        return True
    stale_ns = None if followed.look is None else followed.look.next_stale_ns
    return stale_ns is not None and stale_ns <= now_ns


def _stopping() -> StoreUnavailable:
    return StoreUnavailable(
        "the server is stopping; watch again: the first answer is the whole tree as it is then"
    )

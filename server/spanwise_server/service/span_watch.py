"""Watching of executions: whoever watches the same one shares one look at it.

Other processes may write to the same database, which tells at most that something was committed. So
one query asks after commits, and now and then, for the versions of all executions that are watched,
and a tree is built only when they moved, or when silence makes a span stale. It is then shown at
every depth that somebody asked for.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.spans import Span
from spanwise_server.service.commit_wait import Commits
from spanwise_server.service.followed import Followed
from spanwise_server.service.span_queries import LARGE_EVENTS, SpanQueries, VersionedTree
from spanwise_server.service.threads import Threads
from spanwise_server.storage.records import ExecutionVersion

REST_FACTOR = 3
"""How many times as long as a tree took to build it is then left alone, so that a large execution
under a stream of events takes a quarter of one core at most."""

V = TypeVar("V")


class Render(Protocol[V]):
    """Makes of a tree what its watchers are to see. Runs in a thread."""

    def __call__(
        self, tree: VersionedTree, as_of_ns: int, depth: int | None, previous: V | None
    ) -> V:
        """Give the view of a tree.

        Args:
            tree: Tree.
            as_of_ns: Moment that it was built for.
            depth: Levels below the root to show; None for all.
            previous: The view before; to be given back itself when there is nothing new to see.
        """


class _Look(NamedTuple, Generic[V]):
    """A tree as it was found.

    Attributes:
        views: What it shows, by depth; None stands for all of it.
        height: Levels below its root.
        execution_keys: Executions that it depends on.
        versions: Versions of the known ones of them.
        next_stale_ns: When another span will be stale; None for never.
        has_ended: Whether the execution has.
    """

    views: Mapping[int | None, V]
    height: int
    execution_keys: frozenset[bytes]
    versions: Mapping[bytes, ExecutionVersion]
    next_stale_ns: int | None
    has_ended: bool

    def find_view(self, depth: int | None) -> V | None:
        """Give the view down to a depth; None when nobody asked for it before the look."""
        return self.views.get(_shown_depth(depth, self.height))


@dataclass(eq=False)
class _Followed(Followed, Generic[V]):
    """An execution that somebody watches.

    Attributes:
        keys: Executions that its tree depends on.
        versions: Versions of them that the last look took into account.
        look: The newest look; None while the execution is not known.
        depths: How many watch it at each depth.
        is_looking: Whether a look is being taken, or waits for its turn.
        rest_until_s: Time of the event loop before which no other look is taken.
    """

    execution_id: ExecutionId
    keys: frozenset[bytes]
    versions: Mapping[bytes, ExecutionVersion] = field(default_factory=dict)
    look: _Look[V] | None = None
    depths: Counter[int | None] = field(default_factory=Counter)
    is_looking: bool = False
    rest_until_s: float = 0.0

    def lacks_view(self) -> bool:
        """Tell whether somebody came since the last look who asked for another depth."""
        look = self.look
        return look is not None and any(look.find_view(depth) is None for depth in self.depths)


class SpanWatches(Generic[V]):
    """Lets any number of watchers follow executions. To be used from one event loop.

    One large tree is built at a time, whatever is watched, and one small one beside it, so that
    small ones never wait for a large one, and other queries soon find a thread.
    """

    def __init__(
        self,
        queries: SpanQueries,
        threads: Threads,
        render: Render[V],
        commits: Commits,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Build with `queries` and show with `render`, both in `threads`, as of `now_ns`.

        What moved is looked for after `commits`.
        """
        self._queries = queries
        self._threads = threads
        self._render = render
        self._now_ns = now_ns
        self._followed: dict[ExecutionId, _Followed[V]] = {}
        self._large_turn = asyncio.Lock()
        self._small_turn = asyncio.Lock()
        self._wait = commits.new_wait()
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
                view = None if look is None else look.find_view(depth)
                if look is not None and view is not None and view is not seen:
                    seen = view
                    yield view
                    if look.has_ended:
                        return
                    continue  # it may have changed again while that was sent
                await followed.changed.wait()
        finally:
            self._leave(followed, depth)

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
        followed = self._followed.get(execution_id)
        if followed is None:
            keys = frozenset({execution_key(execution_id)})
            followed = self._followed[execution_id] = _Followed(execution_id, keys)
        followed.depths[depth] += 1
        self._wait.hurry()  # the first look is not to wait for the next round
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        return followed

    def _leave(self, followed: _Followed[V], depth: int | None) -> None:
        followed.depths[depth] -= 1
        if not followed.depths[depth]:
            del followed.depths[depth]
        if not followed.depths:
            self._forget(followed)

    def _forget(self, followed: _Followed[V]) -> None:
        """Let those who come from now on begin anew."""
        if self._followed.get(followed.execution_id) is followed:
            del self._followed[followed.execution_id]

    def _fail(self, followed: _Followed[V], error: Exception) -> None:
        self._forget(followed)
        followed.error = error
        followed.announce()

    async def _poll(self) -> None:
        """Look at the versions as long as anybody watches, and take the looks that are due."""
        loop = asyncio.get_running_loop()
        while self._followed:
            keys = frozenset().union(*(each.keys for each in self._followed.values()))
            try:
                versions = await self._threads.run(partial(self._queries.get_versions, keys))
            except Exception as error:  # noqa: BLE001 - each watcher must hear of it
                for followed in list(self._followed.values()):
                    self._fail(followed, error)
                break
            for followed in self._followed.values():
                now = {key: versions[key] for key in followed.keys if key in versions}
                if _is_due(followed, now, loop.time(), self._now_ns()):
                    followed.is_looking = True
                    is_large = sum(each.last_sequence for each in now.values()) >= LARGE_EVENTS
                    turn = self._large_turn if is_large else self._small_turn
                    task = asyncio.create_task(self._take_look(followed, turn))
                    self._looks.add(task)
                    task.add_done_callback(self._looks.discard)
            await self._wait.wait()
        self._poller = None

    async def _take_look(self, followed: _Followed[V], turn: asyncio.Lock) -> None:
        loop = asyncio.get_running_loop()
        async with turn:
            if not followed.depths or followed.error is not None:
                return
            begun_s = loop.time()
            before, depths = followed.look, frozenset(followed.depths)
            try:
                look = await self._threads.run(
                    partial(self._look, followed.execution_id, depths, before)
                )
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(followed, error)
                return
        # With the wait for a thread, so that watches give way when queries are many.
        followed.rest_until_s = loop.time() + REST_FACTOR * (loop.time() - begun_s)
        followed.is_looking = False
        followed.look = look
        followed.keys, followed.versions = look.execution_keys, look.versions
        if look.has_ended and not followed.lacks_view():
            self._forget(followed)
        followed.announce()

    def _look(
        self, execution_id: ExecutionId, depths: Collection[int | None], before: _Look[V] | None
    ) -> _Look[V]:
        as_of_ns = self._now_ns()
        tree = self._queries.get_versioned_tree(execution_id, as_of_ns)
        height = _height(tree.root)
        views = {
            depth: self._render(
                tree, as_of_ns, depth, None if before is None else before.find_view(depth)
            )
            for depth in {_shown_depth(depth, height) for depth in depths}
        }
        return _Look(
            views=views,
            height=height,
            execution_keys=tree.execution_keys,
            versions=tree.versions,
            next_stale_ns=tree.next_stale_ns,
            has_ended=tree.root.end_ns is not None,
        )


def _shown_depth(depth: int | None, height: int) -> int | None:
    """Give None for every depth that shows the whole of a tree."""
    return None if depth is None or depth >= height else depth


def _height(root: Span) -> int:
    """Give the number of levels below a span."""
    height, level = 0, root.children
    while level:
        height, level = height + 1, [child for span in level for child in span.children]
    return height


def _is_due(
    followed: _Followed[V], versions: Mapping[bytes, ExecutionVersion], now_s: float, now_ns: int
) -> bool:
    if followed.is_looking:
        return False
    if followed.lacks_view():
        return True  # the first view is not to wait
    if now_s < followed.rest_until_s:
        return False
    if versions != followed.versions:
        return True
    stale_ns = None if followed.look is None else followed.look.next_stale_ns
    return stale_ns is not None and stale_ns <= now_ns


def _stopping() -> StoreUnavailable:
    return StoreUnavailable(
        "the server is stopping; watch again: the first answer is the whole tree as it is then"
    )

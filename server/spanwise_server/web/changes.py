"""Who watches which execution, and what they hear: that there is something new to read.

One query asks after commits, and now and then, for the versions of all executions that the watched
ones depend on. Where they moved, the reader process is asked once for all who watch, and makes the
columns that they will ask for next. Nothing is built in the serving process.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from spanwise_server.domain.errors import ExecutionNotFound, StoreUnavailable
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.commit_wait import Commits
from spanwise_server.service.followed import Followed
from spanwise_server.service.threads import Threads
from spanwise_server.storage.records import ExecutionVersion
from spanwise_server.web.column_reads import GET_COLUMNS, ColumnsRequest, decode_answer

MAX_VIEWERS = 256
"""Of all executions together. Each has a connection."""

REST_S = 0.5
"""Between two looks at an execution: people do not read faster."""

NOT_NEWEST_S = 0.1
"""After what is not the newest, and was told before: newer columns are being made, and nothing
tells when they are there. Such a look costs about a millisecond."""

QUIET_S = 60.0
"""Without any event. Silence makes spans stale, and no event tells of it."""

MAX_LOOKS = 4
"""At once, so that those who ask by themselves find the reader free."""


class Reader(Protocol):
    """Answers what takes long to answer: the reader process."""

    async def read(self, name: str, payload: bytes) -> bytes:
        """Give the answer to a request of a read. Raises domain errors."""


Versions = Mapping[bytes, ExecutionVersion]


class Notice(NamedTuple):
    """What a viewer hears.

    Attributes:
        revision: Of the columns that are there.
        phase: Name of the phase of the execution in them.
        has_ended: Whether it has ended in them.
        is_last: Whether nothing more is to be expected.
    """

    revision: str
    phase: str
    has_ended: bool
    is_last: bool


@dataclass(eq=False)
class FollowedExecution(Followed):
    """An execution that somebody watches.

    Attributes:
        execution_id: Execution.
        keys: Executions that it depends on.
        versions: Versions of them that the last look took into account.
        notice: The latest; None before the first look.
        num_viewers: How many watch it.
        is_looking: Whether a look is being taken.
        rest_until_s: Time of the event loop before which no other look is taken.
        look_at_s: Time at which one is taken, whatever has moved.
    """

    execution_id: ExecutionId
    keys: frozenset[bytes]
    versions: Versions = field(default_factory=dict)
    notice: Notice | None = None
    num_viewers: int = 0
    is_looking: bool = False
    rest_until_s: float = 0.0
    look_at_s: float = 0.0


class Changes:
    """Lets any number of viewers follow executions. To be used from one event loop."""

    def __init__(
        self,
        get_versions: Callable[[Collection[bytes]], Versions],
        threads: Threads,
        commits: Commits,
        reader: Reader,
    ) -> None:
        """Look at versions in `threads` after `commits`, and at what moved with `reader`."""
        self._get_versions = get_versions
        self._threads = threads
        self._wait = commits.new_wait()
        self._reader = reader
        self._followed: dict[ExecutionId, FollowedExecution] = {}
        self._poller: asyncio.Task[None] | None = None
        self._looks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(MAX_LOOKS)
        self._num_viewers = 0
        self._is_stopped = False

    @asynccontextmanager
    async def follow(self, execution_id: ExecutionId) -> AsyncIterator[FollowedExecution]:
        """Give what there is to hear of an execution, as long as the block lasts.

        Raises:
            ExecutionNotFound: No event ever named it.
            StoreUnavailable: There are too many viewers, the store is away, or the server stops.
        """
        if self._is_stopped:
            raise _stopping()
        if self._num_viewers >= MAX_VIEWERS:
            raise StoreUnavailable(f"there are {MAX_VIEWERS} viewers already; try again later")
        followed = self._followed.get(execution_id) or await self._begin(execution_id)
        self._num_viewers += 1
        followed.num_viewers += 1
        try:
            yield followed
        finally:
            self._num_viewers -= 1
            followed.num_viewers -= 1
            if not followed.num_viewers:
                self._forget(followed)

    async def _begin(self, execution_id: ExecutionId) -> FollowedExecution:
        keys = frozenset({execution_key(execution_id)})
        versions = await self._threads.run(partial(self._get_versions, keys))
        if not versions:
            raise ExecutionNotFound(*execution_id)
        if self._is_stopped:
            raise _stopping()
        if (followed := self._followed.get(execution_id)) is not None:
            return followed  # somebody else came meanwhile
        followed = self._followed[execution_id] = FollowedExecution(execution_id, keys)
        self._begin_look(followed, versions)
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        return followed

    def stop(self) -> None:
        """End every watch, those that begin from now on included."""
        self._is_stopped = True
        self._fail_all(_stopping())
        if self._poller is not None:
            self._poller.cancel()
        for look in self._looks:
            look.cancel()

    def _forget(self, followed: FollowedExecution) -> None:
        """Let those who come from now on begin anew."""
        if self._followed.get(followed.execution_id) is followed:
            del self._followed[followed.execution_id]

    def _fail(self, followed: FollowedExecution, error: Exception) -> None:
        self._forget(followed)
        followed.error = error
        followed.announce()

    def _fail_all(self, error: Exception) -> None:
        for followed in list(self._followed.values()):
            self._fail(followed, error)

    async def _poll(self) -> None:
        """Look at the versions as long as anybody watches, and take the looks that are due."""
        now_s = asyncio.get_running_loop().time
        while self._followed:
            await self._wait.wait()
            keys = frozenset().union(*(each.keys for each in self._followed.values()))
            try:
                versions = await self._threads.run(partial(self._get_versions, keys))
            except Exception as error:  # noqa: BLE001 - each viewer must hear of it
                self._fail_all(error)
                break
            for followed in self._followed.values():
                seen = {key: versions[key] for key in followed.keys if key in versions}
                if _is_due(followed, seen, now_s()):
                    self._begin_look(followed, seen)
        self._poller = None

    def _begin_look(self, followed: FollowedExecution, versions: Versions) -> None:
        followed.is_looking = True
        task = asyncio.create_task(self._look(followed, versions))
        self._looks.add(task)
        task.add_done_callback(self._looks.discard)

    async def _look(self, followed: FollowedExecution, versions: Versions) -> None:
        request = ColumnsRequest(followed.execution_id, wants_columns=False)
        try:
            async with self._slots:
                payload = await self._reader.read(GET_COLUMNS, request.encode())
        except Exception as error:  # noqa: BLE001 - as above
            self._fail(followed, error)
            return
        answer = decode_answer(payload)
        now_s = asyncio.get_running_loop().time()
        followed.keys, followed.versions = answer.execution_keys, versions
        followed.is_looking = False
        is_last = answer.has_ended and answer.is_newest
        notice = Notice(answer.revision, answer.phase, answer.has_ended, is_last)
        is_news = notice != followed.notice
        rest_s = REST_S if is_news or answer.is_newest else NOT_NEWEST_S
        followed.rest_until_s = now_s + rest_s
        followed.look_at_s = now_s + (QUIET_S if answer.is_newest else rest_s)
        if is_news:
            followed.notice = notice
            followed.announce()
        if is_last:
            self._forget(followed)


def _is_due(followed: FollowedExecution, versions: Versions, now_s: float) -> bool:
    if followed.is_looking or now_s < followed.rest_until_s:
        return False
    return versions != followed.versions or now_s >= followed.look_at_s


def _stopping() -> StoreUnavailable:
    return StoreUnavailable("the server is stopping; ask again in a moment")

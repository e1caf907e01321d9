"""Following of executions, over a store and a reader that are told what to say."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from unittest.mock import Mock

import pytest

from spanwise_server.domain.errors import (
    ExecutionNotFound,
    InvalidQuery,
    SpanwiseError,
    StoreUnavailable,
)
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.service.commit_wait import Commits
from spanwise_server.storage.records import ExecutionVersion
from spanwise_server.web import api as api_module
from spanwise_server.web import changes as changes_module
from spanwise_server.web.api import Reads
from spanwise_server.web.changes import Changes, FollowedExecution, Notice
from spanwise_server.web.column_reads import GET_COLUMNS, ColumnsAnswer

T = TypeVar("T")

DEADLINE_S = 60
RUN = ExecutionId("p", "d", "run")
CHILD = ExecutionId("p", "d", "child")
KEY, CHILD_KEY = execution_key(RUN), execution_key(CHILD)


class Inline:
    """Runs what is to run in a thread at once."""

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """See Threads."""

        async def answer() -> T:
            return work()

        return answer()


@dataclass
class World:
    """What is stored, and what the reader says of it.

    Attributes:
        versions: Sequence by key of execution.
        keys: Executions that RUN depends on.
        has_ended: Whether RUN has.
        is_newest: Whether columns are the newest.
        error: What the reader fails with.
        num_reads: How often the reader was asked.
        rounds: Ends a wait whenever versions may be looked at.
    """

    versions: dict[bytes, int] = field(default_factory=lambda: {KEY: 1})
    keys: frozenset[bytes] = frozenset({KEY, CHILD_KEY})
    has_ended: bool = False
    is_newest: bool = True
    error: SpanwiseError | None = None
    num_reads: int = 0
    rounds: Any = None

    def get_versions(self, keys: Collection[bytes]) -> Mapping[bytes, ExecutionVersion]:
        """See SpanQueries."""
        return {
            key: ExecutionVersion(sequence, b"", None, 0)
            for key, sequence in self.versions.items()
            if key in keys
        }

    async def read(self, name: str, payload: bytes) -> bytes:
        """See Reader."""
        assert name == GET_COLUMNS
        assert json.loads(payload)[-1] is False, "columns are not to be sent to nobody"
        self.num_reads += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        revision = "-".join(str(self.versions.get(key, "")) for key in sorted(self.keys))
        return ColumnsAnswer(
            revision, self.is_newest, "RUNNING", self.has_ended, self.keys, b""
        ).encode()


def follow(test: Callable[[World, Changes], Coroutine[Any, Any, None]]) -> None:
    """Run a test over a world that commits all the time."""

    async def run() -> None:
        world = World()
        commits = Commits(Mock())
        world.rounds = commits.new_wait()
        changes = Changes(world.get_versions, Inline(), commits, world)
        try:
            async with asyncio.timeout(DEADLINE_S):
                await test(world, changes)
        finally:
            changes.stop()
            commits.close()

    asyncio.run(run())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rest for less than people can wait."""
    monkeypatch.setattr(changes_module, "REST_S", 0.01)
    monkeypatch.setattr(changes_module, "NOT_NEWEST_S", 0.02)


async def hear(followed: FollowedExecution, before: Notice | None = None) -> Notice:
    """Wait for another notice than the one before."""
    while followed.notice is None or followed.notice == before:
        if followed.error is not None:
            raise followed.error
        await followed.changed.wait()
    return followed.notice


def test_a_look_is_taken_when_a_version_moves_and_not_otherwise() -> None:
    """Also that of a child which was only named before."""

    async def test(world: World, changes: Changes) -> None:
        async with changes.follow(RUN) as followed:
            first = await hear(followed)
            world.versions[CHILD_KEY] = 1
            second = await hear(followed, first)
            world.versions[KEY] = 2
            third = await hear(followed, second)
            assert len({first.revision, second.revision, third.revision}) == 3
            while followed.is_looking or followed.versions != world.get_versions(world.keys):
                await world.rounds.wait()
            before = world.num_reads
            for _ in range(20):
                await world.rounds.wait()
            assert world.num_reads == before

    follow(test)


def test_all_viewers_share_a_look() -> None:
    """However many there are."""

    async def test(world: World, changes: Changes) -> None:
        async with changes.follow(RUN) as one, changes.follow(RUN) as other:
            assert one is other
            first = await hear(one)
            world.versions[KEY] = 2
            await hear(one, first)
        assert world.num_reads <= 4

    follow(test)


def test_what_is_not_the_newest_is_asked_for_again() -> None:
    """Although nothing moved since."""

    async def test(world: World, changes: Changes) -> None:
        world.is_newest = False
        async with changes.follow(RUN) as followed:
            first = await hear(followed)
            world.keys = frozenset({KEY})  # as newer columns depend on others
            await hear(followed, first)

    follow(test)


def test_newer_columns_that_are_being_made_are_soon_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rest after news is not for those who still wait for any."""

    async def test(world: World, changes: Changes) -> None:
        world.is_newest = False
        async with changes.follow(RUN) as followed:
            await hear(followed)
            monkeypatch.setattr(changes_module, "REST_S", 2 * DEADLINE_S)
            while world.num_reads < 3:
                await world.rounds.wait()

    follow(test)


@pytest.mark.parametrize("is_newest", [True, False])
def test_the_notice_of_the_end_is_the_last_if_it_is_the_newest(is_newest: bool) -> None:
    """Else there is more to hear."""

    async def test(world: World, changes: Changes) -> None:
        world.has_ended, world.is_newest = True, is_newest
        async with changes.follow(RUN) as followed:
            notice = await hear(followed)
            assert (notice.has_ended, notice.is_last) == (True, is_newest)
            world.is_newest = True
            while followed.notice is None or not followed.notice.is_last:
                await followed.changed.wait()

    follow(test)


def test_what_is_not_known_cannot_be_followed() -> None:
    """It has no version."""

    async def test(world: World, changes: Changes) -> None:
        with pytest.raises(ExecutionNotFound):
            async with changes.follow(CHILD):
                pass
        assert world.num_reads == 0

    follow(test)


def test_what_cannot_be_read_any_more_is_let_go_and_may_be_followed_anew() -> None:
    """For instance because it was deleted meanwhile."""

    async def test(world: World, changes: Changes) -> None:
        async with changes.follow(RUN) as followed:
            first = await hear(followed)
            world.error = ExecutionNotFound(*RUN)
            world.versions[KEY] = 2
            with pytest.raises(ExecutionNotFound):
                await hear(followed, first)
            world.error = None
            async with changes.follow(RUN) as anew:
                assert anew is not followed
                await hear(anew)

    follow(test)


def test_a_stop_ends_all_and_lets_nobody_in() -> None:
    """At once."""

    async def test(world: World, changes: Changes) -> None:
        async with changes.follow(RUN) as followed:
            await hear(followed)
            changes.stop()
            assert isinstance(followed.error, StoreUnavailable)
        with pytest.raises(StoreUnavailable, match="stopping"):
            async with changes.follow(RUN):
                pass

    follow(test)


def test_viewers_beyond_the_most_are_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that leaves makes room."""
    monkeypatch.setattr(changes_module, "MAX_VIEWERS", 1)

    async def test(world: World, changes: Changes) -> None:
        async with changes.follow(RUN):
            with pytest.raises(StoreUnavailable, match="1 viewers already"):
                async with changes.follow(RUN):
                    pass
        async with changes.follow(RUN):
            pass

    follow(test)


def test_a_few_reads_run_at_once_and_a_few_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others hear so, and the room is free again after success and failure."""
    monkeypatch.setattr(api_module, "MAX_READS", 2)
    monkeypatch.setattr(api_module, "MAX_WAITING", 3)
    open_gate = asyncio.Event()
    running: list[bytes] = []
    most = 0

    class Reader:
        async def read(self, _name: str, payload: bytes) -> bytes:
            nonlocal most
            running.append(payload)
            most = max(most, len(running))
            await open_gate.wait()
            running.remove(payload)
            if payload == b"0":
                raise InvalidQuery("depth", "bad")
            return payload

    async def run() -> None:
        reads = Reads(Reader())
        asked = [asyncio.create_task(reads.read("x", b"%d" % number)) for number in range(10)]
        done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        assert all(isinstance(each.exception(), StoreUnavailable) for each in done)
        open_gate.set()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(isinstance(each, bytes) for each in answers) == 4
        assert sum(isinstance(each, InvalidQuery) for each in answers) == 1
        assert most == 2
        assert await reads.read("x", b"after") == b"after"

    asyncio.run(run())

"""Following executions in a real store, without a wire."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from flyteidl.core.execution_pb2 import WorkflowExecution
from flyteidl.core.identifier_pb2 import WorkflowExecutionIdentifier

from spanwise.v1 import workflow_pb2
from spanwise.v1.identifiers_pb2 import EntityVersion as EntityMessage
from spanwise_server.domain.errors import CorruptRecord, StoreUnavailable
from spanwise_server.domain.events import PayloadType
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.workflows import WorkflowFormat
from spanwise_server.rpc.codecs.workflow_payloads import decode_definition
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.service import commit_wait, span_watch
from spanwise_server.service.commit_wait import Commits
from spanwise_server.service.span_queries import VersionedTree
from spanwise_server.service.span_watch import Render, SpanWatches
from spanwise_server.service.workflow_registry import WorkflowRegistry
from spanwise_server.storage.api import Storage
from tests.unit.rpc.flyte import T0, at, workflow_event
from tests.unit.service.test_recording import (
    RUN,
    commit,
    node,
    queries_of,
    storage_at,
    task,
    workflow,
)

T = TypeVar("T")
DEADLINE_S = 30
NOW_NS = (T0 + 60) * 10**9
LIMIT_NS = 3600 * 10**9

View = tuple[bool, int]
"""What the watchers of these tests see: whether the execution is stale, and the last sequence."""


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    """Give an empty store. Whoever watches it closes it."""
    return storage_at(tmp_path / "spanwise.db")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once."""
    monkeypatch.setattr(commit_wait, "POLL_INTERVAL_S", 0.001)
    monkeypatch.setattr(commit_wait, "REST_S", 0.0)


def show(tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
    """See Render."""
    view = (SpanQuality.STALE in tree.root.qualities, tree.sequence)
    return previous if previous == view else view


@asynccontextmanager
async def watching(
    storage: Storage, render: Render[View] = show, now_ns: Callable[[], int] = lambda: NOW_NS
) -> AsyncIterator[SpanWatches[View]]:
    """Let executions of a store be watched."""
    pool = QueryPool()
    commits = Commits(storage.wait_for_commits)
    watches = SpanWatches(queries_of(storage, LIMIT_NS), pool, render, commits, now_ns)
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield watches
    finally:
        watches.stop()
        pool.close()
        storage.close()
        commits.close()


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a test in an event loop."""
    return asyncio.run(work())


def other(name: str) -> ExecutionId:
    """Give another execution than RUN."""
    return RUN._replace(name=name)


def other_workflow(name: str, phase: str = "RUNNING") -> tuple[PayloadType, bytes]:
    """Give an event of another execution."""
    request = workflow_event(
        execution_id=WorkflowExecutionIdentifier(**other(name)._asdict()),
        phase=WorkflowExecution.Phase.Value(phase),
        occurred_at=at(0),
    )
    return PayloadType.FLYTE1_WORKFLOW_EVENT, request.SerializeToString()


def test_an_execution_that_is_not_known_yet_is_waited_for(storage: Storage) -> None:
    """Nothing is told until any event names it."""

    async def work() -> View:
        async with watching(storage) as watches, aclosing(watches.watch(RUN, None)) as views:
            first = asyncio.create_task(anext(views))
            commit(storage, task("QUEUED", 1))
            return await first

    assert run(work) == (False, 1)


def test_the_end_of_the_execution_ends_the_watch(storage: Storage) -> None:
    """After the view that shows it."""

    async def work() -> list[int]:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage) as watches, aclosing(watches.watch(RUN, None)) as views:
            heard = [(await anext(views))[1]]
            commit(storage, workflow("SUCCEEDED", 9))
            return heard + await sequences(views)

    assert run(work) == [1, 2]


def test_an_execution_that_has_ended_is_told_once(storage: Storage) -> None:
    """Then there is nothing to wait for."""

    async def work() -> list[int]:
        commit(storage, workflow("RUNNING", 0), workflow("SUCCEEDED", 9))
        async with watching(storage) as watches:
            return await sequences(watches.watch(RUN, None))

    assert run(work) == [2]


def test_a_slow_watcher_gets_the_newest_view_alone(storage: Storage) -> None:
    """Those between are lost to it, and to it only."""

    async def work() -> tuple[list[int], int]:
        commit(storage, workflow("RUNNING", 0))
        async with (
            watching(storage) as watches,
            aclosing(watches.watch(RUN, None)) as slow,
            aclosing(watches.watch(RUN, None)) as quick,
        ):
            await anext(slow)
            heard = [(await anext(quick))[1]]
            for number in range(3):
                commit(storage, task("QUEUED", number + 1))
                heard.append((await anext(quick))[1])
            return heard, (await anext(slow))[1]

    assert run(work) == ([1, 2, 3, 4], 4)


def test_watchers_of_one_execution_share_every_look(storage: Storage) -> None:
    """Fifty cost what one costs."""
    looks = []

    def counted(
        tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None
    ) -> View:
        looks.append(tree.sequence)
        return show(tree, as_of_ns, depth, previous)

    async def work() -> list[list[int]]:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage, counted) as watches:
            watchers = [watches.watch(RUN, None) for _ in range(50)]
            await asyncio.gather(*map(anext, watchers))
            commit(storage, workflow("SUCCEEDED", 9))
            return await asyncio.gather(*map(sequences, watchers))

    assert run(work) == [[2]] * 50
    assert looks == [1, 2]


async def sequences(views: AsyncGenerator[View, None]) -> list[int]:
    """Read a watch to its end."""
    return [sequence async for _, sequence in views]


def test_silence_makes_a_span_stale_without_any_event(storage: Storage) -> None:
    """It is judged again when its time is over."""
    now_ns = NOW_NS

    async def work() -> list[View]:
        nonlocal now_ns
        commit(storage, workflow("RUNNING", 0))
        async with (
            watching(storage, now_ns=lambda: now_ns) as watches,
            aclosing(watches.watch(RUN, None)) as views,
        ):
            heard = [await anext(views)]
            now_ns += LIMIT_NS
            return [*heard, await anext(views)]

    assert run(work) == [(False, 1), (True, 1)]


def test_a_store_that_goes_away_ends_the_watches(storage: Storage, tmp_path: Path) -> None:
    """Those who watch can come back when it does."""

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage) as watches, aclosing(watches.watch(RUN, None)) as views:
            await anext(views)
            (tmp_path / "spanwise.db").rename(tmp_path / "elsewhere.db")
            await anext(views)

    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        run(work)


def test_a_tree_that_cannot_be_built_is_told(storage: Storage) -> None:
    """As a request for it would be."""

    def broken(
        tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None
    ) -> View:
        raise CorruptRecord("damaged")

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0))
        async with (
            watching(storage, broken) as watches,
            aclosing(watches.watch(RUN, None)) as views,
        ):
            await anext(views)

    with pytest.raises(CorruptRecord):
        run(work)


def test_stopping_ends_those_who_wait_and_those_who_come(storage: Storage) -> None:
    """With what to do."""

    async def work() -> list[str]:
        told = []
        async with watching(storage) as watches:
            waiting = asyncio.create_task(anext(watches.watch(RUN, None)))
            await asyncio.sleep(0)
            watches.stop()
            for each in (waiting, anext(watches.watch(RUN, None))):
                with pytest.raises(StoreUnavailable) as refused:
                    await each
                told.append(str(refused.value))
        return told

    told = run(work)
    assert len(told) == 2
    assert all("watch again" in each for each in told)


def test_nothing_is_asked_when_nobody_watches(storage: Storage) -> None:
    """The last one who goes ends the polling; the next one starts it again."""

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0))
        async with watching(storage) as watches:
            for _ in range(2):
                async with aclosing(watches.watch(RUN, None)) as views:
                    await anext(views)
                await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    run(work)


def test_a_tree_that_was_just_built_is_left_alone_for_a_while(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many events come. The time is that of the build, many times over."""
    monkeypatch.setattr(span_watch, "REST_FACTOR", 10**6)
    looks = []

    def noted(tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
        if tree.root.name == RUN.name:
            looks.append(tree.sequence)
        return show(tree, as_of_ns, depth, previous)

    async def work() -> None:
        commit(storage, workflow("RUNNING", 0), other_workflow("first"), other_workflow("second"))
        async with (
            watching(storage, noted) as watches,
            aclosing(watches.watch(RUN, None)) as views,
            aclosing(watches.watch(other("first"), None)) as first,
            aclosing(watches.watch(other("second"), None)) as second,
        ):
            await anext(views)
            commit(storage, task("QUEUED", 1))
            await anext(first)  # from a round that may have begun before the event
            await anext(second)  # from a round that found the event

    run(work)
    assert looks == [1]


def test_small_executions_are_told_of_while_large_ones_are_built(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many large ones wait for their turn."""
    monkeypatch.setattr(span_watch, "LARGE_EVENTS", 2)
    begun, may_end = threading.Event(), threading.Event()

    def blocked(
        tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None
    ) -> View:
        if tree.root.name != RUN.name:
            begun.set()
            may_end.wait(DEADLINE_S)
        return show(tree, as_of_ns, depth, previous)

    async def work() -> list[int]:
        names = ("one", "two", "three")
        for name in names:
            commit(storage, other_workflow(name), other_workflow(name, "FAILING"))
        async with watching(storage, blocked) as watches:
            large = [asyncio.create_task(anext(watches.watch(other(name), 0))) for name in names]
            try:
                await asyncio.to_thread(begun.wait, DEADLINE_S)
                commit(storage, workflow("RUNNING", 0))
                async with aclosing(watches.watch(RUN, None)) as views:
                    heard = [(await anext(views))[1]]
                assert not any(each.done() for each in large)
            finally:
                may_end.set()
            return heard + [sequence for _, sequence in await asyncio.gather(*large)]

    assert run(work) == [1, 2, 2, 2]


def test_watchers_at_all_depths_share_one_tree(storage: Storage) -> None:
    """It is shown once for each depth that it has, and not for those beyond."""
    trees = []
    depths = []

    def noted(tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
        trees.append(tree)
        depths.append(depth)
        return show(tree, as_of_ns, depth, previous)

    async def work() -> list[View]:
        commit(storage, workflow("RUNNING", 0), node("QUEUED", 1))
        async with watching(storage, noted) as watches:
            asked = [None, 0, *range(20, 30), 2**32 - 1]
            return await asyncio.gather(*(anext(watches.watch(RUN, depth)) for depth in asked))

    assert run(work) == [(False, 2)] * 13
    assert all(tree is trees[0] for tree in trees)
    assert sorted(depths, key=str) == [0, None]


def test_a_tree_that_grows_below_a_depth_is_cut_there(storage: Storage) -> None:
    """Until then, who asked for that depth and who asked for all saw the same."""

    def cut(tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
        return (depth is None, tree.sequence)

    async def work() -> list[View]:
        commit(storage, workflow("RUNNING", 0), node("QUEUED", 1))
        async with (
            watching(storage, cut) as watches,
            aclosing(watches.watch(RUN, None)) as whole,
            aclosing(watches.watch(RUN, 2)) as top,
        ):
            heard = [await anext(whole), await anext(top)]
            commit(storage, task("QUEUED", 2))
            return [*heard, await anext(whole), await anext(top)]

    assert run(work) == [(True, 2), (True, 2), (True, 3), (False, 3)]


def test_another_depth_is_shown_at_once(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even while the tree is left alone."""
    monkeypatch.setattr(span_watch, "REST_FACTOR", 10**6)

    async def work() -> list[View]:
        commit(storage, workflow("RUNNING", 0), task("QUEUED", 1))
        async with (
            watching(storage) as watches,
            aclosing(watches.watch(RUN, None)) as whole,
            aclosing(watches.watch(RUN, 0)) as top,
        ):
            return [await anext(whole), await anext(top)]

    assert run(work) == [(False, 2)] * 2


def test_who_comes_during_the_last_look_is_told_the_end(storage: Storage) -> None:
    """At a depth that the look did not know of."""
    begun, may_end = threading.Event(), threading.Event()

    def blocked(
        tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None
    ) -> View:
        begun.set()
        may_end.wait(DEADLINE_S)
        return show(tree, as_of_ns, depth, previous)

    async def work() -> list[list[int]]:
        commit(storage, workflow("RUNNING", 0), task("QUEUED", 1), workflow("SUCCEEDED", 9))
        async with watching(storage, blocked) as watches:
            whole = asyncio.create_task(sequences(watches.watch(RUN, None)))
            await asyncio.to_thread(begun.wait, DEADLINE_S)
            top = asyncio.create_task(sequences(watches.watch(RUN, 0)))
            await asyncio.sleep(0)  # it has begun to watch
            may_end.set()
            return [await whole, await top]

    assert run(work) == [[3], [3]]


def test_a_workflow_that_is_registered_or_bound_is_told_of(storage: Storage) -> None:
    """Without any event."""

    def named(tree: VersionedTree, as_of_ns: int, depth: int | None, previous: View | None) -> View:
        return (tree.root.end_upstream_ids is not None, tree.sequence)

    async def work() -> list[View]:
        commit(storage, workflow("RUNNING", 0))
        registry = WorkflowRegistry(storage, decode_definition)
        definition = workflow_pb2.Workflow(
            workflow_id=EntityMessage(name="main"),
            nodes=[
                workflow_pb2.WorkflowNode(node_id="n0"),
                workflow_pb2.WorkflowNode(node_id="end-node", upstream_node_ids=["n0"]),
            ],
        )
        async with watching(storage, named) as watches, aclosing(watches.watch(RUN, None)) as views:
            heard = [await anext(views)]
            registry.bind(RUN, EntityVersion("", "", "main", ""))
            heard.append(await anext(views))
            registry.register(WorkflowFormat.NATIVE, definition.SerializeToString())
            return [*heard, await anext(views)]

    assert run(work) == [(False, 1), (False, 1), (True, 1)]

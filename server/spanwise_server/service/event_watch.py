"""Watching of logs: every event of an execution, in order, whichever process commits it.

A watcher has a cursor, the last sequence that it was given. After commits one query asks for the
last sequences of all executions that are watched; where one has moved, each watcher reads on from
its cursor, a part at a time, and the next part when it has taken the one before.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.service.commit_wait import Commits
from spanwise_server.service.event_log import EventLog, LogPart
from spanwise_server.service.followed import Followed
from spanwise_server.service.threads import Threads


@dataclass(eq=False)
class _Followed(Followed):
    """An execution that somebody watches.

    Attributes:
        last_sequence: What the last look found; None before the first.
        num_watchers: How many watch it.
    """

    last_sequence: int | None = None
    num_watchers: int = 0


class EventWatches:
    """Lets any number of watchers follow logs. To be used from one event loop."""

    def __init__(self, log: EventLog, threads: Threads, commits: Commits) -> None:
        """Read `log` in `threads`, again after `commits`."""
        self._log = log
        self._threads = threads
        self._followed: dict[ExecutionId, _Followed] = {}
        self._wait = commits.new_wait()
        self._poller: asyncio.Task[None] | None = None
        self._is_stopped = False

    async def watch(
        self, execution_id: ExecutionId, after_sequence: int, *, with_payload: bool
    ) -> AsyncGenerator[LogPart, None]:
        """Yield the events behind a cursor, and go on with new ones as they commit.

        Each event is yielded once, in ascending sequence without a gap. The first part comes at
        once, without events if there are none yet; no other one is empty. It never ends by itself:
        events may come after the one that ended the execution. To be closed.

        Args:
            execution_id: Execution. It need not be known yet.
            after_sequence: Sequence of the last event that the watcher has; 0 for none.
            with_payload: Whether to give payload bytes.

        Raises:
            ExecutionNotFound: It is being deleted, or was deleted since it was heard of here.
            InvalidQuery: The log ends before the cursor. Later on: it was deleted and begun anew.
            StoreUnavailable: The store is away, or the server stops.
        """
        followed = self._join(execution_id)
        cursor: int | None = None
        try:
            while True:
                if followed.error is not None:
                    raise followed.error
                # Before the read: what is committed after it sets this event, and no later one.
                changed = followed.changed
                part = await self._threads.run(
                    partial(
                        self._log.read_after,
                        execution_id,
                        after_sequence if cursor is None else cursor,
                        with_payload=with_payload,
                        was_known=bool(cursor),
                    )
                )
                if part.events or cursor is None:
                    cursor = part.events[-1].record.sequence if part.events else after_sequence
                    yield part
                if part.is_last:
                    await changed.wait()
        finally:
            self._leave(execution_id, followed)

    def stop(self) -> None:
        """End every watch with StoreUnavailable, those that begin from now on included."""
        self._is_stopped = True
        self._fail_all(_stopping())
        if self._poller is not None:
            self._poller.cancel()

    def _join(self, execution_id: ExecutionId) -> _Followed:
        if self._is_stopped:
            raise _stopping()
        followed = self._followed.setdefault(execution_id, _Followed())
        followed.num_watchers += 1
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        return followed

    def _leave(self, execution_id: ExecutionId, followed: _Followed) -> None:
        followed.num_watchers -= 1
        if not followed.num_watchers and self._followed.get(execution_id) is followed:
            del self._followed[execution_id]

    def _fail_all(self, error: Exception) -> None:
        failed, self._followed = self._followed, {}
        for followed in failed.values():
            followed.error = error
            followed.announce()

    async def _poll(self) -> None:
        """Look at the last sequences as long as anybody watches, and wake those of what moved."""
        while self._followed:
            await self._wait.wait()
            asked = dict(self._followed)
            try:
                last_sequences = await self._threads.run(
                    partial(self._log.get_last_sequences, asked.keys())
                )
            except Exception as error:  # noqa: BLE001 - each watcher must hear of it
                self._fail_all(error)
                break
            for execution_id, followed in asked.items():
                # Also when it is less than before, and at the first look: a read tells what is so.
                last_sequence = last_sequences.get(execution_id, 0)
                if followed.last_sequence != last_sequence:
                    followed.last_sequence = last_sequence
                    followed.announce()
        self._poller = None


def _stopping() -> StoreUnavailable:
    return StoreUnavailable(
        "the server is stopping; watch again, from the sequence of the last event that came"
    )

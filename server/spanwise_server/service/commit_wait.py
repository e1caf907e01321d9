"""Waiting for commits of any process: the one place where watches pause between two looks."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

POLL_INTERVAL_S = 0.25
"""Longest pause between two looks at the store. Not everything that watchers are to hear of within
a second is an event: workflows are registered, and silence makes spans stale."""

REST_S = 0.05
"""Pause after a commit before the next look, so that many commits in a row cost one look, and
looks a few hundredths of a core at most. Nobody sees the delay."""


class Commits:
    """Waits for commits in one thread, for all who look. To be used from one event loop."""

    def __init__(self, wait_for_commits: Callable[[float], None]) -> None:
        """Wait with `wait_for_commits`: see Storage. It is called only while somebody waits."""
        self._wait_for_commits = wait_for_commits
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spanwise-commits")
        self._waits: list[CommitWait] = []
        self._listening: asyncio.Task[None] | None = None

    def new_wait(self) -> "CommitWait":
        """Give what one who looks again and again is to wait with."""
        wait = CommitWait(self)
        self._waits.append(wait)
        return wait

    def listen(self) -> None:
        """Hurry every wait after the next commit, or after POLL_INTERVAL_S without one."""
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())

    def close(self) -> None:
        """Give back the thread. Call when nobody waits any more, and the storage is closed."""
        if self._listening is not None:
            self._listening.cancel()
        self._thread.shutdown()

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._wait_for_commits, POLL_INTERVAL_S)
        except Exception:  # noqa: BLE001 - whoever looks hears of it, and looks all the same
            await asyncio.sleep(POLL_INTERVAL_S)
        await asyncio.sleep(REST_S)
        self._listening = None
        for wait in self._waits:
            wait.hurry()


class CommitWait:
    """Says when to look at the store again. One who waits at a time."""

    def __init__(self, commits: Commits) -> None:
        """Wait for `commits`."""
        self._commits = commits
        self._hurried = asyncio.Event()

    def hurry(self) -> None:
        """End the wait that is on, or the next one, at once."""
        self._hurried.set()

    async def wait(self) -> None:
        """Wait until something may have been committed since the last look.

        Returns soon after a commit, also after one that came during the last look, and after
        about POLL_INTERVAL_S in any case.
        """
        self._commits.listen()
        await self._hurried.wait()
        self._hurried.clear()

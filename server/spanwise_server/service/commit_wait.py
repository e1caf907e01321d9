"""Waiting for commits of any process: the one place where watches pause between two looks."""

import asyncio
from contextlib import suppress

POLL_INTERVAL_S = 0.25
"""Pause between two looks at the store. Watchers are to hear of a commit within a second, and a
look takes less than a millisecond for 50 executions."""


class CommitWait:
    """Says when to look at the store again. To be used from one event loop, by one who waits."""

    def __init__(self) -> None:
        self._hurried = asyncio.Event()

    def hurry(self) -> None:
        """End the wait that is on, or the next one, at once."""
        self._hurried.set()

    async def wait(self) -> None:
        """Wait until something may have been committed.

        Nothing of a database tells that to another process, so this is a pause of fixed length: a
        commit that comes during it is seen at its end.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_INTERVAL_S):
                await self._hurried.wait()
        self._hurried.clear()

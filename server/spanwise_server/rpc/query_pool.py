"""Threads for blocking queries: building a large tree must not hold up the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

NUM_THREADS = 2
"""Queries compute in Python, so more threads would only divide the interpreter further; with two, a
small query need not wait behind a large one."""


class QueryPool:
    """A small pool of threads. To be used from one event loop."""

    def __init__(self) -> None:
        """Start no thread yet."""
        self._executor = ThreadPoolExecutor(NUM_THREADS, thread_name_prefix="spanwise-query")

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread and give its result. When the caller is cancelled it goes on."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """Wait for what runs, and drop what waits."""
        self._executor.shutdown(cancel_futures=True)

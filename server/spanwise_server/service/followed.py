"""What somebody watches, and how those who watch it are woken."""

import asyncio
from dataclasses import dataclass, field


@dataclass(eq=False, kw_only=True)
class Followed:
    """Something that any number of watchers wait for news of. To be used from one event loop.

    Attributes:
        error: Why there will be no further look at it.
        changed: Set, and replaced, when there is something new to hear.
    """

    error: Exception | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def announce(self) -> None:
        """Wake all who wait."""
        # Whoever waits holds the old event; whoever comes later waits for the next change.
        self.changed.set()
        self.changed = asyncio.Event()

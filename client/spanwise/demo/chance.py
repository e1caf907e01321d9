"""What varies from seed to seed."""

import random


class Chance:
    """Picks durations and outcomes; the same seed picks the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a story, not a secret

    def between(self, low: float, high: float) -> float:
        """Give a number from `low` up to `high`."""
        return low + (high - low) * self._random.random()

    def below(self, limit: int) -> int:
        """Give a whole number from 0 up to, not including, `limit`."""
        return self._random.randrange(limit)

    def execution_name(self) -> str:
        """Give the name of some other execution."""
        return f"f{self._random.randbytes(9).hex()}"

    def version(self) -> str:
        """Give the random version that propeller gives a workflow that a dynamic node made.

        Source: flytepropeller v1.16 controller/nodes/dynamic/dynamic_workflow.go.
        """
        return "".join(self._random.choices("bcdfghjklmnpqrstvwxz2456789", k=10))

"""Phases of executions, nodes and task attempts. Numbers are those of spanwise.v1.Phase."""

from enum import IntEnum

_FIRST_TERMINAL = 11
"""Number of SUCCEEDED: comparing with the member itself costs three times as much."""


class Phase(IntEnum):
    """What an execution, a node or a task attempt is doing."""

    UNSPECIFIED = 0
    QUEUED = 1
    WAITING_FOR_RESOURCES = 2
    INITIALIZING = 3
    RUNNING = 4
    DYNAMIC_RUNNING = 5
    PAUSED = 6
    SUCCEEDING = 7
    FAILING = 8
    ABORTING = 9
    RETRYABLE_FAILED = 10
    SUCCEEDED = 11
    FAILED = 12
    ABORTED = 13
    TIMED_OUT = 14
    SKIPPED = 15
    RECOVERED = 16

    @property
    def is_terminal(self) -> bool:
        """Whether nothing follows it."""
        return self >= _FIRST_TERMINAL


TERMINAL_PHASES = frozenset(phase for phase in Phase if phase.is_terminal)

UNSUCCESSFUL_PHASES = frozenset(
    {Phase.FAILING, Phase.FAILED, Phase.RETRYABLE_FAILED, Phase.ABORTING, Phase.ABORTED}
    | {Phase.TIMED_OUT}
)
"""Phases of what did not, or will not, end well."""

# The numbers above are also the order of a usual life, so they break ties between events of one
# moment.

"""Which part of an attempt held up its end, such as the last item of a map task."""

from typing import NamedTuple

from spanwise_server.domain.phases import Phase
from spanwise_server.domain.spans import Span, SubtaskSubject


class LastSubtask(NamedTuple):
    """The sub-task of an attempt that ended last.

    Attributes:
        name: Its name, for instance "[2]" or "[2] retry 1".
        num_subtasks: Sub-tasks of the attempt; retries of one are one.
        queued_ns: How long it was QUEUED.
        waited_ns: How long it waited otherwise before it ran: for resources, or initializing.
        ran_ns: How long it was RUNNING.
        is_open: Whether it goes on.
    """

    name: str
    num_subtasks: int
    queued_ns: int
    waited_ns: int
    ran_ns: int
    is_open: bool

    @property
    def is_held_up(self) -> bool:
        """Whether it waited longer than it ran."""
        return self.queued_ns + self.waited_ns > self.ran_ns


_WAITING = (Phase.WAITING_FOR_RESOURCES, Phase.INITIALIZING)


def find_last_subtask(attempt: Span, until_ns: int) -> LastSubtask | None:
    """Give the sub-task of an attempt that ended last; None where it has none.

    One that goes on ends last. Of equal ends the one counts that started last.

    Args:
        attempt: The attempt.
        until_ns: End of what is open, and of what is looked at.
    """
    parts = [(child, child.subject) for child in attempt.children]
    subtasks = [(span, part) for span, part in parts if isinstance(part, SubtaskSubject)]
    if not subtasks:
        return None
    last, _ = max(
        subtasks, key=lambda each: (each[0].end_ns is None, each[0].end_ns or 0, each[0].start_ns)
    )
    queued_ns = waited_ns = ran_ns = 0
    for phase, start_ns, end_ns, _ in last.phase_intervals:
        took_ns = max(min(until_ns if end_ns is None else end_ns, until_ns) - start_ns, 0)
        queued_ns += took_ns if phase is Phase.QUEUED else 0
        waited_ns += took_ns if phase in _WAITING else 0
        ran_ns += took_ns if phase is Phase.RUNNING else 0
    return LastSubtask(
        last.name,
        len({part.ordinal for _, part in subtasks}),
        queued_ns,
        waited_ns,
        ran_ns,
        last.end_ns is None,
    )

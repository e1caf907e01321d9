"""Where the set-up of an attempt went: exact waits, taken from what its reasons say."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from spanwise_server.domain.events import Severity
from spanwise_server.domain.history import SECOND_NS
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.reason_classifier import Meaning, classify_error, classify_reason
from spanwise_server.domain.reason_rules import Edge
from spanwise_server.domain.spans import Mark, Operation, PhaseInterval


class SetupPart(NamedTuple):
    """A stretch of a set-up that went into one operation. `end_ns` None: it goes on."""

    operation: Operation
    start_ns: int
    end_ns: int | None


def judge_mark(mark: Mark) -> Mark:
    """Give the mark with what its text tells; the same mark when the text is not known.

    What the source said stays: operation, severity and occurrences of the text stand in only where
    the source gave none (an occurrence of 1 counts as none given).
    """
    meaning = classify_reason(mark.message)
    if meaning is None:
        return mark
    given = mark.operation is not Operation.UNSPECIFIED
    severe = mark.severity is not Severity.UNSPECIFIED
    occurrences = mark.occurrences
    if meaning.occurrences is not None and occurrences <= 1:
        occurrences = meaning.occurrences
    return mark._replace(
        operation=mark.operation if given else meaning.operation,
        severity=mark.severity if severe else meaning.severity,
        occurrences=occurrences,
    )


def judge_error(mark: Mark, code: str) -> Mark:
    """Give the mark of an error with what its code tells; the same mark when that tells nothing."""
    return mark._replace(operation=classify_error(code))


def split_setup(
    start_ns: int,
    end_ns: int | None,
    intervals: Sequence[PhaseInterval],
    marks: Sequence[Mark],
) -> list[SetupPart]:
    """Split a set-up into parts by what the marks say, and by phase where they say nothing.

    The parts are in order, do not overlap and lie inside the bounds; neighbours differ. They cover
    the bounds, except where no known reason speaks and the phase is none of QUEUED,
    WAITING_FOR_RESOURCES and INITIALIZING. Each is longer than nothing, but an open last one may
    have begun just now. A mark's own time counts, not the phase that it came with; unknown texts
    change nothing.

    Args:
        start_ns: Start of the set-up.
        end_ns: Its end; None while it goes on. Marks after it are ignored.
        intervals: Stays in phases, in the order of time.
        marks: Reasons in the order of time, without errors, which tell of an end; those of one
            moment count in their order. One before the start tells what goes on at the start.

    Returns:
        The parts. Only the last can be open, and only in an open set-up. Empty when the set-up has
        no length.
    """
    until_ns = _NEVER if end_ns is None else end_ns
    if until_ns <= start_ns:
        return []
    stays = _stays(start_ns, until_ns, intervals)
    said = [
        (mark.occurred_at_ns, meaning)
        for mark in marks
        if mark.occurred_at_ns <= until_ns
        and (meaning := classify_reason(mark.message)) is not None
    ]
    waits = _waits(start_ns, until_ns, stays, said) if said else []
    return _parts(waits, stays, until_ns)


_NEVER = 2**64
"""End of what is open; no stored time is that late."""


class _Stay(NamedTuple):
    """A stay in a phase within the set-up."""

    phase: Phase
    start_ns: int
    end_ns: int


class _Wait(NamedTuple):
    """A wait that reasons tell."""

    operation: Operation
    start_ns: int
    end_ns: int


_PHASE_OPERATIONS = {
    Phase.QUEUED: Operation.QUEUED,
    Phase.WAITING_FOR_RESOURCES: Operation.WAITING_FOR_RESOURCES,
    Phase.INITIALIZING: Operation.INITIALIZING,
}

_BEFORE_MACHINE = frozenset(
    {
        Operation.CACHE_RESERVATION,
        Operation.QUOTA_WAIT,
        Operation.ADMISSION,
        Operation.EVICTION,
        Operation.SCHEDULING,
        Operation.SCALE_UP,
    }
)
"""INITIALIZING says that the pod has a machine, so these are over. A plugin's own set-up goes on
there, and so does all that happens on a machine."""

_ON_MACHINE = frozenset(
    {
        Operation.VOLUME_ATTACH,
        Operation.IMAGE_PULL,
        Operation.IMAGE_PULL_BACKOFF,
        Operation.CONTAINER_START,
        Operation.CRASH_BACKOFF,
    }
)

_CLOSER = {
    # A scheduler refuses again and again while machines are being added.
    Operation.SCHEDULING: frozenset({Operation.SCALE_UP}),
    # "ContainerCreating" stands for all that happens on a machine.
    Operation.INITIALIZING: _ON_MACHINE,
    # A probe that fails says less than a crash.
    Operation.CONTAINER_START: frozenset({Operation.CRASH_BACKOFF}),
}
"""What a text that says GOES_ON for the key does not replace."""

_FILLS_BACK = {
    Operation.SCHEDULING: {Phase.QUEUED, Phase.WAITING_FOR_RESOURCES},
    Operation.QUOTA_WAIT: {Phase.QUEUED, Phase.WAITING_FOR_RESOURCES},
    Operation.VOLUME_ATTACH: {Phase.INITIALIZING},
}
"""What must have gone on since the last known mark when it is said to have ended, or since one of
these phases was entered. A pull or a start may have begun at any time."""

_ORDER = (
    _BEFORE_MACHINE - {Operation.SCHEDULING, Operation.SCALE_UP},
    {Operation.SCHEDULING, Operation.SCALE_UP},
    {Operation.VOLUME_ATTACH},
    {Operation.IMAGE_PULL, Operation.IMAGE_PULL_BACKOFF},
    {Operation.CONTAINER_START, Operation.CRASH_BACKOFF},
)
"""Life of a pod. What ends takes with it all that comes no later; it leaves what comes later, which
whole seconds may have put before it."""

_PLACES = {operation: place for place, group in enumerate(_ORDER) for operation in group}


_Said = tuple[int, Meaning]
"""When something was said, and what it means."""


def _waits(
    start_ns: int, until_ns: int, stays: Sequence[_Stay], said: Sequence[_Said]
) -> list[_Wait]:
    """Give the waits that reasons tell, in order and without overlaps."""
    walk = _Walk(start_ns, stays)
    heard = 0
    for stay in stays:
        # Kubernetes tells whole seconds: a mark of the moment in which a phase begins was before.
        while heard < len(said) and said[heard][0] <= stay.start_ns:
            walk.hear(*said[heard])
            heard += 1
        walk.enter(stay)
    for each in said[heard:]:
        walk.hear(*each)
    return walk.finish(until_ns)


class _Walk:
    """Goes through the set-up in the order of time and knows what goes on.

    Whole seconds put marks into one moment that were not, in any order. So an end looks back at the
    time before its moment, whatever else was said of the moment itself.
    """

    def __init__(self, start_ns: int, stays: Sequence[_Stay]) -> None:
        self._stays = stays
        self._phase = Phase.UNSPECIFIED
        self._operation = Operation.UNSPECIFIED
        self._since_ns = start_ns
        self._waits: list[_Wait] = []
        self._explained_ns = start_ns  # end of the last wait
        self._known_ns = start_ns  # moment of the last known mark
        self._known_before_ns = start_ns  # last moment before that with a known mark

    def enter(self, stay: _Stay) -> None:
        """Enter a phase, which ends what it excludes. Going back begins anew: another pod."""
        went_back = Phase.UNSPECIFIED < stay.phase < self._phase <= Phase.INITIALIZING
        if went_back or _excludes(stay.phase, self._operation):
            self._switch(Operation.UNSPECIFIED, stay.start_ns)
        self._phase = stay.phase

    def hear(self, at_ns: int, meaning: Meaning) -> None:
        """Take what was said at a moment."""
        if at_ns > self._known_ns:
            self._known_before_ns, self._known_ns = self._known_ns, at_ns
        operation = meaning.operation
        if meaning.edge is Edge.ENDS:
            self._end(meaning, at_ns)
        elif meaning.edge is Edge.BEGINS or self._operation not in _CLOSER.get(operation, ()):
            # INITIALIZING is the phase itself: no cause.
            is_cause = operation is not Operation.INITIALIZING
            self._switch(operation if is_cause else Operation.UNSPECIFIED, at_ns)

    def finish(self, until_ns: int) -> list[_Wait]:
        """Give the waits, in order and without overlaps."""
        self._switch(Operation.UNSPECIFIED, until_ns)
        return self._waits

    def _end(self, meaning: Meaning, at_ns: int) -> None:
        operation = meaning.operation
        is_explained = self._operation is not Operation.UNSPECIFIED and self._since_ns < at_ns
        if meaning.duration_ns is not None:
            begun_ns = self._begun_ns(at_ns, meaning.duration_ns)
            if is_explained:  # by something that was never said to end: the told duration is surer
                self._switch(operation, begun_ns)
            else:
                self._explain(operation, begun_ns, at_ns)
        elif not is_explained and operation in _FILLS_BACK:
            self._fill_back(operation, at_ns)
        is_over = _PLACES.get(self._operation, len(_ORDER)) <= _PLACES[operation]
        if is_over or meaning.then is not Operation.UNSPECIFIED:
            self._switch(meaning.then, at_ns)

    def _begun_ns(self, ended_ns: int, duration_ns: int) -> int:
        """Give when something began that took so long: not before the last known mark.

        Whole seconds are cut off, so that a second before a phase means its beginning.
        """
        begun_ns = max(ended_ns - duration_ns, self._known_before_ns)
        following = bisect_right(self._stays, begun_ns, key=_start_ns)
        if ended_ns % SECOND_NS == 0 and following < len(self._stays):
            entered_ns = self._stays[following].start_ns
            if entered_ns < min(begun_ns + SECOND_NS, ended_ns):
                return entered_ns
        return begun_ns

    def _fill_back(self, operation: Operation, ended_ns: int) -> None:
        """Explain the time since the last boundary, in the last phase that allows the operation."""
        boundary_ns = self._known_before_ns
        before = bisect_left(self._stays, ended_ns, key=_start_ns)
        for index in range(before - 1, -1, -1):
            stay = self._stays[index]
            if _excludes(stay.phase, operation):
                continue
            if boundary_ns > stay.start_ns or stay.phase in _FILLS_BACK[operation]:
                start_ns = max(stay.start_ns, boundary_ns)
                self._explain(operation, start_ns, min(stay.end_ns, ended_ns))
            return

    def _switch(self, operation: Operation, at_ns: int) -> None:
        if operation is self._operation:
            return
        if self._operation is not Operation.UNSPECIFIED:
            self._explain(self._operation, self._since_ns, at_ns)
        self._operation, self._since_ns = operation, at_ns

    def _explain(self, operation: Operation, start_ns: int, end_ns: int) -> None:
        """Note a wait, as far as no other explains its time and the set-up had begun."""
        start_ns = max(start_ns, self._explained_ns)
        if start_ns < end_ns:
            self._waits.append(new_tuple(_Wait, (operation, start_ns, end_ns)))
            self._explained_ns = end_ns


def _excludes(phase: Phase, operation: Operation) -> bool:
    """Tell whether an operation cannot go on in a phase."""
    if phase in (Phase.QUEUED, Phase.WAITING_FOR_RESOURCES, Phase.UNSPECIFIED):
        return False
    return phase is not Phase.INITIALIZING or operation in _BEFORE_MACHINE


def _start_ns(stay: _Stay) -> int:
    return stay.start_ns


def _stays(start_ns: int, until_ns: int, intervals: Sequence[PhaseInterval]) -> list[_Stay]:
    """Give the stays that cover the bounds; UNSPECIFIED where no interval is."""
    stays: list[_Stay] = []
    position_ns = start_ns
    for interval in intervals:
        from_ns = min(max(interval.start_ns, position_ns), until_ns)
        to_ns = until_ns if interval.end_ns is None else min(interval.end_ns, until_ns)
        if to_ns <= from_ns:
            continue
        if from_ns > position_ns:
            stays.append(new_tuple(_Stay, (Phase.UNSPECIFIED, position_ns, from_ns)))
        stays.append(new_tuple(_Stay, (interval.phase, from_ns, to_ns)))
        position_ns = to_ns
    if position_ns < until_ns:
        stays.append(_Stay(Phase.UNSPECIFIED, position_ns, until_ns))
    return stays


def _parts(waits: Sequence[_Wait], stays: Sequence[_Stay], until_ns: int) -> list[SetupPart]:
    """Put what the phases say between the waits, and leave open what never ends."""
    parts: list[_Wait] = []
    position_ns = stays[0].start_ns
    following = iter(stays)
    stay = next(following)
    for wait in (*waits, _Wait(Operation.UNSPECIFIED, until_ns, until_ns)):
        while position_ns < wait.start_ns:
            while stay.end_ns <= position_ns:
                stay = next(following)
            end_ns = min(stay.end_ns, wait.start_ns)
            operation = _PHASE_OPERATIONS.get(stay.phase)
            if operation is not None:
                _add(parts, operation, position_ns, end_ns)
            position_ns = end_ns
        if wait.end_ns > wait.start_ns:
            _add(parts, *wait)
        position_ns = wait.end_ns
    return [
        SetupPart(operation, start_ns, None if end_ns == _NEVER else end_ns)
        for operation, start_ns, end_ns in parts
    ]


def _add(parts: list[_Wait], operation: Operation, start_ns: int, end_ns: int) -> None:
    """Add a part; neighbours of one operation are one part."""
    if parts and parts[-1].operation is operation and parts[-1].end_ns == start_ns:
        start_ns = parts.pop().start_ns
    parts.append(_Wait(operation, start_ns, end_ns))

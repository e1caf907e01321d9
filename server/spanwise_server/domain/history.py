"""The life of one entity as stays in phases, folded from the set of its events.

The result depends on which events there are, never on the order in which they came, on replays or
on what was answered to them.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.known import KnownExecution
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.phases import TERMINAL_PHASES, Phase
from spanwise_server.domain.quality import EventQuality, SpanQuality
from spanwise_server.domain.spans import ClosureTimes, PhaseInterval
from spanwise_server.domain.transitions import Moment, goes_back

SECOND_NS = 1_000_000_000

_CARRIED_QUALITIES = (
    (EventQuality.MISSING_TIMESTAMP, SpanQuality.MISSING_TIMESTAMP),
    (EventQuality.TIMESTAMP_OUT_OF_RANGE, SpanQuality.TIMESTAMP_OUT_OF_RANGE),
    (EventQuality.UNKNOWN_PHASE, SpanQuality.UNKNOWN_PHASE),
)


class Life(NamedTuple):
    """What settling asks of the life of an entity.

    Histories of all entities of a large execution at once would be most of what it takes to build
    its tree. So each is folded again when its span is made.

    Attributes:
        start_ns: As that of the history.
        end_ns: Likewise.
        last_start_ns: Start of the last stay.
        last_event_ns: As that of the history.
        has_run: Whether it was ever RUNNING.
        qualities: As those of the history.
    """

    start_ns: int
    end_ns: int | None
    last_start_ns: int
    last_event_ns: int
    has_run: bool
    qualities: SpanQuality


class EntityHistory(NamedTuple):
    """The life of one entity.

    Attributes:
        intervals: Stays in the order of time. They touch each other; the last one is open unless it
            is terminal.
        start_ns: Start of the first stay.
        end_ns: End; None while the entity is open. For nodes and attempts it is the moment when
            their sender reported the end, as FlyteAdmin has it; their work ended with the last
            stay.
        phase: Last phase.
        last_event_ns: Latest occurred_at of any event.
        closure: FlyteAdmin's times.
        qualities: What is odd about the events.
    """

    intervals: tuple[PhaseInterval, ...]
    start_ns: int
    end_ns: int | None
    phase: Phase
    last_event_ns: int
    closure: ClosureTimes
    qualities: SpanQuality

    @property
    def life(self) -> Life:
        """What settling asks of it."""
        return Life(
            self.start_ns,
            self.end_ns,
            self.intervals[-1].start_ns,
            self.last_event_ns,
            any(phase is Phase.RUNNING for phase, _, _, _ in self.intervals),
            self.qualities,
        )


def history_of(known: KnownExecution, key: int, kind: EntityKind) -> EntityHistory | None:
    """Fold the events of an entity of an execution. None: it is a placeholder, without any."""
    events = known.events.get(key)
    return None if events is None else fold_history(kind, *events)


def fold_history(
    kind: EntityKind, moments: Sequence[Moment], qualities: EventQuality = EventQuality.NONE
) -> EntityHistory:
    """Fold the events of one entity, of which there is at least one.

    Neighbours in time of one phase are one stay, which starts at the earliest. The earliest
    terminal event is the end; later events leave a flag. An execution never goes back to QUEUED or
    to a phase that is not known.

    Args:
        kind: Kind of the entity.
        moments: Its events, in any order.
        qualities: Union of what is odd about the events.
    """
    coarse_seconds = _coarse_seconds(kind, moments)
    life, after = _split_at_end(moments, coarse_seconds)
    intervals, entries, changed = _fold_stays(kind, life)
    first, last = intervals[0], intervals[-1]
    updated_ns = changed.occurred_at_ns if kind is EntityKind.EXECUTION else changed.reported_at_ns
    end_ns = max(last.start_ns, updated_ns) if last.phase in TERMINAL_PHASES else None
    flags = _carried(qualities) if qualities else SpanQuality.NONE
    if kind is EntityKind.TASK_ATTEMPT and first.phase in TERMINAL_PHASES:
        flags |= SpanQuality.INFERRED_START  # an attempt takes time before it ends
    if coarse_seconds:
        flags |= SpanQuality.COARSE_TIMESTAMP
    if after and any(moment.phase is not last.phase for moment in after):
        flags |= SpanQuality.AFTER_TERMINAL
    last_event_ns, is_skewed = first.start_ns, False
    for occurred_at_ns, reported_at_ns, _, _ in moments:
        last_event_ns = max(last_event_ns, occurred_at_ns)
        if reported_at_ns < occurred_at_ns:
            is_skewed = True
    if is_skewed:
        flags |= SpanQuality.CLOCK_SKEW
    closure = _to_closure(kind, entries, updated_ns)
    # By position: names would cost as much as a stay.
    return EntityHistory(
        tuple(intervals), first.start_ns, end_ns, last.phase, last_event_ns, closure, flags
    )


def _split_at_end(
    moments: Sequence[Moment], coarse_seconds: Collection[int]
) -> tuple[list[Moment], list[Moment]]:
    """Give what led to the end, in order and with it, and what came after."""
    if coarse_seconds:
        return _split_at_end_by_reports(moments, coarse_seconds)
    life = sorted(moments)
    for number, moment in enumerate(life, 1):
        if moment.phase in TERMINAL_PHASES:
            return life[:number], life[number:]
    return life, []


def _split_at_end_by_reports(
    moments: Sequence[Moment], coarse_seconds: Collection[int]
) -> tuple[list[Moment], list[Moment]]:
    """Do the same where the order inside some seconds is that of the reports."""

    def place(moment: Moment) -> tuple[int, int, Moment]:
        second_ns = moment.occurred_at_ns - moment.occurred_at_ns % SECOND_NS
        if second_ns in coarse_seconds:
            return second_ns, moment.reported_at_ns, moment
        return moment.occurred_at_ns, 0, moment

    ends = [moment for moment in moments if moment.phase in TERMINAL_PHASES]
    if not ends:
        return sorted(moments, key=place), []
    end = min(ends)
    end_place = place(end)
    before, after = [], []
    for moment in moments:
        if moment.phase not in TERMINAL_PHASES and place(moment) < end_place:
            before.append(moment)
        elif moment is not end:
            after.append(moment)
    return [*sorted(before, key=place), end], after


def _fold_stays(
    kind: EntityKind, life: Sequence[Moment]
) -> tuple[list[PhaseInterval], list[Moment], Moment]:
    """Give the stays, the event that began each, and the last event that changed anything."""
    changed = life[0]
    entries = [changed]
    start_ns, _, phase, phase_version = changed
    intervals = []
    for moment in life:
        if moment.phase is phase:
            if moment.phase_version > phase_version:
                phase_version, changed = moment.phase_version, moment
            continue
        if goes_back(kind, phase, moment.phase):
            continue
        # In a second that holds a coarse time reports give the order, and times may run back.
        until_ns = max(moment.occurred_at_ns, start_ns)
        intervals.append(new_tuple(PhaseInterval, (phase, start_ns, until_ns, phase_version)))
        start_ns, phase, phase_version = until_ns, moment.phase, moment.phase_version
        changed = moment
        entries.append(moment)
    end_ns = start_ns if phase in TERMINAL_PHASES else None
    intervals.append(new_tuple(PhaseInterval, (phase, start_ns, end_ns, phase_version)))
    return intervals, entries, changed


def _carried(qualities: EventQuality) -> SpanQuality:
    flags = SpanQuality.NONE
    for event_quality, span_quality in _CARRIED_QUALITIES:
        if qualities & event_quality:
            flags |= span_quality
    return flags


def _coarse_seconds(kind: EntityKind, moments: Sequence[Moment]) -> frozenset[int]:
    """Give the seconds inside which occurred_at does not give the order of an attempt's events.

    Kubernetes gives pod times in whole seconds, FlytePropeller its own in nanoseconds: RUNNING may
    carry 10:00:05 where INITIALIZING carries 10:00:05.7. Inside such a second the order is that of
    the reports, which are all by one clock. Empty where times are all whole seconds, or none is.
    Source: flytepropeller v1.16, plugins read pod conditions and container states (metav1.Time).
    """
    if kind is not EntityKind.TASK_ATTEMPT:
        return frozenset()
    times_ns = {moment.occurred_at_ns for moment in moments}
    coarse_ns = [time_ns for time_ns in times_ns if not time_ns % SECOND_NS]
    return frozenset(coarse_ns if len(coarse_ns) < len(times_ns) else ())


def _to_closure(kind: EntityKind, entries: Sequence[Moment], updated_ns: int) -> ClosureTimes:
    # Times as they were sent, also where they run back inside a coarse second. FlyteAdmin keeps the
    # first RUNNING of a task and the last one of a node or a workflow.
    running = [entry.occurred_at_ns for entry in entries if entry.phase is Phase.RUNNING]
    started_ns = None
    if running:
        started_ns = running[0] if kind is EntityKind.TASK_ATTEMPT else running[-1]
    last = entries[-1]
    ran_until_ns = last.occurred_at_ns if running and last.phase in TERMINAL_PHASES else None
    return ClosureTimes(entries[0].occurred_at_ns, started_ns, ran_until_ns, updated_ns)

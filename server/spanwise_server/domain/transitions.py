"""What becomes of an event: the answer to its sender, and the state that the next answer rests on.

The answer depends on what arrived before; the tree of spans does not (see history.py).
Source of the rules that are not ours: flyteadmin v1.16,
{execution,node_execution,task_execution}_manager.go.
"""

from typing import NamedTuple

from spanwise_server.domain.errors import AlreadyInTerminalPhase, EventRefused, IllegalTransition
from spanwise_server.domain.events import Disposition
from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.named_tuples import new_tuple
from spanwise_server.domain.phases import TERMINAL_PHASES, Phase


class Moment(NamedTuple):
    """Where an event stands in the life of its entity. Tuples sort by time; the phase breaks ties.

    Attributes:
        occurred_at_ns: Time at the source.
        reported_at_ns: Time of sending; occurred_at_ns when the source gave none.
        phase: Phase after the event.
        phase_version: Version inside the phase.
    """

    occurred_at_ns: int
    reported_at_ns: int
    phase: Phase
    phase_version: int


class EntityState(NamedTuple):
    """What the answer to the next event of an entity rests on: a fold over all that are logged.

    Attributes:
        created_at_ns: Earliest occurred_at.
        last_occurred_at_ns: Latest occurred_at.
        latest: Latest event that is not terminal, with the highest version of its stay; None when
            there is none.
        ended: Earliest terminal event; None while the entity is open.
        started_at_ns: Earliest occurred_at of an event of RUNNING; None when there is none.
    """

    created_at_ns: int
    last_occurred_at_ns: int
    latest: Moment | None
    ended: Moment | None
    started_at_ns: int | None = None

    @property
    def current(self) -> Moment:
        """The moment whose phase the entity is in."""
        moment = self.ended or self.latest
        if moment is None:  # fold() never makes such a state
            raise ValueError("an entity state without any event")
        return moment


class Decision(NamedTuple):
    """What becomes of an event. `refusal` is set for REFUSED only."""

    disposition: Disposition
    refusal: EventRefused | None = None


_REFUSED_BY_FLYTEADMIN = (EntityKind.EXECUTION, Phase.RUNNING, Phase.QUEUED)
_RUNNING = Phase.RUNNING
_EXECUTION = EntityKind.EXECUTION
_TASK_ATTEMPT = EntityKind.TASK_ATTEMPT
_ACCEPTED = Decision(Disposition.ACCEPTED)
_LATE = Decision(Disposition.LATE)
_DUPLICATE = Decision(Disposition.DUPLICATE)


def decide(
    kind: EntityKind, state: EntityState | None, event: Moment, *, is_logged: bool
) -> Decision:
    """Say what becomes of `event`, given the stored state of its entity.

    Args:
        kind: Kind of entity.
        state: Fold over everything logged before; None when the entity is unknown or a placeholder.
        event: The event.
        is_logged: Whether an event of the entity with this phase, version and occurred_at is in the
            log.

    Returns:
        The first row of the table in docs/transitions.md that fits.
    """
    if state is None:
        return _ACCEPTED
    current = state.current
    if is_logged or _repeats_current_phase(kind, current, event):
        return _DUPLICATE
    if state.ended is not None:
        if event.occurred_at_ns > state.ended.occurred_at_ns:
            return Decision(Disposition.REFUSED, AlreadyInTerminalPhase(state.ended.phase))
        return _LATE
    if event.phase is current.phase:
        return _ACCEPTED
    if event < current:
        return _LATE
    if (kind, current.phase, event.phase) == _REFUSED_BY_FLYTEADMIN:
        return Decision(Disposition.REFUSED, IllegalTransition(current.phase, event.phase))
    return _ACCEPTED


def _repeats_current_phase(kind: EntityKind, current: Moment, event: Moment) -> bool:
    # Nodes and executions have no versions: the same phase never says more about the phase.
    return event.phase is current.phase and (
        kind is not _TASK_ATTEMPT or event.phase_version <= current.phase_version
    )


def fold(kind: EntityKind, state: EntityState | None, event: Moment) -> EntityState:
    """Give the state after `event` was logged, with whatever disposition.

    Idempotent. Any order of the same events gives the same phase and bounds; the version of
    `latest` may differ, because versions count inside a stay and a late event may split one.
    """
    occurred_at_ns, _, phase, _ = event
    if state is None:
        is_terminal = phase in TERMINAL_PHASES
        return new_tuple(
            EntityState,
            (
                occurred_at_ns,
                occurred_at_ns,
                None if is_terminal else event,
                event if is_terminal else None,
                occurred_at_ns if phase is _RUNNING else None,
            ),
        )
    created_at_ns, last_occurred_at_ns, latest, ended, started_at_ns = state
    if phase in TERMINAL_PHASES:
        ended = event if ended is None else _earlier_end(ended, event)
    else:
        latest = event if latest is None else _later_stay(kind, latest, event)
    if phase is _RUNNING and (started_at_ns is None or occurred_at_ns < started_at_ns):
        started_at_ns = occurred_at_ns
    # Comparisons, for min() and max() would take as long as the rest.
    if occurred_at_ns > last_occurred_at_ns:
        last_occurred_at_ns = occurred_at_ns
    elif occurred_at_ns < created_at_ns:
        created_at_ns = occurred_at_ns
    return new_tuple(
        EntityState, (created_at_ns, last_occurred_at_ns, latest, ended, started_at_ns)
    )


def _earlier_end(ended: Moment, event: Moment) -> Moment:
    first = min(ended, event)
    if ended.phase is not event.phase:
        return first
    return first._replace(phase_version=max(ended.phase_version, event.phase_version))


def _later_stay(kind: EntityKind, latest: Moment, event: Moment) -> Moment:
    later = max(latest, event)
    if event.phase is latest.phase:
        highest = max(latest.phase_version, event.phase_version)
        return later if later.phase_version == highest else later._replace(phase_version=highest)
    if kind is not _EXECUTION:
        return later
    if goes_back(kind, latest.phase, event.phase):
        return latest
    if goes_back(kind, event.phase, latest.phase):
        return event
    return later


def goes_back(kind: EntityKind, current: Phase, event: Phase) -> bool:
    """Say whether an execution would go back to its beginning: it never does, whatever its clock.

    A phase that is not known is none to go back to either. If it were, a later QUEUED could follow
    it, and which of three events counts would depend on their order.
    """
    return kind is _EXECUTION and event in _BEGINNINGS and current not in _BEGINNINGS


_BEGINNINGS = (Phase.UNSPECIFIED, Phase.QUEUED)

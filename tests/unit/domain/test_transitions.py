"""What becomes of an event: one test for each row of the table in docs/transitions.md."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spanwise_server.domain.errors import AlreadyInTerminalPhase, IllegalTransition
from spanwise_server.domain.events import Disposition
from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.transitions import Decision, EntityState, Moment, decide, fold

TASK, NODE, EXECUTION = EntityKind.TASK_ATTEMPT, EntityKind.NODE, EntityKind.EXECUTION
KINDS = pytest.mark.parametrize("kind", list(EntityKind))


def moment(phase: Phase, at: int, version: int = 0) -> Moment:
    """Give a moment `at` seconds from the start, reported at once."""
    return Moment(at * 10**9, at * 10**9, phase, version)


def state_after(kind: EntityKind, *moments: Moment) -> EntityState | None:
    """Give the state after some events."""
    state = None
    for each in moments:
        state = fold(kind, state, each)
    return state


def decision(kind: EntityKind, event: Moment, *before: Moment, is_logged: bool = False) -> Decision:
    """Decide on `event` after the events `before`."""
    return decide(kind, state_after(kind, *before), event, is_logged=is_logged)


@KINDS
@pytest.mark.parametrize("phase", list(Phase))
def test_first_event_of_an_entity_is_accepted_whatever_its_phase(
    kind: EntityKind, phase: Phase
) -> None:
    assert decision(kind, moment(phase, 5)) == Decision(Disposition.ACCEPTED)


@pytest.mark.parametrize(("stored", "version"), [(0, 0), (3, 3), (3, 1)])
def test_task_phase_with_a_version_not_above_the_stored_one_is_a_duplicate(
    stored: int, version: int
) -> None:
    before = moment(Phase.RUNNING, 10, stored)
    event = moment(Phase.RUNNING, 12, version)
    assert decision(TASK, event, before) == Decision(Disposition.DUPLICATE)


@pytest.mark.parametrize("kind", [NODE, EXECUTION])
@pytest.mark.parametrize("phase", [Phase.QUEUED, Phase.RUNNING, Phase.SUCCEEDED])
def test_current_phase_of_a_node_or_execution_again_is_a_duplicate(
    kind: EntityKind, phase: Phase
) -> None:
    event = moment(phase, 12)
    assert decision(kind, event, moment(phase, 10)) == Decision(Disposition.DUPLICATE)


@KINDS
def test_logged_event_again_is_a_duplicate_also_when_its_phase_is_past(kind: EntityKind) -> None:
    queued, running = moment(Phase.QUEUED, 0), moment(Phase.RUNNING, 5)
    verdict = decision(kind, queued, queued, running, is_logged=True)
    assert verdict == Decision(Disposition.DUPLICATE)


def test_higher_version_of_the_current_task_phase_is_accepted() -> None:
    event = moment(Phase.RUNNING, 12, 1)
    assert decision(TASK, event, moment(Phase.RUNNING, 10)) == Decision(Disposition.ACCEPTED)


def test_versions_are_compared_inside_the_current_stay_only() -> None:
    before = (moment(Phase.QUEUED, 0, 3), moment(Phase.INITIALIZING, 5, 0))
    event = moment(Phase.INITIALIZING, 6, 1)
    assert decision(TASK, event, *before) == Decision(Disposition.ACCEPTED)


@KINDS
def test_event_older_than_what_is_stored_is_late(kind: EntityKind) -> None:
    before = (moment(Phase.QUEUED, 0), moment(Phase.RUNNING, 10))
    event = moment(Phase.INITIALIZING, 5)
    assert decision(kind, event, *before) == Decision(Disposition.LATE)


@KINDS
def test_event_from_before_the_end_is_late(kind: EntityKind) -> None:
    event = moment(Phase.RUNNING, 10)
    assert decision(kind, event, moment(Phase.SUCCEEDED, 40)) == Decision(Disposition.LATE)


@KINDS
@pytest.mark.parametrize("phase", [Phase.RUNNING, Phase.ABORTED, Phase.UNSPECIFIED])
def test_event_after_the_end_is_refused_with_the_stored_terminal_phase(
    kind: EntityKind, phase: Phase
) -> None:
    verdict = decision(kind, moment(phase, 60), moment(Phase.SUCCEEDED, 50))
    assert verdict.disposition is Disposition.REFUSED
    assert isinstance(verdict.refusal, AlreadyInTerminalPhase)
    assert verdict.refusal.current is Phase.SUCCEEDED


def test_terminal_task_phase_with_a_higher_version_later_is_refused() -> None:
    verdict = decision(TASK, moment(Phase.FAILED, 60, 1), moment(Phase.FAILED, 50))
    assert isinstance(verdict.refusal, AlreadyInTerminalPhase)


@pytest.mark.parametrize("kind", [NODE, TASK])
def test_node_or_task_may_go_back_to_an_earlier_phase_later_in_time(kind: EntityKind) -> None:
    verdict = decision(kind, moment(Phase.QUEUED, 10), moment(Phase.RUNNING, 5))
    assert verdict == Decision(Disposition.ACCEPTED)


def test_execution_that_goes_back_to_queued_is_refused_without_a_terminal_state() -> None:
    verdict = decision(EXECUTION, moment(Phase.QUEUED, 10), moment(Phase.RUNNING, 5))
    assert verdict.disposition is Disposition.REFUSED
    assert isinstance(verdict.refusal, IllegalTransition)
    assert verdict.refusal.current is Phase.RUNNING


@pytest.mark.parametrize("phase", [Phase.UNSPECIFIED, Phase.SUCCEEDING, Phase.FAILING])
def test_queued_execution_after_another_phase_than_running_is_accepted_as_by_flyteadmin(
    phase: Phase,
) -> None:
    verdict = decision(EXECUTION, moment(Phase.QUEUED, 10), moment(phase, 5))
    assert verdict == Decision(Disposition.ACCEPTED)


@KINDS
def test_other_end_at_the_instant_of_the_end_is_late(kind: EntityKind) -> None:
    verdict = decision(kind, moment(Phase.FAILED, 50), moment(Phase.SUCCEEDED, 50))
    assert verdict == Decision(Disposition.LATE)


def test_queued_execution_from_before_running_is_late() -> None:
    verdict = decision(EXECUTION, moment(Phase.QUEUED, 1), moment(Phase.RUNNING, 5))
    assert verdict == Decision(Disposition.LATE)


@KINDS
@pytest.mark.parametrize("phase", [Phase.RUNNING, Phase.SUCCEEDED])
def test_next_phase_is_accepted(kind: EntityKind, phase: Phase) -> None:
    verdict = decision(kind, moment(phase, 5), moment(Phase.QUEUED, 0))
    assert verdict == Decision(Disposition.ACCEPTED)


@KINDS
def test_phase_at_the_end_stays_whatever_comes_later(kind: EntityKind) -> None:
    state = state_after(kind, moment(Phase.SUCCEEDED, 50), moment(Phase.ABORTED, 60))
    assert state is not None
    assert state.current.phase is Phase.SUCCEEDED


moments = st.builds(moment, st.sampled_from(list(Phase)), st.integers(0, 5), st.integers(0, 2))


@KINDS
@given(life=st.lists(moments, min_size=1, max_size=5))
def test_state_has_the_same_phase_and_bounds_in_any_order_of_events(
    kind: EntityKind, life: list[Moment]
) -> None:
    def essence(order: tuple[Moment, ...]) -> tuple[object, ...]:
        state = state_after(kind, *order)
        assert state is not None
        return (
            state.created_at_ns,
            state.last_occurred_at_ns,
            state.current.phase,
            state.current.occurred_at_ns,
        )

    assert len({essence(order) for order in itertools.permutations(life)}) == 1


@KINDS
@given(life=st.lists(moments, min_size=1, max_size=5), data=st.data())
def test_state_starts_with_its_earliest_running_event_in_any_order(
    kind: EntityKind, life: list[Moment], data: st.DataObject
) -> None:
    state = state_after(kind, *data.draw(st.permutations(life)))
    running = [each.occurred_at_ns for each in life if each.phase is Phase.RUNNING]
    assert state is not None
    assert state.started_at_ns == min(running, default=None)


@KINDS
@given(life=st.lists(moments, min_size=1, max_size=6))
@example(
    life=[
        moment(Phase.UNSPECIFIED, 1),
        moment(Phase.WAITING_FOR_RESOURCES, 0),
        moment(Phase.QUEUED, 1),
    ]
)
def test_state_is_the_same_when_events_are_folded_twice(
    kind: EntityKind, life: list[Moment]
) -> None:
    once = state_after(kind, *life)
    twice = state_after(kind, *life, *life)
    assert once is not None
    assert twice is not None
    assert once.current.phase is twice.current.phase
    assert once[:2] == twice[:2]


@KINDS
@given(life=st.lists(moments, min_size=1, max_size=6), event=moments)
def test_every_event_gets_a_decision_and_only_refusals_carry_an_error(
    kind: EntityKind, life: list[Moment], event: Moment
) -> None:
    verdict = decision(kind, event, *life)
    assert (verdict.refusal is not None) == (verdict.disposition is Disposition.REFUSED)

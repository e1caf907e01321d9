"""The life of an entity as stays, from the set of its events."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain import transitions
from spanwise_server.domain.history import EntityHistory, fold_history
from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality, SpanQuality
from spanwise_server.domain.spans import ClosureTimes
from spanwise_server.domain.transitions import Moment
from tests.unit.domain.lives import SECOND_NS, Stay, moments

TASK, EXECUTION = EntityKind.TASK_ATTEMPT, EntityKind.EXECUTION


any_moment = st.builds(
    Moment,
    st.integers(-3 * SECOND_NS, 3 * SECOND_NS) | st.integers(-3, 3).map(lambda s: s * SECOND_NS),
    st.integers(-3 * SECOND_NS, 3 * SECOND_NS),
    st.sampled_from(list(Phase)),
    st.integers(0, 3),
)


def fold(*stays: Stay, kind: EntityKind = TASK) -> EntityHistory:
    return fold_history(kind, moments(*stays))


def seconds(history: EntityHistory) -> list[tuple[Phase, float, float | None]]:
    return [
        (phase, start / SECOND_NS, None if end is None else end / SECOND_NS)
        for phase, start, end, _ in history.intervals
    ]


def test_stays_touch_each_other_and_the_terminal_one_has_no_length() -> None:
    history = fold((Phase.QUEUED, 0), (Phase.RUNNING, 10), (Phase.SUCCEEDED, 40))
    assert seconds(history) == [
        (Phase.QUEUED, 0, 10),
        (Phase.RUNNING, 10, 40),
        (Phase.SUCCEEDED, 40, 40),
    ]


def test_last_stay_is_open_while_there_is_no_terminal_event() -> None:
    history = fold((Phase.QUEUED, 0), (Phase.RUNNING, 10))
    assert seconds(history)[-1] == (Phase.RUNNING, 10, None)
    assert history.end_ns is None


def test_all_orders_of_arrival_give_the_same_history() -> None:
    life = moments(
        (Phase.QUEUED, 0), (Phase.INITIALIZING, 5), (Phase.RUNNING, 10), (Phase.SUCCEEDED, 40)
    )
    histories = {fold_history(TASK, order) for order in itertools.permutations(life)}
    assert len(histories) == 1


def test_phase_that_is_entered_again_later_is_a_second_stay() -> None:
    history = fold((Phase.RUNNING, 5), (Phase.QUEUED, 10), (Phase.RUNNING, 15))
    assert [stay[0] for stay in seconds(history)] == [Phase.RUNNING, Phase.QUEUED, Phase.RUNNING]


def test_repeated_phase_is_one_stay_from_the_earliest_event() -> None:
    history = fold((Phase.RUNNING, 12), (Phase.RUNNING, 10), (Phase.SUCCEEDED, 40))
    assert seconds(history)[0] == (Phase.RUNNING, 10, 40)


def test_earliest_terminal_event_is_the_end_and_what_comes_later_is_flagged() -> None:
    history = fold((Phase.RUNNING, 0), (Phase.ABORTED, 60), (Phase.SUCCEEDED, 50))
    assert history.phase is Phase.SUCCEEDED
    assert history.end_ns == 50 * SECOND_NS
    assert SpanQuality.AFTER_TERMINAL in history.qualities


def test_repeated_terminal_event_is_not_flagged() -> None:
    history = fold((Phase.SUCCEEDED, 50), (Phase.SUCCEEDED, 51))
    assert SpanQuality.AFTER_TERMINAL not in history.qualities


def test_end_of_a_task_is_when_it_was_reported_and_its_last_stay_when_it_occurred() -> None:
    history = fold((Phase.RUNNING, 10, 20), (Phase.SUCCEEDED, 40, 45))
    assert history.end_ns == 45 * SECOND_NS
    assert seconds(history)[0] == (Phase.RUNNING, 10, 40)


def test_report_from_before_the_occurrence_shortens_nothing_and_is_flagged() -> None:
    history = fold((Phase.RUNNING, 10, 20), (Phase.SUCCEEDED, 40, 20))
    assert seconds(history)[0] == (Phase.RUNNING, 10, 40)
    assert history.end_ns == 40 * SECOND_NS
    assert SpanQuality.CLOCK_SKEW in history.qualities


def test_end_of_an_execution_is_when_it_occurred() -> None:
    history = fold((Phase.RUNNING, 0), (Phase.SUCCEEDED, 40, 45), kind=EXECUTION)
    assert history.end_ns == 40 * SECOND_NS


def test_execution_never_goes_back_to_queued() -> None:
    history = fold((Phase.RUNNING, 10), (Phase.QUEUED, 20), kind=EXECUTION)
    assert [stay[0] for stay in seconds(history)] == [Phase.RUNNING]


def test_whole_second_pod_time_does_not_come_before_finer_times_of_its_second() -> None:
    history = fold(
        (Phase.QUEUED, 4.25),
        (Phase.INITIALIZING, 5.7),
        (Phase.RUNNING, 5, 6.1),
        (Phase.SUCCEEDED, 9, 9.5),
    )
    assert seconds(history) == [
        (Phase.QUEUED, 4.25, 5.7),
        (Phase.INITIALIZING, 5.7, 5.7),
        (Phase.RUNNING, 5.7, 9),
        (Phase.SUCCEEDED, 9, 9),
    ]
    assert SpanQuality.COARSE_TIMESTAMP in history.qualities


def test_return_to_an_earlier_phase_in_a_coarse_second_is_told_by_the_reports() -> None:
    history = fold((Phase.RUNNING, 10), (Phase.QUEUED, 10.5))
    assert seconds(history) == [(Phase.RUNNING, 10, 10.5), (Phase.QUEUED, 10.5, None)]


def test_second_end_in_a_coarse_second_does_not_replace_the_first() -> None:
    history = fold((Phase.RUNNING, 1.5), (Phase.ABORTED, 50), (Phase.FAILED, 50.6))
    assert history.phase is Phase.ABORTED
    assert history.end_ns == 50 * SECOND_NS


@pytest.mark.parametrize("kind", [EXECUTION, EntityKind.NODE])
def test_whole_second_times_of_others_than_attempts_are_as_exact_as_any(kind: EntityKind) -> None:
    history = fold((Phase.RUNNING, 10, 12), (Phase.DYNAMIC_RUNNING, 10.5, 11), kind=kind)
    assert [stay[0] for stay in seconds(history)] == [Phase.RUNNING, Phase.DYNAMIC_RUNNING]
    assert SpanQuality.COARSE_TIMESTAMP not in history.qualities


def test_unknown_phase_before_queued_takes_nothing_from_it() -> None:
    history = fold((Phase.UNSPECIFIED, 1), (Phase.QUEUED, 5), kind=EXECUTION)
    assert [stay[0] for stay in seconds(history)] == [Phase.UNSPECIFIED, Phase.QUEUED]


def test_attempt_started_when_it_first_ran_and_was_updated_by_what_last_changed_it() -> None:
    closure = fold(
        (Phase.RUNNING, 5, 6),
        (Phase.QUEUED, 8, 9),
        (Phase.RUNNING, 11, 12),
        (Phase.RUNNING, 15, 16),
    ).closure
    assert (closure.started_ns, closure.updated_ns) == (5 * SECOND_NS, 12 * SECOND_NS)


def test_higher_version_of_a_phase_updates_an_attempt() -> None:
    first, second = moments((Phase.RUNNING, 5, 6), (Phase.RUNNING, 8, 9))
    history = fold_history(TASK, [first, second._replace(phase_version=1)])
    assert history.closure.updated_ns == 9 * SECOND_NS


def test_closure_has_times_as_they_were_sent_where_they_run_back_in_a_coarse_second() -> None:
    """FlyteAdmin's metrics are negative then, and Flyte's clients get the same; stays are not."""
    history = fold((Phase.QUEUED, 10.7, 10.8), (Phase.RUNNING, 10, 12), (Phase.SUCCEEDED, 20, 21))
    assert history.closure == ClosureTimes(
        created_ns=10_700_000_000,
        started_ns=10 * SECOND_NS,
        ran_until_ns=20 * SECOND_NS,
        updated_ns=21 * SECOND_NS,
    )
    assert seconds(history) == [
        (Phase.QUEUED, 10.7, 10.7),
        (Phase.RUNNING, 10.7, 20),
        (Phase.SUCCEEDED, 20, 20),
    ]


def test_times_that_are_all_whole_seconds_are_not_flagged_as_coarse() -> None:
    history = fold((Phase.QUEUED, 4), (Phase.RUNNING, 5))
    assert SpanQuality.COARSE_TIMESTAMP not in history.qualities


@pytest.mark.parametrize(
    ("event_quality", "span_quality"),
    [
        (EventQuality.MISSING_TIMESTAMP, SpanQuality.MISSING_TIMESTAMP),
        (EventQuality.TIMESTAMP_OUT_OF_RANGE, SpanQuality.TIMESTAMP_OUT_OF_RANGE),
        (EventQuality.UNKNOWN_PHASE, SpanQuality.UNKNOWN_PHASE),
    ],
)
def test_what_is_odd_about_an_event_is_odd_about_its_span(
    event_quality: EventQuality, span_quality: SpanQuality
) -> None:
    history = fold_history(TASK, moments((Phase.RUNNING, 0)), event_quality)
    assert history.qualities == span_quality


@pytest.mark.parametrize("kind", list(EntityKind))
@given(life=st.lists(any_moment, min_size=1, max_size=6))
def test_end_is_the_one_that_answers_rest_on(kind: EntityKind, life: list[Moment]) -> None:
    state = None
    for moment in life:
        state = transitions.fold(kind, state, moment)
    assert state is not None
    history = fold_history(kind, life)
    assert (state.ended is None) == (history.end_ns is None)
    if state.ended is not None:
        assert history.phase is state.ended.phase


@pytest.mark.parametrize("kind", list(EntityKind))
@given(life=st.lists(any_moment, min_size=1, max_size=8), data=st.data())
def test_any_order_and_duplication_of_events_gives_the_same_history(
    kind: EntityKind, life: list[Moment], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(life), max_size=4))
    shuffled = data.draw(st.permutations(life + again))
    assert fold_history(kind, shuffled) == fold_history(kind, life)


@pytest.mark.parametrize("kind", list(EntityKind))
@given(life=st.lists(any_moment, min_size=1, max_size=8))
def test_stays_are_in_order_without_gap_or_overlap(kind: EntityKind, life: list[Moment]) -> None:
    history = fold_history(kind, life)
    intervals = history.intervals
    assert history.start_ns == intervals[0].start_ns
    for before, after in itertools.pairwise(intervals):
        assert before.end_ns == after.start_ns
        assert before.start_ns <= after.start_ns
        assert before.phase is not after.phase
    assert (intervals[-1].end_ns is not None) == intervals[-1].phase.is_terminal
    assert history.end_ns is None or history.end_ns >= intervals[-1].start_ns

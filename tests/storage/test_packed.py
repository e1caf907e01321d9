"""Events and reasons that readers hold packed: they are those that went in."""

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import Severity
from spanwise_server.domain.known import EntityEvents
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.domain.spans import Mark, Operation
from spanwise_server.domain.transitions import Moment
from spanwise_server.storage.sql.packed import PackedEvents, PackedMarks

KEYS = st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(codec=None), max_size=20)  # halves of characters as well
QUALITIES = st.sampled_from(list(EventQuality))

MOMENTS = st.builds(Moment, NUMBERS, NUMBERS, st.sampled_from(Phase), NUMBERS)
MARKS = st.builds(
    Mark,
    NUMBERS,
    NUMBERS,
    TEXTS,
    st.sampled_from(Phase),
    NUMBERS,
    st.sampled_from(Severity),
    st.sampled_from(["", "kubelet"]) | TEXTS,
    NUMBERS,
    st.just(Operation.UNSPECIFIED),
)


@given(st.lists(st.tuples(KEYS, MOMENTS, QUALITIES)))
def test_events_come_back_with_their_entities(
    events: Sequence[tuple[int, Moment, EventQuality]],
) -> None:
    packed = PackedEvents()
    moments: dict[int, list[Moment]] = defaultdict(list)
    qualities: dict[int, EventQuality] = defaultdict(lambda: EventQuality.NONE)
    for key, moment, quality in events:
        packed.add(key, *moment)
        packed.add_qualities(key, quality)
        moments[key].append(moment)
        qualities[key] |= quality
    assert len(packed) == len(moments)
    found = {
        key: EntityEvents(sorted(each.moments), each.qualities) for key, each in packed.items()
    }
    assert found == {key: (sorted(moments[key]), qualities[key]) for key in moments}
    assert all(
        isinstance(moment.phase, Phase) for each in found.values() for moment in each.moments
    )


@given(st.lists(st.tuples(KEYS, MARKS)))
def test_reasons_come_back_with_their_entities(reasons: Sequence[tuple[int, Mark]]) -> None:
    packed = PackedMarks()
    marks: dict[int, list[Mark]] = defaultdict(list)
    for key, mark in reasons:
        packed.add(
            key,
            mark.occurred_at_ns,
            mark.ordinal,
            mark.phase,
            mark.phase_version,
            mark.severity,
            mark.occurrences,
            mark.source,
            mark.message,
        )
        marks[key].append(mark)
    assert {key: sorted(each) for key, each in packed.items()} == {
        key: sorted(each) for key, each in marks.items()
    }


def test_an_entity_of_which_nothing_is_known_is_not_there() -> None:
    packed = PackedEvents()
    packed.add(1, 10, 10, Phase.QUEUED, 0)
    assert 2 not in packed
    assert packed.get(2) is None
    with pytest.raises(KeyError):
        packed[2]


def test_a_phase_that_is_none_is_refused_when_it_is_read() -> None:
    with pytest.raises(KeyError):
        PackedEvents().add(1, 10, 10, 99, 0)
    with pytest.raises(KeyError):
        PackedMarks().add(1, 10, 0, 99, 0, Severity.INFO, 1, "kubelet", "Pulled")
    with pytest.raises(KeyError):
        PackedMarks().add(1, 10, 0, Phase.RUNNING, 0, 99, 1, "kubelet", "Pulled")

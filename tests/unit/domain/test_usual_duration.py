from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.usual_duration import (
    MAX_SAMPLES,
    MIN_SAMPLES,
    UsualDuration,
    find_usual,
)

DURATIONS = st.integers(0, 10**15)


@given(st.lists(DURATIONS, max_size=2 * MAX_SAMPLES), DURATIONS)
def test_usual_is_what_the_latest_took(durations: list[int], other: int) -> None:
    usual = find_usual(durations)
    latest = durations[:MAX_SAMPLES]
    if len(latest) < MIN_SAMPLES:
        assert usual is None
        return
    assert usual is not None
    assert usual.num_samples == len(latest)
    for share, value in ((Fraction(1, 2), usual.p50_ns), (Fraction(19, 20), usual.p95_ns)):
        assert value in latest
        assert sum(each <= value for each in latest) >= share * len(latest)
        assert sum(each < value for each in latest) < share * len(latest)
    assert find_usual([*durations, other]) == usual or len(durations) < MAX_SAMPLES


def test_a_little_longer_than_ever_is_no_news() -> None:
    usual = UsualDuration(p50_ns=100, p95_ns=101, num_samples=5)
    assert not usual.is_exceeded_by(110)
    assert usual.is_exceeded_by(111)


def test_what_is_within_the_usual_spread_is_not_slower() -> None:
    usual = UsualDuration(p50_ns=100, p95_ns=300, num_samples=50)
    assert not usual.is_exceeded_by(300)
    assert usual.is_exceeded_by(301)

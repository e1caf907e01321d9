"""What the commands of the server compute by themselves."""

import pytest

from spanwise_server.main import DAY_NS, days_of_growth


@pytest.mark.parametrize(
    ("age_ns", "days"),
    [(0, 1 / 24), (DAY_NS // 2, 0.5), (3 * DAY_NS, 3.0), (7 * DAY_NS, 7.0), (900 * DAY_NS, 7.0)],
)
def test_growth_is_that_of_a_week_or_of_the_age_of_a_younger_database(
    age_ns: int, days: float
) -> None:
    now_ns = 1_000 * DAY_NS
    assert days_of_growth(now_ns - age_ns, now_ns) == days


def test_growth_of_an_empty_database_is_that_of_a_week() -> None:
    assert days_of_growth(None, DAY_NS) == 7

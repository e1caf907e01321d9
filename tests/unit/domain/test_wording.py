from hypothesis import given
from hypothesis import strategies as st

from spanwise._times import short_duration
from spanwise_server.domain.wording import say_duration


@given(st.one_of(st.integers(0, 10**6), st.integers(0, 10**12), st.integers(0, 10**16)))
def test_a_duration_is_written_as_the_client_writes_it(duration_ns: int) -> None:
    assert say_duration(duration_ns) == short_duration(duration_ns)

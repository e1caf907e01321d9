"""How long executions are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.phases import TERMINAL_PHASES, UNSUCCESSFUL_PHASES, Phase
from spanwise_server.domain.retention import Ages, Life, RetentionPolicy, goes_at_ns

AGES = st.builds(
    Ages, *(st.none() | st.integers(1, 100) for _ in ("ended", "unsuccessful", "silent"))
)
NAMES = st.sampled_from(["p", "q", "r"])
DOMAINS = st.sampled_from(["d", "e"])
POLICIES = st.builds(
    RetentionPolicy,
    AGES,
    st.dictionaries(NAMES, AGES, max_size=2),
    st.dictionaries(st.tuples(NAMES, DOMAINS), AGES, max_size=3),
)
MOMENTS = st.integers(0, 1000)


def ended_lives(phases: frozenset[Phase] = TERMINAL_PHASES) -> st.SearchStrategy[Life]:
    return st.builds(Life, NAMES, DOMAINS, st.sampled_from(sorted(phases)), MOMENTS)


OPEN_LIVES = st.builds(Life, NAMES, DOMAINS, st.none(), st.none(), MOMENTS)
LIVES = ended_lives() | OPEN_LIVES


@given(LIVES)
def test_without_ages_everything_stays(life: Life) -> None:
    assert goes_at_ns(RetentionPolicy(), life) is None


@given(POLICIES, OPEN_LIVES)
def test_an_open_execution_goes_for_its_silence_alone(policy: RetentionPolicy, life: Life) -> None:
    silent_ns = policy.ages_of(life.project, life.domain).silent_ns
    assert life.heard_at_ns is not None
    expected = None if silent_ns is None else life.heard_at_ns + silent_ns
    assert goes_at_ns(policy, life) == expected


@given(POLICIES, ended_lives(TERMINAL_PHASES - UNSUCCESSFUL_PHASES))
def test_what_ended_well_goes_an_age_after_its_end(policy: RetentionPolicy, life: Life) -> None:
    age_ns = policy.ages_of(life.project, life.domain).ended_ns
    assert life.ended_at_ns is not None
    expected = None if age_ns is None else life.ended_at_ns + age_ns
    assert goes_at_ns(policy, life) == expected


@given(POLICIES, ended_lives(TERMINAL_PHASES & UNSUCCESSFUL_PHASES))
def test_what_failed_stays_at_least_as_long_as_what_succeeded(
    policy: RetentionPolicy, life: Life
) -> None:
    failed = goes_at_ns(policy, life)
    succeeded = goes_at_ns(policy, life._replace(phase=Phase.SUCCEEDED))
    assert failed is None or (succeeded is not None and failed >= succeeded)


@given(POLICIES, ended_lives(TERMINAL_PHASES & UNSUCCESSFUL_PHASES))
def test_what_failed_goes_at_an_age_of_the_policy(policy: RetentionPolicy, life: Life) -> None:
    at_ns = goes_at_ns(policy, life)
    ages = policy.ages_of(life.project, life.domain)
    if ages.ended_ns is None or ages.unsuccessful_ns is None:
        assert at_ns is None
    else:
        assert at_ns is not None
        assert life.ended_at_ns is not None
        assert at_ns - life.ended_at_ns in {ages.ended_ns, ages.unsuccessful_ns}


@given(POLICIES, LIVES)
def test_nothing_goes_before_the_least_ages(policy: RetentionPolicy, life: Life) -> None:
    at_ns = goes_at_ns(policy, life)
    is_open = life.ended_at_ns is None
    since_ns = life.heard_at_ns if is_open else life.ended_at_ns
    least_ns = policy.least_silent_ns() if is_open else policy.least_ended_ns()
    assert since_ns is not None
    assert at_ns is None or (least_ns is not None and at_ns >= since_ns + least_ns)


@given(POLICIES, LIVES)
def test_the_narrowest_scope_counts(policy: RetentionPolicy, life: Life) -> None:
    alone = RetentionPolicy(policy.ages_of(life.project, life.domain))
    assert goes_at_ns(policy, life) == goes_at_ns(alone, life)


@pytest.mark.parametrize(
    ("project", "domain", "expected"),
    [("p", "d", 3), ("p", "e", 2), ("q", "d", 1)],
)
def test_a_domain_goes_before_its_project_and_that_before_the_default(
    project: str, domain: str, expected: int
) -> None:
    policy = RetentionPolicy(Ages(1), {"p": Ages(2)}, {("p", "d"): Ages(3)})
    assert goes_at_ns(policy, Life(project, domain, Phase.SUCCEEDED, 0)) == expected


@pytest.mark.parametrize("phase", [Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT])
def test_each_kind_of_failure_is_kept_longer(phase: Phase) -> None:
    policy = RetentionPolicy(Ages(ended_ns=10, unsuccessful_ns=30))
    assert goes_at_ns(policy, Life("p", "d", phase, 100)) == 130

"""Counts and latencies of a simulation."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.simulate import Latencies, Report, Tally

_durations = st.lists(st.integers(1, 10**11), min_size=1, max_size=200)


@given(_durations, st.sampled_from([1, 50, 90, 99, 100]))
def test_a_percentile_is_exact_to_one_percent(durations_ns: list[int], percent: int) -> None:
    latencies = Latencies()
    for duration_ns in durations_ns:
        latencies.add(duration_ns)
    exact = sorted(durations_ns)[math.ceil(len(durations_ns) * percent / 100) - 1]
    assert latencies.percentile_ns(percent) == pytest.approx(exact, rel=0.011, abs=1)
    assert latencies.percentile_ns(percent) <= max(durations_ns)


@given(_durations, _durations)
def test_merged_latencies_are_those_of_all(ours: list[int], theirs: list[int]) -> None:
    both, one, other = Latencies(), Latencies(), Latencies()
    for duration_ns in ours:
        one.add(duration_ns)
        both.add(duration_ns)
    for duration_ns in theirs:
        other.add(duration_ns)
        both.add(duration_ns)
    one.merge(other)
    assert one.to_dict() == both.to_dict()


def test_no_calls_have_no_latency() -> None:
    assert Latencies().to_dict() == {"p50": 0, "p90": 0, "p99": 0, "max": 0}


def test_a_report_adds_up_its_propellers() -> None:
    tallies = (Tally(taken=3, finished=1, nodes=2), Tally(taken=4, finished=1, nodes=5, known=1))
    for tally in tallies:
        tally.answers["CreateTaskEvent", "OK"] += tally.taken
        tally.latencies["CreateTaskEvent"].add(2_000_000)
    report = Report(executions=2, wall_s=2.0, cpu_s=1.0, propellers=tallies)
    told = report.to_dict()
    assert told == json.loads(json.dumps(told))
    assert report.is_complete
    assert (told["events"], told["events_known"], told["nodes"]) == (7, 1, 7)
    assert told["events_per_s"] == 3.5
    assert told["methods"]["CreateTaskEvent"]["codes"] == {"OK": 7}
    assert told["methods"]["CreateTaskEvent"]["latency_ms"]["max"] == 2.0
    assert [each["events"] for each in told["propellers"]] == [3, 4]


@pytest.mark.parametrize(
    "report",
    [
        Report(executions=2, wall_s=1, cpu_s=1, propellers=(Tally(finished=1, stopped=1),)),
        Report(executions=1, wall_s=1, cpu_s=1, propellers=(Tally(finished=1),), ended_by="Ctrl-C"),
    ],
)
def test_what_is_missing_or_was_ended_is_not_complete(report: Report) -> None:
    assert not report.is_complete


def test_only_the_first_problems_are_kept() -> None:
    tally = Tally()
    for number in range(100):
        tally.add_problem(str(number))
    assert tally.problems == ["0", "1", "2", "3", "4"]

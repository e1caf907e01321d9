"""What each story is slow by: the planted cause must dominate the path that decides its length."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from flyteidl.core import execution_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise._times import to_ns
from spanwise.demo import (
    Scenario,
    gpu_capacity,
    image_pull,
    propeller_overload,
    training_pipeline,
)
from tests.unit.client.demo_rules import Event, executions
from tests.unit.client.spans import T0_NS

_Task = execution_pb2.TaskExecution
_MACHINE, _IMAGE, _RUN, _BETWEEN = "machine", "image", "run", "between"


class _Stretch(NamedTuple):
    """A stretch of the path that decides how long the story takes."""

    cause: str
    where: str
    length_ns: int


def _critical_path(scenario: Scenario) -> list[_Stretch]:
    """Walk back from the end, each time to the attempt that ended last before."""
    attempts = [
        (execution.name, *key, events)
        for execution in executions(scenario).values()
        for key, events in execution.attempts.items()
    ]
    path: list[_Stretch] = []
    now_ns = scenario.end_ns
    while True:
        before = [each for each in attempts if each[3][-1].sent_ns <= now_ns]
        if not before:
            return path
        name, node_id, retry, events = max(before, key=lambda each: each[3][-1].sent_ns)
        where = f"{name}/{node_id}[{retry}]"
        path.append(_Stretch(_BETWEEN, where, now_ns - events[-1].sent_ns))
        path += _inside(where, events)
        now_ns = events[0].occurred_ns


def _inside(where: str, events: list[Event]) -> Iterator[_Stretch]:
    """Split an attempt by what its reasons say; a map task tells none, so it only runs."""
    refused_ns = _said_at(events, "Unschedulable:")
    assigned_ns = _said_at(events, "Successfully assigned")
    if refused_ns is not None and assigned_ns is not None:
        yield _Stretch(_MACHINE, where, assigned_ns - refused_ns)
    pulling_ns = _said_at(events, "Pulling image")
    pulled_ns = _said_at(events, "Successfully pulled image")
    if pulling_ns is not None and pulled_ns is not None:
        yield _Stretch(_IMAGE, where, pulled_ns - pulling_ns)
    running_ns = next(e.occurred_ns for e in events if e.message.phase == _Task.RUNNING)
    yield _Stretch(_RUN, where, events[-1].occurred_ns - running_ns)


def _said_at(events: list[Event], text: str) -> int | None:
    """Give when something was said first."""
    reasons = [reason for event in events for reason in event.message.reasons]
    times = [to_ns(each.occurred_at) for each in reasons if each.reason.startswith(text)]
    return min(times, default=None)


def _totals(path: list[_Stretch]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for stretch in path:
        totals[stretch.cause] += stretch.length_ns
    return totals


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_the_training_waited_for_a_machine_more_than_for_anything_else(seed: int) -> None:
    """One stretch is longer than all other stretches together."""
    path = _critical_path(training_pipeline(seed, T0_NS, name="run"))
    longest = max(path, key=lambda stretch: stretch.length_ns)
    assert (longest.cause, longest.where) == (_MACHINE, "run/n2[0]")
    others = sum(stretch.length_ns for stretch in path if stretch is not longest)
    assert longest.length_ns > 1.3 * others


@pytest.mark.parametrize(
    ("story", "cause"),
    [(image_pull, _IMAGE), (gpu_capacity, _MACHINE), (propeller_overload, _BETWEEN)],
)
@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_the_planted_cause_takes_most_of_the_time(
    story: Callable[..., Any], cause: str, seed: int
) -> None:
    """More than twice as much as everything else."""
    totals = _totals(_critical_path(story(seed, T0_NS)))
    assert totals[cause] > 2 * (totals.total() - totals[cause])


@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_an_overloaded_propeller_loses_hardly_any_time_inside_of_tasks(seed: int) -> None:
    """Most of it goes by before a node is even queued."""
    scenario = propeller_overload(seed, T0_NS)
    totals = _totals(_critical_path(scenario))
    assert totals[_RUN] < 0.1 * totals.total()
    (execution,) = executions(scenario).values()
    work = [e for node_id, e in execution.nodes.items() if not node_id.endswith("-node")]
    inside_ns = sum(events[-1].sent_ns - events[0].occurred_ns for events in work)
    # Three nodes at once.
    assert inside_ns / 3 < 0.6 * (scenario.end_ns - T0_NS)

"""Commands that read, against a real server that the sample execution was played into."""

import base64
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from flyteidl.admin import event_pb2 as admin

from spanwise import Client
from spanwise.cli.temporary_server import temporary_server
from spanwise.demo import Scenario, play, training_pipeline
from spanwise.demo.ids import child_execution_name
from spanwise.v1 import event_pb2
from tests.e2e.cli_process import TIMEOUT_S, command, run, told
from tests.unit.client.demo_rules import executions

_START_NS = 1_672_567_200_000_000_000  # 2023-01-01T10:00:00Z
_CHILD = f"flytesnacks/development/{child_execution_name('sample', 'n4-0-n4-n0', 0)}"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return training_pipeline(1, _START_NS, name="sample")


@pytest.fixture(scope="module")
def endpoint(scenario: Scenario) -> Iterator[str]:
    with temporary_server() as (address, *_):
        play(scenario, address)
        play(training_pipeline(2, _START_NS, name="open", running=True), address)
        yield address


@pytest.fixture
def execution(scenario: Scenario) -> str:
    return str(scenario.execution_id)


def test_playing_again_brings_nothing_new(scenario: Scenario, endpoint: str) -> None:
    """What the server has already counts as sent."""
    assert play(scenario, endpoint) == 0


def test_list_gives_the_newest_first(endpoint: str) -> None:
    """As a table, and as JSON lines."""
    rows = told("list", "--endpoint", endpoint).splitlines()
    assert rows[0].split() == [
        *("execution", "phase", "start_timestamp", "end_timestamp", "duration", "workflow")
    ]
    assert {row.split()[0] for row in rows[1:]} == {
        "flytesnacks/development/sample",
        _CHILD,
        "flytesnacks/development/open",
    }
    lines = told("list", "--json", "--endpoint", endpoint).splitlines()
    phases = {line["execution_id"]: line["phase"] for line in map(json.loads, lines)}
    assert phases == {
        "flytesnacks/development/sample": "SUCCEEDED",
        _CHILD: "SUCCEEDED",
        "flytesnacks/development/open": "RUNNING",
    }


def test_list_takes_project_domain_and_phase(endpoint: str) -> None:
    """Each narrows the list."""
    at = ("--json", "--endpoint", endpoint)
    assert len(told("list", "flytesnacks", *at).splitlines()) == 3
    assert len(told("list", "flytesnacks/development", *at).splitlines()) == 3
    assert told("list", "flytesnacks/production", *at) == ""
    assert told("list", "other", *at) == ""
    assert len(told("list", "--phase", "running", *at).splitlines()) == 1


def test_list_finds_names_and_what_took_longer_than_usual() -> None:
    """Usual is what earlier executions of the same workflow took."""
    took_s = [60, 61, 62, 63, 64, 65, 300]
    with temporary_server() as (endpoint, *_):
        with Client(endpoint) as client:
            for number, duration_s in enumerate(took_s):
                start_ns = _START_NS + number * 1_000 * 10**9
                for phase, at_ns in (
                    ("RUNNING", start_ns),
                    ("SUCCEEDED", start_ns + duration_s * 10**9),
                ):
                    event = event_pb2.ExecutionEvent(
                        execution_id={"project": "p", "domain": "d", "name": f"nightly-{number}"},
                        workflow_id={"project": "p", "domain": "d", "name": "etl", "version": "1"},
                        phase=f"PHASE_{phase}",
                    )
                    event.occurred_at.FromNanoseconds(at_ns)
                    client.create_execution_event(event)
        at = ("--json", "--endpoint", endpoint)
        [found] = map(json.loads, told("list", "p/d", "--slower", *at).splitlines())
        assert found["execution_id"] == "p/d/nightly-6"
        assert found["usual"] == {"p50_ns": 62 * 10**9, "p95_ns": 65 * 10**9, "sample_count": 6}
        assert len(told("list", "--search", "ETL", *at).splitlines()) == len(took_s)
        assert len(told("list", "--search", "nightly-3", *at).splitlines()) == 1
        table = told("list", "p/d", "--endpoint", endpoint).splitlines()
        assert table[0].split()[-1] == "usual"
        assert table[1].endswith("1m 02s, this is slower")


def test_list_says_when_there_are_more(endpoint: str) -> None:
    """A cut list must not look whole."""
    done = run("list", "--limit", "1", "--endpoint", endpoint)
    assert len(done.stdout.splitlines()) == 2
    assert "more than 1" in done.stderr


def test_events_are_in_the_order_of_receipt_or_of_the_source(
    endpoint: str, execution: str, scenario: Scenario
) -> None:
    """Every one of them, with the request byte for byte when that is wanted."""
    told_events = told("events", execution, "--json", "--payload", "--endpoint", endpoint)
    events = list(map(json.loads, told_events.splitlines()))
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    first = [event for event in events if event["disposition"] == "ACCEPTED"]
    payloads = [base64.b64decode(event["payload"]) for event in first]
    # The bytes are those of the wire: protobuf may write the same map in several orders.
    own = executions(scenario)["sample"].events
    sent = [scenario.requests[event.number].message for event in own]
    assert [type(message).FromString(raw) for message, raw in zip(sent, payloads, strict=True)] == (
        sent
    )
    assert first[0]["payload_type"] == admin.WorkflowExecutionEventRequest.DESCRIPTOR.full_name
    by_source = told("events", execution, "--order", "occurred", "--json", "--endpoint", endpoint)
    times = [json.loads(line)["occurred_at"] for line in by_source.splitlines()]
    assert len(times) == len(events)
    assert sorted(times, key=_sortable) == times


def _sortable(text: str) -> str:
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return f"{whole}.{fraction:0<9}"


def test_events_as_a_table(endpoint: str, execution: str) -> None:
    """One line for each, which names the attempt and the phase with its version."""
    rows = told("events", execution, "--endpoint", endpoint).splitlines()
    assert any("n2[0]" in row and "QUEUED v1" in row and "ACCEPTED" in row for row in rows)


def test_explain_tells_where_the_time_went_and_why(endpoint: str, execution: str) -> None:
    """The same text as the library gives, with the reasons below the attempt that they are of."""
    text = told("explain", execution, "--endpoint", endpoint)
    with Client(endpoint) as client:
        assert client.get_execution_span(execution).explain_text() == text
    lines = text.splitlines()
    attempt = next(n for n, line in enumerate(lines) if line.endswith("n2[0]  (failed)"))
    below = lines[attempt + 1 :]
    reasons = below[: next(n for n, line in enumerate(below) if "TASK_SETUP" in line)]
    for part in ("Insufficient nvidia.com/gpu", "triggered scale-up", "pulled image", "FAILED"):
        assert any(part in line for line in reasons)


def test_explain_has_no_negative_duration(endpoint: str, execution: str) -> None:
    """Whatever the clocks of pods say."""
    values = json.loads(told("explain", execution, "--json", "--endpoint", endpoint))
    stack = [values]
    while stack:
        span = stack.pop()
        assert span["duration_ns"] >= 0
        stack.extend(span["children"])


def test_explain_goes_as_deep_as_wanted(endpoint: str, execution: str) -> None:
    """Depth 0 is the execution alone."""
    lines = told("explain", execution, "--depth", "0", "--endpoint", endpoint).splitlines()
    assert len(lines) == 2
    assert "below not shown" in lines[1]


def test_explain_in_local_time(endpoint: str, execution: str) -> None:
    """With the offset of the zone."""
    text = told(
        "explain", execution, "--local-time", "--endpoint", endpoint, env={"TZ": "Asia/Kolkata"}
    )
    assert "2023-01-01T15:30:00+05:30" in text


def test_an_open_execution_is_open(endpoint: str) -> None:
    """And so is what runs in it."""
    text = told("explain", "flytesnacks/development/open", "--endpoint", endpoint)
    open_rows = [line.split()[0] for line in text.splitlines() if " open " in line]
    assert open_rows[0] == "workflow_execution"
    assert "task_execution_0" in open_rows


def test_dump_is_yaml_in_both_forms(endpoint: str, execution: str) -> None:
    """A tree, and seconds by operation."""
    whole: dict[str, Any] = yaml.safe_load(told("dump", execution, "--endpoint", endpoint))
    assert list(whole) == ["root_span"]
    assert whole["root_span"]["name"] == "workflow_execution"
    assert "n2[0]" in whole["root_span"]["children"]["n2"]["children"]
    text = told("dump", execution, "--format", "breakdown", "--endpoint", endpoint)
    sample = yaml.safe_load(text)["sample"]
    assert sample["breakdown"]["TASK_RUNTIME"] > 100
    assert set(sample["nodes"]["n2"]["task_attempts"]) == {0, 1}


def test_the_endpoint_may_come_from_the_environment(endpoint: str) -> None:
    """An option wins over it."""
    assert told("list", "--json", env={"SPANWISE_ENDPOINT": endpoint})
    other = {"SPANWISE_ENDPOINT": "127.0.0.1:1"}
    assert told("list", "--json", "--endpoint", endpoint, env=other)


def test_a_closed_pipe_is_no_error_worth_telling(endpoint: str, execution: str) -> None:
    """`| head` ends the command without a word."""
    process = subprocess.Popen(
        command("explain", execution, "--json", "--endpoint", endpoint),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(TIMEOUT_S) == 1
    with process.stderr as stderr:
        assert stderr.read() == ""


def test_an_unknown_execution_is_told_in_one_line(endpoint: str) -> None:
    """With its id and what to do, by every command that takes one."""
    for name in ("explain", "dump", "events"):
        done = run(name, "flytesnacks/development/nobody", "--endpoint", endpoint)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1
        assert "knows no execution flytesnacks/development/nobody" in done.stderr


def test_output_in_the_c_locale_does_not_fail(endpoint: str, execution: str) -> None:
    """Characters that it lacks are escaped."""
    env = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert told("explain", execution, "--endpoint", endpoint, env=env).isascii()

"""Diagnoses of real events, over a real server: the call, the client and the command."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import grpc
import pytest
from flyteidl.core.identifier_pb2 import Identifier

from spanwise import Client, ExecutionNotFound, demo
from spanwise.v1 import identifiers_pb2, span_pb2, span_service_pb2
from tests.e2e.cli_process import run, told
from tests.e2e.flyte_run import Run, bounds, seconds
from tests.e2e.harness import ServerProcess, Stubs, failure, running_server
from tests.unit.rpc.flyte import T0

FLAKY = Identifier(project="flytesnacks", domain="development", name="flaky", version="v1")
GPU = "0/12 nodes are available: 12 Insufficient nvidia.com/gpu."
PULLING = 'Pulling image "cr.example.com/train:v1"'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    directory: Path = tmp_path_factory.mktemp("diagnose")
    with running_server(directory / "spanwise.db") as process:
        with process.channel() as channel:
            stubs = Stubs(channel)
            for number in range(6):
                play(Run(stubs, f"earlier{number}"), wait_s=4, start_s=1000 * (number - 6))
            play(Run(stubs, "slow"), wait_s=600)
            play(Run(stubs, "later"), wait_s=9, start_s=1000)
        yield process


@pytest.fixture(scope="module")
def stubs(server: ServerProcess) -> Iterator[Stubs]:
    with server.channel() as channel:
        yield Stubs(channel)


def play(execution: Run, wait_s: float, start_s: float = 0) -> None:
    """Send a run of two nodes, of which the second waits for a machine with a GPU."""
    execution.workflow("RUNNING", start_s)
    execution.node("start-node", "SUCCEEDED", start_s + 1)
    execution.node("n0", "QUEUED", start_s + 2)
    execution.task("n0", "QUEUED", start_s + 3)
    execution.task("n0", "RUNNING", start_s + 4)
    execution.task("n0", "SUCCEEDED", start_s + 10)
    execution.node("n0", "SUCCEEDED", start_s + 11)
    execution.node("n1", "QUEUED", start_s + 12)
    execution.task("n1", "QUEUED", start_s + 13, reasons=[(GPU, start_s + 13)])
    started_s = start_s + 13 + wait_s
    execution.task("n1", "RUNNING", started_s)
    execution.task("n1", "SUCCEEDED", started_s + 40)
    execution.node("n1", "SUCCEEDED", started_s + 41)
    execution.node("end-node", "SUCCEEDED", started_s + 42)
    execution.workflow("SUCCEEDED", started_s + 43)


def asked(
    stubs: Stubs, name: str, max_findings: int = 0
) -> span_service_pb2.DiagnoseExecutionResponse:
    request = span_service_pb2.DiagnoseExecutionRequest(
        execution_id=execution_id(name), max_findings=max_findings
    )
    answer: span_service_pb2.DiagnoseExecutionResponse = stubs.spans.DiagnoseExecution(request)
    return answer


def execution_id(name: str) -> identifiers_pb2.ExecutionId:
    return identifiers_pb2.ExecutionId(project="flytesnacks", domain="development", name=name)


def test_the_costliest_finding_tells_what_the_time_was_waited_for(stubs: Stubs) -> None:
    first = asked(stubs, "slow").findings[0]
    assert (first.cause, first.cost.seconds) == ("scheduling/gpu", 600)
    assert first.summary.startswith("Waiting for a machine with a free nvidia.com/gpu took 10m 00s")
    assert "in n1" in first.summary
    evidence = first.evidence[0]
    assert [reason.message for reason in evidence.reasons] == [GPU]
    assert evidence.path == "n1/0/TASK_SETUP/SCHEDULING"
    assert (seconds(evidence.start_time), seconds(evidence.end_time)) == (13, 613)


def test_the_critical_path_covers_the_execution(stubs: Stubs) -> None:
    answer = asked(stubs, "slow")
    whole = bounds(Run(stubs, "slow").span("execution"))
    moments = [seconds(each.start_time) for each in answer.segments]
    assert moments == [whole[0], *(seconds(each.end_time) for each in answer.segments[:-1])]
    assert seconds(answer.segments[-1].end_time) == whole[1]
    assert answer.critical_path.seconds == 656
    known = {span.span_id for span in Run(stubs, "slow").spans()}
    assert {each.span_id for each in answer.segments} <= known


def test_all_findings_together_cost_the_wall_clock(stubs: Stubs) -> None:
    answer = asked(stubs, "slow", max_findings=100)
    assert sum(each.cost.seconds for each in answer.findings) == 656
    assert len(asked(stubs, "slow", max_findings=1).findings) == 1
    assert len(asked(stubs, "slow").findings) == 5


def test_an_attempt_is_compared_with_those_of_other_executions(stubs: Stubs) -> None:
    outliers = [each for each in asked(stubs, "slow").history if each.outlier]
    assert [(each.path, each.operation) for each in outliers] == [
        ("n1/0", span_pb2.OPERATION_TASK_SETUP)
    ]
    # Six earlier executions have two attempts of the task each, none of them this execution's own.
    # A later one has two as well.
    assert (outliers[0].sample_count, outliers[0].duration.seconds) == (12, 600)
    assert outliers[0].p95.seconds == 4
    assert list(asked(stubs, "earlier0").history) == []


def test_a_set_up_counts_however_the_attempt_ended(stubs: Stubs) -> None:
    for number in range(6):
        execution = Run(stubs, f"retried{number}")
        flaky = partial(execution.task, "n0", task_id=FLAKY)
        start_s = 2000 + 1000 * number
        execution.workflow("RUNNING", start_s)
        execution.node("n0", "QUEUED", start_s + 1)
        flaky("QUEUED", start_s + 2)
        flaky("RUNNING", start_s + 602)
        flaky("FAILED", start_s + 610)
        flaky("QUEUED", start_s + 611, retry_attempt=1)
        flaky("RUNNING", start_s + 612, retry_attempt=1)
        flaky("SUCCEEDED", start_s + 640, retry_attempt=1)
        execution.node("n0", "SUCCEEDED", start_s + 641)
        execution.workflow("SUCCEEDED", start_s + 642)
    found = [
        (each.path, span_pb2.Operation.Name(each.operation), each.p50.seconds, each.outlier)
        for each in asked(stubs, "retried5").history
    ]
    # Five earlier first attempts waited as long; how long they ran until they failed says nothing.
    assert found == [
        ("n0/0", "OPERATION_TASK_SETUP", 600, False),
        ("n0/1", "OPERATION_TASK_SETUP", 1, False),
        ("n0/1", "OPERATION_TASK_RUNTIME", 28, False),
    ]


def test_what_runs_is_diagnosed_as_such(stubs: Stubs, server: ServerProcess) -> None:
    execution = Run(stubs, "open")
    execution.workflow("RUNNING", 0)
    execution.node("n0", "QUEUED", 1)
    execution.task("n0", "QUEUED", 2)
    execution.task("n0", "RUNNING", 4)
    with Client(server.endpoint) as client:
        as_of_ns = (T0 + 64) * 10**9
        found = client.diagnose_execution("flytesnacks/development/open", as_of=as_of_ns)
        late = client.diagnose_execution("flytesnacks/development/open")
    assert (found.phase, found.is_open, found.is_stale) == ("RUNNING", True, False)
    assert found.last_heard_ns == (T0 + 4) * 10**9
    first = found.findings[0]
    assert (first.cause, first.is_open, first.advice) == ("runtime", True, ())
    assert first.evidence[0].last_heard_ns == (T0 + 4) * 10**9
    assert "has run for 1m 04s so far; last heard 1m 00s ago." in found.to_text()
    assert late.is_stale
    assert late.findings[0].evidence[0].is_stale


def test_what_failed_is_diagnosed_as_such(stubs: Stubs, server: ServerProcess) -> None:
    execution = Run(stubs, "failed")
    execution.workflow("RUNNING", 0)
    execution.workflow("FAILED", 90)
    text = told("diagnose", "flytesnacks/development/failed", "--endpoint", server.endpoint)
    assert text.startswith("flytesnacks/development/failed failed after 1m 30s.\n")


def test_attempts_that_ran_at_once_are_counted(stubs: Stubs) -> None:
    steps = asked(stubs, "slow").parallelism
    assert [(seconds(each.start_time), each.running_attempts) for each in steps] == [
        (4, 1),
        (10, 0),
        (613, 1),
        (653, 0),
    ]


def test_an_unknown_execution_is_not_found(stubs: Stubs, server: ServerProcess) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        asked(stubs, "nobody")
    assert failure(caught.value)[0] is grpc.StatusCode.NOT_FOUND
    with Client(server.endpoint) as client, pytest.raises(ExecutionNotFound):
        client.diagnose_execution("flytesnacks/development/nobody")


def test_bad_requests_are_told_what_is_wrong(stubs: Stubs) -> None:
    for name, max_findings, text in [("slow", -1, "max_findings: is -1"), ("", 0, "name")]:
        with pytest.raises(grpc.RpcError) as caught:
            asked(stubs, name, max_findings)
        code, details = failure(caught.value)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert text in details


def test_totals_are_given_when_they_are_asked_for(server: ServerProcess) -> None:
    with Client(server.endpoint) as client:
        name = "flytesnacks/development/slow"
        assert client.get_execution_span(name).totals is None
        root = client.get_execution_span(name, depth=0, include_totals=True)
    assert root.totals is not None
    assert root.totals.wall_ns == root.duration_ns == 656 * 10**9
    sums = {each.operation: each.sum_ns for each in root.totals.operations}
    assert sums["TASK_RUNTIME"] == 46 * 10**9


@pytest.mark.parametrize(
    ("story", "cause"),
    [
        (demo.training_pipeline, "scheduling/gpu"),
        (demo.image_pull, "image-pull"),
        (demo.gpu_capacity, "scheduling/gpu"),
        (demo.propeller_overload, "propeller/transition"),
    ],
)
def test_each_story_of_the_demo_is_told_by_its_first_finding(
    story: Callable[[int, int], demo.Scenario], cause: str, server: ServerProcess
) -> None:
    scenario = story(1, T0 * 10**9)
    demo.play(scenario, server.endpoint)
    with Client(server.endpoint) as client:
        diagnosis = client.diagnose_execution(scenario.execution_id, max_findings=1)
        span = client.get_execution_span(scenario.execution_id)
    (first,) = diagnosis.findings
    assert first.cause == cause
    assert first.advice
    for evidence in first.evidence:
        found = span.find(evidence.path)
        assert found is not None
        assert found.span_id == evidence.span_id


def test_the_command_prints_a_report(server: ServerProcess) -> None:
    text = told("diagnose", "flytesnacks/development/slow", "--endpoint", server.endpoint)
    assert text.startswith("flytesnacks/development/slow took 10m 56s.")
    assert GPU in text
    assert "far outside" in text.replace("\n", " ").replace("  ", "")
    assert "\x1b" not in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_the_command_gives_json_and_takes_a_limit(server: ServerProcess) -> None:
    at = ("--endpoint", server.endpoint)
    values = json.loads(
        told("diagnose", "flytesnacks/development/slow", "--json", "--limit", "2", *at)
    )
    assert len(values["findings"]) == 2
    assert values["findings"][0]["cost_ns"] == 600 * 10**9
    done = run("diagnose", "flytesnacks/development/nobody", *at)
    assert (done.returncode, done.stdout) == (1, "")
    assert "knows no execution flytesnacks/development/nobody" in done.stderr

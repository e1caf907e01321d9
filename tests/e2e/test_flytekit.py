"""The stock flytekit client, in its own environment, against a running server."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from flyteidl.event.event_pb2 import ExternalResourceInfo, TaskExecutionMetadata

from spanwise.demo import play, training_pipeline
from tests.e2e.flyte_run import Run
from tests.e2e.harness import ServerProcess, Stubs

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / ".venv-flytekit" / "bin" / "python"
CLIENT = Path(__file__).parent / "flytekit_client.py"


@pytest.fixture(scope="module", params=[False, True], ids=["finished", "running"])
def written(server: ServerProcess, request: pytest.FixtureRequest) -> dict[str, str]:
    """Play the demo, and give what flytekit's explain and dump write about it."""
    scenario = training_pipeline(1, 1_768_467_600_250_000_000, running=request.param)
    play(scenario, server.endpoint)
    return write(server, scenario.execution_id.name)


def write(server: ServerProcess, name: str) -> dict[str, str]:
    """Give what flytekit's explain and dump write about an execution."""
    assert PYTHON.exists(), "flytekit is not installed: make test does it"
    result = subprocess.run(
        [PYTHON, CLIENT, server.endpoint, name],
        check=False,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert result.returncode == 0, result.stderr
    answer: dict[str, str] = json.loads(result.stdout.splitlines()[-1])
    return answer


def test_explain_shows_every_operation_without_a_negative_duration(
    written: dict[str, str],
) -> None:
    rows = written["explain"].splitlines()[2:]
    durations = [float(found[1]) for row in rows if (found := re.search(r"(-?[\d.]+)s  ", row))]
    assert len(durations) == len(rows)
    assert min(durations) >= 0
    shown = {row.split()[0] for row in rows}
    assert {
        "WORKFLOW_SETUP",
        "NODE_SETUP",
        "NODE_RESET",
        "NODE_TRANSITION",
        "TASK_SETUP",
        "TASK_RUNTIME",
        "TASK_TEARDOWN",
    } <= shown


def test_dump_has_both_attempts_of_the_training(written: dict[str, str]) -> None:
    (execution,) = yaml.safe_load(written["dump"]).values()
    assert execution["nodes"]["n2"]["task_attempts"].keys() == {0, 1}
    assert execution["breakdown"]["TASK_RUNTIME"] > 0


def items(*states: tuple[int, int, str]) -> TaskExecutionMetadata:
    """Give what an array tells of its items: index, retry and phase."""
    resources = [
        ExternalResourceInfo(index=index, retry_attempt=retry, phase=phase)
        for index, retry, phase in states
    ]
    return TaskExecutionMetadata(external_resources=resources)


def test_every_sub_task_is_shown_and_sums_by_category_are_those_of_its_attempt(
    server: ServerProcess, stubs: Stubs
) -> None:
    run = Run(stubs)
    run.workflow("RUNNING", 0)
    run.node("start-node", "SUCCEEDED", 1)
    run.node("map", "QUEUED", 2, is_array=True)
    run.node("map", "RUNNING", 3, is_array=True)
    run.task("map", "QUEUED", 2, metadata=items((0, 0, "QUEUED"), (1, 0, "QUEUED")))
    run.task("map", "RUNNING", 4, metadata=items((0, 0, "RUNNING"), (1, 0, "FAILED")))
    again = items((0, 0, "SUCCEEDED"), (1, 1, "RUNNING"))
    run.task("map", "RUNNING", 14, phase_version=1, metadata=again)
    run.task("map", "SUCCEEDED", 44, metadata=items((1, 1, "SUCCEEDED")))
    run.node("map", "SUCCEEDED", 45, is_array=True)
    written = write(server, run.name)
    rows = [row.split() for row in written["explain"].splitlines() if row.startswith("SUBTASK")]
    assert [(row[-1], row[-2]) for row in rows] == [
        ("node/map-n0-0", "12.00s"),
        ("node/map-n1-0", "2.00s"),
        ("node/map-n1-1", "30.00s"),
    ]
    (execution,) = yaml.safe_load(written["dump"]).values()
    array = execution["nodes"]["map"]
    subtasks = array["task_attempts"][0]["nodes"]
    assert {name: each["breakdown"] for name, each in subtasks.items()} == {
        "map-n0-0": {"SUBTASK": 12},
        "map-n1-0": {"SUBTASK": 2},
        "map-n1-1": {"SUBTASK": 30},
    }
    assert array["breakdown"] == {
        "NODE_TRANSITION": 1,
        "NODE_SETUP": 0,
        "TASK_SETUP": 2,
        "TASK_RUNTIME": 40,
        "TASK_TEARDOWN": 0,
        "NODE_TEARDOWN": 1,
        "SUBTASK": 44,
    }

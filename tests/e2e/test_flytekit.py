"""The stock flytekit client, in its own environment, against a running server."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from spanwise.demo import play, training_pipeline
from tests.e2e.harness import ServerProcess

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / ".venv-flytekit" / "bin" / "python"
CLIENT = Path(__file__).parent / "flytekit_client.py"


@pytest.fixture(scope="module", params=[False, True], ids=["finished", "running"])
def written(server: ServerProcess, request: pytest.FixtureRequest) -> dict[str, str]:
    """Play the demo, and give what flytekit's explain and dump write about it."""
    scenario = training_pipeline(1, 1_768_467_600_250_000_000, running=request.param)
    play(scenario, server.endpoint)
    name = scenario.execution_id.name
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

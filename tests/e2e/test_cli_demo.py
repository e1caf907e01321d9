"""The demo, and what the command says about itself."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from tests.e2e.cli_process import run, told

_ROOT = Path(__file__).parents[2]
_START = "2023-01-01T10:00:00Z"


def test_the_demo_explains_a_run_with_its_reasons(tmp_path: Path) -> None:
    """From nothing: it has a server of its own, which is gone afterwards."""
    done = run("demo", env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("operation ")
    assert "task_execution_1" in done.stdout
    for part in ("cache hit", "Unschedulable", "triggered scale-up", "pulled image", "failed"):
        assert part in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_is_the_same_for_the_same_seed_and_start() -> None:
    """Also its open spans, which are drawn up to the end of the story."""
    args = ("demo", "--seed", "7", "--running", "--start", _START)
    first = told(*args)
    assert told(*args) == first
    assert re.search(r"task_execution_0 +\S+ +open ", first)


def test_settings_of_a_real_server_do_not_reach_the_demo(tmp_path: Path) -> None:
    """Nothing is written there."""
    url = f"sqlite:///{tmp_path}/real.db"
    env = {"SPANWISE_DATABASE_URL": url, "SPANWISE_ENDPOINT": "127.0.0.1:1"}
    told("demo", "--name", "mine", env=env)
    assert list(tmp_path.iterdir()) == []


def test_the_package_runs_as_the_command() -> None:
    """`python -m spanwise`, where scripts are not on the path."""
    args = [sys.executable, "-m", "spanwise", "--version"]
    done = subprocess.run(args, check=True, capture_output=True, text=True)
    assert done.stdout == f"spanwise {version('spanwise')}\n"


def test_the_version_is_that_of_the_distribution() -> None:
    """And nothing else is printed."""
    assert told("--version") == f"spanwise {version('spanwise')}\n"

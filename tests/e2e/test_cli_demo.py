"""The demo, and what the command says about itself."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from flyteidl.admin.event_pb2 import WorkflowExecutionEventRequest

from spanwise import Client, ExecutionSpan
from spanwise.demo import (
    Scenario,
    find_known,
    gpu_capacity,
    image_pull,
    play,
    propeller_overload,
    register,
    training_pipeline,
)
from spanwise.v1 import event_service_pb2
from tests.e2e.cli_process import TIMEOUT_S, command, run, told
from tests.e2e.harness import ServerProcess
from tests.unit.client.demo_rules import executions

_ROOT = Path(__file__).parents[2]
_START = "2023-01-01T10:00:00Z"
_START_NS = 1_672_567_200_000_000_000


def test_the_demo_explains_a_run_with_its_reasons(tmp_path: Path) -> None:
    """From nothing: it has a server of its own, which is gone afterwards."""
    done = run("demo", env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("operation ")
    assert "task_execution_1" in done.stdout
    for part in ("cache hit", "Unschedulable", "triggered scale-up", "pulled image", "failed"):
        assert part in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("scenario", "part", "cause"),
    [
        ("training", "triggered scale-up", "scheduling/gpu"),
        ("image-pull", "Successfully pulled image", "image-pull"),
        ("gpu-capacity", "pod didn't trigger scale-up", "scheduling/gpu"),
        ("propeller-overload", "NODE_TRANSITION", "propeller/transition"),
    ],
)
def test_the_demo_shows_each_story_and_names_its_cause_first(
    scenario: str, part: str, cause: str
) -> None:
    """Explained first, then diagnosed."""
    done = run("demo", "--scenario", scenario, "--start", _START)
    assert done.returncode == 0, done.stderr
    explained, _, diagnosed = done.stdout.partition("\n\n")
    assert part in explained
    first, _, _ = diagnosed.partition("\n2. ")
    assert f"cause: {cause}\n" in first


def test_only_the_training_can_be_stopped_in_the_middle() -> None:
    """The message says so."""
    done = run("demo", "--scenario", "gpu-capacity", "--running")
    assert done.returncode == 1
    assert done.stderr == (
        "spanwise: --running stops the training in the middle, and gpu-capacity has none: "
        "leave one of --running and --scenario out\n"
    )


@pytest.mark.parametrize("story", [training_pipeline, image_pull, gpu_capacity, propeller_overload])
def test_a_server_takes_every_event_and_shows_every_node(
    server: ServerProcess, story: Callable[[int, int], Scenario]
) -> None:
    """None is refused, a replay adds nothing, and each node and attempt has its span."""
    scenario = story(5, _START_NS)
    assert play(scenario, server.endpoint) == len(scenario.requests)
    with Client(server.endpoint) as client:
        for execution in executions(scenario).values():
            execution_id = scenario.execution_id._replace(name=execution.name)
            logged = list(client.list_events(execution_id))
            assert len(logged) == len(execution.events)
            assert {event.disposition for event in logged} == {
                event_service_pb2.DISPOSITION_ACCEPTED
            }
            spans = list(client.get_execution_span(execution_id))
            own = [span for span in spans if span.execution_id == execution_id]
            assert execution.nodes.keys() <= {span.node_id for span in own}
            attempts = {(span.node_id, span.retry_attempt) for span in own}
            assert execution.attempts.keys() <= attempts
    assert play(scenario, server.endpoint) == 0


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("story", ["training", "gpu-capacity"])
def test_the_demo_is_not_played_into_an_execution_that_is_there(
    server: ServerProcess, running: bool, story: str
) -> None:
    """Whole or half, of the same story or another: it says what to do, and marks nothing."""
    there = training_pipeline(5, _START_NS, name=f"there-{story}-{running}", running=running)
    play(there, server.endpoint)
    name = there.execution_id.name
    done = run("demo", "--endpoint", server.endpoint, "--name", name, "--scenario", story)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"spanwise: the server at {server.endpoint} has flytesnacks/development/{name} already, "
        "so nothing was played: choose another --name\n"
    )
    with Client(server.endpoint) as client:
        logged = list(client.list_events(there.execution_id))
    assert {event.disposition for event in logged} == {event_service_pb2.DISPOSITION_ACCEPTED}
    assert len(logged) == len(executions(there)[name].events)


def test_what_a_scenario_starts_must_be_new_as_well(server: ServerProcess) -> None:
    """The child execution of a training has a name that follows from that of the training."""
    scenario = training_pipeline(5, _START_NS, name="half-lost")
    assert find_known(scenario, server.endpoint) is None
    child = scenario.workflows[1][0]
    begun = next(
        each
        for each in scenario.requests
        if isinstance(each.message, WorkflowExecutionEventRequest)
        and each.message.event.execution_id.name == child.name
    )
    play(scenario._replace(requests=(begun,)), server.endpoint)
    assert find_known(scenario, server.endpoint) == child


def test_the_child_execution_is_shown_inside_of_the_node_that_started_it(
    server: ServerProcess,
) -> None:
    """With its nodes, so that the training is one tree."""
    scenario = training_pipeline(6, _START_NS, name="one-tree")
    play(scenario, server.endpoint)
    _, child = executions(scenario)
    with Client(server.endpoint) as client:
        root = client.get_execution_span(scenario.execution_id)
    assert root.find(f"n4/n4-0-n4-n0/{child}/n1/0/TASK_RUNTIME") is not None


@pytest.mark.parametrize("story", [training_pipeline, image_pull, gpu_capacity, propeller_overload])
def test_nothing_need_be_inferred_where_the_workflow_is_registered(
    server: ServerProcess, story: Callable[[int, int], Scenario]
) -> None:
    """The definition has every edge, and says what the branch is."""
    scenario = story(7, _START_NS)
    play(scenario, server.endpoint)
    with Client(server.endpoint) as client:
        before = client.get_execution_span(scenario.execution_id)
        assert register(scenario, server.endpoint)
        after = client.get_execution_span(scenario.execution_id)
    assert "INFERRED_UPSTREAM" in _qualities(before)
    assert _qualities(after) == {"COARSE_TIMESTAMP"}


def _qualities(root: ExecutionSpan) -> set[str]:
    return {quality for span in root for quality in span.qualities}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_leaves_its_page_until_it_is_stopped(
    number: signal.Signals, tmp_path: Path
) -> None:
    """And nothing afterwards: neither a server nor a file. It says little before the address."""
    with subprocess.Popen(
        command("demo", "--serve", "--name", "to look at"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as demo:
        assert demo.stderr is not None
        assert demo.stdout is not None
        head, first, second = (demo.stdout.readline() for _ in range(3))
        assert head.split() == ["execution", "phase", "duration"]
        how = r" +SUCCEEDED +\d+m \d\ds\n"
        assert re.fullmatch("flytesnacks/development/to look at" + how, first)
        assert re.fullmatch(r"flytesnacks/development/\S+" + how, second)
        assert "played" in demo.stderr.readline()
        told = demo.stderr.readline()
        found = re.search(r" (http://\S+)#/e/(\S+) until Ctrl-C", told)
        assert found is not None, told
        page, execution = found.groups()
        assert execution == "flytesnacks/development/to%20look%20at"
        assert httpx.get(page).status_code == 200
        spans = httpx.get(f"{page}api/v1/executions/{execution}/spans?depth=0").json()["spans"]
        assert spans[0]["name"] == "to look at"
        demo.send_signal(number)
        rest, _ = demo.communicate(timeout=TIMEOUT_S)
        assert (rest, demo.returncode) == ("", 0)
    with pytest.raises(httpx.ConnectError):
        httpx.get(page)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_the_demos_is_not_left_running() -> None:
    """It says so."""
    done = run("demo", "--serve", "--endpoint", "127.0.0.1:1")
    assert done.returncode == 1
    assert "leave one of them out" in done.stderr


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

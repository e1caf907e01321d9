"""`explain --waterfall` as people run it: in a terminal, and in a pipe."""

import re
from collections.abc import Iterator

import pytest

from spanwise import Client
from spanwise.cli.temporary_server import temporary_server
from spanwise.demo import Scenario, play, training_pipeline
from tests.e2e.cli_process import InTerminal, run, told

_START_NS = 1_672_567_200_000_000_000  # 2023-01-01T10:00:00Z


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return training_pipeline(1, _START_NS, name="sample")


@pytest.fixture(scope="module")
def endpoint(scenario: Scenario) -> Iterator[str]:
    with temporary_server() as (address, *_):
        play(scenario, address)
        yield address


@pytest.fixture
def text(scenario: Scenario, endpoint: str) -> str:
    with Client(endpoint) as client:
        return client.get_execution_span(scenario.execution_id).waterfall_text(width=80)


def _command(scenario: Scenario, endpoint: str) -> tuple[str, ...]:
    return ("explain", str(scenario.execution_id), "--waterfall", "--endpoint", endpoint)


def test_a_pipe_gets_a_hundred_columns(scenario: Scenario, endpoint: str) -> None:
    """Without colours, and the same as the library gives."""
    written = told(*_command(scenario, endpoint), env={"COLUMNS": "60"})
    with Client(endpoint) as client:
        assert written == client.get_execution_span(scenario.execution_id).waterfall_text(width=100)
    assert any(line.startswith("    n2[0]") and "✗" in line for line in written.splitlines())
    assert re.search(r"\n +\[1", written)


def test_a_terminal_gets_its_own_width_and_colours(
    scenario: Scenario, endpoint: str, text: str
) -> None:
    """Told by the terminal itself."""
    with InTerminal(*_command(scenario, endpoint), columns=80, env={"NO_COLOR": ""}) as terminal:
        assert terminal.read_to_end() == 0
    assert "\x1b[32m█" in terminal.written
    assert re.sub(r"\x1b\[[0-9;]*m", "", terminal.written) == text


def test_a_terminal_without_colours_gets_none(scenario: Scenario, endpoint: str, text: str) -> None:
    """With NO_COLOR, and one that cannot have any."""
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with InTerminal(*_command(scenario, endpoint), columns=80, env=env) as terminal:
            assert terminal.read_to_end() == 0
        assert terminal.written == text


def test_depth_counts_what_it_leaves_out(scenario: Scenario, endpoint: str) -> None:
    """As in the table."""
    written = told(*_command(scenario, endpoint), "--depth", "0")
    assert re.search(r"\nsample  \(\+\d+ below\) ", written)


def test_the_c_locale_gets_ascii(scenario: Scenario, endpoint: str) -> None:
    """A picture, not escapes."""
    env = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    written = told(*_command(scenario, endpoint), env=env)
    assert "##" in written
    assert "\\" not in written


def test_a_waterfall_in_json_is_refused(scenario: Scenario, endpoint: str) -> None:
    """It would be one or the other."""
    done = run(*_command(scenario, endpoint), "--json")
    assert done.returncode == 2
    assert "--waterfall and --json" in done.stderr

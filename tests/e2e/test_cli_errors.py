"""What the command says when something is wrong: one line, and the exit code."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.cli_process import TIMEOUT_S, command, run


@pytest.mark.parametrize("name", ["explain", "dump", "events"])
@pytest.mark.parametrize("execution", ["a1b2c3", "p/d", "p/d/", "", "http://x/p/d/n", "p\x1b[2J"])
def test_a_bad_id_is_told_in_one_line(name: str, execution: str) -> None:
    """Without a traceback, and before anything is sent."""
    done = run(name, execution, "--endpoint", "127.0.0.1:1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("spanwise: ")
    assert "project/domain/name" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr


def test_undecodable_bytes_in_an_id_are_told() -> None:
    """A shell hands over any bytes."""
    done = subprocess.run(
        [*map(os.fsencode, command("explain")), b"p/d/\xff"],
        check=False,
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"spanwise: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "args", [("list",), ("explain", "p/d/n"), ("dump", "p/d/n"), ("events", "p/d/n"), ("demo",)]
)
@pytest.mark.parametrize("endpoint", ["127.0.0.1:1", "no-such-host.invalid:8089"])
def test_a_wrong_address_is_told_in_one_line(args: tuple[str, ...], endpoint: str) -> None:
    """With the address and what to do."""
    done = run(*args, "--endpoint", endpoint)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no server answers at {endpoint}" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("explain",), "PROJECT/DOMAIN/NAME"),
        (("explain", "p/d/n", "--depth", "-1"), "--depth"),
        (("dump", "p/d/n", "--format", "table"), "tree"),
        (("events", "p/d/n", "--payload"), "--json"),
        (("list", "--limit", "0"), "--limit"),
        (("nonsense",), "nonsense"),
        (("serve", "--grpc-address", "nonsense"), "HOST:PORT"),
        (("serve", "--max-message-bytes", "1"), "max_message_bytes"),
        (("migrate", "--log-level", "loud"), "log_level"),
    ],
)
def test_a_wrong_command_line_ends_with_code_2(args: tuple[str, ...], part: str) -> None:
    """And names what is wrong."""
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert part in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("list", "a/b/c"),
        ("list", "--phase", "sleeping"),
        ("list", "--endpoint", "http://127.0.0.1:8089"),
        ("list", "--endpoint", "localhost"),
        ("demo", "--endpoint", "localhost"),
        ("demo", "--start", "yesterday"),
        ("demo", "--start", "2023-01-01T10:00:00"),
    ],
)
def test_a_value_that_cannot_be_used_ends_with_code_1(args: tuple[str, ...]) -> None:
    """In one line."""
    done = run(*args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("spanwise: ")
    assert done.stderr.count("\n") == 1


def test_a_phase_that_is_none_is_told_with_those_that_are() -> None:
    """Nobody knows all of them."""
    done = run("list", "--phase", "BAD")
    phases = done.stderr.removeprefix("spanwise: 'BAD' is no phase: the phases are ")
    assert {"QUEUED", "RUNNING", "FAILED", "TIMED_OUT"} <= set(phases.strip().split(", "))
    assert "UNSPECIFIED" not in phases


# As a light install: without one of the packages that only the server has.
_WITHOUT_SERVER = """
import sys
sys.modules["flyteidl"] = sys.modules["sqlalchemy"] = None
from spanwise.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("name", ["demo", "simulate", "serve", "migrate", "rebuild"])
def test_a_light_install_is_told_how_to_get_the_server(name: str) -> None:
    """It is on no package index, so the name of the extra alone leads nowhere."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_SERVER, name],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "needs the server" in done.stderr
    assert "pip install '.[server]'" in done.stderr
    assert done.stderr.count("\n") == 1


# Python as it is when SIGINT is not ignored, which it is under nohup and in the background.
_WITH_SIGINT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from spanwise.cli import main
main()
"""


def test_control_c_ends_quietly() -> None:
    """With the exit code that shells expect."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = "{}:{}".format(*silent.getsockname()[:2])
        process = subprocess.Popen(
            [sys.executable, "-c", _WITH_SIGINT, "list", "--endpoint", endpoint],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        silent.settimeout(TIMEOUT_S)
        connection, _ = silent.accept()  # it waits for an answer now
        with connection:
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "Traceback" not in stderr


def test_a_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    """By the commands that open a database."""
    url = f"sqlite:///{tmp_path}/missing/spanwise.db"
    for name in ("serve", "migrate", "rebuild"):
        done = run(name, "--database-url", url)
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr


def test_settings_come_from_options_then_variables_then_the_file(tmp_path: Path) -> None:
    """Told by which database is made."""
    file = tmp_path / "settings.yaml"
    urls = {name: f"sqlite:///{tmp_path}/{name}.db" for name in ("option", "variable", "file")}
    file.write_text(f"database_url: {urls['file']}\n")
    env = {"SPANWISE_DATABASE_URL": urls["variable"]}
    run("migrate", "--config", str(file), "--database-url", urls["option"], env=env)
    assert {path.stem for path in tmp_path.glob("*.db")} == {"option"}
    run("migrate", "--config", str(file), env=env)
    assert {path.stem for path in tmp_path.glob("*.db")} == {"option", "variable"}
    run("migrate", "--config", str(file))
    assert {path.stem for path in tmp_path.glob("*.db")} == {"option", "variable", "file"}

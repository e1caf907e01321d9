"""The command as a process, as people run it."""

import os
import subprocess
import sys
from collections.abc import Mapping

TIMEOUT_S = 60


def command(*args: str) -> list[str]:
    """Give the command line of `spanwise ARGS`."""
    return [sys.executable, "-m", "spanwise.cli", *args]


def run(*args: str, env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Run `spanwise ARGS` to its end, with more environment if given."""
    return subprocess.run(
        command(*args),
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        env={**os.environ, **(env or {})},
    )


def told(*args: str, env: Mapping[str, str] | None = None) -> str:
    """Run a command that shall succeed, and give its standard output."""
    done = run(*args, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout

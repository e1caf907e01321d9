"""The command as a process, as people run it."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

TIMEOUT_S = 60


def command(*args: str) -> list[str]:
    """Give the command line of `spanwise ARGS`."""
    return [sys.executable, "-m", "spanwise.cli", *args]


def run(
    *args: str, env: Mapping[str, str] | None = None, stdin: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `spanwise ARGS` to its end, with more environment and an input if given."""
    return subprocess.run(
        command(*args),
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        env={**os.environ, **(env or {})},
        input=None if stdin is None else stdin.read_text("utf-8"),
    )


def told(*args: str, env: Mapping[str, str] | None = None, stdin: Path | None = None) -> str:
    """Run a command that shall succeed, and give its standard output."""
    done = run(*args, env=env, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


class InTerminal:
    """`spanwise ARGS` in a pseudo-terminal, whose screen is read as it is written.

    Use it in a with statement, which ends the process if it still runs.
    """

    def __init__(
        self, *args: str, columns: int = 80, rows: int = 40, env: Mapping[str, str] | None = None
    ) -> None:
        self._screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        without_size = {name: os.environ[name] for name in os.environ.keys() - {"COLUMNS", "LINES"}}
        self.process = subprocess.Popen(
            command(*args),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            env={**without_size, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})},
        )
        os.close(terminal)
        self._read = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        os.close(self._screen)

    def read_until(self, text: str) -> None:
        """Read what is written until a text has come, or fail at the end."""
        while text not in self.written:
            assert self._read_more(), self.written

    def type(self, text: str) -> None:
        """Type a text on the keyboard."""
        os.write(self._screen, text.encode())

    def read_to_end(self) -> int:
        """Read what is written until the process has ended, and give its exit code."""
        while self._read_more():
            pass
        return self.process.wait(TIMEOUT_S)

    @property
    def written(self) -> str:
        """All that was read, with escape sequences, and with plain newlines."""
        return self._read.decode(errors="replace").replace("\r\n", "\n")

    def _read_more(self) -> bool:
        part = b""
        with suppress(OSError):  # Linux gives EIO when nobody holds the other end
            part = os.read(self._screen, 65536)
        self._read += part
        return bool(part)

"""The processes of a server, as the system shows them."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.e2e.harness import ServerProcess

DEADLINE_S = 30


def child_of(server: ServerProcess, module: str) -> int:
    """Give the process id of the child of a server that runs a module."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    (pid,) = [
        int(child)
        for child in children.split()
        if module.encode() in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    return pid


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Say whether a process runs; one that is only not yet waited for does not."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False

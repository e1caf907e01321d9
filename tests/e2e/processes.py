"""The processes of a server, as the system shows them."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.e2e.harness import ServerProcess
from tests.process_tree import children_in_order, process_tree

DEADLINE_S = 60


def child_of(server: ServerProcess, module: str) -> int:
    """Give the process id of the child of a server that runs a module."""
    # With Envoy as the front they are its children.
    (pid,) = [
        found
        for parent in process_tree(server.process.pid)
        for found in children_of(parent, module)
    ]
    return pid


def children_of(pid: int, module: str) -> list[int]:
    """Give the ids of the children of a process that run a module, in the order of their starts."""
    try:
        children = children_in_order(pid)
        return [
            int(child)
            for child in children
            if module.encode() in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
    except FileNotFoundError:
        return []  # it, or one of them, has just ended


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

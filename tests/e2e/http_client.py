"""Reading over HTTP, as the page does."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from spanwise.v1.identifiers_pb2 import ExecutionId
from tests.e2e.harness import ServerProcess

TIMEOUT_S = 60

API = "api/v1/executions"


def path_of(execution_id: ExecutionId, what: str) -> str:
    """Give the path of something about an execution, with whatever its name holds."""
    parts = (execution_id.project, execution_id.domain, execution_id.name)
    return "/".join([API, *(quote(part, safe="") for part in parts), what])


def error_of(response: httpx.Response) -> tuple[int, str, str]:
    """Give the status, the code and the text of an error."""
    error = response.json()["error"]
    return response.status_code, error["code"], error["message"]


class Viewer:
    """Listens to the changes of an execution."""

    def __init__(self, lines: Iterator[str]) -> None:
        """Read events from the lines of an answer."""
        self._lines = lines
        self.num_signs = 0

    def next(self) -> dict[str, Any] | None:
        """Wait for the next notice; None when the stream has ended."""
        for line in self._lines:
            if line.startswith("data: "):
                notice: dict[str, Any] = json.loads(line.removeprefix("data: "))
                return notice
            assert line in ("", "event: revision", ": still here")
            self.num_signs += line.startswith(":")
        return None

    def wait_for_signs(self, count: int) -> None:
        """Wait until the server said so often that it is there."""
        while self.num_signs < count:
            self.num_signs += next(self._lines).startswith(":")

    def wait_for(self, **wanted: object) -> dict[str, Any]:
        """Wait for a notice that says so."""
        while (notice := self.next()) is not None:
            if wanted.items() <= notice.items():
                return notice
        raise AssertionError(f"the stream ended without {wanted}")


@contextmanager
def viewing(server: ServerProcess, execution_id: ExecutionId) -> Iterator[Viewer]:
    """Listen to the changes of an execution for the time of a block."""
    url = server.page + path_of(execution_id, "changes")
    with httpx.stream("GET", url, timeout=TIMEOUT_S) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        yield Viewer(answer.iter_lines())

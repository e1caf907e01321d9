"""Stock clients of Go and Node, as senders and readers in those languages would be written.

Their sources are in tests/clients. They need the toolchains, and the modules that their lock files
name; where a toolchain is missing the tests say so and are skipped.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from spanwise.v1 import event_pb2, event_service_pb2, phase_pb2, span_service_pb2
from tests.e2e.harness import ServerProcess
from tests.e2e.wire_servers import wire_server  # noqa: F401 - a fixture

CLIENTS = Path(__file__).parents[1] / "clients"
PROTOS = Path(__file__).parents[2] / "protos"
BUILD_TIMEOUT_S = 600
RUN_TIMEOUT_S = 120

EXECUTION = {"project": "flytesnacks", "domain": "development", "name": "from-go"}


def run(*command: str | Path, cwd: Path, timeout_s: int) -> str:
    """Run a program that shall succeed, and give its standard output."""
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=timeout_s,
        env={**os.environ, "CGO_ENABLED": "0"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tool(name: str) -> str:
    """Give the path of a program, or skip the test."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.fixture(scope="module")
def go_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the client of Go."""
    program = tmp_path_factory.mktemp("go") / "wire"
    build = (tool("go"), "build", "-mod=readonly", "-o", program, ".")
    run(*build, cwd=CLIENTS / "go", timeout_s=BUILD_TIMEOUT_S)
    return program


@pytest.fixture(scope="module")
def node_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the client of Node."""
    folder = tmp_path_factory.mktemp("node")
    for name in ("package.json", "package-lock.json", "wire.js"):
        shutil.copy(CLIENTS / "node" / name, folder)
    install = (tool("npm"), "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run(*install, cwd=folder, timeout_s=BUILD_TIMEOUT_S)
    return folder / "wire.js"


def assert_heard(heard: dict[str, Any], names: dict[str, str]) -> None:
    """Check what both clients heard of the same calls, in the names that their languages have."""
    codes = {call: heard[call]["code"] for call in names}
    assert codes == names, heard


@pytest.mark.timeout(900)
def test_a_client_of_go_hears_all_there_is(
    go_client: Path,
    wire_server: ServerProcess,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Health, a stream both ways, compressed and refused events, watches that end early."""
    event = event_pb2.TaskEvent(
        task_attempt_id={"node_id": {"execution_id": EXECUTION, "node_id": "n0"}},
        phase=phase_pb2.PHASE_RUNNING,
        occurred_at={"seconds": 1_700_000_000},
    )
    create = event_service_pb2.CreateTaskEventRequest(event=event)
    (tmp_path / "event").write_bytes(create.SerializeToString())
    watch = span_service_pb2.WatchExecutionSpanRequest(execution_id=EXECUTION)
    (tmp_path / "watch").write_bytes(watch.SerializeToString())
    arguments = (wire_server.endpoint, "event", "watch")
    heard = json.loads(run(go_client, *arguments, cwd=tmp_path, timeout_s=RUN_TIMEOUT_S))
    assert heard["health"] == "SERVING"
    assert "spanwise.v1.SpanService" in heard["services"]
    assert_heard(
        heard,
        {
            "gzip": "OK",
            "again": "AlreadyExists",
            "empty": "InvalidArgument",
            "deadline": "DeadlineExceeded",
            "cancelled": "Canceled",
        },
    )
    assert heard["empty"]["details"] == ["type.googleapis.com/google.rpc.BadRequest"]


@pytest.mark.timeout(900)
def test_a_client_of_node_hears_all_there_is(
    node_client: Path,
    wire_server: ServerProcess,  # noqa: F811
) -> None:
    """As that of Go."""
    command = (tool("node"), node_client, wire_server.endpoint, PROTOS)
    heard = json.loads(run(*command, cwd=node_client.parent, timeout_s=RUN_TIMEOUT_S))
    assert heard["reflection"] == [True, True]
    assert_heard(
        heard,
        {
            "gzip": "OK",
            "again": "ALREADY_EXISTS",
            "empty": "INVALID_ARGUMENT",
            "deadline": "DEADLINE_EXCEEDED",
            "cancelled": "CANCELLED",
        },
    )
    assert heard["empty"]["details"] == 1

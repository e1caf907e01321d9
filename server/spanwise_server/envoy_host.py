"""The process of `spanwise serve --front envoy`: it starts Envoy, and passes signals on.

Envoy runs the server itself, as envoy_app.py in its own process. Between the two is a socket: the
settings go in, then perhaps "stop"; the exit code comes out.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

from spanwise_server.config import Settings, parse_address
from spanwise_server.rpc.fronts.addresses import check_address
from spanwise_server.rpc.fronts.envoy.process import environment_without_envoy, start_envoy

STOP = b"stop\n"

_APPLICATION = "spanwise_server.envoy_app:app"


def host_envoy(settings: Settings) -> int:
    """Run the server inside Envoy until it ends, and give its exit code.

    Raises:
        AddressUnavailableError: The address cannot be taken.
        EnvoyUnavailableError: Envoy cannot be run here.
    """
    host, port = parse_address(settings.grpc_address)
    address = check_address(host, port)
    with tempfile.TemporaryDirectory(prefix="spanwise-") as folder:
        admin_path = Path(folder) / "admin"
        process, server = start_envoy(_APPLICATION, address, port, admin_path)
        _pass_signals_on(process, server, folder)
        hello = {
            "settings": settings.model_dump(mode="json"),
            "environment": environment_without_envoy(),
            "executable": sys.executable,
            "admin_path": str(admin_path),
        }
        server.sendall(json.dumps(hello).encode() + b"\n")
        with server.makefile("rb") as answers:
            answer = answers.read()  # to the end, which is Envoy's own
        code = process.wait()
    if answer:
        return int(answer)
    sys.stderr.write(f"spanwise: Envoy ended by itself, with {code}\n")
    return 1


def _pass_signals_on(
    process: "subprocess.Popen[bytes]", server: socket.socket, folder: str
) -> None:
    has_stopped = False

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal has_stopped
        if has_stopped:
            # Nothing is lost: what was answered with OK is committed.
            sys.stderr.write("stopped at once, without waiting for calls that run\n")
            process.kill()
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(128 + number)
        has_stopped = True
        server.sendall(STOP)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)

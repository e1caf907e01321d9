"""Servers under measurement, each a process of its own."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from spanwise_server.storage.sql.migrations import upgrade
from tests.postgresql import Databases, PostgresServer
from tests.process_tree import process_tree

_READY = re.compile(r"serves gRPC on 127\.0\.0\.1:(\d+)")


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    pid: int

    def cpu_s(self) -> float:
        """Give the processor time of its processes, in seconds, by user and system together."""
        return sum(map(_cpu_s, process_tree(self.pid)))

    def peak_mib(self) -> float:
        """Give the most memory that its processes have held, each at its own time, in MiB."""
        return sum(map(_peak_mib, process_tree(self.pid)))


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    (peak_kib,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(peak_kib) / 1024


@contextmanager
def empty_server() -> Iterator[Server]:
    """Run the server that does nothing."""
    with _running([sys.executable, "-m", "tests.benchmarks.empty_server"]) as server:
        yield server


@contextmanager
def spanwise_server(database: Path | str, *flags: str) -> Iterator[Server]:
    """Run `spanwise serve` on a SQLite file, or on the database of a URL, with more flags."""
    url = database if isinstance(database, str) else f"sqlite:///{database}"
    command = [sys.executable, "-m", "spanwise.cli", "serve", "--grpc-address", "127.0.0.1:0"]
    http = ("--http-address", "127.0.0.1:0")
    with _running([*command, *http, "--database-url", url, *flags]) as server:
        yield server


@contextmanager
def migrated_postgresql() -> Iterator[tuple[str, PostgresServer]]:
    """Run a PostgreSQL that syncs; give it, and the URL of a database in it with all tables."""
    with closing(PostgresServer(is_durable=True)) as server:
        url = Databases(server.url).create()
        upgrade(url)
        yield url, server


def new_databases() -> Iterator[tuple[str, str]]:
    """Give the name of each kind of database, with the URL of a new one that goes with the next."""
    with tempfile.TemporaryDirectory() as folder:
        yield "SQLite", f"sqlite:///{Path(folder) / 'bench.db'}"
    with migrated_postgresql() as (url, _):
        yield "PostgreSQL", url


@contextmanager
def _running(command: list[str]) -> Iterator[Server]:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield Server(_wait_for_port(process), process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)
        if process.stderr is not None:
            process.stderr.close()


def _wait_for_port(process: "subprocess.Popen[str]") -> int:
    if process.stderr is None:
        raise TypeError("the server's standard error is not a pipe")
    said = []
    for line in process.stderr:
        said.append(line)
        ready = _READY.search(line)
        if ready:
            return int(ready[1])
    raise RuntimeError("the server stopped before it was ready: " + "".join(said))

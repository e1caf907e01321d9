"""The supervisor, over workers that only say what real ones would."""

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from spanwise_server import supervisor as supervisor_module
from spanwise_server.config import Address, Settings
from spanwise_server.rpc.fronts.addresses import AddressUnavailableError
from spanwise_server.supervisor import Supervisor, WorkerFailedError, hold_address

DEADLINE_S = 60

WORKER = """
import json, os, select, signal, socket, sys, time
link = socket.socket(fileno=0)
stream = link.makefile("rwb")
number, settings = json.loads(stream.readline())
starts = sys.argv[1]
with open(starts, "a") as file:
    file.write(f"{number}\\n")
nth = open(starts).read().split().count(str(number))
def say(word):
    stream.write(json.dumps(word).encode() + b"\\n")
    stream.flush()
def sign():
    link.send(b"\\n")
def serve():
    say(None)
    while not select.select([link], [], [], 0.01)[0]:
        sign()
"""


class Fakes:
    """Workers that run a script each.

    Attributes:
        starts: File with the number of a worker for each start.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.starts = folder / "starts"
        self.num_announced = 0
        self._folder = folder
        self._patch = patch

    def supervisor(self, script: str, *, workers: int = 2, stop_s: float = 20) -> Supervisor:
        """Give a supervisor of workers that run `script`. It may use what WORKER defines."""
        path = self._folder / "worker.py"
        path.write_text(WORKER + script)
        command = (sys.executable, "-I", "-S", str(path), str(self.starts))
        self._patch.setattr(supervisor_module, "WORKER_COMMAND", command)
        settings = Settings(workers=workers, graceful_stop_s=stop_s)
        return Supervisor(settings, self._note)

    def started(self) -> list[int]:
        """Give the numbers of the workers that were started, each time that they were."""
        return list(map(int, self.starts.read_text().split())) if self.starts.exists() else []

    def _note(self) -> None:
        self.num_announced += 1


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fakes:
    """Give fake workers, and pauses that are short."""
    monkeypatch.setattr(supervisor_module, "FIRST_PAUSE_S", 0.001)
    return Fakes(tmp_path, monkeypatch)


async def until(running: "asyncio.Task[None]", is_so: Any) -> None:
    """Wait for a condition while a supervisor runs."""
    while not is_so():
        assert not running.done(), running
        await asyncio.sleep(0.001)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a test in an event loop."""

    async def limited() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await work

    asyncio.run(limited())


def test_workers_are_announced_once_all_of_them_take_calls_and_stop_together(fakes: Fakes) -> None:
    """The last one is slow."""
    script = """
while number == 3 and not os.path.exists(f"{starts}.go"):
    time.sleep(0.001)
serve()
"""

    async def work() -> None:
        supervisor = fakes.supervisor(script, workers=3)
        running = asyncio.create_task(supervisor.run())
        await until(running, lambda: sorted(fakes.started()) == [1, 2, 3])
        assert fakes.num_announced == 0
        fakes.starts.with_name("starts.go").touch()
        await until(running, lambda: fakes.num_announced)
        supervisor.stop()
        await running

    run(work())
    assert fakes.num_announced == 1


def test_a_worker_that_ends_is_started_again_and_the_others_are_left_alone(fakes: Fakes) -> None:
    """However often, with or without an error, when it came up before."""
    times = 5

    async def work() -> None:
        supervisor = fakes.supervisor(
            f"""
if number == 2 and nth <= {times}:
    say(None)
    os._exit(nth % 2)
serve()
"""
        )
        running = asyncio.create_task(supervisor.run())
        await until(running, lambda: len(fakes.started()) == times + 2)
        supervisor.stop()
        await running

    run(work())
    assert sorted(fakes.started()) == [1] + [2] * (times + 1)
    assert fakes.num_announced == 1


def test_pauses_grow_up_to_a_limit_until_a_worker_is_steady(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has served for long ended for a new reason."""
    monkeypatch.setattr(supervisor_module, "LONGEST_PAUSE_S", 0.004)
    pauses: list[float] = []

    def note(*_: object, pause_s: float, **__: object) -> None:
        pauses.append(pause_s)
        if len(pauses) == 5:
            monkeypatch.setattr(supervisor_module, "STEADY_S", 0.0)

    monkeypatch.setattr(supervisor_module._log, "error", note)  # noqa: SLF001 - what it tells

    async def work() -> None:
        supervisor = fakes.supervisor("say(None)", workers=1)
        running = asyncio.create_task(supervisor.run())
        await until(running, lambda: len(pauses) == 7)
        supervisor.stop()
        await running

    run(work())
    assert pauses == [0.001, 0.002, 0.004, 0.004, 0.004, 0.001, 0.001]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('say("the address is taken")', "the address is taken"),
        ("os._exit(9)", "it ended before it took calls"),
    ],
)
def test_a_worker_that_never_comes_up_ends_them_all_and_says_why(
    fakes: Fakes, script: str, reason: str
) -> None:
    """After a few tries."""

    async def work() -> None:
        supervisor = fakes.supervisor(f"if number == 2:\n    {script}\nelse:\n    serve()")
        with pytest.raises(WorkerFailedError, match=f"worker 2 failed at 3 starts .*{reason}"):
            await supervisor.run()

    run(work())
    assert sorted(fakes.started()) == [1, 2, 2, 2]
    assert fakes.num_announced == 0


def test_a_process_that_cannot_be_started_is_a_start_that_fails(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason of the system."""

    async def work() -> None:
        supervisor = fakes.supervisor("serve()")
        monkeypatch.setattr(supervisor_module, "WORKER_COMMAND", ("/nonexistent/python",))
        with pytest.raises(WorkerFailedError, match=r"cannot be started: .*No such file"):
            await supervisor.run()

    run(work())


def test_starts_that_fail_are_counted_in_a_row(fakes: Fakes) -> None:
    """A worker that came up again in between may fail again."""

    async def work() -> None:
        supervisor = fakes.supervisor(
            "if nth > 9: serve()\nelif nth % 3 == 0: say(None)\nelse: say('not now')"
        )
        running = asyncio.create_task(supervisor.run())
        await until(running, lambda: len(fakes.started()) == 20)
        supervisor.stop()
        await running

    run(work())


def test_a_worker_that_does_not_stop_is_killed(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time that it has for its calls, and a margin."""
    monkeypatch.setattr(supervisor_module, "STOP_MARGIN_S", 0.1)

    async def work() -> None:
        supervisor = fakes.supervisor("say(None)\nwhile True: time.sleep(60)", stop_s=0)
        running = asyncio.create_task(supervisor.run())
        await until(running, lambda: fakes.num_announced)
        supervisor.stop()
        await running

    run(work())


@pytest.mark.parametrize(
    "script",
    [
        "say(None)\nsign()\nos.kill(os.getpid(), signal.SIGSTOP)",
        "say(None)\ntime.sleep(3600)",
        "sign()\ntime.sleep(3600)",
    ],
    ids=["stopped", "busy", "before it takes calls"],
)
def test_a_worker_that_gives_no_signs_of_life_is_replaced_and_the_others_are_left_alone(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Also one that does not take calls yet."""
    monkeypatch.setattr(supervisor_module, "SIGN_EVERY_S", 0.1)
    told: list[object] = []
    monkeypatch.setattr(
        supervisor_module._log,  # noqa: SLF001 - what it tells
        "error",
        lambda event, **values: told.append((event, values["worker"])),
    )

    async def work() -> None:
        script_of_all = "    ".join(f"if number == 2 and nth == 1:\n{script}".splitlines(True))
        supervisor = fakes.supervisor(f"{script_of_all}\nserve()")
        running = asyncio.create_task(supervisor.run())
        await until(running, lambda: len(fakes.started()) == 3 and fakes.num_announced)
        supervisor.stop()
        await running

    run(work())
    assert sorted(fakes.started()) == [1, 2, 2]
    assert told == [
        ("a worker hangs and is killed", 2),
        ("a worker ended and is started again", 2),
    ]


def test_a_stop_during_the_start_or_a_pause_ends_it(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting for either."""
    monkeypatch.setattr(supervisor_module, "FIRST_PAUSE_S", 3600.0)
    monkeypatch.setattr(supervisor_module, "LONGEST_PAUSE_S", 3600.0)

    async def work() -> None:
        supervisor = fakes.supervisor("if number == 1: os._exit(1)\nstream.read()")
        running = asyncio.create_task(supervisor.run())
        await until(running, lambda: len(fakes.started()) == 2)
        supervisor.stop()
        await running

    run(work())


def test_an_address_is_held_for_those_who_share_it_and_for_nobody_else() -> None:
    """Its port is real, and it takes no connection itself."""
    held, address = hold_address(Address("127.0.0.1", 0))
    with held:
        assert address.port > 0
        again, same = hold_address(address)  # nobody listens yet: as a worker binds
        again.listen()
        assert same == address
        with again, pytest.raises(AddressUnavailableError, match="in use"):
            hold_address(address)

"""What Envoy runs inside itself: the whole server as an ASGI application, `app`.

Envoy opens its listener once the application says that it has started, and ends when it is asked
to through its administration. See envoy_host.py for the process around it.
"""

import asyncio
import ctypes
import json
import os
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path

import structlog

from spanwise_server.bootstrap import Served, serve_until
from spanwise_server.config import Settings
from spanwise_server.envoy_host import STOP
from spanwise_server.main import EXIT_DONE, EXIT_FAILED, announce, exit_code_of
from spanwise_server.rpc.fronts.envoy.admin import EnvoyAdmin
from spanwise_server.rpc.fronts.envoy.asgi import Receive, Scope, Send
from spanwise_server.rpc.fronts.envoy.front import EnvoyFront
from spanwise_server.rpc.interceptors import Interceptors
from spanwise_server.rpc.methods import Method
from spanwise_server.telemetry import configure_logging

_log = structlog.get_logger(__name__)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a request, or live as long as Envoy does."""
    if scope["type"] == "http":
        await _inside.serve(scope, receive, send)
    elif scope["type"] == "lifespan":
        await _inside.live(receive, send)
    else:
        raise ValueError(f"nothing is served over {scope['type']}")


class _Inside:
    """The server inside of Envoy."""

    def __init__(self) -> None:
        self._front: EnvoyFront | None = None
        self._has_front = asyncio.Event()
        self._stop = asyncio.Event()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._front is None:
            raise RuntimeError("Envoy serves before the application has started")
        await self._front.serve(scope, receive, send)

    async def live(self, receive: Receive, send: Send) -> None:
        await receive()  # lifespan.startup
        own_end = socket.socket(fileno=sys.stdin.fileno())
        commands, answers = await asyncio.open_connection(sock=own_end)
        hello = json.loads(await commands.readline())
        _become(hello["executable"], hello["environment"])
        obeying = asyncio.create_task(self._obey(commands, Path(hello["admin_path"]).parent))
        admin = EnvoyAdmin(hello["admin_path"])
        serving = asyncio.create_task(self._serve(Settings(**hello["settings"]), admin))
        opening = asyncio.create_task(self._has_front.wait())
        await asyncio.wait((opening, serving), return_when=asyncio.FIRST_COMPLETED)
        if not self._has_front.is_set():
            # Told already. Envoy would add its own words to a failed start.
            await _tell_and_end(answers, await serving)
        await send({"type": "lifespan.startup.complete"})
        ending = asyncio.ensure_future(receive())
        await asyncio.wait((serving, ending), return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            os._exit(EXIT_FAILED)  # Envoy was stopped past us: as in a power cut, nothing is lost
        answers.write(b"%d" % serving.result())
        await answers.drain()
        await admin.quit()
        await ending
        obeying.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _obey(self, commands: asyncio.StreamReader, folder: Path) -> None:
        while line := await commands.readline():
            if line == STOP:
                self._stop.set()
        # The process of the command was killed, and would have removed the folder.
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(EXIT_FAILED)

    async def _serve(self, settings: Settings, admin: EnvoyAdmin) -> int:
        configure_logging(settings.log_level)

        def open_front(
            methods: Iterable[Method], interceptors: Interceptors, *, max_message_bytes: int
        ) -> EnvoyFront:
            self._front = EnvoyFront(
                methods, interceptors, max_message_bytes=max_message_bytes, admin=admin
            )
            self._has_front.set()
            return self._front

        try:
            await serve_until(settings, self._stop, _announce, open_front=open_front)
        except Exception as error:  # noqa: BLE001 - the last one to hear of it
            code = exit_code_of(error, settings)
            if code is None:
                traceback.print_exc()
            return EXIT_FAILED if code is None else code
        _log.info("stopped")
        return EXIT_DONE


def _announce(served: Served) -> None:
    _leave_signals_to_the_host()
    announce(served)


def _leave_signals_to_the_host() -> None:
    """Ignore the signals that make Envoy drop all calls.

    A terminal sends Ctrl-C to all its processes, and systemd sends SIGTERM likewise. Python can set
    handlers from its main thread alone, and here that is Envoy's.
    """
    set_handler = ctypes.CDLL(None).signal
    set_handler.argtypes = (ctypes.c_int, ctypes.c_void_p)
    set_handler.restype = ctypes.c_void_p
    for number in (signal.SIGTERM, signal.SIGINT):
        set_handler(number, int(signal.SIG_IGN))


def _become(executable: str, environment: Mapping[str, str | None]) -> None:
    """Let the writer process be started as the process of the command would start it."""
    # Found by PATH here, which knows nothing of virtual environments.
    sys.executable = executable
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


async def _tell_and_end(answers: asyncio.StreamWriter, code: int) -> None:
    answers.write(b"%d" % code)
    await answers.drain()
    os._exit(code)


_inside = _Inside()

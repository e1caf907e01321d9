"""A worker's own end: `python -m spanwise_server.worker`, started by the supervisor.

A worker is a whole server, with a writer of its own, that shares its ports with the other workers.
Its standard input is a socket: it reads its number and settings, says one word when it takes calls,
or why it cannot, and stops gracefully when the other end closes. So it never outlives the
supervisor for longer than its calls take. As long as its event loop goes round it gives a sign of
life every few seconds.
"""

import asyncio
import json
import signal
import socket
import sys

import uvloop

from spanwise_server.bootstrap import Served, serve_until
from spanwise_server.collector import settle_collector
from spanwise_server.config import Settings
from spanwise_server.domain.errors import SpanwiseError
from spanwise_server.rpc.fronts.addresses import AddressUnavailableError
from spanwise_server.telemetry import configure_logging

SIGN_OF_LIFE = b"\n"
"""A line that says nothing else."""

SIGN_EVERY_S = 2.0
"""From one sign of life to the next."""


def encode_hello(number: int, settings: Settings) -> bytes:
    """Give the line that tells a worker who it is. Workers are numbered from 1."""
    return _encode([number, settings.model_dump(mode="json")])


def decode_word(line: bytes) -> str | None:
    """Read the line that a worker says: None when it takes calls, else why it cannot."""
    word = json.loads(line)
    return None if word is None else str(word)


def _encode(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def main() -> int:
    """Serve until the other end closes, or SIGTERM or SIGINT. Gives the exit code."""
    link = socket.socket(fileno=sys.stdin.fileno())
    hello = link.makefile("rb").readline()
    if not hello:
        return 1  # the supervisor is gone, and with it who would care
    number, values = json.loads(hello)
    settings = Settings(**values)
    configure_logging(settings.log_level, worker=number)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(settings, number, link))


async def _serve(settings: Settings, number: int, link: socket.socket) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number_of_signal in (signal.SIGTERM, signal.SIGINT):
        # However often: service managers send SIGTERM to all processes. The supervisor kills.
        loop.add_signal_handler(number_of_signal, stop.set)
    orders, words = await asyncio.open_connection(sock=link)
    until_closed = asyncio.create_task(_stop_when_closed(orders, stop))
    signs = asyncio.create_task(_give_signs_of_life(orders, words))

    def announce(_: Served) -> None:
        settle_collector()
        words.write(_encode(None))

    try:
        await serve_until(settings, stop, announce, worker=number)
    except (SpanwiseError, AddressUnavailableError, ValueError) as error:
        words.write(_encode(str(error)))
        await words.drain()
        return 1
    finally:
        until_closed.cancel()
        signs.cancel()
    return 0


async def _give_signs_of_life(orders: asyncio.StreamReader, words: asyncio.StreamWriter) -> None:
    """Do so from the beginning to the end, also while calls may take their time to finish."""
    while not orders.at_eof():
        words.write(SIGN_OF_LIFE)
        await asyncio.sleep(SIGN_EVERY_S)


async def _stop_when_closed(orders: asyncio.StreamReader, stop: asyncio.Event) -> None:
    try:
        await orders.read()
    except OSError:
        pass  # it broke off, which says the same
    finally:
        stop.set()


if __name__ == "__main__":
    sys.exit(main())

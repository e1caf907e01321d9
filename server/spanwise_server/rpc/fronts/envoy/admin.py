"""The interface that Envoy is administered by, over a Unix socket that only its owner can open.

Source: the documentation of Envoy, "Administration interface".
"""

import asyncio
import json
from contextlib import suppress
from typing import Any, cast

POLL_S = 0.01
START_TIMEOUT_S = 30.0
FLUSH_TIMEOUT_S = 2.0
"""How long a stopping server waits for a caller that does not read its answer."""

STAT_PREFIX = "spanwise"
_UNSENT = (
    f"http.{STAT_PREFIX}.downstream_rq_active",
    f"http.{STAT_PREFIX}.downstream_cx_tx_bytes_buffered",
)


class EnvoyAdmin:
    """Speaks with the Envoy that has its administration at a socket."""

    def __init__(self, path: str) -> None:
        """Name the socket."""
        self._path = path

    async def served_port(self) -> int:
        """Wait until Envoy takes calls, and give the port of its listener.

        Raises:
            TimeoutError: It did not within START_TIMEOUT_S.
        """
        async with asyncio.timeout(START_TIMEOUT_S):
            while True:
                with suppress(OSError):
                    if (await self._ask("GET", "/ready")).strip() == b"LIVE":
                        break
                await asyncio.sleep(POLL_S)
            listeners = await self._ask_json("/listeners?format=json")
        address = listeners["listener_statuses"][0]["local_address"]["socket_address"]
        return int(address["port_value"])

    async def drain(self) -> None:
        """Take no more connections, and send GOAWAY on each with its next answer."""
        await self._ask("POST", "/healthcheck/fail")
        await self._ask("POST", "/drain_listeners")

    async def wait_until_sent(self) -> None:
        """Wait until all that was answered is with the system, or FLUSH_TIMEOUT_S have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_TIMEOUT_S):
                while await self._has_unsent():  # noqa: ASYNC110 - Envoy tells when asked alone
                    await asyncio.sleep(POLL_S)

    async def quit(self) -> None:
        """Let Envoy end."""
        await self._ask("POST", "/quitquitquit")

    async def _has_unsent(self) -> bool:
        stats = await self._ask_json(f"/stats?format=json&filter=http.{STAT_PREFIX}.downstream_")
        values = {stat["name"]: stat["value"] for stat in stats["stats"] if "name" in stat}
        return any(values.get(name) for name in _UNSENT)

    async def _ask_json(self, target: str) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(await self._ask("GET", target)))

    async def _ask(self, method: str, target: str) -> bytes:
        reader, writer = await asyncio.open_unix_connection(self._path)
        try:
            writer.write(
                f"{method} {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()
            )
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.read()
        except asyncio.IncompleteReadError as error:
            raise ConnectionError("Envoy closed its administration") from error
        finally:
            writer.close()
        if b"transfer-encoding: chunked" in head.lower():
            return _dechunk(body)
        return body


def _dechunk(body: bytes) -> bytes:
    parts = []
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        parts.append(rest[:length])
        body = rest[length + 2 :]
    return b"".join(parts)

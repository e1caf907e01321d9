"""grpc.health.v1.Health: whether this process takes calls.

Source of the protocol: grpc/doc/health-checking.md.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import cast

import structlog
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from spanwise_server.domain.errors import NotFound, SpanwiseError
from spanwise_server.rpc.methods import Call, Handler, Method, service_methods
from spanwise_server.rpc.query_pool import QueryPool

_log = structlog.get_logger(__name__)

# Its stubs name the C type of descriptors.
_SERVICE = cast("ServiceDescriptor", health_pb2.DESCRIPTOR.services_by_name["Health"])

PROBE_INTERVAL_S = 2.0
"""How long a lost store may go unnoticed. Kubernetes asks every 10 s by default."""

ALIASES = ("", "flyteadmin")
"""Names beside those of the services: the whole server, and the name that FlyteAdmin registers
(flyteadmin v1.16 pkg/server/service.go), which probes for FlyteAdmin ask for."""


class Health:
    """Whether the server takes calls. To be used from one event loop."""

    def __init__(self) -> None:
        """Begin in good health."""
        self._is_store_available = True
        self._trouble = ""
        self._is_stopping = False
        self._changed = asyncio.Event()

    @property
    def is_serving(self) -> bool:
        """Whether calls can be expected to succeed."""
        return self._is_store_available and not self._trouble and not self._is_stopping

    @property
    def is_stopping(self) -> bool:
        """Whether the server will end and not come back."""
        return self._is_stopping

    def stop(self) -> None:
        """Say from now on that the server takes no calls."""
        self._is_stopping = True
        self._announce()

    def note_trouble(self, trouble: str) -> None:
        """Hear what keeps events from being stored; empty when nothing does any more."""
        if trouble != self._trouble:
            self._trouble = trouble
            _log.warning(trouble or "events can be stored again")
            self._announce()

    async def changed(self) -> None:
        """Wait until something may have changed."""
        await self._changed.wait()

    async def watch_store(self, probe: Callable[[], None], pool: QueryPool) -> None:
        """Run `probe` until cancelled. When it raises a SpanwiseError the store is away."""
        while True:
            try:
                await pool.run(probe)
            except SpanwiseError as error:
                self._note_store(is_available=False, reason=str(error))
            else:
                self._note_store(is_available=True, reason="")
            await asyncio.sleep(PROBE_INTERVAL_S)

    def _note_store(self, *, is_available: bool, reason: str) -> None:
        if is_available == self._is_store_available:
            return
        self._is_store_available = is_available
        _log.warning("the store came back" if is_available else "the store is away", reason=reason)
        self._announce()

    def _announce(self) -> None:
        # Whoever waits holds the old event; whoever comes later waits for the next change.
        self._changed.set()
        self._changed = asyncio.Event()


class HealthServicer:
    """Handlers of Health."""

    def __init__(self, health: Health, services: Iterable[str]) -> None:
        """Answer for `services` and for the ALIASES, all with the health of the process."""
        self._health = health
        self._names = {*ALIASES, *services}

    def methods(self) -> list[Method]:
        """Give the method table."""
        handlers: dict[str, Handler] = {"Check": self._check, "Watch": self._watch}
        return service_methods(_SERVICE, handlers, lambda method: f"Health.{method} is not served")

    async def _check(self, request: HealthCheckRequest, call: Call) -> HealthCheckResponse:
        if request.service not in self._names:
            raise NotFound("no service of this name is served here")
        return HealthCheckResponse(status=self._status())

    async def _watch(
        self, request: HealthCheckRequest, call: Call
    ) -> AsyncGenerator[HealthCheckResponse, None]:
        is_known = request.service in self._names
        sent = None
        while True:
            status = self._status() if is_known else HealthCheckResponse.SERVICE_UNKNOWN
            if status != sent:
                sent = status
                yield HealthCheckResponse(status=status)
                continue  # it may have changed again while that was sent
            if self._health.is_stopping:
                return  # or the graceful stop would wait for every watcher
            await self._health.changed()

    def _status(self) -> int:
        if self._health.is_serving:
            return HealthCheckResponse.SERVING
        return HealthCheckResponse.NOT_SERVING

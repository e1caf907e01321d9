"""What every front is to the rest of the server."""

from collections.abc import Iterable
from typing import Protocol

from spanwise_server.rpc.interceptors import Interceptors
from spanwise_server.rpc.methods import Method


class Front(Protocol):
    """Serves method tables on a transport. To be used from one event loop."""

    async def start(self, host: str, port: int) -> int:
        """Take calls, and give the port: a free one when 0 was asked for.

        Raises:
            AddressUnavailableError: The address cannot be taken.
        """

    async def stop(self, grace_s: float | None) -> None:
        """Take no more calls, let those that run finish, and close the port.

        Args:
            grace_s: Seconds after which calls that still run are cancelled; None cancels at once.
        """


class OpenFront(Protocol):
    """Makes a front."""

    def __call__(
        self, methods: Iterable[Method], interceptors: Interceptors, *, max_message_bytes: int
    ) -> Front:
        """Bind `methods`.

        Args:
            methods: Rows of all services.
            interceptors: What goes around their handlers.
            max_message_bytes: Cap of a request. A larger one gets RESOURCE_EXHAUSTED with
                "message larger than max" in its text, which FlytePropeller looks for.
        """

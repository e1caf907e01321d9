"""Which names a request may ask for.

A page from elsewhere can let its own name point at this address (DNS rebinding); the browser then
takes this server for the page's own, and lets it read everything. The name is all that gives it
away. An IP address in its place cannot be pointed anywhere.
"""

import re
import socket
from collections.abc import Iterable
from ipaddress import ip_address

_NOBODY = "]"
"""No name of a host: what is neither a name nor an address in brackets with or without a port."""


class Hosts:
    """The names that this server is reached by."""

    def __init__(self, names: Iterable[str]) -> None:
        """Know `names`, the name of this machine and those that always stand for it."""
        known = ("localhost", socket.gethostname(), *names)
        self._names = {name.lower().rstrip(".") for name in known}

    def knows(self, host: str) -> bool:
        """Tell whether a Host header may be answered. Its port does not matter: a tunnel has one.

        Args:
            host: Value of the header, as `name`, `name:port`, `address:port` or `[address]:port`.
        """
        name = _without_port(host).lower().rstrip(".")
        return name in self._names or name.endswith(".localhost") or _is_address(name)


def _without_port(host: str) -> str:
    if host.startswith("["):
        bracketed = re.fullmatch(r"\[([^]]*)\](:[0-9]+)?", host)
        return bracketed[1] if bracketed else _NOBODY
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

"""Addresses to serve on, checked before a transport takes them.

Transports tell why they cannot in their own logs alone.
"""

import socket


class AddressUnavailableError(Exception):
    """The address to serve on cannot be taken."""


def check_address(host: str, port: int) -> str:
    """Give the IP address that `host` stands for, if its port could be taken just now.

    Raises:
        AddressUnavailableError: It cannot, with the reason of the system.
    """
    address = f"{host}:{port}"
    try:
        family, kind, _, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(target)
            probe.listen(1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise AddressUnavailableError(
            f"cannot serve on {address}: {reason}; --grpc-address HOST:PORT names another one"
        ) from error
    return str(target[0])

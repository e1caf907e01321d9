"""Addresses to serve on, checked before a transport takes them.

Transports tell why they cannot in their own logs alone.
"""

import socket

GRPC_FLAG = "--grpc-address"
HTTP_FLAG = "--http-address"


class AddressUnavailableError(Exception):
    """The address to serve on cannot be taken."""


def check_address(host: str, port: int, *, flag: str = GRPC_FLAG) -> str:
    """Give the IP address that `host` stands for, if its port could be taken just now.

    Takes and raises what listen_on() does.
    """
    with listen_on(host, port, flag=flag) as probe:
        return str(probe.getsockname()[0])


def listen_on(
    host: str, port: int, *, flag: str = GRPC_FLAG, shares_port: bool = False
) -> socket.socket:
    """Give a socket that listens.

    Args:
        host: Name or IP address of this machine.
        port: Port; 0 for any.
        flag: What sets the address, for the text of the error.
        shares_port: Whether other processes of this server listen there as well. The system then
            deals connections out among them.

    Raises:
        AddressUnavailableError: The address cannot be taken, with the reason of the system.
    """
    try:
        family, kind, _, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shares_port:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind(target)
            listener.listen()
        except OSError:
            listener.close()
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise AddressUnavailableError(
            f"cannot serve on {host}:{port}: {reason}; {flag} HOST:PORT names another one"
        ) from error
    return listener

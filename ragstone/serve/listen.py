"""The listening socket of a server."""

from __future__ import annotations

import socket

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Return a TCP socket that listens on an address; any free port if ``port`` is 0.

    `socket.create_server` leaves the protocol unset, and asyncio turns off Nagle's algorithm only if it is TCP. Every
    response with a body would then wait about 40 ms for the client's delayed acknowledgement.

    Raises:
        OSError: the address is in use, or none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.create_server((host, port), family=family, backlog=BACKLOG)
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=bound.detach())

"""Where a request comes from and where it goes: the visitor's connection, the page's origin, and the server's names."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

from starlette.requests import Request

from ragstone.settings import ServeSettings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})

_NETWORK_BITS = 64
"""The part of an IPv6 address that stands for one connection; its holder chooses the rest freely."""


def network_of(address: str) -> str:
    """Return what is the same for all addresses that one connection can choose from."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(IPv6Network((ip.packed, _NETWORK_BITS), strict=False))
    return str(ip)


def origin_parts(origin: str) -> SplitResult:
    """Return the parts of an ``Origin`` header; a malformed one has none."""
    try:
        return urlsplit(origin)
    except ValueError:  # such as "http://["
        return SplitResult("", "", "", "", "")


def host_of(netloc: str) -> str:
    """Return the host name in a ``Host`` header, without the port."""
    host = netloc.lower()
    return f"{host.partition(']')[0]}]" if host.startswith("[") else host.partition(":")[0]


def is_own_host(request: Request, settings: ServeSettings) -> bool:
    """Return whether the ``Host`` header certainly names this server.

    That is a name in the settings, loopback, or the address to which the browser connected. Any other name may be
    invented by whoever sent the request.
    """
    connected = (request.scope.get("server") or ("",))[0]
    known = {*LOOPBACK, *map(str.lower, settings.names), settings.host.lower(), connected, f"[{connected}]"}
    return host_of(request.headers.get("host", "")) in known

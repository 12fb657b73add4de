"""Decide which network addresses may be reached: only public ones, unless private ones are allowed."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from urllib.parse import urlsplit

from ragstone.core.errors import SourceError

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Resolves a host and port to its current addresses."""

_IP = ipaddress.IPv4Address | ipaddress.IPv6Address
# Some Python releases treat parts of these as public.
_NOT_PUBLIC = [
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *(
            "203.0.113.0/24",
            "224.0.0.0/3",
            "::/96",
            "::ffff:0:0:0/96",
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",
            "2001:db8::/32",
        ),
        *("3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
]
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system resolves them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_loopback(host: str) -> bool:
    """Return whether a host name or an IP address is that of this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_here(url: str) -> bool:
    """Return whether a URL leads to this machine alone."""
    return is_loopback(urlsplit(url).hostname or "")


def is_public(address: str) -> bool:
    """Return whether an IP address, and every address embedded in it, is public."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False  # Such as fe80::1%eth0.
    return all(one.is_global and not any(one in network for network in _NOT_PUBLIC) for one in _meanings(ip))


def _meanings(ip: _IP) -> list[_IP]:
    """Return the address, or the IPv4 address embedded in it."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped:
        return [ip.ipv4_mapped]
    if ip.sixtofour:
        return [ip.sixtofour]
    if ip in _NAT64:
        return [ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)]
    return [ip]


NOT_FOUND = "{} cannot be found; check its name and the network"
"""Says that a host has no address; without a network, no host has one."""


def checked_addresses(host: str, port: int, *, allow_private: bool, setting: str) -> list[str]:
    """Return the addresses of a host, for a caller in a thread.

    Args:
        host: its name or address.
        port: to be connected to.
        allow_private: whether private addresses are allowed.
        setting: name of the setting that allows them, for the error message.

    Raises:
        SourceError: it has no address, or one that is not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(NOT_FOUND.format(host)) from error
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    if reason := refusal(host, addresses, allow_private=allow_private, setting=setting):
        raise SourceError(reason)
    return addresses


def refusal(host: str, addresses: Iterable[str], *, allow_private: bool, setting: str) -> str:
    """Return why a host must not be reached at these addresses, with the setting that allows it; empty if it may."""
    private = "" if allow_private else next((one for one in addresses if not is_public(one)), "")
    return f"{host} is {private}, which is not a public address; set {setting}=true to allow it" if private else ""


def connected(addresses: Sequence[str], port: int, timeout: float) -> socket.socket:
    """Return a connection to the first of these addresses that answers.

    Raises:
        OSError: none does.
    """
    failure: OSError = ConnectionError("no address")
    for address in addresses:
        try:
            return socket.create_connection((address, port), timeout)
        except OSError as error:
            failure = error
    raise failure

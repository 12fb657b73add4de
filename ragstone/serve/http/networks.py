"""Where a request comes from: the connection that counts visitors and attempts to sign in, and the page's origin."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

_NETWORK_BITS = 64
"""The part of an IPv6 address that stands for one connection; its holder chooses the rest freely."""


def network_of(address: str) -> str:
    """Return what is the same for all addresses that one connection can choose from."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        if known.ipv4_mapped is not None:
            return str(known.ipv4_mapped)
        return str(IPv6Network((known.packed, _NETWORK_BITS), strict=False))
    return str(known)


def origin_parts(origin: str) -> SplitResult:
    """Return the parts of an ``Origin`` header; a malformed one has none."""
    try:
        return urlsplit(origin)
    except ValueError:  # such as "http://["
        return SplitResult("", "", "", "", "")

"""Which network addresses are public, and which are those of this machine."""

from __future__ import annotations

import socket

import pytest

from ragstone.core.errors import SourceError
from ragstone.services.network import checked_addresses, is_here, is_public


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.255.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1"),
        *("255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "2001:0:1::1"),
        *("64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "::ffff:0:7f00:1", "3fff::1", "not an address"),
    ],
)
def test_private_and_reserved_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1", "127.8.9.10:1", "[::1]:80"])
def test_knows_this_machine(host: str) -> None:
    assert is_here(f"http://{host}/v1")


@pytest.mark.parametrize("host", ["localhost.example", "127.0.0.1.example", "10.0.0.1", "[::2]", "0.0.0.0", ""])
def test_takes_no_other_host_for_this_machine(host: str) -> None:
    assert not is_here(f"http://{host}/v1")


def test_says_that_a_host_cannot_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with pytest.raises(SourceError, match=r"^nowhere\.example cannot be found; check its name and the network$"):
        checked_addresses("nowhere.example", 443, allow_private=False, setting="x")

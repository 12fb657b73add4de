"""What every test stands on: no network, no settings from outside, and the data sets where they are."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpcore2
import hypothesis
import pytest

from ragstone.index.embed import multilingual
from ragstone.settings.load import ALIASES

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # which its library reads when it is imported
# Without bytecode, each of the hundreds of processes that tests start would compile Ragstone anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

EXAMPLES = 1000 if os.environ.get("RAGSTONE_TEST_FULL") else 50
"""Of a test of properties that names no number of its own."""
hypothesis.settings.register_profile("local", deadline=None, max_examples=EXAMPLES)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=EXAMPLES, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")

TEST_DATA = "RAGSTONE_TEST_DATA"
FOREIGN = ("RAGSTONE_", "OPENAI_", "AZURE_", "PG")
"""Beginnings of names that would change what the tests see."""


gc.disable()  # until all is collected, of which nothing is garbage


def pytest_collection_finish() -> None:
    """Let no search for garbage pass again over the modules and tests, which stay: it was a twentieth of all time."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of test data sets; a test that asks for it is skipped where there is none."""
    folder = os.environ.get(TEST_DATA)
    if not folder:
        pytest.skip(f"set {TEST_DATA} to the folder of test data sets")
    path = Path(folder).resolve()  # sources of documents have their links resolved too
    if not path.is_dir():
        pytest.fail(f"{TEST_DATA} is set to {path}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def postgres() -> Any:
    """A PostgreSQL of our own; a test that asks for it is skipped where its package is not installed."""
    from servers.postgres_server import shared

    return shared()


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that no ``.env`` or ``.ragstone`` of the developer's is found."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """Settings in the developer's environment must not decide whether a test passes."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name != TEST_DATA and (name in ALIASES or name.upper().startswith(FOREIGN)):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Read the certificates of authorities once: every client reads them anew, also for a server on loopback."""
    real = httpcore2.default_ssl_context

    @cache
    def read(trust_env: bool, *_: str | None) -> ssl.SSLContext:
        return real(_trust_env=trust_env)

    def context(*, _trust_env: bool = True) -> ssl.SSLContext:
        return read(_trust_env, *map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", context)
        yield


@pytest.fixture(scope="session", autouse=True)
def _multilingual_weights_read_once() -> Iterator[None]:
    """Read the words and weights of the multilingual model once: a quarter of a million words take half a second."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_tokenizer", "_initializers"):
            patch.setattr(multilingual, name, _once(getattr(multilingual, name)))
        yield


def _once(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that calls another once, because its argument is a file that has been verified."""
    made: list[Any] = []

    def read(weights: Any) -> Any:
        if not made:
            made.append(real(weights))
        return made[0]

    return read


class NetworkRefused(AssertionError):
    """A test tried to leave this machine. Not an ``OSError``, which retries would swallow."""


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    """Refuse connections and look-ups that leave this machine; servers on loopback stay reachable."""

    def guarded(real: Any) -> Any:
        def call(self: socket.socket, *args: Any) -> Any:
            # sendto(data, flags, address) and connect(address) both have the address last.
            if self.family != getattr(socket, "AF_UNIX", None):
                _refuse_unless_loopback(args[-1][0])
            return real(self, *args)

        return call

    real_getaddrinfo = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        if host is not None:
            _refuse_unless_loopback(host)
        return real_getaddrinfo(host, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


def _refuse_unless_loopback(host: str | bytes) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    try:
        loopback = ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        loopback = name == "localhost"
    if not loopback:
        raise NetworkRefused(f"tests reach no network but loopback; this one tried {name}")

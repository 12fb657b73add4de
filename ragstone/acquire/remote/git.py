"""Git repositories: the files of a branch, tag or commit, whose blob ids are their versions.

The program ``git`` fetches one commit, without its history, into a bare repository in the folder of the knowledge base.
Nothing is checked out, so no hook, filter, submodule or link of the repository has any effect.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from ragstone.acquire.remote.address import Opening, parsed
from ragstone.acquire.sources.walk import is_passed_over
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_PORTS = {"https": 443, "http": 80, "ssh": 22}
_PROTOCOLS = (*_PORTS, "file")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")
_HEAD = "refs/ragstone/head"
_FETCH_SECONDS = 1800.0
_READ_SECONDS = 120.0
_BLOCK = 1 << 16
_LINK, _SUBMODULE = "120000", "160000"
_LARGE_FILE = b"version https://git-lfs.github.com/spec/"
_SAFE = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "http.followRedirects=false"),
    *("submodule.recurse=false", "transfer.bundleURI=false", "gc.autoDetach=false", "gc.pruneExpire=now"),
)
"""Settings that keep a hostile repository or server from running a program or leading elsewhere."""
_KEPT_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")


class GitSource:
    """The files of a repository, or of a folder in it.

    The address is that of pip: ``git+https://host/repository.git@ref#subdirectory=folder``. The part before the ref may
    be the path of a repository on this disk. Credentials are those of git and ssh; a connection may name a variable
    with a token for HTTPS.
    """

    def __init__(self, text: str, opening: Opening) -> None:
        """Take the address apart; nothing is fetched yet.

        Raises:
            UsageError: the address is malformed, or of a protocol that is not allowed.
        """
        place, _, fragment = text.removeprefix("git+").partition("#")
        url, self._ref = _divided(place)
        at = parsed(url)
        self._folder = fragment.removeprefix("subdirectory=").strip("/")
        if at.scheme not in _PROTOCOLS:
            raise UsageError(f"'{text}' cannot be fetched over {at.scheme}; use one of {', '.join(_PROTOCOLS)}")
        if not at.path or (self._ref and not _REF.fullmatch(self._ref)) or ".." in self._folder.split("/"):
            raise UsageError(
                f"'{text}' is not the address of a repository; write it as git+https://HOST/REPOSITORY@REF#subdirectory=DIR"
            )
        self._url, self._at, self._opening = url, at, opening
        ref = f"@{self._ref}" if self._ref else ""
        self.address = f"git+{url}{ref}" + (f"/{self._folder}" if self._folder else "")
        self._mirror = opening.folder / f"{hashlib.sha256(url.encode()).hexdigest()[:20]}.git"

    def entries(self) -> Iterator[Entry | Skipped]:
        self._fetch_commit()
        try:
            listed = self._git(["ls-tree", "-r", "-z", "--long", "--full-tree", _HEAD, "--", *self._paths()])
        except SourceError:
            shutil.rmtree(self._mirror, ignore_errors=True)  # The next sync fetches everything.
            raise
        start = f"{self._folder}/" if self._folder else ""
        for line in listed.split(b"\0"):
            if not line:
                continue
            about, _, written = line.partition(b"\t")
            mode, _, blob, size = about.decode("ascii").split()
            path = written.decode("utf-8", "replace")
            name = path.removeprefix(start)
            if any(map(is_passed_over, name.split("/"))) or mode == _SUBMODULE:
                continue
            if mode == _LINK:
                yield Skipped(source=f"{self.address}/{name}", reason="a link, which is not followed")
                continue
            yield Entry(name=name, version=blob, size=int(size), url=self._page_of(path))

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        command = self._command(["cat-file", "blob", entry.version])
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment(),
        ) as process:
            assert process.stdout is not None, "it is a pipe"
            try:
                first = process.stdout.read(_BLOCK)
                if first.startswith(_LARGE_FILE):
                    raise SourceError("kept in Git LFS, which is not fetched")
                yield first
                while block := process.stdout.read(_BLOCK):
                    yield block
                if process.wait(_READ_SECONDS):
                    raise SourceError("git does not have its content")
            finally:
                process.kill()  # without effect on one that has ended

    def close(self) -> None:
        """Do nothing: no program runs between two calls."""

    def _paths(self) -> list[str]:
        return [f"{self._folder}/"] if self._folder else []

    def _fetch_commit(self) -> None:
        """Bring the mirror up to date; only what changed is fetched.

        Raises:
            SourceError: git is not installed, or the repository or the ref cannot be fetched.
        """
        if not (self._mirror / "HEAD").is_file():
            self._mirror.parent.mkdir(parents=True, exist_ok=True)
            self._git(["init", "--bare", "--quiet", "--template=", str(self._mirror)], inside=False)
        wanted = f"+{self._ref or 'HEAD'}:{_HEAD}"
        options = ["--depth=1", "--no-tags", "--no-recurse-submodules", "--quiet", "--force", "--update-shallow"]
        self._git(["fetch", *options, "--", self._url, wanted], fetches=True)

    def _git(self, arguments: Sequence[str], *, inside: bool = True, fetches: bool = False) -> bytes:
        command, seconds = self._command(arguments, inside=inside), _READ_SECONDS
        environment = self._environment()
        if fetches:
            command[1:1], seconds = self._network(), _FETCH_SECONDS
            environment |= self._login()
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=seconds
            )
        except subprocess.TimeoutExpired as error:
            raise SourceError(f"{self.address}: git took longer than {seconds:.0f} s") from error
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
            raise SourceError(f"{self.address} cannot be fetched: {lines[-1][:300]}")
        return done.stdout

    def _command(self, arguments: Sequence[str], *, inside: bool = True) -> list[str]:
        program = shutil.which("git")
        if program is None:
            raise SourceError(f"the program git is not installed; install it to read {self.address}")
        where = [f"--git-dir={self._mirror}"] if inside else []
        return [program, *_options(*_SAFE, f"protocol.{self._at.scheme}.allow=always"), *where, *arguments]

    def _network(self) -> list[str]:
        """Return the options by which git connects, only to the addresses that were checked.

        Raises:
            SourceError: one is on a private network, which the settings do not allow.
        """
        if self._at.scheme not in _PORTS:
            return []
        port = self._at.port or _PORTS[self._at.scheme]
        addresses = self._opening.allowed(self._at.host, port)
        shown = ",".join(f"[{one}]" if ":" in one else one for one in addresses)
        resolve = f"http.curloptResolve={self._at.host}:{port}:{shown}"  # no effect on ssh
        slow = round(self._opening.remote.timeout_seconds)
        return _options(resolve, f"http.lowSpeedTime={slow}", "http.lowSpeedLimit=1")

    def _environment(self) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if name[:4] != "GIT_" or name in _KEPT_VARIABLES}
        return {
            **kept,
            "LC_ALL": "C",
            "GIT_ALLOW_PROTOCOL": self._at.scheme,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=20",
        }

    def _login(self) -> dict[str, str]:
        """Return the login as variables, because other users can read the arguments of a program."""
        if not self._opening.connection.secret or self._at.scheme != "https":
            return {}
        token = self._opening.secret("", f"token for {self._at.host}")
        login = base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii")
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.https://{self._at.server}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {login}",
        }

    def _page_of(self, path: str) -> str:
        """Return where people read a file, for the hosts whose addresses are known; empty for others."""
        host, ref = self._at.host, quote(self._ref or "HEAD")
        repository = f"https://{host}/{quote(self._at.path.removesuffix('.git'))}"
        if host == "github.com":
            return f"{repository}/blob/{ref}/{quote(path)}"
        return f"{repository}/-/blob/{ref}/{quote(path)}" if host.startswith("gitlab.") else ""


def _divided(place: str) -> tuple[str, str]:
    """Return the URL of a repository, and the ref behind it, which may have slashes; empty if there is none."""
    is_path = "://" not in place
    path = place if is_path else unquote(place.removeprefix("file://")) if place.startswith("file://") else ""
    url, at, ref = place.rpartition("@")
    is_user = not is_path and (
        url.count("/") < 3 or url.endswith("/")
    )  # also in the path, as in https://host/@ann/mill
    if not at or is_user or (path and Path(path).exists()):
        url, ref = place, ""
    return Path(url).resolve().as_uri() if is_path else url, ref


def _options(*settings: str) -> list[str]:
    return [part for one in settings for part in ("-c", one)]

"""Which collection of a server holds a version of a knowledge base: a name in a small file of that version.

A collection that is made anew gets a name never used before and is searched only when it is whole: the file then names
it, in one step. So every process sees the old one or the new one, and several knowledge bases may share a server.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from ragstone.index.catalog.home import Home
from ragstone.index.files import disposable, read_json, write_json


class CollectionNames:
    """The names for one version on one engine; they begin with ``prefix``."""

    def __init__(self, version: Path, engine: str, prefix: str) -> None:
        self._version, self._file, self._prefix = version, f"{engine}.json", prefix

    @property
    def current(self) -> str:
        """The one that is searched; empty where there is none yet."""
        return self._named("current")

    @property
    def coming(self) -> str:
        """The one that is being made; empty where none is."""
        return self._named("coming")

    @property
    def is_in_use(self) -> bool:
        """Whether the version is the one that questions go to."""
        return Home(self._version.parent).current() == self._version

    def begin(self) -> str:
        """The name of the next one, noted before it is made, so that one that was cut short can be told."""
        name = f"{self._mine()}{secrets.token_hex(4)}"
        self._write(current=self.current, coming=name)
        return name

    def settle(self) -> None:
        """From now on the one that was being made is searched."""
        self._write(current=self.coming, coming="")

    def stale(self, names: Iterable[str]) -> list[str]:
        """Those of this knowledge base that no version has any more."""
        files = [self._version / self._file, *self._home.glob(f"v*/{self._file}")]
        known = {read_json(path).get(part) for path in files for part in _PARTS}
        return [name for name in names if name.startswith(self._mine()) and name not in known]

    @property
    def _home(self) -> Path:
        return self._version.parent

    def _named(self, part: str) -> str:
        name = read_json(self._version / self._file).get(part)
        return name if isinstance(name, str) and name.startswith(self._prefix) else ""

    def _write(self, *, current: str, coming: str) -> None:
        with disposable(self._version):
            write_json(self._version / self._file, {"current": current, "coming": coming})

    @property
    def version(self) -> str:
        """The name of the version."""
        return self._version.name

    @property
    def token(self) -> str:
        """Tells this knowledge base apart from others on the same server."""
        file = self._home / "engines.json"
        token = read_json(file).get("token")
        if not isinstance(token, str):
            token = secrets.token_hex(4)
            with disposable(self._home):
                write_json(file, {"token": token})
        return token

    def _mine(self) -> str:
        """What the names of this knowledge base begin with."""
        return f"{self._prefix}-{self.token}-"


_PARTS = ("current", "coming")

"""The names of the collections that hold a version on a server, in a small record of that version.

A new collection gets a name never used before. It is searched once it is complete and the record names it, in one step.
So every process sees the old collection or the new one, and several knowledge bases can share a server.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from ragstone.storage.shelf import FolderShelf, Shelf


class CollectionNames:
    """The names for one version in one engine; they begin with ``prefix``."""

    def __init__(self, version: Path, engine: str, prefix: str, shelf: Shelf | None = None) -> None:
        """
        Args:
            version: its folder on this host.
            engine: and leg, by which the record is named.
            prefix: of the names.
            shelf: has the records; by default, they are files next to the version.
        """
        self._version, self._file, self._prefix = version, f"{engine}.json", prefix
        self._shelf = shelf or FolderShelf(version.parent)

    @property
    def current(self) -> str:
        """The collection that is searched; empty if there is none yet."""
        return self._named("current")

    @property
    def coming(self) -> str:
        """The collection that is being built; empty if none is."""
        return self._named("coming")

    @property
    def is_in_use(self) -> bool:
        """Whether the version is the one in use."""
        return self._shelf.in_use() == self.version

    def begin(self) -> str:
        """Return the name of the next collection, recorded first, so that an interrupted one can be deleted."""
        name = f"{self._mine()}{secrets.token_hex(4)}"
        self._write(current=self.current, coming=name)
        return name

    def switch(self) -> None:
        """Make the collection that was being built the one that is searched."""
        self._write(current=self.coming, coming="")

    def stale(self, names: Iterable[str]) -> list[str]:
        """Return the names of this knowledge base's collections that no version needs."""
        records = [self._shelf.read(self._record), *self._shelf.of_versions(self._file)]
        named = {record.get(part) for record in records for part in _PARTS}
        return [name for name in names if name.startswith(self._mine()) and name not in named]

    @property
    def _record(self) -> str:
        return f"{self.version}/{self._file}"

    def _named(self, part: str) -> str:
        name = self._shelf.read(self._record).get(part)
        return name if isinstance(name, str) and name.startswith(self._prefix) else ""

    def _write(self, *, current: str, coming: str) -> None:
        self._shelf.write(self._record, {"current": current, "coming": coming})

    @property
    def version(self) -> str:
        """The name of the version."""
        return self._version.name

    @property
    def token(self) -> str:
        """What identifies this knowledge base on a server."""
        token = self._shelf.read("engines.json").get("token")
        if not isinstance(token, str):
            token = secrets.token_hex(4)
            self._shelf.write("engines.json", {"token": token})
        return token

    def _mine(self) -> str:
        """Return the beginning of the names of this knowledge base."""
        return f"{self._prefix}-{self.token}-"


_PARTS = ("current", "coming")

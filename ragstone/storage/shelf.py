"""Small records of a knowledge base, such as the names in its engines, each replaced in one step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from ragstone.core.errors import KnowledgeBaseError
from ragstone.storage.files import pointed, read_json, write_json


class Shelf(Protocol):
    """The store of the records: files of the folder, or rows on the catalog's server.

    A record has the name of its file, such as ``engines.json``, or ``v1/qdrant.json`` if it belongs to a version.
    Every method may raise `KnowledgeBaseError`.
    """

    def read(self, name: str) -> dict[str, Any]:
        """Return a record; empty if it is missing or damaged."""
        ...

    def write(self, name: str, record: dict[str, Any]) -> None:
        """Replace a record, durably."""
        ...

    def of_versions(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the record of this name of each version."""
        ...

    def in_use(self) -> str:
        """Return the name of the version in use, such as ``v1``; empty if there is none."""
        ...


class FolderShelf:
    """Records in the folder of a knowledge base."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> dict[str, Any]:
        return read_json(self._folder / name)

    def write(self, name: str, record: dict[str, Any]) -> None:
        try:
            write_json(self._folder / name, record)
        except OSError as error:
            raise KnowledgeBaseError(
                f"{self._folder / name} could not be written: {error}; earlier data is unchanged"
            ) from error

    def of_versions(self, name: str) -> Iterator[dict[str, Any]]:
        return map(read_json, self._folder.glob(f"v*/{name}"))

    def in_use(self) -> str:
        return pointed(self._folder, "CURRENT")

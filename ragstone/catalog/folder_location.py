"""A knowledge base in a folder: versions next to each other, and a file that names the current one.

    .ragstone/
      CURRENT        the name of the version in use
      NEXT           the name of the version that a rebuild makes, until it is in use
      PREVIOUS       the name of the version that was in use before
      ENGINES        the search engines in use, if one setting holds for all users of the folder
      lock           held by the process that indexes
      journal.db     conversations, costs and votes; a rebuild does not touch it
      v1/            catalog.db (the source of truth), terms/ and vectors/ (built from it)

A rebuild creates a new version and then renames ``CURRENT`` into place, so that a reader sees one version or the other,
complete. The old version stays for a revert until the next switch, and longer while a process reads it: a process that
opens a version holds a lock on its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from ragstone.catalog.location import (
    NAME,
    UNFINISHED,
    VersionLease,
    create_folder,
    is_leased,
    versions_in,
    writing,
)
from ragstone.catalog.lock import Patience, indexing, rebuilding
from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog, open_catalog
from ragstone.catalog.verify import RESTORE
from ragstone.core.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.storage.disk import clear_away, disk, drop, new_file, replace_file, sync_folder
from ragstone.storage.files import pointed
from ragstone.storage.shelf import FolderShelf


class FolderLocation:
    """A knowledge base in a folder of its own; implements `Location`, which describes most of the methods."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_shared(self) -> bool:
        return False

    @property
    def shelf(self) -> FolderShelf:
        return FolderShelf(self.folder)

    def server(self, part: str) -> None:
        del part

    @property
    def address(self) -> str:
        return ""

    def catalog(self, version: Path) -> Catalog:
        return open_catalog(version / "catalog.db")

    def create(self, built_with: Mapping[str, Any]) -> Path:
        version = self.begin()
        create_catalog(version / "catalog.db", built_with).close()
        return version

    def indexing(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        return indexing(self.folder, patience)

    def rebuilding(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        return rebuilding(self.folder, patience)

    # ------------------------------------------------------------ versions

    def current(self) -> Path | None:
        pointer = self.folder / "CURRENT"
        if not pointer.is_file():
            return None
        try:
            name = pointer.read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            raise KnowledgeBaseError(f"{pointer} cannot be read: {error}") from error
        version = self.folder / name
        if not NAME.fullmatch(name) or not version.is_dir():
            raise Damaged(f"{pointer} names '{name}', which does not exist; {RESTORE}")
        if not (catalog := version / "catalog.db").is_file():
            raise Damaged(f"{catalog} is missing, which holds all documents; {RESTORE}")
        return version

    def lease(self) -> VersionLease | None:
        while version := self.current():
            with suppress(FileNotFoundError):  # replaced and deleted at this moment
                lease = VersionLease(version)
                if self.current() == version:
                    return lease
                lease.release()
        return None

    def next(self) -> Path | None:
        return self._named("NEXT")

    def previous(self) -> Path | None:
        return self._named("PREVIOUS")

    def begin(self) -> Path:
        """Create an empty folder for the next version, delete interrupted attempts, and return the folder.

        Raises:
            Damaged: there are versions, and nothing says which is in use.
            KnowledgeBaseError: the folder cannot be created.
        """
        self.make()
        current = self.current()
        if current is None and (kept := [path.name for path in versions_in(self.folder) if _has_documents(path)]):
            raise Damaged(
                f"{self.folder} holds {', '.join(kept)}, but CURRENT is missing; write the name of the version in use"
                " into it"
            )
        self.clear(self.previous())
        with writing(self.folder):
            version = self.folder / f"v{max((int(path.name[1:]) for path in versions_in(self.folder)), default=0) + 1}"
            disk.mkdir(version)
            self._mark_unfinished(version)
            self._point("NEXT", version)
        return version

    def resume(self, version: Path) -> None:
        with writing(self.folder):
            self._mark_unfinished(version)
            self._point("NEXT", version)

    def clear(self, *keep: Path | None) -> None:
        self.make_durable()  # which may delete versions, too
        current = self.current()
        for path in [path for path in versions_in(self.folder) if path not in (current, *keep)]:
            with writing(self.folder):
                if not is_leased(path):
                    clear_away(path)

    def drop(self, version: Path) -> None:
        clear_away(version)

    def exists(self) -> bool:
        return self.folder.is_dir() and ((self.folder / "CURRENT").exists() or bool(self.versions()))

    def switch(self, version: Path) -> None:
        with writing(self.folder):
            sync_folder(version)
            if (current := self.current()) not in (None, version):
                self._point("PREVIOUS", current)
            self.point(version)
            sync_folder(self.folder.resolve().parent)
            with suppress(FileNotFoundError):
                disk.unlink(version / UNFINISHED)
            sync_folder(version)
            drop(self.folder / "NEXT")
        self.clear(self.previous())

    @property
    def is_durable(self) -> bool:
        version = self.current()
        return version is None or not (version / UNFINISHED).exists()

    def make_durable(self) -> None:
        # The last sync of a switch may have failed. Write the pointer again: repeating a failed sync proves nothing.
        version = self.current()
        if version and not self.is_durable:
            self.switch(version)

    def versions(self) -> list[Path]:
        """Return the versions that were in use and hold documents, or cannot be read."""
        return [path for path in versions_in(self.folder) if not (path / UNFINISHED).exists() and _has_documents(path)]

    def point(self, version: Path) -> None:
        """Name a version as the current one."""
        self._point("CURRENT", version)

    def make(self) -> None:
        create_folder(self.folder)

    def _mark_unfinished(self, version: Path) -> None:
        with new_file(version / UNFINISHED):
            pass
        sync_folder(version)

    def _point(self, pointer: str, version: Path) -> None:
        replace_file(self.folder / pointer, f"{version.name}\n".encode())

    def _named(self, pointer: str) -> Path | None:
        """Return the version that a pointer names, if it exists and is not the current one."""
        name = pointed(self.folder, pointer)
        version = self.folder / name
        exists = NAME.fullmatch(name) and (version / "catalog.db").is_file() and version != self.current()
        return version if exists else None


def _has_documents(version: Path) -> bool:
    try:
        catalog = open_catalog(version / "catalog.db")
    except NotFound:
        return False
    except KnowledgeBaseError:
        return not (version / UNFINISHED).exists()  # in doubt, nothing is deleted
    try:
        return catalog.counts().documents > 0
    finally:
        catalog.close()

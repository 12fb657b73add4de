"""The folder of a knowledge base: complete versions next to each other, and a file that names the current one.

    .ragstone/
      CURRENT        the name of the version in use
      NEXT           the name of the version that a rebuild makes, until it is in use
      PREVIOUS       the name of the version that was in use before
      ENGINES        the search engines in use, if that was decided for all users of the folder
      lock           held by the process that indexes
      journal.db     conversations, costs and opinions; a rebuild does not touch it
      v1/            catalog.db (the truth), terms/ and vectors/ (built from it)

A rebuild creates a new version and then renames ``CURRENT`` into place, so that a reader sees one version or the other,
complete. The old version stays, to be reverted to, until the next switch, and longer while a process reads it: whoever
opens a version holds a lock on its folder.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from ragstone.catalog.lock import Patience, indexing, rebuilding
from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog, open_catalog
from ragstone.core.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.storage.disk import clear_away, disk, drop, make_folder, new_file, replace_file, sync_folder
from ragstone.storage.files import is_public, pointed, read_json, write_json

LEGS = ("vectors", "keywords")
"""The legs of a search; each has an engine."""
UNFINISHED = "unfinished"
"""A file in a version that may not be the one in use. A crash may leave such a version in any state."""
MARKER = "catalog.json"
"""A file in a folder whose catalog is in PostgreSQL: it identifies that catalog."""
_TEMPORARY = re.compile(r"\.(CURRENT|NEXT|PREVIOUS|ENGINES|manifest\.json|journal\.db)\.[0-9]+(-wal|-shm)?")
_NAME = re.compile("v[1-9][0-9]*")


class VersionLease:
    """A version in use: its files stay until the lease is released."""

    def __init__(self, version: Path) -> None:
        self.version = version
        self._folder: int | None = os.open(version, os.O_RDONLY | os.O_CLOEXEC)
        with suppress(OSError):  # some network disks have no such locks
            fcntl.flock(self._folder, fcntl.LOCK_SH)

    def release(self) -> None:
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None


class Location:
    """Where a knowledge base is stored, and its versions. The folder need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_shared(self) -> bool:
        """Whether other hosts use the same catalog."""
        return False

    @property
    def address(self) -> str:
        """Where the catalog is; empty for the folder."""
        return ""

    def catalog(self, version: Path) -> Catalog:
        """Open the catalog of a version, and migrate it if its format is older.

        Raises:
            NotFound, Damaged, KnowledgeBaseError: it does not exist, is not a catalog, or is newer.
        """
        return open_catalog(version / "catalog.db")

    def create(self, built_with: Mapping[str, Any]) -> Path:
        """Create a new, empty version, which is not yet in use, and return its folder."""
        version = self.begin()
        create_catalog(version / "catalog.db", built_with).close()
        return version

    def indexing(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """Hold the lock that allows changes to the documents; see `ragstone.catalog.lock.indexing`."""
        return indexing(self.folder, patience)

    def rebuilding(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """Hold the lock that allows building and switching versions; documents can still be added."""
        return rebuilding(self.folder, patience)

    # ------------------------------------------------------------ versions

    def current(self) -> Path | None:
        """Return the folder of the version in use, or None if there is no knowledge base yet.

        Raises:
            Damaged: the named version does not exist.
            KnowledgeBaseError: the pointer cannot be read.
        """
        pointer = self.folder / "CURRENT"
        if not pointer.is_file():
            return None
        try:
            name = pointer.read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            raise KnowledgeBaseError(f"{pointer} cannot be read: {error}") from error
        version = self.folder / name
        if not _NAME.fullmatch(name) or not (version / "catalog.db").is_file():
            raise Damaged(f"{pointer} names '{name}', which does not exist; restore the folder from a backup")
        return version

    def lease(self) -> VersionLease | None:
        """Hold the version in use, or return None if there is no knowledge base yet."""
        while version := self.current():
            with suppress(FileNotFoundError):  # replaced and deleted at this moment
                lease = VersionLease(version)
                if self.current() == version:
                    return lease
                lease.release()
        return None

    def next(self) -> Path | None:
        """Return the version that a rebuild is making, or has made without switching to it."""
        return self._named("NEXT")

    def previous(self) -> Path | None:
        """Return the version that was in use before the current one."""
        return self._named("PREVIOUS")

    def begin(self) -> Path:
        """Create an empty folder for the next version, delete interrupted attempts, and return the folder.

        Raises:
            Damaged: there are versions, and nothing says which is in use.
            KnowledgeBaseError: the folder cannot be created.
        """
        self.make()
        current = self.current()
        if current is None and (kept := [path.name for path in self._all() if _has_documents(path)]):
            raise Damaged(
                f"{self.folder} holds {', '.join(kept)}, but CURRENT is missing; write the name of the version in use"
                " into it"
            )
        self.clear(keep=self.previous())
        with _writing(self.folder):
            version = self.folder / f"v{max((int(path.name[1:]) for path in self._all()), default=0) + 1}"
            disk.mkdir(version)
            self._mark_unfinished(version)
            self._point("NEXT", version)
        return version

    def resume(self, version: Path) -> None:
        """Make an earlier version the next one."""
        with _writing(self.folder):
            self._mark_unfinished(version)
            self._point("NEXT", version)

    def clear(self, keep: Path | None = None) -> None:
        """Delete all versions but the current one and ``keep``; one that is being read stays until another time."""
        self.make_durable()  # which may delete versions, too
        current = self.current()
        for path in [path for path in self._all() if path not in (current, keep)]:
            with _writing(self.folder):
                if not _is_leased(path):
                    clear_away(path)

    def drop(self, version: Path) -> None:
        """Delete a version that was not completed."""
        clear_away(version)

    def exists(self) -> bool:
        """Tell whether there is a knowledge base, or what is left of one."""
        return self.folder.is_dir() and ((self.folder / "CURRENT").exists() or bool(self.versions()))

    def switch(self, version: Path) -> None:
        """Make a version the current one, durably, and keep only the previous one of the others.

        Raises:
            KnowledgeBaseError: the switch failed; one of the two is in use, complete.
        """
        with _writing(self.folder):
            sync_folder(version)
            if (current := self.current()) not in (None, version):
                self._point("PREVIOUS", current)
            self.point(version)
            sync_folder(self.folder.resolve().parent)
            with suppress(FileNotFoundError):
                disk.unlink(version / UNFINISHED)
            sync_folder(version)
            drop(self.folder / "NEXT")
        self.clear(keep=self.previous())

    @property
    def is_durable(self) -> bool:
        """Whether the version in use would still be in use after a power cut."""
        version = self.current()
        return version is None or not (version / UNFINISHED).exists()

    def make_durable(self) -> None:
        """Make sure that a power cut cannot bring back another version; call it before acknowledging anything.

        The last sync of a switch may have failed. The pointer is then written again, because repeating a failed sync
        proves nothing.

        Raises:
            KnowledgeBaseError: it failed.
        """
        version = self.current()
        if version and not self.is_durable:
            self.switch(version)

    def versions(self) -> list[Path]:
        """Return the versions that were in use and hold documents, or cannot be read."""
        return [path for path in self._all() if not (path / UNFINISHED).exists() and _has_documents(path)]

    def point(self, version: Path) -> None:
        """Name a version as the current one."""
        self._point("CURRENT", version)

    # ------------------------------------------------------------ the folder

    def make(self) -> None:
        """Create the folder if it is missing.

        Raises:
            KnowledgeBaseError: it cannot be created.
        """
        with _writing(self.folder):
            make_folder(self.folder.absolute())

    def engines(self) -> dict[str, str]:
        """Return the engines in use, by leg; legs that are missing are decided by the settings."""
        named = read_json(self.folder / "ENGINES")
        return {leg: name for leg in LEGS if isinstance(name := named.get(leg), str)}

    def set_engines(self, engines: Mapping[str, str]) -> None:
        """Set, durably, the engines of all who have no other setting.

        Raises:
            KnowledgeBaseError: it failed; the earlier engines stay in use.
        """
        with _writing(self.folder):
            write_json(self.folder / "ENGINES", {**self.engines(), **engines})

    def leftovers(self) -> list[Path]:
        """Return what interrupted writes and rebuilds left; call it under the lock."""
        found = [path for path in self.folder.rglob(".*") if _TEMPORARY.fullmatch(path.name)]
        needed = (self.current(), self.next(), self.previous())
        return found + [path.parent for path in self.folder.glob(f"v*/{UNFINISHED}") if path.parent not in needed]

    def public_files(self) -> list[Path]:
        """Return the databases that every account of this machine can read."""
        files = [self.folder / "journal.db", *sorted(self.folder.glob("v*/catalog.db"))]
        return [path for path in files if is_public(path)]

    def _all(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

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
        exists = _NAME.fullmatch(name) and (version / "catalog.db").is_file() and version != self.current()
        return version if exists else None


def _is_leased(version: Path) -> bool:
    folder = os.open(version, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(folder)
    return False


@contextmanager
def _writing(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise KnowledgeBaseError(f"{folder} could not be written: {error}; earlier data is unchanged") from error


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

"""The folder of a knowledge base: complete versions side by side, and a file that names the current one.

    .ragstone/
      CURRENT        the name of the version in use
      NEXT           the name of the one that a rebuild makes, until it is in use
      PREVIOUS       the name of the one that was in use before
      ENGINES        which engines search, where that was settled for all who use it
      lock           held by the process that indexes
      journal.db     what people did with it: conversations, costs; a rebuild leaves it as it is
      v1/            catalog.db (the truth), terms/ and vectors/ (made from it)

A rebuild makes a new version beside the old one and then renames ``CURRENT`` into place, so that a
reader sees the one or the other, whole. The old one stays, to go back to, until the next switch, and longer where
somebody reads it still: whoever has a version open holds its folder.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from ragstone.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.index.catalog.any_catalog import AnyCatalog
from ragstone.index.catalog.lock import Patience, indexing, rebuilding
from ragstone.index.catalog.sqlite import Catalog
from ragstone.index.disk import clear_away, disk, drop, make_folder, new_file, replace_file, sync_folder
from ragstone.index.files import read_json, write_json

LEGS = ("vectors", "keywords")
"""Of the search; each has an engine."""
UNFINISHED = "unfinished"
"""A file in a version that is not yet the one in use, for all that is known. A crash may leave it in any state."""
MARKER = "catalog.json"
"""A file in a folder whose catalog is in PostgreSQL: which one it follows."""
_BESIDE = re.compile(r"\.(CURRENT|NEXT|PREVIOUS|ENGINES|manifest\.json|journal\.db)\.[0-9]+(-wal|-shm)?")
_NAME = re.compile("v[1-9][0-9]*")


class Held:
    """A version that is in use: while this is, its files stay."""

    def __init__(self, version: Path) -> None:
        self.version = version
        self._folder: int | None = os.open(version, os.O_RDONLY | os.O_CLOEXEC)
        with suppress(OSError):  # some network disks have no such locks
            fcntl.flock(self._folder, fcntl.LOCK_SH)

    def let_go(self) -> None:
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_shared(self) -> bool:
        """Whether other hosts use the same catalog."""
        return False

    @property
    def place(self) -> str:
        """Where the catalog is, if not in the folder."""
        return ""

    def catalog(self, version: Path) -> AnyCatalog:
        """The catalog of a version, opened; one of an older format is brought to the present one.

        Raises:
            NotFound, Damaged, KnowledgeBaseError: it is not there, is none, or is newer.
        """
        return Catalog(version / "catalog.db")

    def create(self, built_with: Mapping[str, Any]) -> Path:
        """A new, empty version; not yet the one in use."""
        version = self.begin()
        Catalog.create(version / "catalog.db", built_with).close()
        return version

    def indexing(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """Hold the lock of whoever changes what is stored; see `ragstone.index.catalog.lock.indexing`."""
        return indexing(self.folder, patience)

    def rebuilding(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """Hold the lock of whoever builds another version, or switches; it keeps nobody from adding."""
        return rebuilding(self.folder, patience)

    def current(self) -> Path | None:
        """The folder of the version in use; None where there is no knowledge base yet.

        Raises:
            Damaged: the named version is gone.
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
            raise Damaged(f"{pointer} names '{name}', which is not there; restore the folder from a copy")
        return version

    def enter(self) -> Held | None:
        """The version in use, held; None where there is no knowledge base yet."""
        while version := self.current():
            with suppress(FileNotFoundError):  # replaced, and cleared away, this very moment
                held = Held(version)
                if self.current() == version:
                    return held
                held.let_go()
        return None

    def next(self) -> Path | None:
        """The version that a rebuild is making, or has made and not switched to."""
        return self._named("NEXT")

    def previous(self) -> Path | None:
        """The version that was in use before the present one."""
        return self._named("PREVIOUS")

    def begin(self) -> Path:
        """An empty folder for the next version; interrupted attempts are cleared away.

        Raises:
            Damaged: there are versions, and nothing says which is in use.
            KnowledgeBaseError: it cannot be made.
        """
        self.make()
        current = self.current()
        if current is None and (kept := [path.name for path in self._all() if _holds_documents(path)]):
            raise Damaged(
                f"{self.folder} holds {', '.join(kept)}, but CURRENT is gone; write the name of the one in use into it"
            )
        self.clear(keep=self.previous())
        with _told(self.folder):
            version = self.folder / f"v{max((int(path.name[1:]) for path in self._all()), default=0) + 1}"
            disk.mkdir(version)
            with new_file(version / UNFINISHED):
                pass
            sync_folder(version)
            self._point("NEXT", version)
        return version

    def resume(self, version: Path) -> None:
        """Make an earlier version the one that comes next."""
        with _told(self.folder):
            with new_file(version / UNFINISHED):
                pass
            sync_folder(version)
            self._point("NEXT", version)

    def clear(self, keep: Path | None = None) -> None:
        """Remove every version but the one in use and the one to keep; one that is still read goes another time."""
        self.settle()  # which may clear away, too
        current = self.current()
        for path in [path for path in self._all() if path not in (current, keep)]:
            with _told(self.folder):
                if not _is_held(path):
                    clear_away(path)

    def drop(self, version: Path) -> None:
        """Remove a version that was not made whole."""
        clear_away(version)

    def holds_one(self) -> bool:
        """Whether there is a knowledge base, or what is left of one."""
        return self.folder.is_dir() and ((self.folder / "CURRENT").exists() or bool(self.versions()))

    def switch(self, version: Path) -> None:
        """Make a version the one in use; durable when this returns. Of the others, only the one before stays.

        Raises:
            KnowledgeBaseError: that could not be done; one of the two is in use, whole.
        """
        with _told(self.folder):
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
    def is_settled(self) -> bool:
        """Whether a power cut would leave the version in use in use."""
        version = self.current()
        return version is None or not (version / UNFINISHED).exists()

    def settle(self) -> None:
        """Make sure that a power cut brings back no other version than the one in use; before anything is acknowledged.

        A switch may have failed at its last sync. The pointer is then written again: syncing again what failed to
        sync would prove nothing.

        Raises:
            KnowledgeBaseError: that could not be done.
        """
        version = self.current()
        if version and not self.is_settled:
            self.switch(version)

    def engines(self) -> dict[str, str]:
        """The engines of the legs for which one was taken into use; those of others are left to the settings."""
        named = read_json(self.folder / "ENGINES")
        return {leg: name for leg in LEGS if isinstance(name := named.get(leg), str)}

    def take_into_use(self, engines: Mapping[str, str]) -> None:
        """From now on these engines are asked by all who have no other setting; durable when this returns.

        Raises:
            KnowledgeBaseError: that could not be done; those before are asked.
        """
        with _told(self.folder):
            write_json(self.folder / "ENGINES", {**self.engines(), **engines})

    def make(self) -> None:
        """The folder itself, where there is none yet.

        Raises:
            KnowledgeBaseError: it cannot be made.
        """
        with _told(self.folder):
            make_folder(self.folder.absolute())

    def versions(self) -> list[Path]:
        """Versions that were in use and hold documents, or of which that cannot be told."""
        return [path for path in self._all() if not (path / UNFINISHED).exists() and _holds_documents(path)]

    def leftovers(self) -> list[Path]:
        """What interrupted writes and rebuilds left behind; only under the lock is it nobody's."""
        found = [path for path in self.folder.rglob(".*") if _BESIDE.fullmatch(path.name)]
        needed = (self.current(), self.next(), self.previous())
        return found + [path.parent for path in self.folder.glob(f"v*/{UNFINISHED}") if path.parent not in needed]

    def point(self, version: Path) -> None:
        """Name a version as the one in use."""
        self._point("CURRENT", version)

    def _all(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def _point(self, pointer: str, version: Path) -> None:
        replace_file(self.folder / pointer, f"{version.name}\n".encode())

    def _named(self, pointer: str) -> Path | None:
        """What a pointer names, where that is there and is not the version in use."""
        try:
            name = (self.folder / pointer).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None
        version = self.folder / name
        there = _NAME.fullmatch(name) and (version / "catalog.db").is_file() and version != self.current()
        return version if there else None


def _is_held(version: Path) -> bool:
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
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise KnowledgeBaseError(
            f"{folder} could not be written: {error}; what was stored before is as it was"
        ) from error


def _holds_documents(version: Path) -> bool:
    try:
        catalog = Catalog(version / "catalog.db")
    except NotFound:
        return False
    except KnowledgeBaseError:
        return not (version / UNFINISHED).exists()  # where it cannot be told, nothing is thrown away
    try:
        return catalog.counts().documents > 0
    finally:
        catalog.close()

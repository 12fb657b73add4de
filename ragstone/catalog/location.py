"""The storage of a knowledge base: its versions and locks, and the files of a host's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ragstone.catalog.lock import Patience
from ragstone.catalog.protocol import Catalog
from ragstone.core.errors import KnowledgeBaseError
from ragstone.storage import locks
from ragstone.storage.disk import make_folder
from ragstone.storage.files import is_public
from ragstone.storage.shelf import Shelf

if TYPE_CHECKING:
    from ragstone.services.postgres import Server

LEGS = ("vectors", "keywords")
"""The legs of a search; each has an engine."""
UNFINISHED = "unfinished"
"""A file in a version that may not be the one in use. A crash may leave such a version in any state."""
MARKER = "catalog.json"
"""A file in a folder whose catalog is in PostgreSQL: it identifies that catalog."""
NAME = re.compile("v[1-9][0-9]*")
"""The name of a version."""
_TEMPORARY = re.compile(r"\.(CURRENT|NEXT|PREVIOUS|ENGINES|manifest\.json|journal\.db)\.[0-9]+(-wal|-shm)?")

T = TypeVar("T")


class VersionLease:
    """A version in use: its files stay until the lease is released."""

    def __init__(self, version: Path) -> None:
        self.version = version
        self._held = ExitStack()
        folder = locks.open_folder(version)
        self._held.callback(os.close, folder)
        with suppress(OSError):  # some network disks have no such locks
            locks.lock(folder, shared=True, wait=True)

    def hold(self, more: AbstractContextManager[T]) -> T:
        """Enter a context that ends with the lease."""
        return self._held.enter_context(more)

    def release(self) -> None:
        self._held.close()


class Location(Protocol):
    """The storage of a knowledge base, and its versions. It need not exist yet.

    A version is named by its folder on this host. Every method may raise `KnowledgeBaseError`.
    """

    @property
    def folder(self) -> Path:
        """The folder of this host."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether other hosts use the same catalog."""
        ...

    @property
    def address(self) -> str:
        """The address of the catalog; empty for the folder."""
        ...

    def server(self, part: str) -> tuple[Server, str] | None:
        """Return new connections to a schema for this part of the knowledge base, and its name; None for a folder."""
        ...

    @property
    def shelf(self) -> Shelf:
        """The store of small records that all users of the catalog share."""
        ...

    def make(self) -> None:
        """Create the place if it is missing."""
        ...

    def exists(self) -> bool:
        """Return whether there is a knowledge base, or the remains of one."""
        ...

    def catalog(self, version: Path) -> Catalog:
        """Open the catalog of a version.

        Raises:
            NotFound, Damaged, KnowledgeBaseError: it does not exist, is not a catalog, or has another format.
        """
        ...

    def indexing(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """Hold the lock that allows changes to the documents; see `ragstone.catalog.lock.indexing`."""
        ...

    def rebuilding(self, patience: Patience | None = None) -> AbstractContextManager[None]:
        """Hold the lock that allows building and switching versions; documents can still be added."""
        ...

    def current(self) -> Path | None:
        """Return the version in use, or None if there is no knowledge base yet.

        Raises:
            Damaged: the named version does not exist.
        """
        ...

    def next(self) -> Path | None:
        """Return the version that a rebuild is making, or has made without switching to it."""
        ...

    def previous(self) -> Path | None:
        """Return the version that was in use before the current one."""
        ...

    def lease(self) -> VersionLease | None:
        """Hold the version in use, or return None if there is no knowledge base yet."""
        ...

    def create(self, built_with: Mapping[str, Any]) -> Path:
        """Create a new, empty version, which is not yet in use, and return its folder."""
        ...

    def resume(self, version: Path) -> None:
        """Make an earlier version the next one."""
        ...

    def switch(self, version: Path) -> None:
        """Make a version the current one, durably, and delete all others except the previous one.

        Raises:
            KnowledgeBaseError: the switch failed; one of the two is in use, complete.
        """
        ...

    def drop(self, version: Path) -> None:
        """Delete a version that was not completed."""
        ...

    def clear(self, *keep: Path | None) -> None:
        """Delete all versions but the current one and these; one that is being read stays until another time."""
        ...

    @property
    def is_durable(self) -> bool:
        """Whether the version in use would still be in use after a power cut."""
        ...

    def make_durable(self) -> None:
        """Make sure that a power cut cannot bring back another version; call it before acknowledging anything."""
        ...


# ---------------------------------------------------------------- the folder of a host


def create_folder(folder: Path) -> None:
    """Create the folder if it is missing.

    Raises:
        KnowledgeBaseError: it cannot be created.
    """
    with writing(folder):
        make_folder(folder.absolute())


def engines_in_use(shelf: Shelf) -> dict[str, str]:
    """Return the engines in use, by leg; legs that are missing are decided by the settings."""
    named = shelf.read("ENGINES")
    return {leg: name for leg in LEGS if isinstance(name := named.get(leg), str)}


def set_engines(shelf: Shelf, chosen: Mapping[str, str]) -> None:
    """Set, durably, the engines of all users without their own setting.

    Raises:
        KnowledgeBaseError: it failed; the earlier engines stay in use.
    """
    shelf.write("ENGINES", {**engines_in_use(shelf), **chosen})


def leftovers(location: Location) -> list[Path]:
    """Return the leftovers of interrupted writes and rebuilds; call it under the lock."""
    found = [path for path in location.folder.rglob(".*") if _TEMPORARY.fullmatch(path.name)]
    needed = (location.current(), location.next(), location.previous())
    return found + [path.parent for path in location.folder.glob(f"v*/{UNFINISHED}") if path.parent not in needed]


def public_files(folder: Path) -> list[Path]:
    """Return the databases that every account of this machine can read."""
    files = [folder / "journal.db", *sorted(folder.glob("v*/catalog.db"))]
    return [path for path in files if is_public(path)]


def versions_in(folder: Path) -> list[Path]:
    """Return the folders of all versions, in use or not."""
    return sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))


def is_leased(version: Path) -> bool:
    """Return whether a process of this host holds a version."""
    folder = locks.open_folder(version)
    try:
        locks.lock(folder)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(folder)
    return False


@contextmanager
def writing(folder: Path) -> Generator[None]:
    """Translate the errors of writing into a folder."""
    try:
        yield
    except OSError as error:
        raise KnowledgeBaseError(f"{folder} could not be written: {error}; earlier data is unchanged") from error

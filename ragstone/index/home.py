"""The folder of a knowledge base: complete versions side by side, and a file that names the current one.

    .ragstone/
      CURRENT        the name of the version in use
      lock           held by the process that indexes
      v1/            catalog.db (the truth), terms/ and vectors/ (made from it)

A rebuild makes a new version beside the old one and then renames ``CURRENT`` into place, so that a
reader sees the one or the other, whole. The old one stays until the next rebuild, for those who read it still.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from ragstone.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.index.catalog import Catalog
from ragstone.index.files import replace_text, sync_folder

_NAME = re.compile("v[1-9][0-9]*")


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def current(self) -> Path | None:
        """The folder of the version in use; None where there is no knowledge base yet.

        Raises:
            Damaged: the named version is gone.
        """
        pointer = self.folder / "CURRENT"
        if not pointer.is_file():
            return None
        name = pointer.read_text(encoding="utf-8", errors="replace").strip()
        version = self.folder / name
        if not _NAME.fullmatch(name) or not (version / "catalog.db").is_file():
            raise Damaged(f"{pointer} names '{name}', which is not there; restore the folder from a copy")
        return version

    def begin(self) -> Path:
        """An empty folder for the next version; what earlier versions and interrupted attempts left is cleared away.

        Raises:
            Damaged: there are versions, and nothing says which is in use.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        current = self.current()
        others = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name) and path != current]
        if current is None and (kept := sorted(path.name for path in others if _holds_documents(path))):
            raise Damaged(
                f"{self.folder} holds {', '.join(kept)}, but CURRENT is gone; write the name of the one in use into it"
            )
        for path in others:
            shutil.rmtree(path, ignore_errors=True)
        version = self.folder / f"v{int(current.name[1:]) + 1 if current else 1}"
        version.mkdir()
        return version

    def switch(self, version: Path) -> None:
        """Make a version the one in use; durable when this returns."""
        sync_folder(version)
        replace_text(self.folder / "CURRENT", version.name + "\n")
        sync_folder(self.folder.resolve().parent)


def _holds_documents(version: Path) -> bool:
    try:
        catalog = Catalog(version / "catalog.db")
    except NotFound:
        return False
    except KnowledgeBaseError:
        return True  # it cannot be told, so nothing is thrown away
    try:
        return catalog.counts().documents > 0
    finally:
        catalog.close()

"""Which servers of a knowledge base run: each holds a locked file, which is released when its process ends."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import IO

from ragstone.core.errors import KnowledgeBaseError
from ragstone.storage import locks


class InstanceLock:
    """Shows other servers of a knowledge base that this one runs."""

    def __init__(self, folder: Path) -> None:
        """Take the lock, in the folder of the knowledge base.

        Raises:
            KnowledgeBaseError: the folder cannot be written.
        """
        self._folder = folder / "servers"
        try:
            self._folder.mkdir(exist_ok=True)
            self.id = f"{_host(folder)}-{secrets.token_hex(8)}"
            unlocked = self._folder / f".{self.id}"
            self._file = unlocked.open("w", encoding="utf-8")
            locks.lock(self._file)
            unlocked.rename(self._folder / self.id)  # others never see it unlocked
        except OSError as error:
            raise KnowledgeBaseError(f"{folder} cannot be written: {error}") from error

    def running(self) -> set[str]:
        """Return the ids of the servers that run, this one included, and delete the files of the others."""
        out = {self.id}
        for path in self._folder.iterdir():
            if path.name != self.id and not path.name.startswith("."):
                with suppress(OSError), path.open("r+", encoding="utf-8") as file:  # it may be deleted meanwhile
                    if _is_locked(file):
                        out.add(path.name)
                    else:
                        path.unlink(missing_ok=True)
        return out

    def close(self) -> None:
        """Release the lock."""
        (self._folder / self.id).unlink(missing_ok=True)
        self._file.close()


def _host(folder: Path) -> str:
    """Return what tells the folder of this host from those of others; the first call draws it."""
    file, draft = folder / "host", folder / f".host-{secrets.token_hex(4)}"
    if not file.is_file():
        draft.write_text(secrets.token_hex(4), encoding="ascii")
        with suppress(FileExistsError):
            os.link(draft, file)  # whole or not at all, and only the first
        draft.unlink()
    return file.read_text(encoding="ascii")


def _is_locked(file: IO[str]) -> bool:
    try:
        locks.lock(file)
    except OSError:
        return True
    return False

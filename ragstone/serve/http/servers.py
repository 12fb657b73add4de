"""Which servers of a knowledge base live: each holds a lock on a file of its own, which dies with its process."""

from __future__ import annotations

import fcntl
import secrets
from pathlib import Path
from typing import IO

from ragstone.errors import KnowledgeBaseError


class Sign:
    """The sign of life of one server."""

    def __init__(self, folder: Path) -> None:
        """Give the sign, in the folder of the knowledge base.

        Raises:
            KnowledgeBaseError: the folder cannot be written.
        """
        self.server = secrets.token_hex(8)
        self._folder = folder / "servers"
        try:
            self._folder.mkdir(exist_ok=True)
            self._file = (self._folder / self.server).open("w", encoding="utf-8")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise KnowledgeBaseError(f"{folder} cannot be written: {error}") from error

    def alive(self) -> set[str]:
        """The servers that live, this one among them; the signs of others are cleared away."""
        out = {self.server}
        for path in self._folder.iterdir():
            if path.name != self.server:
                try:
                    with path.open("r+", encoding="utf-8") as file:
                        if _is_held(file):
                            out.add(path.name)
                        else:
                            path.unlink(missing_ok=True)
                except OSError:  # it went meanwhile
                    continue
        return out

    def close(self) -> None:
        """Take the sign away."""
        (self._folder / self.server).unlink(missing_ok=True)
        self._file.close()


def _is_held(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False

"""Locks on a knowledge base, one to index and one to rebuild, that end with their process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from ragstone.core.errors import KnowledgeBaseError, Locked
from ragstone.storage import locks
from ragstone.storage.disk import private

PAUSE = 0.1
"""Seconds between two tries for a lock."""
GRACE = 0.3
"""Seconds that every caller waits: a new holder may not have written its name yet."""
QUESTION = 60.0
"""Seconds to wait for a question that updates the keyword index; it is done soon."""


class Patience:
    """How long to wait for another indexer; ``tell`` is called once with a message that names it."""

    def __init__(self, seconds: float = 0.0, tell: Callable[[str], None] | None = None) -> None:
        self._seconds, self._tell = seconds, tell

    def endless(self) -> Patience:
        """Return the same without a limit."""
        return Patience(float("inf"), self._tell)

    def pauses(self) -> Callable[[Locked], float]:
        """Return a function for one wait: after a refusal, it returns the seconds until the next try, or raises it."""
        start, announced = time.monotonic(), False

        def pause(refusal: Locked) -> float:
            nonlocal announced
            waited, asking = time.monotonic() - start, refusal.holder.startswith(_ASKING)
            if self._seconds < 0 or waited >= max(self._seconds, QUESTION if asking else GRACE):
                raise refusal
            if self._tell and not announced and waited > GRACE:
                self._tell(f"waiting for {refusal.holder}, which is indexing {refusal.folder}")
                announced = True
            return PAUSE

        return pause


ONCE = Patience(-1)
"""Try once."""
_ASKING = "a question in "


@contextmanager
def indexing(folder: Path, patience: Patience | None = None, *, asking: bool = False) -> Generator[None]:
    """Hold the lock that allows changes to the documents; ``asking`` holds it for a moment, to answer a question.

    Raises:
        Locked: another process held it until the patience ended; the message names it.
        KnowledgeBaseError: the folder cannot be written.
    """
    with _held(folder, "lock", "indexed", patience, _ASKING if asking else ""):
        yield


@contextmanager
def rebuilding(folder: Path, patience: Patience | None = None) -> Generator[None]:
    """Hold the lock that allows building and switching versions; documents can still be added.

    Raises:
        Locked, KnowledgeBaseError: as for `indexing`.
    """
    with _held(folder, "rebuild.lock", "rebuilt", patience):
        yield


@contextmanager
def evaluating(folder: Path) -> Generator[None]:
    """Hold the lock that allows evaluating votes; nobody waits for it.

    Raises:
        Locked, KnowledgeBaseError: as for `indexing`.
    """
    with _held(folder, "learning.lock", "evaluated", ONCE):
        yield


@contextmanager
def _held(folder: Path, name: str, doing: str, patience: Patience | None, why: str = "") -> Generator[None]:
    try:
        lock = open(folder / name, "a+", encoding="utf-8", errors="replace", opener=private)  # noqa: SIM115
    except OSError as error:
        raise KnowledgeBaseError(f"{folder} cannot be written: {error}") from error
    with lock as file:
        pause = (patience or Patience()).pauses()
        while True:
            try:
                locks.lock(file)
                break
            except BlockingIOError:
                file.seek(0)
                time.sleep(pause(Locked(folder, file.read().strip() or "another process", doing)))
            except OSError as error:
                raise KnowledgeBaseError(f"{folder}/{name} cannot be locked: {error}") from error
        with suppress(OSError):  # the name is only for messages; on a full disk the lock holds without it
            file.truncate(0)
            file.write(
                f"{why}process {os.getpid()} ({Path(sys.argv[0]).name}) since {datetime.now():%Y-%m-%d %H:%M:%S}"
            )
            file.flush()
        yield

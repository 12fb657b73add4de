"""One indexer at a time, and one who rebuilds: locks on a knowledge base that die with their process."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from ragstone.errors import KnowledgeBaseError, Locked

PAUSE = 0.1
"""Seconds between two tries of who waits for the lock."""
GRACE = 0.3
"""Everybody waits so long: who has just got the lock may not have left its name yet."""
QUESTION = 60.0
"""And so long for a question that brings the keyword index up to date; it is no indexer, and soon done."""


class Patience:
    """How long to wait for another indexer; ``tell`` is told once whom for."""

    def __init__(self, seconds: float = 0.0, tell: Callable[[str], None] | None = None) -> None:
        self._seconds, self._tell = seconds, tell

    def endless(self) -> Patience:
        """The same for who will not give up."""
        return Patience(float("inf"), self._tell)

    def pauses(self) -> Callable[[Locked], float]:
        """For one wait: gives the seconds to the next try after each refusal, and raises the last one."""
        start, told = time.monotonic(), False

        def pause(refusal: Locked) -> float:
            nonlocal told
            waited, asking = time.monotonic() - start, refusal.holder.startswith(_ASKING)
            if self._seconds < 0 or waited >= max(self._seconds, QUESTION if asking else GRACE):
                raise refusal
            if self._tell and not told and waited > GRACE:
                self._tell(f"waiting for {refusal.holder}, who is indexing {refusal.folder}")
                told = True
            return PAUSE

        return pause


ONCE = Patience(-1)
"""For one try."""
_ASKING = "a question in "


@contextmanager
def indexing(folder: Path, patience: Patience | None = None, *, asking: bool = False) -> Iterator[None]:
    """Hold the lock of a knowledge base; ``asking``: only for a moment, to answer a question.

    Raises:
        Locked: another process holds it, and did for as long as one was to wait; the message says which.
        KnowledgeBaseError: the folder cannot be written.
    """
    with _held(folder, "lock", "indexed", patience, _ASKING if asking else ""):
        yield


@contextmanager
def rebuilding(folder: Path, patience: Patience | None = None) -> Iterator[None]:
    """Hold the lock of whoever builds another version, or switches; it keeps nobody from adding.

    Raises:
        Locked, KnowledgeBaseError: as of `indexing`.
    """
    with _held(folder, "rebuild.lock", "rebuilt", patience):
        yield


@contextmanager
def evaluating(folder: Path) -> Iterator[None]:
    """Hold the lock of whoever evaluates opinions; no one waits for it.

    Raises:
        Locked, KnowledgeBaseError: as of `indexing`.
    """
    with _held(folder, "learning.lock", "evaluated", ONCE):
        yield


@contextmanager
def _held(folder: Path, name: str, doing: str, patience: Patience | None, why: str = "") -> Iterator[None]:
    try:
        lock = (folder / name).open("a+", encoding="utf-8", errors="replace")
    except OSError as error:
        raise KnowledgeBaseError(f"{folder} cannot be written: {error}") from error
    with lock as file:
        pause = (patience or Patience()).pauses()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                file.seek(0)
                time.sleep(pause(Locked(folder, file.read().strip() or "another process", doing)))
            except OSError as error:
                raise KnowledgeBaseError(f"{folder}/{name} cannot be locked: {error}") from error
        with suppress(OSError):  # the name is a courtesy to others; on a full disk the lock holds without it
            file.truncate(0)
            file.write(
                f"{why}process {os.getpid()} ({Path(sys.argv[0]).name}) since {datetime.now():%Y-%m-%d %H:%M:%S}"
            )
            file.flush()
        yield

"""One indexer at a time: a lock on a knowledge base that dies with its process."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from ragstone.errors import KnowledgeBaseError, Locked


@contextmanager
def indexing(folder: Path) -> Iterator[None]:
    """Hold the lock of a knowledge base.

    Raises:
        Locked: another process holds it; the message says which.
        KnowledgeBaseError: the folder cannot be written.
    """
    try:
        lock = (folder / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise KnowledgeBaseError(f"{folder} cannot be written: {error}") from error
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise Locked(f"{folder} is being indexed by {holder}; try again when that is done") from error
        file.truncate(0)
        file.write(f"process {os.getpid()} ({Path(sys.argv[0]).name}) since {datetime.now():%Y-%m-%d %H:%M:%S}")
        file.flush()
        yield

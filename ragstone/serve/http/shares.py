"""How many connections each of several processes holds, in memory that all of them map, so that each gets its share.

All of them are woken for a new connection, and the first one takes it. Without this, an idle process would take all
connections that arrive together, and clients keep them open.
"""

from __future__ import annotations

import mmap
import socket
import time
from array import array
from pathlib import Path

YIELD_SECONDS = 0.0005
"""How long a process that holds more connections than another one leaves a new one to the others."""
_NOT_SERVING = -1


class Shares:
    """The connections of all processes; each has a number of its own."""

    def __init__(self, path: Path) -> None:
        """Map the file that `make` has made."""
        with path.open("r+b") as file:
            self._counts = memoryview(mmap.mmap(file.fileno(), 0)).cast("i")

    @classmethod
    def make(cls, path: Path, processes: int) -> Shares:
        """Make the file for so many processes, none of which serves yet."""
        path.write_bytes(array("i", [_NOT_SERVING] * processes).tobytes())
        return cls(path)

    def note(self, process: int, connections: int) -> None:
        """Note how many connections a process holds."""
        self._counts[process] = connections

    def add(self, process: int) -> None:
        """Note that a process has accepted a connection."""
        self._counts[process] = max(self._counts[process], 0) + 1

    def drop(self, process: int) -> None:
        """Note that a process accepts no more connections."""
        self._counts[process] = _NOT_SERVING

    def is_ahead(self, process: int) -> bool:
        """Return whether another process that serves holds fewer connections."""
        own = self._counts[process]
        return any(_NOT_SERVING < other < own for other in self._counts)


class Inherited(socket.socket):
    """The socket of the supervisor, which listens already, as a process accepts connections from it."""

    def __init__(self, fileno: int, shares: Shares, process: int) -> None:
        """Take the descriptor of the socket, and whose connections are counted."""
        super().__init__(fileno=fileno)
        self._shares, self._process = shares, process

    def listen(self, backlog: int = 0, /) -> None:
        """Do nothing: listening again would shorten the queue of the socket to what this process asks for."""

    def accept(self) -> tuple[socket.socket, object]:
        """Return a connection, unless another process with fewer of them takes it.

        Raises:
            BlockingIOError: there is none any more.
        """
        if self._shares.is_ahead(self._process):
            time.sleep(YIELD_SECONDS)
        accepted = super().accept()
        self._shares.add(self._process)
        return accepted

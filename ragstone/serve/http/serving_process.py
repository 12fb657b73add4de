"""One of several processes that serve a knowledge base: `supervisor` starts it and tells it what to serve.

The processes share the listening socket of the supervisor. It is inherited, not opened again with SO_REUSEPORT: a
connection that waits to be accepted then belongs to no process, so it survives a process that is killed or replaced,
and a process that is busy takes no new one.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from ragstone.core.frozen import frozen
from ragstone.serve.http.shares import Inherited, Shares

READY = b"ready"
"""What a process sends its supervisor once a question would not wait for models to load."""
_MAX_BYTES = 1 << 20


@frozen
class Launch:
    """What a process serves. It is sent over a socket, because settings may contain secrets.

    ``listener`` is the descriptor of the listening socket; ``certificate`` and ``key`` are the files of TLS, or empty.
    ``shares`` is the file that counts connections, in which the process has the number ``number``.
    A process with ``warm_first`` accepts connections only once its models are loaded.
    """

    kb: str
    preset: str | None
    overrides: tuple[str, ...]
    listener: int
    certificate: str
    key: str
    shares: str
    number: int
    place: int
    processes: int
    warm_first: bool

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Launch:
        known = json.loads(line)
        return cls(**known | {"overrides": tuple(known["overrides"])})


class Control:
    """The connection between a process and its supervisor. It ends when either of them does."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def launch(self) -> Launch:
        """Wait for what to serve."""
        with self._connection.makefile("rb") as file:
            return Launch.from_json(file.readline(_MAX_BYTES))

    def tell_ready(self) -> None:
        """Tell the supervisor that a question would not wait."""
        self._connection.send(READY)

    @property
    def is_lost(self) -> bool:
        """Whether the supervisor has ended."""
        try:
            return not self._connection.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True


def main() -> None:
    """Serve until the supervisor says otherwise or ends; an error becomes one line on standard error."""
    from ragstone.serve.cli import screen

    control = Control(socket.socket(fileno=int(sys.argv[1])))
    try:
        _serve(control.launch(), control)
    except Exception as error:
        message, code = screen.explain(error)
        screen.write_error(message)
        sys.exit(code)


def _serve(launch: Launch, control: Control) -> None:
    from ragstone.engine.knowledge_base import KnowledgeBase
    from ragstone.serve.http.server import serve_inherited

    os.set_inheritable(launch.listener, False)
    shares = Shares(Path(launch.shares))
    with (
        closing(KnowledgeBase.open(Path(launch.kb), launch.overrides, preset=launch.preset)) as engine,
        Inherited(launch.listener, shares, launch.number) as bound,
    ):
        serve_inherited(engine, bound, launch, control, shares)


if __name__ == "__main__":
    main()

"""Running commands as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parent.parent.parent
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    f"sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli.app import main; main()"
)
"""Python code that runs a command. It handles Ctrl-C even if the tests were started with SIGINT ignored."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a command did. ``json`` is its standard output, which must then hold nothing else."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Run(Protocol):
    def __call__(self, *words: str, typed: str = "") -> Result: ...


def program(*words: str | bytes, typed: bytes = b"", **options: Any) -> Result:
    """Run a command in a process of its own, where a warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", START, *words],
        input=typed,
        capture_output=True,
        timeout=120,
        check=False,
        **{"env": environment(), **options},
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONUTF8": "1", **more}

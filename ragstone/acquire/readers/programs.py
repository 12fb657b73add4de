"""Programs that read files for Ragstone, such as LibreOffice and groff, run without anything of the user's own.

They share the limits of the process that parses files, and end with it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

_OFFICE = ("soffice", "libreoffice")
_MANUALS = ("mandoc", "groff")


def office() -> tuple[str, ...]:
    """Return the paths of LibreOffice and of what takes its network away; nothing if LibreOffice is not installed."""
    found = _first(_OFFICE)
    return tuple(path for path in (found, which("unshare")) if path) if found else ()


def manuals() -> str:
    """Return the path of the program that reads manual pages; empty if there is none."""
    return _first(_MANUALS)


def run(command: Sequence[str], home: Path, given: bytes = b"") -> tuple[int, bytes]:
    """Run a program to its end.

    Args:
        command: the program and its arguments.
        home: an empty folder, for its settings and temporary files.
        given: its input.

    Returns:
        Its exit status and its output.
    """
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(home)}
    quiet, pipe = subprocess.DEVNULL, subprocess.PIPE
    done = subprocess.run(command, input=given, stdout=pipe, stderr=quiet, env=environment, cwd=home, check=False)
    return done.returncode, done.stdout


def _first(names: Sequence[str]) -> str:
    return next((path for name in names if (path := which(name))), "")

"""The files under a folder, in a stable order, and their names as text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ragstone.core.records import Skipped

LEFT_OUT = frozenset({"node_modules", "__pycache__"})
"""Folders that programs fill with copies of other people's files."""


def files_under(root: Path) -> Iterator[Path | Skipped]:
    """Yield every file under a folder, sorted by name, except those whose name begins with a dot.

    Folders of installed or compiled code (`LEFT_OUT`) are left out, too.

    A link to a folder elsewhere is followed once. A link to a folder inside is not followed, because that folder is
    read in its own place; so the walk enters no loop of links.
    """
    yield from _walk(root, root.resolve(), set())


def is_passed_over(name: str) -> bool:
    """Return whether a file or folder of this name is left out without a word: a hidden one, or installed code."""
    return name.startswith(".") or name in LEFT_OUT


def printable(path: Path | str) -> str:
    """Return a path as text that can be stored: bytes of the name that are not UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _walk(folder: Path, root: Path, followed: set[Path]) -> Iterator[Path | Skipped]:
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        yield Skipped(source=printable(folder), reason=error.strerror or str(error))
        return
    for path in entries:
        if is_passed_over(path.name) or _is_knowledge_base(path):
            continue
        if not _is_folder(path):
            yield path
        elif not path.is_symlink():
            yield from _walk(path, root, followed)
        else:
            target = path.resolve()
            if not target.is_relative_to(root) and target not in followed:
                followed.add(target)
                yield from _walk(path, root, followed)


def _is_knowledge_base(path: Path) -> bool:
    """Return whether a folder is a knowledge base; one kept among its documents is not one of them."""
    return (path / "CURRENT").is_file() and (path / "lock").is_file()


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # Reading it as a file reports the reason.

"""The files under a folder, in a stable order, and their names as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ragstone.core.records import Skipped

LEFT_OUT = frozenset({"node_modules", "__pycache__"})
"""Folders that programs fill with copies of other people's files."""
_OUTSIDE = "a link that leads out of the folder; add what it leads to by its own path"


def files_under(root: Path) -> Iterator[Path | Skipped]:
    """Yield every file under a folder, sorted by name, except those whose name begins with a dot.

    Folders of installed or compiled code (`LEFT_OUT`) are left out, too.

    A link that leads out of the folder is reported and not followed. If it were, whoever may write into a shared folder
    would decide what else is read. A link to a folder inside is not followed, because that folder is read in its own
    place; so the walk enters no loop of links.
    """
    yield from _walk(root, root.resolve())


def is_passed_over(name: str) -> bool:
    """Return whether a file or folder of this name is left out without a word: a hidden one, or installed code."""
    return name.startswith(".") or name in LEFT_OUT


def printable(path: Path | str) -> str:
    """Return a path as text that can be stored: bytes of the name that are not UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _walk(folder: Path, root: Path) -> Iterator[Path | Skipped]:
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        yield Skipped(source=printable(folder), reason=error.strerror or str(error))
        return
    for path in entries:
        if is_passed_over(path.name) or _is_knowledge_base(path):
            continue
        if (is_link := _is(path.is_symlink)) and _leads_out(path, root):
            yield Skipped(source=printable(path), reason=_OUTSIDE)
        elif not _is(path.is_dir):
            yield path
        elif not is_link:
            yield from _walk(path, root)


def _leads_out(link: Path, root: Path) -> bool:
    """Return whether a link leads to something outside of a folder; a broken link leads nowhere."""
    try:
        return link.exists() and not link.resolve().is_relative_to(root)
    except (OSError, RuntimeError):
        return False  # Reading it reports the reason.


def _is_knowledge_base(path: Path) -> bool:
    """Return whether a folder is a knowledge base; one kept among its documents is not one of them."""
    return _is((path / "CURRENT").is_file) and _is((path / "lock").is_file)


def _is(look: Callable[[], bool]) -> bool:
    """Return what a look at a path says; False if this account may not look: reading the path reports the reason."""
    try:
        return look()
    except OSError:
        return False

"""Stamps: the state of a file or entry and of the settings it is read with. What keeps its stamp is not read again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from ragstone.core.source import Entry
from ragstone.settings import AccessSettings, AcquireSettings
from ragstone.settings.acquire import CaptionSettings

_VERSION = 8
"""Increase it when files would give other documents than before, so that they are read again."""

IsStored = Callable[[str, str], bool]
"""Return whether all documents of a source are stored, as they were when the source had this stamp."""


def never_stored(_source: str, _stamp: str) -> bool:
    return False


def fingerprint(settings: AcquireSettings, groups: tuple[str, ...] = ()) -> str:
    """Return a hash that changes with the groups of a connection and every setting that changes what files say."""
    unset = {"access"} if settings.access == AccessSettings() else set[str]()
    unset |= set[str]() if settings.readers else {"readers"}
    unset |= {"captions"} if settings.captions == CaptionSettings() else set[str]()
    settings = settings.model_copy(update={"sources": ()})
    relevant = settings.model_dump_json(exclude={"crawl", "sites", "connections", "remote", *unset})
    return hashlib.sha256(f"{_VERSION} {relevant} {';'.join(groups)}".encode()).hexdigest()[:16]


def stamp_of_file(path: Path, settings_hash: str) -> str:
    """Return the stamp of a file; empty if the file has no state."""
    try:
        state = path.stat()
    except OSError:
        return ""
    return f"{settings_hash} {state.st_size} {state.st_mtime_ns}"


def stamp_of_entry(entry: Entry, settings_hash: str) -> str:
    """Return the stamp of what a source lists; empty if the source does not know the version.

    It covers the groups and all that the source says of the entry, which may change while the content does not.
    """
    if not entry.version:
        return ""
    known = json.dumps(asdict(entry), sort_keys=True, default=list)
    return f"{settings_hash} {hashlib.sha256(known.encode('utf-8', 'replace')).hexdigest()[:32]}"


def is_unchanged(stamp: str, state: os.stat_result) -> bool:
    """Return whether a file is in the state that it had when it was read, by the stamp that its reading ended with."""
    return stamp.split(" ")[1:] == [str(state.st_size), str(state.st_mtime_ns)]


def size_in(stamp: str) -> int:
    """Return the bytes that a file had when it was read, by the stamp that its reading ended with."""
    return int(stamp.split(" ")[1])

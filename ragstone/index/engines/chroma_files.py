"""Cleans the folder of an embedded Chroma, which leaves in it what nothing uses any more.

Chroma keeps the files of deleted collections. It also writes the room for future vectors as it finds it in memory, and
that may be the text of a document that was just erased.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path
from uuid import UUID

from ragstone.storage.disk import clear_away

_HEADER = struct.Struct("<iQQQQ")
"""The beginning of ``header.bin``: version, offset, room and number of the vectors, bytes of each."""
_VERSION = 1


def tidy(folder: Path) -> None:
    """Remove the files of deleted collections, overwrite the unused room in those of others, and vacuum the database.

    A database that another process is using is vacuumed the next time.
    """
    database = folder / "chroma.sqlite3"
    if not database.is_file():
        return
    with closing(sqlite3.connect(database)) as db:
        with suppress(sqlite3.OperationalError):
            db.execute("VACUUM")  # its free pages have the vectors of deleted collections
        used = {str(id) for (id,) in db.execute("SELECT id FROM segments")}
    for path in [path for path in folder.iterdir() if path.is_dir() and _is_segment(path.name)]:
        if path.name in used:
            _overwrite_room(path)
        else:
            clear_away(path)


def _is_segment(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _overwrite_room(segment: Path) -> None:
    header, data = segment / "header.bin", segment / "data_level0.bin"
    if not header.is_file() or not data.is_file():
        return
    version, offset, room, used, size = _HEADER.unpack_from(header.read_bytes())
    total = data.stat().st_size
    if version != _VERSION or offset != 0 or room * size != total or used > room:
        return  # an unknown form
    with data.open("r+b") as file:
        file.seek(used * size)
        file.write(bytes(total - used * size))
        file.flush()
        os.fsync(file.fileno())

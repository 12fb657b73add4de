"""Copies of a knowledge base, made and put back while others ask and add.

A copy is itself a knowledge base: a folder with the catalog, what is known of web sites, the journal, and uploaded
files. Indexes and caches are not copied; they are made from the catalog.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from dataclasses import replace as replace_
from pathlib import Path

from ragstone import chunk, index
from ragstone.errors import Damaged, KnowledgeBaseError, NotFound, UsageError
from ragstone.index import Home, Patience
from ragstone.index.disk import clear_away, drop, make_folder, new_file, put_in_place, sync_folder
from ragstone.index.journal import NAME as JOURNAL
from ragstone.index.journal import findings
from ragstone.keeping.homes import home_at

UPLOADS = "uploads"
"""Folder of a knowledge base in which files lie that were sent to its server, unless a setting names another."""
PIECE = 1 << 20
"""Bytes of a file that are copied at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy holds; every value in it was compared with its checksum. ``files`` are those that were uploaded."""

    source: str
    folder: str
    documents: int
    chunks: int
    generation: int
    files: int = 0


def backup(folder: Path, to: Path, *, uploads: str = UPLOADS) -> Copied:
    """Copy a knowledge base into a new folder, as it is at one moment, without keeping anyone from writing.

    Args:
        folder: of the knowledge base.
        to: the new folder.
        uploads: folder of the uploaded files, within both.

    Raises:
        NotFound: there is no knowledge base.
        UsageError: something is where the copy should go.
        Damaged: what was copied is not what was once written; the copy stays, to be looked at.
        KnowledgeBaseError: the copy could not be written; nothing is left of it.
    """
    live = home_at(folder)
    version = live.current()
    if version is None:
        raise NotFound(f"there is no knowledge base at {folder}")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(f"{to} is there already, and is not empty; name a new folder")
    home = Home(to)
    home.make()
    try:
        place = home.begin()
        _copy_crawls(folder, to)  # first: what a crawl holds as stored must be in the catalog
        _copy_catalog(live, version, home, place)
        _copy_journal(folder, to)
        files = _copy_files(folder / uploads, to / uploads)  # last: what the others tell of was there before them
        home.switch(place)
    except BaseException:
        clear_away(to)
        raise
    copied = replace_(_looked_at(folder, home, place), files=files)
    _refuse_damaged_journal(to, of=folder)
    return copied


def restore(
    source: Path, folder: Path, *, replace: bool = False, patience: Patience | None = None, uploads: str = UPLOADS
) -> Copied:
    """Make a copy the knowledge base in a folder; it goes on from there with a history of its own.

    Where there is one already it is replaced as a rebuild does: in one step, for every process that has it open, and
    the version before stays until the next rebuild. A journal that is there stays, for what people did since the copy
    was made is in no other place; only where there is none, that of the copy is put. Uploaded files take the place of
    those of the same names; others stay.

    Args:
        source: a folder that `backup` wrote.
        folder: where to.
        replace: put it in the place of a knowledge base that is there.
        patience: how long to wait for an indexer.
        uploads: folder of the uploaded files, within both.

    Raises:
        NotFound: there is no copy.
        Damaged: the copy is not what was written; nothing was changed.
        UsageError: there is a knowledge base in the folder, and it is not to be replaced.
        Locked: another process is indexing there.
        KnowledgeBaseError: it could not be written; what was there is as it was.
    """
    kept = Home(source)
    version = kept.current()
    if version is None:
        raise NotFound(f"there is no backup at {source}, or it was not finished")
    home = home_at(folder)
    if not replace and home.holds_one():
        raise UsageError(f"{folder} holds a knowledge base; to put the backup in its place, say --replace")
    if not (folder / JOURNAL).exists():
        _refuse_damaged_journal(source, of=source)
    home.make()
    with home.rebuilding(patience), home.indexing(patience):
        place = home.create({}) if home.is_shared else home.begin()
        try:
            _copy_catalog(kept, version, home, place)
            with closing(home.catalog(place)) as catalog:
                catalog.begin_history()
            copied = _looked_at(source, home, place)
        except BaseException:
            home.drop(place)
            raise
        _copy_crawls(source, folder)
        _copy_journal(source, folder)
        files = _copy_files(source / uploads, folder / uploads)
        home.switch(place)  # from here on it may be the one in use, and is not cleared away
    return replace_(copied, files=files)


def _copy_catalog(here: Home, version: Path, there: Home, place: Path) -> None:
    """One catalog, as it is at one moment, into an empty version."""
    if not here.is_shared and not there.is_shared:
        _copy(version / "catalog.db", place / "catalog.db")
        return
    if not there.is_shared:
        index.Catalog.create(place / "catalog.db", {}).close()
    with closing(here.catalog(version)) as live, closing(there.catalog(place)) as copy, live.snapshot():
        copy.fill(live.dump())


def _copy(source: Path, to: Path) -> None:
    """One database, as it is at one moment."""
    try:
        with closing(sqlite3.connect(source, timeout=30)) as here, closing(sqlite3.connect(to)) as there:
            there.execute("PRAGMA synchronous=FULL")
            here.backup(there)
        sync_folder(to.parent)
    except (sqlite3.Error, OSError) as error:
        raise KnowledgeBaseError(f"{source} could not be copied to {to}: {error}") from error


def _copy_crawls(source: Path, to: Path) -> None:
    """What is known of web sites; what is known of others is forgotten."""
    try:
        names = {path.name for path in (source / "crawl").glob("*.db")}
        for path in (to / "crawl").glob("*"):
            drop(path)
        if names:
            make_folder((to / "crawl").absolute())
    except OSError as error:
        raise KnowledgeBaseError(f"{to / 'crawl'} could not be written: {error}") from error
    for name in names:
        _copy(source / "crawl" / name, to / "crawl" / name)


def _copy_journal(source: Path, to: Path) -> None:
    """Conversations and costs, where there are none yet."""
    journal = to / JOURNAL
    if journal.exists() or not (source / JOURNAL).is_file():
        return
    beside = to / f".{JOURNAL}.{os.getpid()}"  # the journal is there whole or not at all
    drop(beside)
    try:
        _copy(source / JOURNAL, beside)
        put_in_place(beside, journal)
    except OSError as error:
        raise KnowledgeBaseError(f"{journal} could not be written: {error}") from error
    finally:
        drop(beside)


def _copy_files(source: Path, to: Path) -> int:
    """The files of a folder, each whole or not at all; how many. One that is taken away meanwhile is left out."""
    count = 0
    try:
        for path in _files_in(source):
            within = path.relative_to(source)
            with suppress(FileNotFoundError), path.open("rb") as file:
                make_folder((to / within).parent.absolute())
                beside = (to / within).with_name(f".copy.{os.getpid()}")
                with new_file(beside) as copy:
                    while piece := file.read(PIECE):
                        copy.write(piece)
                put_in_place(beside, to / within)
                count += 1
    except OSError as error:
        raise KnowledgeBaseError(f"the uploaded files of {source} could not be copied to {to}: {error}") from error
    return count


def _files_in(source: Path) -> Iterator[Path]:
    """Every file in a folder but hidden ones: what a server has received in part is no file yet, and moves away."""

    def told(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    for folder, folders, names in os.walk(source, onerror=told):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = (Path(folder, name) for name in sorted(names) if not name.startswith("."))
        yield from (path for path in files if path.is_file() and not path.is_symlink())


def _refuse_damaged_journal(copy: Path, *, of: Path) -> None:
    if wrong := findings(copy):
        raise Damaged(f"{of} is damaged: {wrong[0].part}: {wrong[0].what}; {wrong[0].remedy}")


def _looked_at(source: Path, home: Home, version: Path) -> Copied:
    with closing(home.catalog(version)) as catalog:  # opened first: a copy may be of an older format
        findings = catalog.verify(chunk.chunk_id)
        if findings:
            ids = ", ".join(findings[0].documents[:5])
            raise Damaged(f"{source} is damaged: {findings[0].part}: {findings[0].what} {ids}".rstrip())
        counts = catalog.counts()
    return Copied(
        source=str(source),
        folder=str(home.folder),
        documents=counts.documents,
        chunks=counts.chunks,
        generation=counts.generation,
    )

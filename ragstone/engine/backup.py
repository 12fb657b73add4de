"""Backs up and restores a knowledge base while other processes read and write it.

A copy is itself a knowledge base: a folder with the catalog, crawl state, journal, and uploaded files. Indexes and
caches are not copied; they are rebuilt from the catalog.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace as replace_
from pathlib import Path

from ragstone import chunk
from ragstone.catalog.folder_location import FolderLocation
from ragstone.catalog.location import Location
from ragstone.catalog.lock import Patience
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.errors import Damaged, KnowledgeBaseError, NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.engine.location import home_at, open_journal
from ragstone.engine.roots import UPLOADS
from ragstone.history.journal import NAME as JOURNAL
from ragstone.history.journal import findings
from ragstone.storage.disk import clear_away, drop, make_folder, new_file, put_in_place, sync_folder
from ragstone.storage.sqlite import Failed, connect_private, connect_to_check, is_damage, reason_of

BLOCK_BYTES = 1 << 20
"""Bytes read at once while copying a file."""


@frozen
class CopyReport:
    """The contents of a verified copy; ``files`` counts the uploaded files."""

    source: str
    folder: str
    documents: int
    chunks: int
    generation: int
    files: int = 0


def backup(folder: Path, to: Path) -> CopyReport:
    """Copy one state of a knowledge base into a new folder, without blocking writers, and return its contents.

    Args:
        folder: folder of the knowledge base.
        to: the new folder.

    Raises:
        NotFound: there is no knowledge base.
        UsageError: ``to`` exists and is not empty.
        Damaged: the knowledge base is damaged; the copy stays for inspection.
        KnowledgeBaseError: the copy could not be written; it was removed.
    """
    origin = home_at(folder)
    version = origin.current()
    if version is None:
        raise NotFound(f"there is no knowledge base at {folder}")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(f"{to} exists and is not empty; name a new folder")
    location = FolderLocation(to)
    location.make()
    try:
        new_version = location.begin()
        _copy_crawls(folder, to)  # first: the catalog must hold every page it calls stored
        _copy_catalog(origin, version, location, new_version)
        _copy_journal(origin, location)
        files = _copy_files(folder / UPLOADS, to / UPLOADS)  # last: the others may mention new files
        location.switch(new_version)
    except BaseException:
        clear_away(to)
        raise
    copied = replace_(_verify_copy(folder, location, new_version), files=files)
    _refuse_damaged_journal(to, of=folder)
    return copied


def restore(source: Path, folder: Path, *, replace: bool = False, patience: Patience | None = None) -> CopyReport:
    """Restore a copy into a folder, start a new history there, and return its contents.

    An existing knowledge base is replaced as in a rebuild: in one step for every process that has it open, and the
    previous version stays until the next rebuild. An existing journal stays, because it alone records what happened
    since the backup. Uploaded files replace files of the same name; other files stay.

    Args:
        source: a folder that `backup` wrote.
        folder: folder of the restored knowledge base.
        replace: whether to replace an existing knowledge base.
        patience: how long to wait for an indexing process.

    Raises:
        NotFound: there is no copy.
        Damaged: the copy is damaged; nothing was changed.
        UsageError: the folder has a knowledge base, and ``replace`` is False.
        Locked: another process is indexing.
        KnowledgeBaseError: the knowledge base could not be written; the previous one is unchanged.
    """
    origin = FolderLocation(source)
    version = origin.current()
    if version is None:
        raise NotFound(f"there is no complete backup at {source}; name a folder that `ragstone backup` wrote")
    location = home_at(folder)
    if not replace and location.exists():
        raise UsageError(f"{folder} already has a knowledge base; to replace it, pass --replace")
    if not (folder / JOURNAL).exists():
        _refuse_damaged_journal(source, of=source)
    location.make()
    with location.rebuilding(patience), location.indexing(patience):
        new_version = location.begin() if isinstance(location, FolderLocation) else location.create({})
        try:
            _copy_catalog(origin, version, location, new_version)
            with closing(location.catalog(new_version)) as catalog:
                catalog.start_new_history()
            copied = _verify_copy(source, location, new_version)
        except BaseException:
            location.drop(new_version)
            raise
        _copy_crawls(source, folder)
        _copy_journal(origin, location)
        files = _copy_files(source / UPLOADS, folder / UPLOADS)
        location.switch(new_version)  # past this point the version may be in use, so it is outside of the try block
    return replace_(copied, files=files)


def _copy_catalog(here: Location, version: Path, there: Location, new_version: Path) -> None:
    """Copy one state of a catalog into an empty version."""
    if not here.is_shared and not there.is_shared:
        _copy(version / "catalog.db", new_version / "catalog.db")
        return
    if not there.is_shared:
        create_catalog(new_version / "catalog.db", {}).close()
    with closing(here.catalog(version)) as live, closing(there.catalog(new_version)) as copy, live.snapshot():
        copy.fill(live.dump())


def _copy(source: Path, to: Path) -> None:
    """Copy one state of a SQLite database."""
    try:
        with closing(connect_to_check(source)) as here, closing(connect_private(to)) as there:
            there.execute("PRAGMA synchronous=FULL")
            here.backup(there)
        sync_folder(to.parent)
    except Failed as error:
        if is_damage(error):
            raise Damaged(f"{source} is damaged ({error}); for what can be done, run: ragstone doctor") from error
        raise KnowledgeBaseError(f"{source} could not be copied to {to}: {reason_of(error, to)}") from error


def _copy_crawls(source: Path, to: Path) -> None:
    """Replace the crawl state."""
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


def _copy_journal(here: Location, there: Location) -> None:
    """Copy conversations and costs, unless the target has a journal."""
    if here.is_shared or there.is_shared:
        with closing(open_journal(here)) as source, closing(open_journal(there)) as target:
            if not target.exists:
                with source.snapshot() as rows:
                    if rows is not None:
                        target.fill(rows)
    elif not (there.folder / JOURNAL).exists() and (here.folder / JOURNAL).is_file():
        _copy_journal_file(here.folder, there.folder)


def _copy_journal_file(source: Path, to: Path) -> None:
    journal = to / JOURNAL
    temporary = to / f".{JOURNAL}.{os.getpid()}"  # so that the journal appears only once it is complete
    drop(temporary)
    try:
        _copy(source / JOURNAL, temporary)
        put_in_place(temporary, journal)
    except OSError as error:
        raise KnowledgeBaseError(f"{journal} could not be written: {error}") from error
    finally:
        drop(temporary)


def _copy_files(source: Path, to: Path) -> int:
    """Copy the files of a folder, each atomically, and return their number; skip files that disappear."""
    count = 0
    try:
        for path in _files_in(source):
            within = path.relative_to(source)
            with suppress(FileNotFoundError), path.open("rb") as file:
                make_folder((to / within).parent.absolute())
                temporary = (to / within).with_name(f".copy.{os.getpid()}")
                with new_file(temporary) as copy:
                    while piece := file.read(BLOCK_BYTES):
                        copy.write(piece)
                state = os.fstat(file.fileno())
                os.utime(temporary, ns=(state.st_atime_ns, state.st_mtime_ns))  # so that it counts as the file read
                put_in_place(temporary, to / within)
                count += 1
    except OSError as error:
        raise KnowledgeBaseError(f"the uploaded files of {source} could not be copied to {to}: {error}") from error
    return count


def _files_in(source: Path) -> Iterator[Path]:
    """Yield every file in a folder except hidden ones, which are incomplete uploads."""

    def fail_unless_missing(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    for folder, folders, names in os.walk(source, onerror=fail_unless_missing):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = (Path(folder, name) for name in sorted(names) if not name.startswith("."))
        yield from (path for path in files if path.is_file() and not path.is_symlink())


def _refuse_damaged_journal(copy: Path, *, of: Path) -> None:
    if wrong := findings(copy):
        raise Damaged(f"{of} is damaged: {wrong[0].part}: {wrong[0].what}; {wrong[0].remedy}")


def _verify_copy(source: Path, location: Location, version: Path) -> CopyReport:
    with closing(location.catalog(version)) as catalog:
        findings = catalog.verify(chunk.chunk_id)
        if findings:
            ids = ", ".join(findings[0].documents[:5])
            raise Damaged(f"{source} is damaged: {findings[0].part}: {findings[0].what} {ids}".rstrip())
        counts = catalog.counts()
    return CopyReport(
        source=str(source),
        folder=str(location.folder),
        documents=counts.documents,
        chunks=counts.chunks,
        generation=counts.generation,
    )

"""Files and folders on disk: which files a source stands for, and the documents in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from types import MappingProxyType

from ragstone.acquire.metadata.groups import NOTHING_GIVEN, Given
from ragstone.acquire.readers import left_out, suffix_of
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.sources.documents import documents_of, finished, placed
from ragstone.acquire.sources.stamps import IsStored, fingerprint, never_stored, stamp_of_file
from ragstone.acquire.sources.walk import files_under, printable
from ragstone.core.errors import SourceError
from ragstone.core.records import Acquired, Skipped, Unchanged
from ragstone.core.threads import check
from ragstone.settings import AcquireSettings

NO_NAMES: Mapping[str, str] = MappingProxyType({})


def count(source: str) -> int:
    """Return how many files of a source may be read. Some may turn out to hold no text."""
    path = Path(source)
    if not path.is_dir():
        return 1
    return sum(isinstance(one, Path) and not left_out(one.name) for one in files_under(path.resolve()))


def root(source: str) -> str:
    """Return the path that the ``source`` of every document of this file or folder begins with."""
    path = Path(source)
    return printable(path.resolve() if path.is_dir() else _absolute(path))


def folder(source: str) -> Path:
    """Return the folder that a source names, or that the file lies in that it names."""
    path = Path(source)
    return path.resolve() if path.is_dir() else _absolute(path).parent


def id_of(file: Path, base: Path, names: Mapping[str, str]) -> str:
    """Return the id of a file, which does not say where on the disk it lies.

    It is the path below the base. Outside of the base it is the path below the innermost folder that has a name, after
    that name. A folder of the base that has the name of another one is told from it by the name of the base.
    """
    for folder in file.parents:
        below = file.relative_to(folder)
        if folder == base:
            return f"{base.name}/{below.as_posix()}" if below.parts[0] in names.values() else below.as_posix()
        if name := names.get(str(folder)):
            return f"{name}/{below.as_posix()}"
    return f"{file.parent.name}/{file.name}".lstrip("/")


def files_of(source: str) -> list[Path]:
    """Return the files that `read` would read.

    Raises:
        SourceError: as for `read`.
    """
    return [entry for entry in _entries(source) if isinstance(entry, Path)]


def read(
    source: str,
    settings: AcquireSettings,
    *,
    base: Path,
    names: Mapping[str, str] = NO_NAMES,
    is_stored: IsStored = never_stored,
    stop: Event | None = None,
) -> Iterator[Acquired]:
    """Return the documents of a file, or of all files in a folder, in the order of their names.

    A file or row that gives no document is reported in its place, and reading goes on.

    Args:
        source: path of a file or folder.
        settings: column names and limits.
        base: folder that document ids are relative to.
        names: names by folder, for ids of files outside of the base.
        is_stored: called before a file is read; a file that is stored and unchanged is not read.
        stop: when it is set, the iterator raises `Stopped`, even in the middle of a file.

    Raises:
        SourceError: the path does not exist, or the folder holds no file that may be read. A table that lacks a
            column named in the settings raises it when the iterator reaches the table, if the source is that table.
    """
    entries = _entries(source)
    named = not Path(source).is_dir()
    roots = () if named else (Path(source).resolve(),)
    return _read(
        entries, settings, base.resolve(), names, roots, NOTHING_GIVEN, named=named, is_stored=is_stored, stop=stop
    )


def read_files(
    files: Iterable[Path],
    settings: AcquireSettings,
    *,
    base: Path,
    names: Mapping[str, str] = NO_NAMES,
    roots: Sequence[Path] = (),
    given: Given = NOTHING_GIVEN,
    is_stored: IsStored = never_stored,
    stop: Event | None = None,
) -> Iterator[Acquired]:
    """Return the documents of files, as `read` does for the folder of ``roots`` that holds them.

    ``given`` is what is known from outside of who may read them.
    """
    entries = map(_absolute, files)
    return _read(entries, settings, base.resolve(), names, roots, given, named=False, is_stored=is_stored, stop=stop)


def _entries(source: str) -> list[Path | Skipped]:
    path = Path(source)
    try:
        found = path.exists()
    except OSError as error:
        raise SourceError(f"cannot read {printable(source)}: {error.strerror}") from error
    if not found:
        raise SourceError(f"no file or folder '{printable(source)}'")
    if not path.is_dir():
        return [_absolute(path)]
    entries = [*files_under(path.resolve())]
    if not any(isinstance(entry, Path) and not left_out(entry.name) for entry in entries):
        raise SourceError(_nothing_under(source, [entry for entry in entries if isinstance(entry, Skipped)]))
    return entries


def _nothing_under(source: str, skipped: Sequence[Skipped]) -> str:
    """Return why a folder gives nothing: the first entry that could not be read, or that there is none."""
    if not skipped:
        return f"nothing to read under '{printable(source)}': it has no documents, tables or other text"
    first = skipped[0]
    if first.source == root(source):
        return f"cannot read {printable(source)}: {first.reason}"
    return f"nothing to read under '{printable(source)}': {first.source}: {first.reason}"


def _absolute(file: Path) -> Path:
    """Resolve links in the folder of a file, but not the file: its id must be the same when its folder is read."""
    return file.parent.resolve() / file.name


def _read(
    entries: Iterable[Path | Skipped],
    settings: AcquireSettings,
    base: Path,
    names: Mapping[str, str],
    roots: Sequence[Path],
    given: Given,
    *,
    named: bool,
    is_stored: IsStored,
    stop: Event | None,
) -> Iterator[Acquired]:
    settings_hash = fingerprint(settings)
    with ParserProcess(settings, stop) as parser:
        for entry in entries:
            check(stop)
            if isinstance(entry, Skipped):
                yield entry
                continue
            file = File(
                path=entry,
                name=printable(id_of(entry, base, names)),
                source=printable(entry),
                suffix=suffix_of(entry),
                settings=settings,
                given=given,
            )
            root = next((one for one in roots if entry.is_relative_to(one)), entry.parent)
            place = printable(entry.relative_to(root).as_posix())
            stamp = stamp_of_file(entry, settings_hash)
            if stamp and is_stored(file.source, stamp):
                yield Unchanged(source=file.source)
                continue
            read = (placed(one, file.name, place) for one in documents_of(file, parser))
            yield from finished(read, file.source, stamp, stop, strict=named)

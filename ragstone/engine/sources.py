"""The sources of an ingest: files and folders on disk, documents of the program, and remote sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from threading import Event

from ragstone import acquire
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.records import Acquired, Document, Skipped
from ragstone.engine.components import Components
from ragstone.engine.ingest import Read
from ragstone.engine.jobs.queue import Work
from ragstone.engine.progress import Reporter
from ragstone.engine.roots import base, names
from ragstone.engine.storable import storable
from ragstone.settings import AcquireSettings, Settings

FOLDER = "sources"
"""Folder in the knowledge base's folder for data that sources need for their next sync. It is disposable."""
JOB_BYTES = 10_000_000
"""Total size of files at which a job is full."""


def refuse_unreadable(sources: Sequence[str | Document], settings: AcquireSettings) -> None:
    """Check sources before a knowledge base is created for them.

    Raises:
        UsageError: an address is malformed, or a path is empty, for example from an unset variable; it would mean the
            current folder; or a text is of an unknown kind.
        SourceError: a path does not exist, or has nothing to read.
        MissingExtra: a source needs a missing package.
    """
    for source in sources:
        if source == "":
            raise UsageError("a source is empty; name a file or a folder, such as . for the current one")
        if isinstance(source, Document):
            acquire.refuse_unknown_kind(source)
        elif acquire.is_remote(source, settings):
            with closing(acquire.open_source(source, settings, Path())):
                pass
        else:
            acquire.read(acquire.on_disk(source), settings, base=Path())


def reading(sources: Sequence[str | Document]) -> Read:
    """Return a function that reads these sources, one by one."""
    return lambda version, settings, stop, reporter: read_all(version, sources, settings, stop, reporter)


def noting(version: Components, reporter: Reporter) -> Callable[[str, str], bool]:
    """Return a function that tells whether a file is stored; it is called before each file is opened."""

    def is_stored(source: str, stamp: str) -> bool:
        reporter.reading(source)
        return version.catalog.has_file(source, stamp)

    return is_stored


def read_all(
    version: Components,
    sources: Sequence[str | Document],
    settings: AcquireSettings,
    stop: Event,
    reporter: Reporter,
) -> Iterator[Acquired]:
    """Return the content of the sources, read one by one.

    A missing path is an immediate error. If one of several remote sources fails, it is reported and its stored
    documents stay; the others are read.
    """
    is_stored, named = noting(version, reporter), names(version, folders(sources, settings))

    def read(source: str | Document) -> Iterable[Acquired]:
        if isinstance(source, Document):
            given = storable(source)
            return [given if isinstance(given, Skipped) else acquire.read_given(given, settings, stop)]
        if not acquire.is_remote(source, settings):
            return acquire.read(
                acquire.on_disk(source), settings, base=base(version), names=named, is_stored=is_stored, stop=stop
            )
        opened = acquire.open_source(source, settings, version.folder / FOLDER)
        groups = acquire.connection_of(source, settings).groups
        found = acquire.read_source(opened, settings, groups=groups, is_stored=is_stored, stop=stop)
        return found if len(sources) == 1 else _reported(found, opened.address)

    return chain.from_iterable([read(source) for source in sources])


def roots(sources: Sequence[str], settings: AcquireSettings, folder: Path) -> tuple[str, ...]:
    """Return the prefixes of the ``source`` of every document of these sources.

    Args:
        sources: paths, names and addresses.
        settings: the connections.
        folder: that of the knowledge base.
    """
    return tuple(
        acquire.open_source(source, settings, folder / FOLDER).address
        if acquire.is_remote(source, settings)
        else acquire.root(acquire.on_disk(source))
        for source in sources
    )


def folders(sources: Sequence[str | Document], settings: AcquireSettings) -> tuple[Path, ...]:
    """Return the folders on disk that these sources are in."""
    named = [one for one in sources if isinstance(one, str) and not acquire.is_remote(one, settings)]
    return tuple(acquire.folder(acquire.on_disk(one)) for one in named)


def count(sources: Sequence[str | Document], settings: AcquireSettings) -> int:
    """Return the number of files to read; 0 if it is unknown before they are listed."""
    named = [source for source in sources if isinstance(source, str)]
    if any(acquire.is_remote(source, settings) for source in named):
        return 0
    return sum(acquire.count(acquire.on_disk(source)) for source in named)


def works(sources: Sequence[str], settings: Settings) -> Iterator[Work]:
    """Yield the work of adding files, in jobs of limited size.

    Raises:
        SourceError: a path does not exist, or has nothing to read.
    """
    own, files, size = settings.jobs, list[str](), 0
    paths = [acquire.on_disk(source) for source in sources]
    roots = tuple(acquire.root(path) for path in paths if Path(path).is_dir())
    found = (file for path in paths for file in acquire.files_of(path))
    for file in dict.fromkeys(found):
        files.append(str(file))
        with suppress(OSError):
            size += file.stat().st_size
        if len(files) >= own.files or size >= JOB_BYTES:
            yield Work(files=tuple(files), sources=roots)
            files, size = [], 0
    if files:
        yield Work(files=tuple(files), sources=roots)


def absolute(source: str, settings: AcquireSettings) -> str:
    """Return a source under a name that is valid in every folder."""
    if acquire.is_remote(source, settings):
        return source
    path = Path(acquire.on_disk(source))
    return str(path.resolve() if path.is_dir() else path.parent.resolve() / path.name)


def _reported(found: Iterable[Acquired], address: str) -> Iterator[Acquired]:
    try:
        yield from found
    except SourceError as error:
        yield Skipped(source=address, reason=str(error))

"""A source -> documents."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from ragstone.acquire.facts.groups import with_groups
from ragstone.acquire.facts.metadata import enrich
from ragstone.acquire.readers import archive, notebook, restructured, tables, text
from ragstone.acquire.readers.decode import MEGABYTE, Unreadable
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.walk import files_under, printable
from ragstone.acquire.worker import Worker
from ragstone.contracts import Acquired, Document, Finished, Skipped, Unchanged
from ragstone.errors import RagstoneError, SourceError
from ragstone.sections import AccessSettings, AcquireSettings

__all__ = ["Pages", "count", "files_of", "is_known", "kinds", "read", "read_files", "root", "with_groups"]

_Read = Callable[[File], Iterable[Document | Skipped | File]]

_READERS: dict[str, _Read | str] = {
    ".txt": text.read_text,
    ".text": text.read_text,
    ".md": text.read_markdown,
    ".markdown": text.read_markdown,
    ".rst": restructured.read_restructured,
    ".csv": tables.read_csv,
    ".tsv": tables.read_csv,
    ".jsonl": tables.read_jsonl,
    ".ndjson": tables.read_jsonl,
    ".json": tables.read_json,
    ".ipynb": notebook.read_notebook,
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "word",
    ".pptx": "slides",
    ".xlsx": "sheets",
    ".xls": "sheets",
    ".ods": "sheets",
    ".odt": "opendocument",
    ".epub": "epub",
    ".rtf": "rtf",
    ".eml": "mail",
    ".zip": archive.unpack_zip,
    ".gz": archive.unpack_gzip,
}
"""A function reads in this process; a name is a module beside this one, whose ``parse`` runs in a worker process."""


_PAGE_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/x-rst": ".rst",
    "text/prs.fallenstein.rst": ".rst",
    "text/plain": ".txt",
    "application/pdf": ".pdf",
}
_VERSION = 1
"""Raised whenever a file would give other documents than before, so that it is read again."""


def count(source: str) -> int:
    """How many files there are to read."""
    path = Path(source)
    if not path.is_dir():
        return 1
    return sum(isinstance(one, Path) and one.suffix.lower() in _READERS for one in files_under(path.resolve()))


def is_known(name: str) -> bool:
    """Whether a file of this name can be read, by its suffix."""
    return Path(name).suffix.lower() in _READERS


def kinds() -> str:
    """The suffixes of files that can be read."""
    return " ".join(_READERS)


IsStored = Callable[[str, str], bool]
"""Whether everything of a source, in the state that a stamp tells, is stored already."""


def root(source: str) -> str:
    """The source of a file or folder, as that of every document from it begins."""
    path = Path(source)
    return printable(path.resolve() if path.is_dir() else path.parent.resolve() / path.name)


def read(
    source: str, settings: AcquireSettings, *, base: Path, is_stored: IsStored = lambda _source, _stamp: False
) -> Iterator[Acquired]:
    """The documents of a file, or of every file under a folder, in the order of their names.

    A file or row that gives no document is reported in its place and stops nothing.

    Args:
        source: path of a file or folder.
        settings: column names and limits.
        base: folder that ids are relative to; what lies outside is known by its full path.
        is_stored: asked before a file is read; one that is stored as it is now is passed over.

    Raises:
        SourceError: nothing is there, the folder holds no file of a known kind, or a table named directly
            lacks the columns that the settings name. The last is raised when that table is reached.
    """
    path = Path(source)
    try:
        found = path.exists()
    except OSError as error:
        raise SourceError(f"cannot read {printable(source)}: {error.strerror}") from error
    if not found:
        raise SourceError(f"no file or folder '{printable(source)}'")
    base = base.resolve()
    if not path.is_dir():
        # The folder is resolved and the file is not, as for a file met in a folder: its id is the same.
        return _read_files([path.parent.resolve() / path.name], settings, base, named=True, is_stored=is_stored)
    entries = [*files_under(path.resolve())]
    if not any(isinstance(entry, Path) and entry.suffix.lower() in _READERS for entry in entries):
        raise SourceError(f"nothing to read under '{printable(source)}'; kinds that can be read: {kinds()}")
    return _read_files(entries, settings, base, named=False, is_stored=is_stored)


def read_files(
    files: Iterable[Path], settings: AcquireSettings, *, base: Path, is_stored: IsStored = lambda _source, _stamp: False
) -> Iterator[Acquired]:
    """The documents of files as they are met in a folder: whatever is wrong with one is reported in its place."""
    entries = [file.parent.resolve() / file.name for file in files]
    return _read_files(entries, settings, base.resolve(), named=False, is_stored=is_stored)


def files_of(source: str) -> list[Path]:
    """The files that `read` would read, of a file or folder.

    Raises:
        SourceError: as for `read`.
    """
    read(source, AcquireSettings(), base=Path())
    path = Path(source)
    if not path.is_dir():
        return [path.parent.resolve() / path.name]
    return [one for one in files_under(path.resolve()) if isinstance(one, Path)]


class Pages:
    """Reads pages of web sites as files of their kind are read. Use it as a context manager: it holds a process."""

    def __init__(self, settings: AcquireSettings) -> None:
        self._settings, self._worker = settings, Worker(settings)

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.__exit__()

    def read(self, content: bytes, content_type: str, url: str) -> Iterator[Document | Skipped]:
        """The documents of a page; each is known by its address, and cited with it."""
        suffix = _PAGE_SUFFIXES.get(content_type.partition(";")[0].strip().lower(), "")
        with NamedTemporaryFile(suffix=suffix) as page:
            page.write(content)
            page.flush()
            file = File(path=Path(page.name), name=url, source=url, suffix=suffix, settings=self._settings)
            for one in _read_file(file, self._worker):
                yield replace(one, url=url) if isinstance(one, Document) else one


def _read_files(
    entries: Iterable[Path | Skipped], settings: AcquireSettings, base: Path, *, named: bool, is_stored: IsStored
) -> Iterator[Acquired]:
    # How sites are crawled makes no difference to a file; nor do rules that nobody has made.
    usual = {"access"} if settings.access == AccessSettings() else set[str]()
    reading = settings.model_dump_json(exclude={"crawl", "sites", *usual})
    told = hashlib.sha256(f"{_VERSION} {reading}".encode()).hexdigest()[:16]
    with Worker(settings) as worker:
        for entry in entries:
            if isinstance(entry, Skipped):
                yield entry
                continue
            name = entry.relative_to(base) if entry.is_relative_to(base) else entry
            file = File(
                path=entry,
                name=printable(name.as_posix()),
                source=printable(entry),
                suffix=entry.suffix.lower(),
                settings=settings,
            )
            stamp = _stamp(entry, told)
            if stamp and is_stored(file.source, stamp):
                yield Unchanged(source=file.source)
                continue
            whole = True
            try:
                for one in _read_file(file, worker):
                    whole = whole and not isinstance(one, Skipped)
                    yield one
            except SourceError as error:
                if named:
                    raise
                whole = False
                yield Skipped(source=file.source, reason=str(error))
            if whole and stamp:
                yield Finished(source=file.source, stamp=stamp)


def _stamp(path: Path, told: str) -> str:
    """The state of a file, and of the settings it is read with; nothing where it cannot be told."""
    try:
        state = path.stat()
    except OSError:
        return ""
    return f"{told} {state.st_size} {state.st_mtime_ns}"


def _read_file(file: File, worker: Worker) -> Iterator[Document | Skipped]:
    reader = _READERS.get(file.suffix)
    try:
        if not file.path.is_file():
            # Opening a pipe would wait for ever.
            yield Skipped(
                source=file.source, reason="a broken link" if file.path.is_symlink() else "not a regular file"
            )
            return
        if reader is None:
            kind = f"unknown kind {file.suffix}" if file.suffix else "no suffix tells its kind"
            yield Skipped(source=file.source, reason=f"{kind}; known are {kinds()}")
            return
        for result in _parsed(reader, file, worker) if isinstance(reader, str) else reader(file):
            if not isinstance(result, File):
                yield _complete(result, file.settings) if isinstance(result, Document) else result
                continue
            try:
                yield from _read_file(result, worker)
            except SourceError as error:
                yield Skipped(source=result.source, reason=str(error))
    except Unreadable as error:
        yield Skipped(source=file.source, reason=str(error))
    except OSError as error:
        yield Skipped(source=file.source, reason=error.strerror or str(error))
    except (RagstoneError, MemoryError):
        raise
    except Exception as error:  # whatever no reader foresaw, the next file is read
        yield Skipped(source=file.source, reason=f"damaged: {type(error).__name__}: {error}")


def _complete(document: Document, settings: AcquireSettings) -> Document:
    """The document with what its text tells of it, and who may read it."""
    return with_groups(enrich(document, settings.metadata), settings.access)


def _parsed(module: str, file: File, worker: Worker) -> Iterator[Document | Skipped | File]:
    size = file.path.stat().st_size
    if not size:
        raise Unreadable("empty")
    if size > file.settings.max_file_mb * MEGABYTE:
        raise Unreadable(f"{size / MEGABYTE:.0f} MB, above acquire.max_file_mb={file.settings.max_file_mb:g}")
    parsed = worker.parse(f"ragstone.acquire.readers.{module}", file)
    try:
        yield parsed.document(file)
    except Unreadable as error:
        yield Skipped(source=file.source, reason=str(error))
    yield from archive.parts(file, parsed.parts)

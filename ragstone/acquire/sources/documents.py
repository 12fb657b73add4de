"""One file and the documents in it, including those of archive members and e-mail attachments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from threading import Event

from ragstone.acquire.metadata.enrich import enrich, stamped
from ragstone.acquire.metadata.groups import with_groups
from ragstone.acquire.metadata.named import named_in_file
from ragstone.acquire.readers import ARCHIVES, READERS, Reader, left_out
from ragstone.acquire.readers.decode import Unreadable, refuse_large
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.readers.sniff import suffix_from_content
from ragstone.acquire.sources.archives import attached, members
from ragstone.core.errors import RagstoneError, SourceError
from ragstone.core.named_groups import named_in
from ragstone.core.records import Document, Finished, Skipped
from ragstone.core.threads import Stopped, check

_EMPTY = ("empty", "no rows")
"""Reasons of files that can be read, and hold nothing."""


def documents_of(file: File, parser: ParserProcess) -> Iterator[Document | Skipped]:
    """Yield the documents of a file with their metadata and groups, and a `Skipped` for whatever gives none.

    Raises:
        SourceError: a table lacks a column that the settings name.
    """
    try:
        if not file.path.is_file():
            # Opening a named pipe would block forever.
            reason = "a broken link" if file.path.is_symlink() else "not a regular file"
            yield Skipped(source=file.source, reason=reason)
        elif reason := left_out(file.name):
            yield Skipped(source=file.source, reason=reason)
        else:
            known = file.suffix in READERS or file.suffix in ARCHIVES or file.suffix in file.settings.readers
            yield from _of_known(file if known else replace(file, suffix=suffix_from_content(file.path)), parser)
    except Unreadable as error:
        yield _unreadable(file, error)
    except OSError as error:
        yield Skipped(source=file.source, reason=error.strerror or str(error))
    except (RagstoneError, MemoryError, Stopped):
        raise
    except Exception as error:  # A reader may fail in any way; the next file is still read.
        yield Skipped(source=file.source, reason=f"damaged: {type(error).__name__}: {error}")


def finished(
    read: Iterable[Document | Skipped], source: str, stamp: str, stop: Event | None, *, strict: bool = False
) -> Iterator[Document | Skipped | Finished]:
    """Yield the documents of a file, and after them, if none is missing and its stamp is known, that it was read.

    Raises:
        SourceError: if ``strict``, a table lacks a column that the settings name; otherwise the file is skipped.
    """
    complete = bool(stamp)
    try:
        for one in read:
            complete = complete and not isinstance(one, Skipped)
            yield one
    except SourceError as error:
        if strict:
            raise
        complete = False
        yield Skipped(source=source, reason=str(error))
    check(stop)
    if complete:
        yield Finished(source=source, stamp=stamp)


def placed(document: Document | Skipped, name: str, place: str) -> Document | Skipped:
    """Return a document with its path below the root of its source: where the root lies says nothing about it.

    Args:
        document: as it was read from a file.
        name: the name of the file, which begins its path.
        place: the path of the file below the root.
    """
    path = "" if isinstance(document, Skipped) else document.metadata.get("path")
    if isinstance(document, Skipped) or not isinstance(path, str) or not path.startswith(name):
        return document
    return replace(document, metadata={**document.metadata, "path": place + path.removeprefix(name)})


def _of_known(file: File, parser: ParserProcess) -> Iterator[Document | Skipped]:
    if own := file.settings.readers.get(file.suffix):
        yield from _parsed(own, file, parser)
    elif file.suffix in ARCHIVES:
        yield from _of_all(members(file), parser)
    else:
        yield from _parsed(READERS[file.suffix], file, parser)


def _of_all(files: Iterator[File | Skipped], parser: ParserProcess) -> Iterator[Document | Skipped]:
    for file in files:
        if isinstance(file, Skipped):
            yield file
            continue
        try:
            yield from documents_of(file, parser)
        except SourceError as error:
            yield Skipped(source=file.source, reason=str(error))


def _parsed(reader: Reader, file: File, parser: ParserProcess) -> Iterator[Document | Skipped]:
    if isinstance(reader, str):
        size = file.path.stat().st_size
        if not size:
            raise Unreadable("empty")
        refuse_large(size, file.settings)
        result = parser.parse(reader if ":" in reader else f"ragstone.acquire.readers.{reader}", file)
    else:
        result = reader(file)
    file = replace(file, given=file.given.also(named_in_file(file)))
    if not isinstance(result, Parsed):
        yield from (_complete(one, file) if isinstance(one, Document) else one for one in result)
        return
    # A part of a file, such as the attachment of an e-mail, is for nobody else.
    file = replace(file, given=file.given.also(named_in(result.facts, file.settings.access.column, describes=False)))
    for one in result.entries or (result,):
        try:
            document = one.document(file)
        except Unreadable as error:
            yield _unreadable(file, error)
        else:
            yield _complete(document, file)
    yield from _of_all(attached(file, result.parts), parser)


def _unreadable(file: File, error: Unreadable) -> Skipped:
    return Skipped(source=file.source, reason=str(error), emptied=str(error) in _EMPTY)


def _complete(document: Document, file: File) -> Document | Skipped:
    settings = file.settings
    if not document.pictures:  # otherwise its text is not complete, and `described` derives the metadata
        document = stamped(enrich(document, settings.metadata), settings.metadata)
    return with_groups(document, settings.access, file.given)

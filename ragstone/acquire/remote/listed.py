"""Read what a source lists: fetch what is new or changed into a temporary file, and read that as any other file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from threading import Event

from ragstone.acquire.metadata.groups import Given
from ragstone.acquire.readers import left_out, suffix_of
from ragstone.acquire.readers.decode import TooLarge, refuse_large
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.sources.documents import documents_of, finished, placed
from ragstone.acquire.sources.stamps import IsStored, fingerprint, never_stored, stamp_of_entry
from ragstone.core.access import groups_in
from ragstone.core.errors import RagstoneError, SourceError
from ragstone.core.named_groups import is_access_list, named_in
from ragstone.core.records import Acquired, Document, Skipped, Unchanged
from ragstone.core.source import Entry, Source
from ragstone.core.threads import Stopped, check
from ragstone.settings import AcquireSettings

_MOST_FAILURES = 10
"""Entries in a row that cannot be fetched. With that many, the source has stopped answering."""
_NEVER_CAUGHT = (RagstoneError, MemoryError, Stopped)


def read_source(
    source: Source,
    settings: AcquireSettings,
    *,
    groups: tuple[str, ...] = (),
    is_stored: IsStored = never_stored,
    stop: Event | None = None,
) -> Iterator[Acquired]:
    """Yield the documents of a source that are new or changed, and an `Unchanged` for every other entry.

    An entry that gives no document is reported, and reading goes on. The source is closed at the end.

    Args:
        source: lists and fetches.
        settings: limits, columns and access rules.
        groups: groups that may read its documents at most; none sets no limit.
        is_stored: called before an entry is fetched; one that is stored and unchanged is not fetched.
        stop: when it is set, the iterator raises `Stopped`.

    Raises:
        SourceError: the source cannot be listed, lists nothing, or stops answering. The caller must remove nothing.
    """
    names = set[str]()
    with (
        closing(source),
        ParserProcess(settings, stop) as parser,
        tempfile.TemporaryDirectory(prefix="ragstone-") as folder,
    ):
        reading = _Reading(source, settings, groups, parser, Path(folder) / "entry", stop)
        try:
            for entry in source.entries():
                check(stop)
                if isinstance(entry, Skipped):
                    yield entry
                elif entry.name in names:
                    yield Skipped(source=reading.address_of(entry), reason="another entry has the same name")
                else:
                    names.add(entry.name)
                    yield from reading.read(entry, is_stored)
        except _NEVER_CAUGHT:
            raise
        except Exception as error:  # A source may fail in any way; what was not listed must not count as gone.
            raise SourceError(f"{source.address} cannot be listed: {told(error)}") from error
    if not names:
        raise SourceError(f"there is nothing to read under '{source.address}'; its stored documents are kept")


def told(error: Exception) -> str:
    """Describe a failure of a library in one line."""
    words = " ".join(str(error.strerror if isinstance(error, OSError) and error.strerror else error).split())
    return f"{type(error).__name__}: {words[:300]}" if words else type(error).__name__


@dataclass(slots=True)
class _Reading:
    """Reads the entries of one source, one after another."""

    source: Source
    settings: AcquireSettings
    groups: tuple[str, ...]
    parser: ParserProcess
    path: Path
    stop: Event | None
    failures: int = 0

    def address_of(self, entry: Entry) -> str:
        return f"{self.source.address}/{entry.name}" if entry.name else self.source.address

    def read(self, entry: Entry, is_stored: IsStored) -> Iterator[Acquired]:
        address = self.address_of(entry)
        stamp = stamp_of_entry(entry, fingerprint(self.settings, self.groups))
        if stamp and is_stored(address, stamp):
            yield Unchanged(source=address)
            return
        if reason := left_out(address) or self._fetched(entry):
            yield Skipped(source=address, reason=reason)
            return
        suffix = entry.kind or suffix_of(PurePosixPath(address))
        file = File(
            path=self.path,
            name=address,
            source=address,
            suffix=suffix,
            settings=self.settings,
            given=self._given(entry),
        )
        described = (_described(one, entry, file) for one in documents_of(file, self.parser))
        read = (placed(one, address, entry.name or address) for one in described)
        yield from finished(read, address, stamp, self.stop)

    def _given(self, entry: Entry) -> Given:
        """Return what the connection and the source say of who may read an entry."""
        limits = ((self.groups,) if self.groups else ()) + (() if entry.groups is None else (groups_in(entry.groups),))
        named = named_in(entry.metadata, self.settings.access.column, describes=False)
        return Given(limits=limits, named=named)

    def _fetched(self, entry: Entry) -> str:
        """Fetch an entry into the temporary file, and return why that failed; empty if it did not."""
        size = 0
        try:
            refuse_large(entry.size, self.settings)
            with self.path.open("wb") as out:
                for block in self.source.fetch(entry):
                    check(self.stop)
                    size += len(block)
                    refuse_large(size, self.settings, is_whole=False)
                    out.write(block)
        except TooLarge as error:
            return str(error)
        except (MemoryError, Stopped):
            raise
        except Exception as error:  # The library of a source may raise anything; the next entry is still read.
            self.failures += 1
            reason = str(error) if isinstance(error, RagstoneError) else told(error)
            if self.failures >= _MOST_FAILURES:
                raise SourceError(f"{self.source.address} has stopped answering: {reason}") from error
            return f"cannot be fetched: {reason}"
        self.failures = 0
        return ""


def _described(document: Document | Skipped, entry: Entry, file: File) -> Document | Skipped:
    """Return a document with what the source says of its entry, except of its readers, which is decided already."""
    if isinstance(document, Skipped):
        return document
    facts, column, is_whole = dict(document.metadata), file.settings.access.column, document.id == file.name
    if is_whole:
        facts |= {name: fact for name, fact in entry.metadata.items() if not is_access_list(name, fact, column)}
    return replace(
        document,
        title=(entry.title if is_whole else "") or document.title,
        url=entry.url or document.url,
        metadata=facts,
    )

"""Texts that programs give: read as files of their kind, so that they have headings, tables and derived metadata."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Event

from ragstone.acquire.metadata.enrich import enrich, stamped
from ragstone.acquire.metadata.groups import Given, with_groups
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.sources.documents import documents_of
from ragstone.core.errors import UsageError
from ragstone.core.named_groups import is_access_list, named_in
from ragstone.core.records import Document, Skipped, TextKind
from ragstone.settings import AcquireSettings

_SUFFIXES: dict[TextKind, str] = {"text": ".txt", "markdown": ".md", "html": ".html", "rst": ".rst"}


def refuse_unknown_kind(document: Document) -> None:
    """Refuse a text of an unknown kind.

    Raises:
        UsageError: naming the kinds.
    """
    if document.kind and document.kind not in _SUFFIXES:
        near = get_close_matches(document.kind, _SUFFIXES, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"there is no kind '{document.kind}' of texts{hint}; choose one of {', '.join(_SUFFIXES)}")


def read_given(document: Document, settings: AcquireSettings, stop: Event | None = None) -> Document | Skipped:
    """Return a document of a program as it is stored: read as its kind says, and with its groups.

    A document without a kind is not parsed. What the program says of it counts before what its text says; both may
    narrow who may read it.
    """
    column = settings.access.column
    if not document.kind:
        derived = stamped(enrich(document, settings.metadata), settings.metadata)
        return with_groups(derived, settings.access, describes=True)
    refuse_unknown_kind(document)
    named = named_in(document.metadata, column, describes=True)
    source, suffix = document.source or document.id, _SUFFIXES[document.kind]
    with NamedTemporaryFile(suffix=suffix) as written, ParserProcess(settings, stop) as parser:
        written.write(document.text.encode("utf-8", "replace"))
        written.flush()
        file = File(path=Path(written.name), name=document.id, source=source, suffix=suffix, settings=settings)
        given = Given(named=named) if named else Given()
        read = next(documents_of(replace(file, given=given), parser))
    if isinstance(read, Skipped):
        return read
    own = {
        key: fact for key, fact in document.metadata.items() if not is_access_list(key, fact, column, describes=True)
    }
    return replace(
        read,
        source=document.source,
        title=document.title or read.title,
        url=document.url or read.url,
        metadata={**{key: fact for key, fact in read.metadata.items() if key != "path"}, **own},
    )

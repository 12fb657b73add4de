"""Web pages: read them as files of their kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from ragstone.acquire.readers import SUFFIX_OF_TYPE
from ragstone.acquire.readers.encodings import charset_of
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.sources.documents import documents_of
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings


class Pages:
    """A reader of web pages. It owns a process; use it as a context manager."""

    def __init__(self, settings: AcquireSettings) -> None:
        self._settings, self._parser = settings, ParserProcess(settings)

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *_: object) -> None:
        self._parser.close()

    def read(self, content: bytes, content_type: str, url: str) -> Iterator[Document | Skipped]:
        """Yield the documents of a page. The URL is their id, and citations link to it."""
        suffix = SUFFIX_OF_TYPE.get(content_type.partition(";")[0].strip().lower(), "")
        with NamedTemporaryFile(suffix=suffix) as page:
            page.write(content)
            page.flush()
            file = File(
                path=Path(page.name),
                name=url,
                source=url,
                suffix=suffix,
                settings=self._settings,
                charset=charset_of(content_type),
            )
            for one in documents_of(file, self._parser):
                # The entries of a feed have pages of their own.
                own = isinstance(one, Document) and one.id != url and one.url
                yield replace(one, url=own or url) if isinstance(one, Document) else one

"""The original files of documents: their pages as images, the positions of cited words on them, and their bytes.

A file is shown only while it is unchanged since it was read, because access was decided then. It is opened only at its
original path, and links are not followed, because they may lead to another file by now.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections import OrderedDict
from pathlib import Path
from typing import IO, Literal

from ragstone import acquire
from ragstone.core.access import READERS, Reader
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.layout import Box, boxes
from ragstone.core.reading import note_of
from ragstone.core.records import Document, Span
from ragstone.engine.attached import admitted
from ragstone.engine.components import Components
from ragstone.engine.opening import OpenVersions
from ragstone.engine.roots import UPLOADS
from ragstone.engine.table_rows import TableRows, table_of

State = Literal["same", "changed", "gone", "part", "none"]
"""The state of a document's file: it is unchanged since it was read; it was changed or removed; the document is a part
of a file, such as a row of a table or a file in an archive; or there never was a file, as for a web page."""
KEPT_BYTES = 32_000_000
"""Bytes of drawn pages that are kept in memory."""
KEPT_PAGES = 1_000
"""Drawn pages that are kept. Small ones would take much more memory than their bytes."""
ROWS_AROUND = 8
"""Rows of a table that are looked at on either side of a cited one."""
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
"""Follow no link, do not wait for the other end of a pipe, and change no line ends on Windows."""
_FORM = 1
"""Increase it when the drawing of pages changes, so that browsers load them again."""


@frozen
class Original:
    """The file of a document.

    ``name`` is its name; ``may_save`` says whether the reader may have the file itself, of ``size`` bytes; ``pages`` is
    the number of pages that can be drawn; ``is_row`` says whether the document is a row that can be shown in its table.
    Of a changed file, the reader gets neither. ``note`` says why the text may be wrong or lack parts of the file.
    """

    document_id: str
    state: State
    name: str = ""
    size: int = 0
    may_save: bool = False
    pages: int = 0
    is_row: bool = False
    note: str = ""


@frozen
class CitedPage:
    """A page, counted from 1, and the boxes of cited words on it, in the order of the text."""

    number: int
    boxes: tuple[Box, ...]


@frozen
class _Located:
    """A document, its file, and the stamp of the file when it was read; ``key`` is set for a row of a table."""

    document: Document
    state: State
    path: Path | None = None
    stamp: str = ""
    has_parts: bool = False
    key: str = ""


class Originals:
    """The files of the documents of a knowledge base."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions = versions
        self._drawer: acquire.PageDrawer | None = None
        self._kept, self._lock = OrderedDict[str, bytes](), threading.Lock()

    def close(self) -> None:
        """End the process that draws pages."""
        with self._lock:
            drawer, self._drawer = self._drawer, None
        if drawer:
            drawer.close()

    def find(self, id: str, *, reader: Reader) -> Original:
        """Return the state of a document's file.

        Args:
            id: as for `Documents.get`.
            reader: the reader who asks.

        Raises:
            NotFound: this reader may read no such document, or more than one.
        """
        with self._versions.current() as version:
            located = _find(version, id, reader)
            name, note = located.path.name if located.path else "", note_of(located.document)
            if located.path is None or located.state != "same":
                return Original(document_id=located.document.id, state=located.state, name=name, note=note)
            may_save = _may_save(version, located, reader)
            return Original(
                document_id=located.document.id,
                state="part" if located.has_parts else "same",
                name=name,
                size=acquire.size_in(located.stamp) if may_save else 0,
                may_save=may_save,
                pages=_pages(located),
                is_row=bool(located.key),
                note=note,
            )

    def cited(self, id: str, start: int, end: int, *, reader: Reader) -> tuple[CitedPage, ...]:
        """Return the pages of characters of a document, and their boxes.

        If the positions of the words are unknown, return the page on which they begin, without boxes.

        Args:
            id: as for `Documents.get`.
            start: the first character of the document's text.
            end: the character after the last one.
            reader: the reader who asks.

        Raises:
            NotFound: this reader may read no such document, or more than one.
        """
        with self._versions.current() as version:
            document = version.catalog.document(id, admitted(version.catalog, id, reader).names)
            placed = boxes(version.catalog.layout(document.id), start, end)
            if placed:
                return tuple(CitedPage(number=page + 1, boxes=own) for page, own in placed.items())
            pages = [mark for mark in document.marks if mark.kind == "page"]
            begun = sum(mark.start <= start for mark in pages)
            whole = len(pages) == document.metadata.get("pages")  # otherwise empty pages are omitted, and numbers shift
            return (CitedPage(number=begun, boxes=()),) if whole and begun and start < end else ()

    def rows(self, id: str, start: int, end: int, *, reader: Reader) -> TableRows:
        """Return the row of a table that a document was made of, with some rows around it, as the file has them.

        A row is shown only if its document is stored as the row says, and the reader may read it.

        Args:
            id: as for `Documents.get`.
            start: the first cited character of the document's text.
            end: the character after the last one.
            reader: who asks.

        Raises:
            UsageError: the characters end before they start.
            NotFound: this reader may read no such document, it is no row of a table, or its file is not as it was read.
            SourceError: the file cannot be read.
        """
        with self._versions.current() as version:
            located = _find(version, id, reader)
            if end < start:
                raise UsageError(f"end is {end}, before start, which is {start}")
            own = located.document.id
            refusal = NotFound(f"there is no table to show '{own}' in")
            if located.path is None or located.state != "same" or not located.key:
                raise refusal
            name, settings = own.removesuffix(f"#{located.key}"), version.settings.acquire
            near = acquire.rows_near(located.path, name, own, settings, ROWS_AROUND)
            near = [one for one in near if _is_shown(version, one, reader)]
            if _state_of(located.path, located.stamp) != "same" or all(one.id != own for one in near):
                raise refusal
            hidden = "" if reader.groups is None else settings.access.column.casefold()
            return table_of(near, own, Span(start=start, end=end), hidden)

    def etag(self, id: str, number: int, width: int, *, reader: Reader) -> str:
        """Return a value that changes whenever the drawn page does; the arguments are those of `draw`.

        Raises:
            NotFound: as of `draw`.
        """
        with self._versions.current() as version:
            return _key(_drawable(version, id, number, reader), number, width)

    def draw(self, id: str, number: int, width: int, *, reader: Reader) -> bytes:
        """Return a page of the file of a document as a PNG image.

        Args:
            id: as for `Documents.get`.
            number: of the page, from 1.
            width: of the image in pixels. A page with very many pixels becomes smaller.
            reader: the reader who asks.

        Raises:
            NotFound: this reader may read no such document, its file has changed, or it has no such page.
            SourceError: the page is damaged, or takes too long to draw.
        """
        with self._versions.current() as version:
            located = _drawable(version, id, number, reader)
            assert located.path is not None
            key = _key(located, number, width)
            if (kept := self._kept_page(key)) is not None:
                return kept
            drawn = self._drawer_for(version).draw(located.path, number - 1, width)
            # The drawing may show a file that replaced this one meanwhile.
            if _state_of(located.path, located.stamp) != "same":
                raise NotFound(f"the file of '{located.document.id}' is changing")
            self._keep_page(key, drawn)
            return drawn

    def open(self, id: str, *, reader: Reader) -> tuple[Original, IO[bytes]]:
        """Open the file of a document; the caller has to close it.

        Args:
            id: as for `Documents.get`.
            reader: the reader who asks. They must be allowed to read every document of the file.

        Raises:
            NotFound: this reader may read no such document, may not have its file, or the file has changed.
        """
        with self._versions.current() as version:
            located = _find(version, id, reader)
            refusal = NotFound(f"the file of '{located.document.id}' is not available")
            if located.path is None or located.state != "same" or not _may_save(version, located, reader):
                raise refusal
            try:
                handle = os.open(located.path, _FLAGS)
            except OSError as error:
                raise refusal from error
            file = os.fdopen(handle, "rb")
            state = os.fstat(handle)
            if not acquire.is_unchanged(located.stamp, state):
                file.close()
                raise refusal
            about = Original(
                document_id=located.document.id,
                state="part" if located.has_parts else "same",
                name=located.path.name,
                size=state.st_size,
                may_save=True,
                pages=_pages(located),
            )
            return about, file

    def _drawer_for(self, version: Components) -> acquire.PageDrawer:
        with self._lock:
            if self._drawer is None:
                self._drawer = acquire.PageDrawer(version.settings.acquire)
            return self._drawer

    def _kept_page(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep_page(self, key: str, page: bytes) -> None:
        with self._lock:
            self._kept[key] = page
            while len(self._kept) > KEPT_PAGES or sum(map(len, self._kept.values())) > KEPT_BYTES:
                self._kept.popitem(last=False)


def _find(version: Components, id: str, reader: Reader) -> _Located:
    document = version.catalog.document(id, admitted(version.catalog, id, reader).names)
    source = document.source
    if not source or "://" in source:
        return _Located(document=document, state="none")
    ends = [at for at, char in enumerate(source) if char in "/#" and at]
    files = [source, *(source[:end] for end in ends)]
    stamps = version.catalog.file_stamps(files)
    file = max(stamps, key=len, default="")
    if not file:  # a part of it could not be read, so it is read again next time
        return _Located(document=document, state="changed" if any(map(_is_file, files)) else "gone")
    path, has_parts = Path(file), file != source
    if document.id.startswith(f"{UPLOADS}/") and not _is_file(file):  # restored into another folder
        path = version.folder.resolve() / document.id.removesuffix(source.removeprefix(file))
    state: State = _state_of(path, stamps[file])
    key = source.removeprefix(f"{file}#") if acquire.has_rows(path) and source.startswith(f"{file}#") else ""
    return _Located(document=document, state=state, path=path, stamp=stamps[file], has_parts=has_parts, key=key)


def _is_file(path: str) -> bool:
    """Return whether there is such a file; False for a name that is too long, or in an unreadable folder."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _state_of(path: Path, stamp: str) -> State:
    """Return the state of a file that was read with this stamp. A file behind a link counts as changed."""
    try:
        state = path.lstat()
        if path.parent.resolve() != path.parent or not stat.S_ISREG(state.st_mode):
            return "changed"
    except (OSError, ValueError):
        return "gone"
    return "same" if acquire.is_unchanged(stamp, state) else "changed"


def _may_save(version: Components, located: _Located, reader: Reader) -> bool:
    """Return whether a reader may have a file.

    Readers other than the owner get only files of a single document. A table or an archive has more than its documents,
    such as omitted columns.
    """
    if reader.groups is None:
        return True  # `_find` has checked that they may read it
    if located.has_parts:
        return False
    named = version.catalog.access_groups([id for id, _ in version.catalog.documents_under(located.document.source)])
    return all(reader.may_read({READERS: groups}) for groups in named.values())


def _pages(located: _Located) -> int:
    if located.path is None or located.has_parts or not acquire.is_drawn(located.path):
        return 0
    pages = located.document.metadata.get("pages")
    return pages if isinstance(pages, int) and pages > 0 else 0


def _is_shown(version: Components, row: acquire.TableRow, reader: Reader) -> bool:
    try:
        document = version.catalog.document(row.id, admitted(version.catalog, row.id, reader).names)
    except NotFound:
        return False
    return document.id == row.id and document.text == row.text


def _drawable(version: Components, id: str, number: int, reader: Reader) -> _Located:
    found = _find(version, id, reader)
    if found.state != "same" or not 1 <= number <= _pages(found):
        raise NotFound(f"'{found.document.id}' has no page {number} that can be drawn")
    return found


def _key(located: _Located, number: int, width: int) -> str:
    return hashlib.sha256(f"{_FORM} {located.path} {located.stamp} {number} {width}".encode()).hexdigest()[:32]

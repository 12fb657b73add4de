"""The pictures of an office file: their words, and what is to be described."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from ragstone.acquire.ocr.engines import recognizer
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.package import Element, Package
from ragstone.acquire.readers.parsed import File, Writer
from ragstone.core.filters import Scalar
from ragstone.core.reading import PARTIAL

_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_KINDS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp")
_FEWEST_BYTES = 1000
"""A smaller picture is a bullet or a line."""


class EmbeddedPictures:
    """Reads the pictures of an office file and writes what they say where they stand, each picture once.

    If nothing that reads pictures is installed, their words are passed over: most show no text. If a model describes
    pictures, each also gets a place for its description.
    """

    def __init__(self, package: Package, file: File) -> None:
        self._package, self._file = package, file
        self._known: set[str] = set()
        self._seen = 0
        self._reader: _PictureReader | None = None

    def write(self, writer: Writer, element: Element, relations: Mapping[str, tuple[str, str]]) -> None:
        """Write what the pictures in an element say.

        Args:
            writer: receives it.
            element: a paragraph or a picture of a slide.
            relations: what the part that the element is in refers to, as `Package.relations` returns it.
        """
        for blip in element.iter(_BLIP):
            kind, name = relations.get(blip.get(_EMBED, ""), ("", ""))
            if kind == "image" and name in self._package.names and name not in self._known:
                self._known.add(name)
                if name.lower().endswith(_KINDS):
                    self._read(writer, self._package.bytes(name))

    @property
    def facts(self) -> dict[str, Scalar]:
        """The facts ``ocr`` and ``ocr_confidence``, and ``partial`` if there are too many pictures."""
        facts = self._reader.facts if self._reader else {}
        left = self._seen - self._file.settings.ocr_pages
        missing = f"{left} pictures were not read (acquire.ocr_pages)" if left > 0 else ""
        partial = missing or (self._reader.missing if self._reader else "")
        return {**facts, PARTIAL: partial} if partial else facts

    def _read(self, writer: Writer, data: bytes) -> None:
        self._seen += len(data) >= _FEWEST_BYTES
        if len(data) < _FEWEST_BYTES or self._seen > self._file.settings.ocr_pages:
            return
        is_page = False
        # Without an engine, and for a damaged picture, the rest of the file is still read.
        with suppress(Unreadable):
            self._reader = self._reader or _PictureReader(self._file)
            is_page = self._reader.write(writer, data)
        if self._file.settings.captions.model and not is_page:
            self._file.at_work()
            self._show(writer, data)

    def _show(self, writer: Writer, data: bytes) -> None:
        """Write the place of a picture to be described, unless it is damaged or shows nothing."""
        from ragstone.acquire.ocr.pictures import shown  # needs Pillow, which is an extra

        with suppress(Unreadable):
            writer.picture(shown(data))


class _PictureReader:
    def __init__(self, file: File) -> None:
        self._engine = recognizer(file.settings.ocr, "a picture", file.at_work)
        from ragstone.acquire.ocr.reading import Tally

        self._file, self._tally = file, Tally()

    def write(self, writer: Writer, data: bytes) -> bool:
        """Write what a picture says, and return whether it is a page of text."""
        from ragstone.acquire.ocr.pictures import frames
        from ragstone.acquire.ocr.reading import read_one, write

        is_page = False
        for picture in frames(data, 1):
            self._file.at_work()
            scan = read_one(picture, self._engine, self._file.settings)
            self._tally.add(scan)
            write(writer, scan, None)
            is_page = scan.is_page
        return is_page

    @property
    def facts(self) -> dict[str, Scalar]:
        return self._tally.facts(self._engine)

    @property
    def missing(self) -> str:
        """Which pictures the engine could not read, and why; empty if it read all."""
        failed = self._tally.failed
        return f"{failed} pictures could not be read: {self._tally.failure}" if failed else ""

"""The pictures in a file of another kind: their words, and what is to be described."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from urllib.parse import unquote

from ragstone.acquire.ocr.engines import chosen, recognizer
from ragstone.acquire.readers.decode import Blank, Unreadable
from ragstone.acquire.readers.names import PICTURES
from ragstone.acquire.readers.parsed import File, Writer
from ragstone.core.filters import Scalar
from ragstone.core.reading import with_notice
from ragstone.core.records import Metadata
from ragstone.settings import AcquireSettings

_FEWEST_BYTES = 1000
"""A smaller picture is a bullet or a line."""
_DATA = re.compile(r"\s{0,9}data:(image/[\w.+-]{1,60})(?:;[\w=.+-]{1,60}){0,5};base64,", re.IGNORECASE)


class EmbeddedPictures:
    """Reads the pictures of a file and writes what they say where they stand, each picture once.

    If nothing that reads pictures is installed, their words are passed over: most show no text. If a model describes
    pictures, each also gets a place for its description.

    Args:
        file: the file that they are in.
        load: returns the bytes of a picture by its name; none if the file has no such picture. It raises `Unreadable`
            if the picture is damaged.
    """

    def __init__(self, file: File, load: Callable[[str], bytes]) -> None:
        self._file, self._load = file, load
        self._describes, self._has_engine = bool(file.settings.captions.model), _has_engine(file.settings)
        self._known: set[str] = set()
        self._seen = 0

    def write(self, writer: Writer, name: str) -> None:
        """Write what a picture says, unless it was there before or is decoration. Note one that cannot be read."""
        if name in self._known or not (self._describes or self._has_engine):
            return
        self._known.add(name)
        try:
            self._write(writer, self._load(name))
        except Blank:
            pass
        except Unreadable:
            writer.left_out("unreadable picture")

    @property
    def facts(self) -> Metadata:
        """The facts ``ocr`` and ``ocr_confidence``, and ``partial`` if there are too many pictures."""
        reader = self._reader if self._seen and self._has_engine else None
        facts = reader.facts if reader else {}
        left = self._seen - self._file.settings.ocr_pages
        count = "1 picture was" if left == 1 else f"{left} pictures were"
        missing = f"{count} not read (acquire.ocr_pages)" if left > 0 else ""
        return with_notice(facts, missing, reader.missing if reader else "")

    def _write(self, writer: Writer, data: bytes) -> None:
        if len(data) < _FEWEST_BYTES:
            return
        self._seen += 1
        if self._seen > self._file.settings.ocr_pages:
            return
        is_page = self._reader.write(writer, data) if self._has_engine else False
        if self._describes and not is_page:
            from ragstone.acquire.ocr.pictures import shown  # needs Pillow, which is an extra

            self._file.at_work()
            writer.picture(shown(data))

    @cached_property
    def _reader(self) -> _PictureReader:
        return _PictureReader(self._file)


def is_picture(name: str) -> bool:
    """Return whether a name is that of a picture which can be decoded."""
    return name.lower().endswith(PICTURES)


def is_picture_type(content_type: str) -> bool:
    """Return whether a content type is that of a picture which can be decoded."""
    kind, _, subtype = content_type.lower().partition("/")
    return kind == "image" and f".{subtype}" in PICTURES


def picture_in_address(address: str) -> bytes:
    """Return the picture that a ``data:`` address holds; none in any other address.

    Raises:
        Unreadable: its data are damaged.
    """
    found = _DATA.match(address)
    if not found or not is_picture_type(found[1]):
        return b""
    try:
        return b64decode(unquote(address[found.end() :]) + "==")  # browsers do not require the padding
    except (binascii.Error, ValueError) as error:
        raise Unreadable(f"damaged: {error}") from error


def _has_engine(settings: AcquireSettings) -> bool:
    with suppress(Unreadable):
        return bool(chosen(settings.ocr, "a picture"))
    return False


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

"""Pages of files, and pictures of questions, drawn in a process of their own under the limits of reading."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile

from ragstone.acquire.readers import suffix_of
from ragstone.acquire.readers.decode import Unreadable, refuse_large
from ragstone.acquire.readers.names import PICTURES
from ragstone.acquire.readers.parsed import File, Wanted
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.core.errors import SourceError
from ragstone.settings import AcquireSettings


def is_drawn(path: Path) -> bool:
    """Return whether the pages of a file can be drawn here: of a PDF always, of a picture with the extra ``ocr``."""
    suffix = suffix_of(path)
    return suffix == ".pdf" or (suffix in PICTURES and find_spec("PIL") is not None)


def reduced(picture: bytes, settings: AcquireSettings) -> bytes:
    """Return a picture as a JPEG image of a bounded size, for a vision model.

    Args:
        picture: the file of a picture, of any kind that is read.
        settings: limits of time and memory.

    Raises:
        SourceError: it is no picture, is damaged or too large, or takes too long.
    """
    with NamedTemporaryFile() as written, ParserProcess(settings) as process:
        written.write(picture)
        written.flush()
        file = File(path=Path(written.name), name="", source="", suffix="", settings=settings)
        try:
            (image,) = process.parse("ragstone.acquire.readers.pictures.drawing:reduce", file).parts
        except Unreadable as error:
            raise SourceError(f"the picture cannot be read: {error}") from error
    return image.data


class PageDrawer:
    """Draws pages, one at a time. The process starts with the first page; `close` ends it."""

    def __init__(self, settings: AcquireSettings) -> None:
        self._settings, self._process = settings, ParserProcess(settings)

    def draw(self, path: Path, number: int, width: int) -> bytes:
        """Return a page as a PNG image.

        Args:
            path: of the file.
            number: of the page, from 0.
            width: of the image in pixels; a page with too many pixels becomes smaller.

        Raises:
            SourceError: the file is too large or damaged, or takes too long.
        """
        wanted = Wanted(number=number, width=width)
        suffix = suffix_of(path)
        file = File(path=path, name="", source="", suffix=suffix, settings=self._settings, wanted=wanted)
        reader = "pictures.drawing" if suffix in PICTURES else "pdf.drawing"
        try:
            refuse_large(path.stat().st_size, self._settings)
            (page,) = self._process.parse(f"ragstone.acquire.readers.{reader}:draw", file).parts
        except (Unreadable, OSError) as error:
            raise SourceError(f"this page cannot be drawn: {error}") from error
        return page.data

    def close(self) -> None:
        """End the process, also in the middle of a page."""
        self._process.close()

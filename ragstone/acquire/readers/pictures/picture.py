"""Pictures: photographs, scans and screenshots, for their text and to be described. Each frame of a TIFF is a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ragstone.acquire.ocr.engines import recognizer
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.core.reading import PARTIAL, with_notice

if TYPE_CHECKING:
    from ragstone.acquire.ocr.recognizer import Gray, Recognizer


def parse(file: File) -> Parsed:
    """Return the text in a picture, and the picture itself if it is to be described.

    Raises:
        Unreadable: nothing that reads pictures is installed, or the picture is damaged, too large or shows no text.
    """
    settings, describes = file.settings, bool(file.settings.captions.model)
    engine: Recognizer | None = None
    without = ""
    try:
        engine = recognizer(settings.ocr, "a picture", file.at_work)
    except Unreadable as error:
        if not describes:
            raise
        without = "" if settings.ocr == "off" else f"its words were not read: {error}"
    # Imported only now: they need what `recognizer` looks for.
    from ragstone.acquire.ocr.pictures import frames, shown
    from ragstone.acquire.ocr.reading import Tally, read_all, write

    writer, tally, pages, partial = Writer(), Tally(), 0, ""

    def pictures() -> Iterator[Gray]:
        """Yield the pages until one is damaged, so that those before it are kept."""
        nonlocal partial
        try:
            for number, picture in enumerate(frames(file.path, settings.ocr_pages + 1)):
                if number == settings.ocr_pages:
                    partial = f"only the first {number} pages were read (acquire.ocr_pages)"
                    return
                yield picture
        except Unreadable as error:
            partial = str(error)

    for pages, scan in enumerate(read_all(pictures(), engine, settings, file.at_work), 1):
        writer.page(str(pages))
        write(writer, scan, pages - 1)
        tally.add(scan)
        if describes and not scan.is_page:
            with suppress(Unreadable):  # it shows nothing
                writer.picture(shown(file.path, pages - 1))
    kind = file.suffix.removeprefix(".")
    facts = {"kind": kind, "pages": pages, **tally.facts(engine)}
    facts = with_notice(facts, partial, tally.failure, without)
    if not writer.length:
        raise Unreadable(str(facts.get(PARTIAL, "no text in the picture")))
    return writer.parsed(facts=facts)

"""Pictures: photographs, scans and screenshots that show text. Each frame of a TIFF file is a page."""

from __future__ import annotations

from ragstone.acquire.ocr.engines import recognizer
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer


def parse(file: File) -> Parsed:
    """Return the text in a picture.

    Raises:
        Unreadable: nothing that reads pictures is installed, or the picture is damaged, too large or shows no text.
    """
    engine = recognizer(file.settings.ocr, "a picture", file.at_work)
    # Imported only now: they need what `recognizer` looks for.
    from ragstone.acquire.ocr.pictures import frames
    from ragstone.acquire.ocr.reading import Tally, read_all, write

    settings = file.settings
    writer, tally, pages = Writer(), Tally(), 0
    pictures = frames(file.path, settings.ocr_pages)
    for pages, scan in enumerate(read_all(pictures, engine, settings.ocr_languages, file.at_work), 1):
        writer.page(str(pages))
        write(writer, scan, pages - 1)
        tally.add(scan)
    if not tally.characters:
        raise Unreadable("no text in the picture")
    return writer.parsed(facts={"kind": file.suffix.removeprefix("."), "pages": pages, **tally.facts(engine.name)})

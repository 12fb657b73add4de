"""Documents of Pages and Numbers: the pages of the preview (PDF) that they may hold. Apple has published no format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.package import Package
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.pdf import document

_PREVIEW = "QuickLook/Preview.pdf"


def parse(file: File) -> Parsed:
    """Return the text of the preview in a document.

    Raises:
        Unreadable: it holds none.
    """
    with Package(file.path) as package:
        if _PREVIEW not in package.names:
            raise Unreadable("it holds no preview to read; export it as PDF, Word or Excel")
        preview = package.bytes(_PREVIEW)
    with TemporaryDirectory(prefix="ragstone-") as folder:
        place = Path(folder) / "preview.pdf"
        place.write_bytes(preview)
        parsed = document.parse(replace(file, path=place))
    return replace(parsed, facts={**parsed.facts, "kind": file.suffix.removeprefix(".")})

"""Print as JSON the text of PDF files as one library gives it, and the CPU seconds that it takes for all of them.

`benchmarks.pdf_pages` runs this file with interpreters that do not have Ragstone, so it imports only what it measures.
The smallest file is read once before, so that imports do not count. A file that fails has no text.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# The libraries are not installed where Ragstone is checked.

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress


def converter(name: str) -> Callable[[str], str]:
    """Return a function from a path to a text."""
    if name == "ragstone":
        from pathlib import Path

        from ragstone.acquire.readers.parsed import File
        from ragstone.acquire.readers.pdf.document import parse
        from ragstone.settings import AcquireSettings

        settings = AcquireSettings(ocr="off")  # the peers read no pictures
        return lambda path: parse(File(path=Path(path), name="a", source="a", suffix=".pdf", settings=settings)).text
    if name == "pdfplumber":
        import pdfplumber

        def plumbed(path: str) -> str:
            with pdfplumber.open(path) as book:
                return "\n".join(page.extract_text() for page in book.pages)

        return plumbed
    if name == "pymupdf":
        import pymupdf

        def found(path: str) -> str:
            with pymupdf.open(path) as book:
                return "\n".join(page.get_text() for page in book)

        return found
    import pypdfium2

    def read(path: str) -> str:
        book = pypdfium2.PdfDocument(path)
        return "\n".join(book[number].get_textpage().get_text_range() for number in range(len(book)))

    return read


def main() -> None:
    convert, paths = converter(sys.argv[1]), sys.argv[2:]
    with suppress(Exception):
        convert(min(paths, key=os.path.getsize))
    texts: dict[str, str] = {}
    before = time.process_time()
    for path in paths:
        try:
            texts[path] = convert(path)
        except Exception:
            texts[path] = ""
    print(json.dumps({"seconds": time.process_time() - before, "texts": texts}))


if __name__ == "__main__":
    main()

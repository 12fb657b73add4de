"""Print the CPU seconds that one converter takes for some files, and how many of them fail.

`benchmarks.parsing` runs this file with interpreters that do not have Ragstone, so it imports only what it measures.
The smallest file is read once before, so that imports and caches do not count. A file that fails counts.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# The converters are not installed where Ragstone is checked.

import os
import sys
import time
from collections.abc import Callable


def converter(name: str) -> Callable[[str], str]:
    """Return a function from a path to a text."""
    if name == "ragstone":
        return ragstone_converter()
    if name == "markitdown":
        from markitdown import MarkItDown

        one = MarkItDown()
        return lambda path: one.convert(path).text_content
    import docx
    import pypdf

    def convert(path: str) -> str:
        if path.endswith(".pdf"):
            return "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
        document = docx.Document(path)
        cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        return "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells])

    return convert


def ragstone_converter() -> Callable[[str], str]:
    from importlib import import_module
    from pathlib import Path

    from ragstone.acquire.readers import READERS
    from ragstone.acquire.readers.parsed import File, Parsed
    from ragstone.core.records import Document
    from ragstone.settings import AcquireSettings

    def convert(path: str) -> str:
        suffix = Path(path).suffix
        file = File(path=Path(path), name="a", source="a", suffix=suffix, settings=AcquireSettings())
        reader = READERS[suffix]
        parse = import_module(f"ragstone.acquire.readers.{reader}").parse if isinstance(reader, str) else reader
        read = parse(file)
        if isinstance(read, Parsed):
            return read.text
        return "".join(one.text for one in read if isinstance(one, Document))

    return convert


def main() -> None:
    convert, paths = converter(sys.argv[1]), sys.argv[2:]
    if sys.argv[1].startswith("pypdf") and not all(path.endswith((".pdf", ".docx")) for path in paths):
        sys.exit("reads PDF and Word only")
    convert(min(paths, key=os.path.getsize))
    before, failed = time.process_time(), 0
    for path in paths:
        try:
            convert(path)
        except Exception:
            failed += 1
    print(time.process_time() - before, failed)


if __name__ == "__main__":
    main()

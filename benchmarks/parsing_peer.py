"""Run by `benchmarks.parsing` in a process of its own: CPU seconds of one converter for some files.

It is run by interpreters that know nothing of Ragstone, so it imports only what it measures. The smallest
file is read once before, so that imports and caches are not counted. What a file that fails took is counted, too.
"""

import os
import sys
import time


def converter(name):
    """A function from a path to a text."""
    if name == "ragstone":
        from importlib import import_module
        from pathlib import Path

        from ragstone.acquire import _READERS
        from ragstone.acquire.readers.parsed import File
        from ragstone.sections import AcquireSettings

        def read(path):
            suffix = Path(path).suffix
            file = File(path=Path(path), name="a", source="a", suffix=suffix, settings=AcquireSettings())
            reader = _READERS[suffix]
            if isinstance(reader, str):
                return import_module(f"ragstone.acquire.readers.{reader}").parse(file).text
            return "".join(one.text for one in reader(file))

        return read
    if name == "markitdown":
        from markitdown import MarkItDown

        one = MarkItDown()
        return lambda path: one.convert(path).text_content
    import docx
    import pypdf

    def convert(path):
        if path.endswith(".pdf"):
            return "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
        document = docx.Document(path)
        cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        return "\n".join([paragraph.text for paragraph in document.paragraphs] + cells)

    return convert


def main():
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


main()

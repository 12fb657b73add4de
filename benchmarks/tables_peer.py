"""Print as JSON the tables that another library finds in PDF files: for each path, pairs of page and rows.

`benchmarks.tables` runs this file with interpreters that do not have Ragstone, so it imports only what it measures.
A file that fails has no tables.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# The libraries are not installed where Ragstone is checked.

import json
import sys
from collections.abc import Callable, Iterator

Found = Iterator[tuple[int, list[list[str]]]]


def finder(name: str) -> Callable[[str], Found]:
    """Return a function from a path to the tables of a file."""
    if name.startswith("pdfplumber"):
        import pdfplumber

        strategy = "text" if name.endswith("-text") else "lines"
        options = {"vertical_strategy": strategy, "horizontal_strategy": strategy}

        def plumbed(path: str) -> Found:
            with pdfplumber.open(path) as book:
                for number, page in enumerate(book.pages, 1):
                    for rows in page.extract_tables(options):
                        yield number, _text(rows)

        return plumbed
    if name == "pymupdf":
        import pymupdf

        def found(path: str) -> Found:
            with pymupdf.open(path) as book:
                for number, page in enumerate(book, 1):
                    for table in page.find_tables().tables:
                        yield number, _text(table.extract())

        return found
    import camelot

    def read(path: str) -> Found:
        for table in camelot.read_pdf(path, pages="all"):
            yield table.page, _text(table.df.values.tolist())

    return read


def _text(rows: list[list[str | None]]) -> list[list[str]]:
    return [[cell or "" for cell in row] for row in rows]


def main() -> None:
    find, given = finder(sys.argv[1]), {}
    for path in sys.argv[2:]:
        try:
            given[path] = list(find(path))
        except Exception:
            given[path] = []
    print(json.dumps(given))


if __name__ == "__main__":
    main()

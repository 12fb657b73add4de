"""The documents of a list, or a comparison, as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from ragstone.core.answers import Citation
from ragstone.core.printable import one_line
from ragstone.core.research import Compared, Notebook

COLUMNS = ("title", "date", "document_id", "quote", "start", "end", "page", "url", "probability")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a cell that a spreadsheet would run; an apostrophe before them keeps it text."""


def csv_of(notebooks: Sequence[Notebook]) -> str:
    """Return the comparisons of research as CSV, or else the documents of its lists, one line each, with a heading.

    A thing of a comparison has two columns: the words found, and their place.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    compared = [one.compared for one in notebooks if one.compared]
    for one in compared:
        writer.writerows(_rows(one))
    if not compared:
        writer.writerow(COLUMNS)
    for item in (item for one in notebooks if one.items and not compared for item in one.items.items):
        cited = item.citation
        texts = (item.title, item.date, item.document_id, cited.quote)
        place = (cited.start, cited.end, _cell(cited.page), _cell(cited.url))
        writer.writerow([*map(_cell, texts), *place, f"{item.probability:.2f}"])
    return out.getvalue()


def _rows(compared: Compared) -> Iterator[list[str]]:
    yield ["aspect", *(name for thing in compared.things for name in (_cell(thing), _cell(f"source of {thing}")))]
    for aspect in compared.aspects:
        yield [_cell(aspect.name), *(text for cell in aspect.cells for text in _cited(cell))]


def _cited(cell: Citation | None) -> tuple[str, str]:
    if cell is None:
        return "", ""
    place = ", ".join(filter(None, (cell.where, f"p. {cell.page}" if cell.page else "")))
    return _cell(cell.quote), _cell(f"{place}, characters {cell.start}-{cell.end}")


def _cell(text: str) -> str:
    shown = one_line(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown

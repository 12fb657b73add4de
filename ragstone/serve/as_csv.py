"""The documents of a list as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from ragstone.core.printable import one_line
from ragstone.core.research import Item

COLUMNS = ("title", "date", "document_id", "quote", "start", "end", "page", "url", "probability")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a cell that a spreadsheet would run; an apostrophe before them keeps it text."""


def csv_of(items: Iterable[Item]) -> str:
    """Return documents as CSV with a heading, one line each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in items:
        cited = one.citation
        texts = (one.title, one.date, one.document_id, cited.quote)
        writer.writerow(
            [*map(_cell, texts), cited.start, cited.end, _cell(cited.page), _cell(cited.url), f"{one.probability:.2f}"]
        )
    return out.getvalue()


def _cell(text: str) -> str:
    shown = one_line(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown

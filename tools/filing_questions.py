"""Questions about the figures of quarterly reports, made from the rows of their tables."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from benchmarks.table_sets import TableQuestion
from ragstone.catalog.protocol import Catalog
from ragstone.core.records import Chunk
from ragstone.core.table import Row, table_of
from ragstone.respond.tables.cell_kinds import is_figure

SOURCE = "filings"
COUNT = 400
"""Questions of each company."""
_NAME = re.compile(r"[\w&.' -]+?(?=,? (?:Inc|Corp|Corporation|Co|Company|Ltd|plc)\b|$)")
_LABEL = re.compile(r"[A-Z][a-z][^\d:]{2,60}")
_VAGUE = re.compile(r"(?:Total|Other|Balances?|Beginning|Ending|Item|Basic|Diluted)\b\W*(?:\w+\W*)?$")
_TIME = re.compile(
    r"(?:(?P<length>Three|Six|Nine|Twelve) Months Ended)?.*?"
    r"(?P<day>(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}),?"
    r"\s+(?P<year>20\d\d)"
)
_FORMS = ("What was {0}'s {1} {2}?", "How much was {0}'s {1} {2}?", "{1} of {0} {2}", "What {1} did {0} report {2}?")


def company_of(chunk: Chunk) -> str:
    """Return the company of a report, as its title begins."""
    return chunk.title.partition(" · ")[0]


def filing_questions(catalog: Catalog) -> list[TableQuestion]:
    """Return questions that name the company, the label of a row and the time of a column, and the figure there."""
    chance = random.Random(1)
    found: dict[str, list[TableQuestion]] = {}
    chunks = [chunk for _, chunk in catalog.chunks_since(0)]
    for chunk in chunks:
        for one in _of(chunk, chance):
            found.setdefault(company_of(chunk), []).append(one)
    out: list[TableQuestion] = []
    for some in found.values():
        once = [*{one.text: one for one in some}.values()]
        out += chance.sample(once, min(COUNT, len(once)))
    return out


def _of(chunk: Chunk, chance: random.Random) -> Iterator[TableQuestion]:
    table, named = table_of(chunk), _NAME.match(company_of(chunk))
    for row in table.rows if table and named else ():
        for when, figure in _figures(row):
            label = row.label[0].lower() + row.label[1:]
            yield TableQuestion(
                source=SOURCE,
                id=f"{chunk.id} {row.label}",
                text=chance.choice(_FORMS).format(named[0] if named else "", label, when),
                document=company_of(chunk),
                answers=(figure, row.label),
                is_lookup=True,
            )


def _figures(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the times and figures of a row, if its label says what it is about."""
    if not _LABEL.fullmatch(row.label) or _VAGUE.match(row.label):
        return
    for cell in row.cells[1:]:
        time = _TIME.search(" ".join(cell.header))
        if time and is_figure(cell.text) and len(re.findall(r"\d", cell.text)) > 1 and "%" not in cell.text:
            since = f"in the {time['length'].lower()} months ended" if time["length"] else "as of"
            yield f"{since} {time['day']}, {time['year']}", cell.text

"""What the tables of older versions of a document say in the row of a cell that answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.core.editions import edition_of
from ragstone.core.question import Question
from ragstone.core.records import Hit
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.rivals import are_versions
from ragstone.respond.tables.features import TableCell, cells_of
from ragstone.respond.tables.lookup import Looked


def older_rows(looked: Looked, versions: Sequence[Hit], question: Question) -> tuple[Quote, ...]:
    """Return the row of the first cell in each older version in which any cell that is shown has another value.

    There is none if the question means a version itself, or if something is calculated from the cells.

    Args:
        looked: the cells that answer.
        versions: the passages of the evidence in other versions of their documents.
        question: what is asked.
    """
    if question.versions_meant != () or looked.calculation or looked.cells[0].table.file:
        return ()
    found: dict[str, Quote] = {}
    for cell in _with_other_value(looked.cells, cells_of(versions)):
        found.setdefault(cell.hit.chunk.document_id, _row_of(cell))
    return tuple(found.values())


def _with_other_value(shown: Sequence[TableCell], others: Sequence[TableCell]) -> Iterator[TableCell]:
    """Yield the cells of older versions in the row and column of a cell, with another value."""
    for one in shown:
        edition = edition_of(one.hit.chunk.metadata)
        for other in others:
            is_older = edition.is_newer(edition_of(other.hit.chunk.metadata))
            is_same_place = (one.cell.label, one.cell.header) == (other.cell.label, other.cell.header)
            if (
                is_older
                and is_same_place
                and one.cell.text != other.cell.text
                and are_versions(_row_of(one), _row_of(other))
            ):
                yield other


def _row_of(cell: TableCell) -> Quote:
    return Quote(hit=cell.hit, place=cell.place, span=cell.row.span)

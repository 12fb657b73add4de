"""What a question names that a row contradicts, because another row or table has it instead.

A question about the operations manager in Oslo is not answered by the branch manager in Oslo if another row has an
operations manager; nor is one about Oslo by a table whose title says Bergen, if both are values of one column.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.core.question import Requirement
from ragstone.core.records import Span
from ragstone.respond.requirements.unmet import Lack
from ragstone.respond.tables.asked import Asked, Item, named_in, terms
from ragstone.respond.tables.cell_kinds import is_figure, naming
from ragstone.respond.tables.features import TableCell, title_of
from ragstone.respond.tables.ranges import meant_by
from ragstone.respond.tables.wording import contains, normalized

_LONGEST_VALUE = 40
"""Characters of a value that names one thing."""
_SHORTEST_VALUE = 4
_LEAST = 0.05
"""Share of the question by weight from which on a thing is missed."""


def contradictions(asked: Asked, best: TableCell, candidates: Sequence[TableCell]) -> list[Lack]:
    """Return what the question names and the row of the best cell contradicts, as something that it lacks.

    Args:
        asked: the question.
        best: the cell that would answer.
        candidates: all cells that were found.
    """
    chunk = best.hit.chunk
    around = f"{best.table.caption} {best.row.section} {title_of(best.table, chunk)} {chunk.context}"
    cells = " ".join([*(cell.text for cell in best.row.cells), *best.cell.header, *best.table.corner])
    met = asked.names_of(cells) | asked.names_of(around) | asked.priced | asked.reached
    meant = meant_by(asked.points, best.row, best.table.columns, naming(best.row))
    met |= asked.named_at(one.span for one in meant)
    unmet = [
        one
        for n, one in enumerate(asked.items)
        if 2 * n not in met and not any(word.value for word in one.words) and not _is_weak(asked, n)
    ]
    return [_lack(asked, one) for one in unmet if _is_elsewhere(asked, one, best, candidates, normalized(around))]


def _is_elsewhere(asked: Asked, item: Item, best: TableCell, candidates: Sequence[TableCell], around: str) -> bool:
    """Return whether another row has a thing where the best row has something else, or another table has it.

    Labels are left out: a question may name several rows, or say in other words what the label does.
    """
    name = normalized(" ".join(word.lower for word in item.words))
    own = {cell.column: asked.names_of(cell.text) for cell in best.row.cells}
    for one in candidates:
        cell = one.cell
        if (
            one.row is best.row
            or cell is one.row.cells[0]
            or is_figure(cell.text)
            or not named_in(cell.text).has_words(item)
        ):
            continue
        is_whole = normalized(cell.text) == name
        if _table(one) == _table(best):
            said = own.get(cell.column, frozenset[int]())
            if is_whole or (said and said < asked.names_of(cell.text)):
                return True
        if is_whole and _has_sibling(one, candidates, around):
            return True
    return False


def _has_sibling(value: TableCell, candidates: Sequence[TableCell], around: str) -> bool:
    """Return whether what is around a table names another value of the column of a value, and not this one."""
    own = normalized(value.cell.text)
    beside = (
        one.cell.text for one in candidates if _table(one) == _table(value) and one.cell.column == value.cell.column
    )
    values = {normalized(text) for text in beside if len(text) <= _LONGEST_VALUE and not is_figure(text)}
    return not contains(around, own) and any(
        len(one) >= _SHORTEST_VALUE and one != own and contains(around, one) for one in values
    )


def _is_weak(asked: Asked, n: int) -> bool:
    """Return whether a thing says little, such as "total", or a word of nearly all documents."""
    said = all(word.lower in terms().weak for word in asked.items[n].words)
    return said or asked.weight(frozenset([2 * n, 2 * n + 1])) < _LEAST


def _table(one: TableCell) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return what the rows of one table have in common."""
    return one.source, one.table.columns


def _lack(asked: Asked, item: Item) -> Lack:
    span = Span(start=item.words[0].span.start, end=item.words[-1].span.end)
    requirement = Requirement(kind="name", text=span.of(asked.text), span=span, words=tuple(item.words))
    return Lack(requirement=requirement, found=True, known=True)

"""The cells of tables that answer a question, as an answer with citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cache

from ragstone.core.answers import Draft, Statement
from ragstone.core.frozen import frozen
from ragstone.core.kinds import Kind
from ragstone.core.naming import name_of
from ragstone.core.protocols import PassageReader, Weigher
from ragstone.core.question import Question
from ragstone.core.record import file_of, record_of
from ragstone.core.records import Chunk, Evidence, Passage
from ragstone.core.request import Request
from ragstone.core.table import Cell
from ragstone.core.words import Word
from ragstone.language import lexicon
from ragstone.language.facts import words
from ragstone.language.money import MARK, names_money
from ragstone.language.words import any_of
from ragstone.respond.drafts import cite
from ragstone.respond.links import strip_links
from ragstone.respond.reader import readings
from ragstone.respond.remembered import Remembered
from ragstone.respond.requirements.unmet import CAP, Known, Lack, is_subject, lacking, lowered
from ragstone.respond.tables.asked import Asked, Named, items, terms
from ragstone.respond.tables.cell_kinds import is_figure, naming, unit_in
from ragstone.respond.tables.cell_model import believed
from ragstone.respond.tables.contradicted import contradictions
from ragstone.respond.tables.dates import dates
from ragstone.respond.tables.features import TableCell, cells_of
from ragstone.respond.tables.lookup import Looked, look_up
from ragstone.respond.tables.ranges import meant_by, within_heading
from ragstone.respond.tables.whole import compared_rows

WORTH_READING = 0.3
"""Probability of a cell from which on a language model is given its table, too."""
SURE_CELL = 0.7
"""Probability from which on a cell of a data file is shown even if its row is more sure."""
SURE_ROW, SURER_ROW = 0.6, 0.8
"""Probability from which on its row is shown instead: of a cell that would be refused, and of one that is not sure."""
LONGEST_ROW, MOST_CELLS = 400, 6
"""Characters of such a row, and cells of a row of a table. Of 48 look-ups of AIT-QA, TAT-QA and WikiTableQuestions that
this changes, the best cell alone was right in 18, and its row has the answer in 39."""
ROW_RIGHT = 0.8
"""The largest probability of such a row of a table, which is the share of these 39 in the 48."""
EXPLAINED: frozenset[Kind] = frozenset({"reason", "how_to"})
"""The kinds of question that no figure answers."""
_PER = re.compile(r"\bper\b", re.IGNORECASE)
_EXCEPT = re.compile(r"\bexcept\b", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SHARE = re.compile(r"\d\s?(?:%|per ?cent)")
_PERCENT = re.compile(r"%|\bpercent|\bchange %", re.IGNORECASE)


@frozen
class TableReader:
    """Reads the tables among the hits.

    Attributes:
        occurs: says for each word whether any document contains it.
        weigh: weighs words.
        least: probability from which on a cell or row is an answer.
        reader: reads the passage of the best cell; without one the words of cells are compared alone.
    """

    occurs: Known
    weigh: Weigher
    least: float = 0.5
    reader: PassageReader | None = None
    _looked: Remembered[Looked | None] = field(default_factory=Remembered["Looked | None"], init=False, repr=False)

    async def read(self, evidence: Evidence, request: Request) -> Looked | None:
        """Return the cells that answer most likely, and the probability that they are right; None without a table."""
        if known := self._looked.of(evidence, request):
            return known[0]
        return self._looked.keep(evidence, request, await self._newly_read(evidence, request))

    async def _newly_read(self, evidence: Evidence, request: Request) -> Looked | None:
        question = evidence.question
        wanted = question.asks.comparison
        if wanted and (compared := compared_rows(wanted, evidence.rows)):
            return compared
        cells = cells_of((*evidence.hits, *evidence.tables))
        if not cells:
            return None
        asked = Asked(question, self.weigh, request)
        looked = look_up(asked, cells)
        if looked is None:
            return None
        looked = await self._believed(looked, question, request)
        lacks = lacking(
            question,
            [looked.cells[0].hit.chunk],
            [hit.chunk for hit in evidence.hits],
            occurs=self.occurs,
            weigh=self.weigh,
            request=request,
        )
        best = looked.cells[0]
        within = meant_by(asked.points, best.row, best.table.columns, naming(best.row))
        within += within_heading(asked.points, best.cell.head)
        lacks = [
            one
            for one in lacks
            if not _is_named(one, best.hit.chunk)
            and not any(point.span.holds(one.requirement.span) for point in within)
        ]
        lacks += contradictions(asked, best, cells)
        likely, row = lowered(looked.probability, lacks), lowered(looked.row, lacks)
        looked = replace(looked, probability=likely, row=row, lacks=tuple(lacks))
        cell = looked.cells[0].cell
        in_words = question.kind in EXPLAINED or asked.in_words
        if (in_words and is_figure(cell.text)) or (asked.counts and not asked.calculates and _is_money(asked, cell)):
            looked = replace(looked, probability=min(CAP, looked.probability), row=min(CAP, looked.row))
        return self._with_row(looked)

    async def _believed(self, looked: Looked, question: Question, request: Request) -> Looked:
        """Return cells with what the reader says of their passage added to their probability.

        It says nothing of figures that are calculated or compared.
        """
        if looked.calculation or not looked.row:
            return looked
        (told,) = await readings(self.reader, question.text, [looked.cells[0].hit.chunk.headed], request)
        if told is None:
            return looked
        likely, row = (believed(one, told.answers) for one in (looked.probability, looked.row))
        return replace(looked, probability=likely, row=row)

    def _with_row(self, looked: Looked) -> Looked:
        """Return the whole row if it is surely right and the cell is not, and if it is short.

        So "What is the training budget?" is answered with what it is and who has it.
        """
        best = looked.cells[0]
        is_short = best.row.span.end - best.row.span.start <= LONGEST_ROW and len(best.row.cells) <= MOST_CELLS
        is_alone = len(looked.cells) == 1 and not looked.calculation and not best.table.file
        if best.cell is best.row.cells[0] and looked.after_label and is_short and is_alone:
            # A label alone, such as the name of a setting, says nothing of what it names.
            return replace(looked, cells=(best, *looked.after_label))
        refused = looked.probability < self.least
        enough = SURE_ROW if refused and best.table.file else SURER_ROW
        if looked.probability >= max(self.least, SURE_CELL) or looked.row < max(self.least, enough):
            return looked
        if best.row.span.end - best.row.span.start > LONGEST_ROW or looked.calculation:
            return looked
        if best.table.file:
            return replace(looked, cells=looked.cells[:1], probability=looked.row, whole=True)
        if len(looked.cells) > 1 or not looked.after_label or len(best.row.cells) > MOST_CELLS:
            return looked
        return replace(looked, cells=looked.after_label, probability=min(ROW_RIGHT, looked.row))

    async def shown(self, evidence: Evidence, request: Request) -> Evidence:
        """Return the evidence for a language model: with the table that likely answers, if it is not among the hits."""
        looked = await self.read(evidence, request) if evidence.tables else None
        if looked is None or looked.probability < WORTH_READING:
            return evidence
        hit = looked.cells[0].hit
        if hit in evidence.hits:
            return evidence
        passages = evidence.passages
        if passages and all(one.hit.chunk.id != hit.chunk.id for one in passages):
            passages = (Passage(hit=hit), *passages)
        return replace(evidence, hits=(hit, *evidence.hits), passages=passages)

    def outweighs(
        self,
        looked: Looked,
        quoted: Sequence[tuple[str, Chunk]],
        probability: float,
        question: Question,
        request: Request,
    ) -> bool:
        """Return whether cells answer rather than quoted sentences, which are right with a probability.

        They do if they are more likely right, or if the answer is a figure and the sentences have none that is new,
        or none of the measure that is asked for.

        Args:
            looked: the cells.
            quoted: the quotes, each with its chunk.
            probability: that the quotes are right.
            question: as it was understood.
            request: until when, and who pays.
        """
        if looked.probability >= probability:
            return True
        if looked.calculation and looked.cells[0].table.file:
            files = {file_of(chunk) for _, chunk in quoted if record_of(chunk)}
            if len(files) == 1 and looked.cells[0].table.file in files and all(record_of(chunk) for _, chunk in quoted):
                return True  # rows of the table do not say what all of them give together
        asked = Asked(question, self.weigh, request)
        if looked.figure and asked.figure and not self._say_amount(asked, quoted, request):
            return True
        said = {word.value for word in question.words}
        new = (word for text, _ in quoted for word in words(text) if word.value and word.value not in said)
        return looked.figure and not any(_is_amount(word) for word in new)

    def _say_amount(self, asked: Asked, quoted: Sequence[tuple[str, Chunk]], request: Request) -> bool:
        """Return whether a sentence of a quote has an amount of what is asked for, which it or its headings name.

        They need not name what most documents are about, nor say in the same words how the amount changed.
        """
        amounts = [_SHARE] if asked.percent else [_amount(), _SHARE] if asked.change else [_amount()]
        needed = [
            one
            for one in asked.items
            if not all(word.lower in terms().calculation for word in one.words)
            and not is_subject([word.lower for word in one.words], self.weigh, request)
        ]
        for quote, chunk in quoted:
            above = Named(f"{chunk.title} {chunk.context}")
            for sentence in _SENTENCES.split(quote):
                named = Named(sentence)
                if not any(map(named.has, asked.measures)):
                    continue
                said = sentence if asked.change else _changed().sub(" ", sentence)
                if any(amount.search(said) for amount in amounts) and all(
                    named.has_words(one) or above.has_words(one) for one in needed
                ):
                    return True
        return False


def _is_money(asked: Asked, cell: Cell) -> bool:
    """Return whether a cell is an amount of money, though the question names neither a measure nor money."""
    return names_money(cell.text) and not asked.measures and not names_money(asked.text)


def _is_named(lack: Lack, chunk: Chunk) -> bool:
    """Return whether a table names what looks like a name by a synonym, as "CASM", or whether it is none, as "Tell"."""
    around = Named(f"{chunk.title}\n{chunk.headed}\n{chunk.facts.get('table_header', '')}")
    named = items(lack.requirement.text) if lack.requirement.kind == "name" else ()
    frame = terms().frame
    return bool(named) and all(
        around.has(one) if one.concept >= 0 else all(word.lower in frame for word in one.words) for one in named
    )


def _is_amount(word: Word) -> bool:
    """Return whether a number may be an answer: neither a month nor a year."""
    return word.value[:1].isdigit() and not (word.value.isdigit() and len(word.value) == len("2023"))


def draft_of(looked: Looked) -> Draft:
    """Return the answer: each cell with what names its row and column, and what is calculated from them."""
    cells = looked.cells
    if looked.whole:
        return _row_draft(looked)
    citations = tuple(cite(n, one.hit, one.cell.span) for n, one in enumerate(cells, start=1))
    below = cells[0].cell if cells[0].cell is cells[0].row.cells[0] else None
    shown = {one.cell.header for one in cells[1:]}
    keys = [key for key in looked.keys if key.header not in shown]
    differ = len({one.hit.chunk.heading for one in cells}) > 1
    places = [one.hit.chunk.heading if differ else looked.place for one in cells]
    named_cells = (
        strip_links(f"{place} · {said}" if place else said).rstrip()
        for place, said in zip(places, (_said(one, keys, below) for one in cells), strict=True)
    )
    lines = [f"{words} [{n}]" for n, words in enumerate(named_cells, start=1)]
    if looked.calculation:
        lines.append(f"{looked.calculation} {''.join(f'[{n}]' for n in range(1, len(cells) + 1))}")
    return Draft(
        text="\n".join(lines),
        citations=citations,
        answerability=looked.probability,
        statements=tuple(_statements(lines, len(cells))),
    )


def _said(one: TableCell, keys: Sequence[Cell], below: Cell | None) -> str:
    """Return a cell with what names it; the ``keys`` of the first row stand for the same columns of its own."""
    headers = [key.header for key in keys]
    own = [cell for header in headers for cell in one.row.cells if cell.header == header]
    return f"{named(one, own, below)}: {one.cell.text}"


def _row_draft(looked: Looked) -> Draft:
    """Return the answer that shows a whole row as its file has it."""
    one = looked.cells[0]
    citation = cite(1, one.hit, one.row.span)
    lines = [f"{strip_links(citation.quote)} [1]"]
    return Draft(
        text=lines[0],
        citations=(citation,),
        answerability=looked.probability,
        statements=tuple(_statements(lines, 1)),
    )


def named(table_cell: TableCell, keys: Sequence[Cell] = (), below: Cell | None = None) -> str:
    """Return what names a cell: section, label, headings and unit, as "Revenue · fiscal 2023 · in millions".

    A cell of a data file is named by some ``keys``, other cells of its row, with the names of their columns. A cell
    that is shown ``below`` the first of its row needs no label.
    """
    cell = table_cell.cell
    if keys:
        return " · ".join([*(f"{' '.join(key.header)} {key.text}" for key in keys if key is not cell), *cell.header])
    is_labelled = cell is not table_cell.row.cells[0] and below is not table_cell.row.cells[0]
    beside = [one.text for one in naming(table_cell.row)[1:] if one is not cell]
    label = [part.rstrip(" :,") for part in (*cell.label, *beside)] if is_labelled else []
    corner = [part for part in table_cell.table.corner if label and dates(part)]
    parts = [*label, *(part.rstrip(" :,") for part in (*corner, *cell.header)), unit_of(table_cell)]
    if not any(parts):
        parts = [table_cell.table.caption, name_of(table_cell.hit.chunk)]
    return " · ".join(part for part in dict.fromkeys(parts) if part)


def unit_of(table_cell: TableCell) -> str:
    """Return in what a cell is counted, such as "in millions"; empty if it says so itself or nothing says it."""
    unit, around = unit_in(table_cell.table), " ".join([*table_cell.cell.label, *table_cell.cell.header])
    if not unit or not is_figure(table_cell.cell.text) or "%" in table_cell.cell.text or _PERCENT.search(around):
        return ""
    apart = _per_share().search(around) or (_PER.search(around) and _EXCEPT.search(table_cell.table.caption))
    return "" if apart else unit


def _statements(lines: Sequence[str], cells: int) -> list[Statement]:
    """Return a statement for each line: of its own cell, or of all cells for the calculation after them."""
    out, at = list[Statement](), 0
    for n, line in enumerate(lines, start=1):
        markers = (n,) if n <= cells else tuple(range(1, cells + 1))
        out.append(Statement(start=at, end=at + len(line), markers=markers))
        at += len(line) + 1
    return out


@cache
def _per_share() -> re.Pattern[str]:
    """Return a pattern of what says that an amount is of one share: "per diluted share"."""
    phrases = (re.escape(phrase).replace(r"\ ", r" (?:\w+ ){0,2}") for phrase in lexicon().table_words["per_share"])
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


@cache
def _amount() -> re.Pattern[str]:
    return re.compile(
        rf"{MARK}\s?\d|\d{{1,3}}(?:[,. ]\d{{3}})+|(?<![\d.,])\d[\d.,]*\s?(?:hundred|{lexicon().large})", re.IGNORECASE
    )


@cache
def _changed() -> re.Pattern[str]:
    """Return a pattern of how much something changed, which does not say how much it is."""
    changed, large = any_of(lexicon().table_words["changed"]), lexicon().large
    return re.compile(
        rf"\b(?:{changed})\b(?:(?! to )[^.;]){{0,30}}?"
        rf"\d[\d.,]*\s?(?:%|percent)?(?:,? (?:or|and) {MARK}?\s?\d[\d.,]*)?(?: (?:{large}))?",
        re.IGNORECASE,
    )

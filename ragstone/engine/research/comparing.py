"""Comparisons: a table of things and aspects, each cell a value or a sentence of a document, cited on its own.

If all things are documents, a cell is what its document says: the section that the aspect names, or else the answer to
a question that is asked of this document alone. Otherwise the question names the thing. Aspects that the question does
not name are the columns of a table with the things as rows, those that a language model names, or the headings of the
documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace

from ragstone.chunk import Outlined, sentences
from ragstone.core.access import both
from ragstone.core.errors import RetrievalError
from ragstone.core.filters import Filter, In
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.question import Question
from ragstone.core.record import record_of, rows_in
from ragstone.core.records import Hit, Span, date_of
from ragstone.core.request import Request
from ragstone.core.research import Action, ActionTaken, Aspect, Compared, Notebook
from ragstone.core.timing import Timings
from ragstone.engine.assembly import quoting, under
from ragstone.engine.by_name import ByName
from ragstone.engine.cited import with_cited
from ragstone.engine.components import Components
from ragstone.engine.finding import Finding
from ragstone.engine.replied import hits_of_document
from ragstone.engine.research.by_model import Layout, laid_out
from ragstone.engine.research.spending import Spending
from ragstone.engine.search import Search
from ragstone.language.facts import words
from ragstone.question import read
from ragstone.question.named import naming_words
from ragstone.question.wanted import MOST_ASPECTS, Thing, WantedComparison, value_question
from ragstone.respond.drafts import cite, drafted
from ragstone.respond.overview.telling import can_be_quoted
from ragstone.respond.tables.asked import items, named_in
from ragstone.respond.tables.things import Attribute, attributes_of
from ragstone.respond.tables.wording import distinct, has_words

SHOWN = 3
"""Passages of each thing that a model sees when it names aspects."""
SECTION_SENTENCES, SECTION_CHARACTERS = 3, 300
"""Sentences of a section in a cell, and characters from which on no further one follows."""
SURE = 0.95
"""Probability of a cell that is taken from the section, or the row and column, of its names."""


@frozen
class _Cell:
    """What a document says of a thing in an aspect: the characters of a hit, and the probability that they answer."""

    hit: Hit
    span: Span
    probability: float = SURE


@frozen
class _Column:
    """A thing; if it is a document, its chunks and its sections with their titles, which are characters of it."""

    thing: Thing
    hits: tuple[Hit, ...] = ()
    sections: tuple[tuple[str, Span], ...] = ()

    @property
    def document(self) -> str:
        return self.hits[0].chunk.document_id if self.hits else ""

    def said(self, aspect: str) -> Iterator[tuple[Hit, Span]]:
        """Yield the sentences that can be quoted of the section that an aspect names, with their hits."""
        for title, section in self.sections:
            if not _is_named(aspect, title):
                continue
            for hit in self.hits:
                for span in sentences(hit.chunk.text) if hit.chunk.start < section.end else ():
                    start, end = hit.chunk.start + span.start, hit.chunk.start + span.end
                    if section.start <= start and end <= section.end and can_be_quoted(hit, span):
                        yield hit, span


class Comparing:
    """Compares things in one version of a knowledge base, for one reader and within a budget."""

    def __init__(self, version: Components, where: Filter | None, request: Request, spending: Spending) -> None:
        settings = quoting(version.settings)
        settings = settings.model_copy(update={"respond": settings.respond.model_copy(update={"sentences": 1})})
        self._version, self._where, self._request, self._spending = version, where, request, spending
        self._quoting = under(version, settings)
        self._finding = Finding(self._quoting, Search(self._quoting))
        self._taken, self._unsearched = list[ActionTaken](), 0

    async def compared(self, wanted: WantedComparison, question: Question) -> AsyncGenerator[ActionTaken | Notebook]:
        """Yield the actions, and last the notebook with the comparison; no notebook if there is nothing to compare."""
        columns, aspects = await asyncio.to_thread(self._columns, wanted)
        are_documents = all(one.hits for one in columns)
        attributes = list[Attribute]()
        if not are_documents:
            hits = [await self._found(str(one.thing)) for one in columns]
            attributes = attributes_of([str(one.thing) for one in columns], hits, aspects)
            if not attributes and question.asks.operation:
                return  # a difference of figures is calculated
        if not aspects and not attributes and (layout := await self._planned(question, columns)):
            aspects = layout.aspects
            if layout.things and not are_documents:
                columns = [_Column(thing=Thing(name=one)) for one in layout.things]
        attributes = attributes or [Attribute(name=one, aspect=one) for one in aspects or _headings(columns)]
        rows, told = list[tuple[str, list[_Cell | None]]](), 0
        for attribute in attributes[:MOST_ASPECTS]:
            rows.append((attribute.name, []))
            for column, known in zip(columns, attribute.cells or [None] * len(columns), strict=True):
                cell = _Cell(hit=known.hit, span=known.cell.span) if known else None
                rows[-1][1].append(cell or await self._cell(attribute.aspect, column, columns, wanted.language))
                for taken in self._taken[told:]:
                    yield taken
                told = len(self._taken)
        found = [cell for _, cells in rows for cell in cells if cell]
        if found:
            yield Notebook(
                question=question,
                hits=tuple({one.hit.chunk.id: one.hit for one in found}.values()),
                taken=tuple(self._taken),
                compared=_cited([str(one.thing) for one in columns], rows, self._unsearched),
            )

    # ------------------------------------------------------------ things

    def _columns(self, wanted: WantedComparison) -> tuple[list[_Column], tuple[str, ...]]:
        """Return the things, as documents if each one is another document, and the aspects that the question names."""
        by_name = ByName(self._version, self._where, self._request)
        named = [replace(one, name=f"{wanted.head} {one.name}".strip()) for one in wanted.things]
        with self._version.catalog.snapshot():
            documents = [self._document(by_name, one, wanted.language) for one in named]
            if all(documents) and len({*documents}) == len(documents):
                columns = [self._read(one, id) for one, id in zip(named, documents, strict=True)]
                if not any(record_of(one.hits[0].chunk) for one in columns):
                    return columns, wanted.aspects
        if wanted.head and not wanted.aspects:
            return [_Column(thing=one) for one in wanted.things], (wanted.head,)
        return [_Column(thing=one) for one in named], wanted.aspects

    def _document(self, by_name: ByName, thing: Thing, language: str) -> str:
        """Return the id of the document that a thing names, perhaps by its year; empty if that is not clear."""
        if document := by_name.only(str(thing), naming_words(str(thing), language)):
            return document.document_id
        if not thing.name or not thing.period.isdigit():
            return ""
        found = by_name.named(" ".join(naming_words(thing.name, language)))
        dated = [one.document_id for one in found if date_of(one.metadata).startswith(thing.period)]
        return dated[0] if len(dated) == 1 else ""

    def _read(self, thing: Thing, id: str) -> _Column:
        hits = hits_of_document(self._version.catalog, id)
        found = Outlined.of(self._version.catalog.document(id)).sections
        sections = ((one.title, Span(start=one.start, end=one.end)) for one in found if one.level)
        return _Column(thing=thing, hits=tuple(hits), sections=tuple(sections))

    # ------------------------------------------------------------ aspects

    async def _planned(self, question: Question, columns: Sequence[_Column]) -> Layout | None:
        """Return what a language model would compare, in one call; None without a model or after a wrong reply."""
        model = self._version.models.chat()
        if model is None or not self._spending.may_plan():
            return None
        hits = [(str(one.thing), one.hits or await self._found(str(one.thing))) for one in columns]
        passages = [(name, hit) for name, own in hits for hit in own[:SHOWN]]
        layout = await laid_out(model, question, passages, self._request)
        action = Action(kind="search", text=", ".join(layout.aspects) if isinstance(layout, Layout) else "")
        note = layout if isinstance(layout, str) else ""
        self._taken.append(ActionTaken(action=action, new=0, by_model=True, note=note))
        return layout if isinstance(layout, Layout) else Layout(things=(), aspects=())

    # ------------------------------------------------------------ cells

    async def _cell(self, aspect: str, column: _Column, columns: Sequence[_Column], language: str) -> _Cell | None:
        """Return what is found of a thing in an aspect; None if nothing is, or the budget ended."""
        others = {_words(*said) for one in columns if one is not column for said in one.said(aspect)}
        if cell := _excerpt([*column.said(aspect)], others):
            action = Action(kind="read", text=aspect, document=column.document)
            self._taken.append(ActionTaken(action=action, new=1, titles=(name_of(cell.hit.chunk),)))
            return cell
        if not self._spending.has_time():
            self._unsearched += 1
            return None
        asked = value_question(aspect, column.thing, language)
        if not column.document:
            return await self._answer(aspect, asked, "")
        dated = value_question(aspect, Thing(period=column.thing.period), language)
        found = await self._answer(aspect, dated, column.document)
        return found or await self._answer(aspect, aspect, column.document)

    async def _answer(self, aspect: str, text: str, document: str) -> _Cell | None:
        """Return the best quote of the answer to a question, if it names the aspect; None without such an answer.

        Args:
            aspect: what the question asks for.
            text: the question.
            document: the id of the document that is asked; empty for all.
        """
        self._spending.actions += 1
        where = both(self._where, In(key="id", values=(document,))) if document else self._where
        action = Action(kind="document" if document else "search", text=text, document=document)
        try:
            checked = await self._finding.found(read(text), (), where, self._request, Timings())
            draft = await drafted(self._quoting.models.answerer(), checked.evidence, self._request)
        except RetrievalError as error:
            self._taken.append(ActionTaken(action=action, new=0, note=f"The search failed: {error}"))
            return None
        if draft.outcome != "answer" or not draft.citations:
            self._taken.append(ActionTaken(action=action, new=0))
            return None
        first = draft.citations[0]
        hits = {hit.chunk.id: hit for hit in with_cited(checked.evidence, draft.citations).hits}
        hit = hits[first.chunk_id]
        span = Span(start=first.start - hit.chunk.start, end=first.end - hit.chunk.start)
        cell = _Cell(hit=hit, span=span, probability=draft.sure)
        is_named = _names(aspect, cell)
        self._taken.append(ActionTaken(action=action, new=int(is_named), titles=(name_of(hit.chunk),) * is_named))
        return cell if is_named else None

    async def _found(self, text: str) -> tuple[Hit, ...]:
        """Return what a search finds, the tables too."""
        evidence = (await self._finding.found(read(text), (), self._where, self._request, Timings())).evidence
        found = tuple({hit.chunk.id: hit for hit in (*evidence.hits, *evidence.tables)}.values())
        self._spending.actions += 1
        titles = tuple(dict.fromkeys(name_of(hit.chunk) for hit in found))
        self._taken.append(ActionTaken(action=Action(kind="search", text=text), new=len(found), titles=titles))
        return found


def _names(aspect: str, cell: _Cell) -> bool:
    """Return whether a quote, or what stands above it or beside it, names a word of an aspect or a synonym of one.

    A sentence about the revenue answers a question for the profit well, as far as the reader can tell.
    """
    chunk = cell.hit.chunk
    is_row = rows_in(chunk) is not None
    said = f"{chunk.facts.get('table_header', '')} {chunk.text}" if is_row else cell.span.of(chunk.text)
    named = named_in(f"{chunk.heading}\n{said}")
    wanted = items(aspect)
    return not wanted or any(named.has(one) or named.has_words(one) for one in wanted)


def _headings(columns: Sequence[_Column]) -> tuple[str, ...]:
    """Return the titles of sections with text, those that most documents have first, else in their order."""
    every = distinct(title for one in columns for title, _ in one.sections if next(one.said(title), None))
    has = {name: sum(next(one.said(name), None) is not None for one in columns) for name in every}
    titles = {hit.chunk.title for one in columns for hit in one.hits}
    return tuple(sorted((one for one in every if one not in titles), key=lambda name: -has[name]))


def _is_named(aspect: str, title: str) -> bool:
    """Return whether the title of a section has all words of an aspect, and few others."""
    asked, said = (sum(not one.stop for one in words(text)) for text in (aspect, title))
    return 0 < asked <= said <= asked + 1 and has_words(title, aspect)


def _words(hit: Hit, span: Span) -> str:
    return " ".join(span.of(hit.chunk.text).split())


def _excerpt(said: Sequence[tuple[Hit, Span]], others: set[str]) -> _Cell | None:
    """Return a short section whole, else from the first sentence on that others do not have; None without sentences."""
    new = next((at for at, one in enumerate(said) if _words(*one) not in others), 0)
    for first in (0, new):
        chosen = [(hit, span) for hit, span in said[first : first + SECTION_SENTENCES] if hit is said[first][0]]
        while len(chosen) > 1 and chosen[-1][1].end - chosen[0][1].start > SECTION_CHARACTERS:
            chosen.pop()
        if chosen and (len(chosen) == len(said) or first == new):
            return _Cell(hit=chosen[0][0], span=Span(start=chosen[0][1].start, end=chosen[-1][1].end))
    return None


def _cited(things: Sequence[str], rows: Sequence[tuple[str, Sequence[_Cell | None]]], unsearched: int) -> Compared:
    """Return cells as a comparison whose citations are numbered row by row."""
    found = [cell for _, cells in rows for cell in cells if cell]
    markers = {id(cell): number for number, cell in enumerate(found, start=1)}
    return Compared(
        things=tuple(things),
        aspects=tuple(
            Aspect(name=name, cells=tuple(cell and cite(markers[id(cell)], cell.hit, cell.span) for cell in cells))
            for name, cells in rows
        ),
        probability=min(cell.probability for cell in found),
        unsearched=unsearched,
    )

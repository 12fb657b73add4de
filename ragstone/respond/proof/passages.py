"""Read the passages of the evidence: their sentences, words and figures, and what stands near each figure."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from threading import Lock
from weakref import WeakValueDictionary

from ragstone.core.frozen import frozen
from ragstone.core.headings import is_question
from ragstone.core.protocols import SentenceSplitter
from ragstone.core.records import Hit, Span
from ragstone.core.table import Cell, table_of, tables_within
from ragstone.language import language_of, plain
from ragstone.language.facts import Vocabulary, Word, form, words
from ragstone.language.units import factors_in
from ragstone.respond import markdown
from ragstone.respond.proof.figure import DATE, NAMED, Figure, code_of, kind_of
from ragstone.respond.proof.figures import figures, scale

MAX_CACHED = 128
"""Passages that are kept."""


@frozen
class Placed:
    """A figure of a passage, the sentence or row in which it stands, and the head of its column.

    ``is_marker`` tells the number of an item or a heading: "3. Open day" says nothing of three.
    """

    figure: Figure
    part: int
    head: str = ""
    is_marker: bool = False


def may_replace(placed: Placed, figure: Figure) -> bool:
    """Return whether a figure of a passage may stand in the place of another one: of its kind, or bare in a cell."""
    other, kind = placed.figure, kind_of(figure)
    if placed.is_marker:
        return False
    in_cell = bool(placed.head) and not other.unit and kind != "year" and figure.unit not in NAMED
    return in_cell or (other.measure == figure.measure and kind_of(other) == kind)


@lru_cache(maxsize=256)
def scales(text: str) -> tuple[float, ...]:
    """Return by what the bare figures of a passage may have to be multiplied: 1, and what its tables say."""
    return (1.0, *{scale(word, money=True) or 1e3 for word in factors_in(text)})


class Passage:
    """A passage with its heading. ``spans`` are its sentences, of which those that are `claimless` are no evidence.

    Those of a table are its rows, by their numbers in ``rows``; the heads of its columns belong to the heading.
    """

    def __init__(self, hit: Hit, sentences: SentenceSplitter) -> None:
        chunk = hit.chunk
        self.hit, self.text = hit, chunk.text
        whole = table_of(chunk)
        self._tables = [(Span(start=0, end=len(self.text)), whole)] if whole else [*tables_within(self.text)]
        heads = [" ".join(path) for _, table in self._tables for path in table.columns]
        self.columns = "\n".join(heads)
        self.heading = "\n".join(dict.fromkeys(part for part in (chunk.title, chunk.context, *heads) if part))
        told = [
            str(value) for value in (*chunk.metadata.values(), *chunk.facts.values()) if isinstance(value, str | int)
        ]
        self.described = " ".join(told)[:1000]
        self.lower = plain(f"{self.heading}\n{self.text}\n{self.described}")
        self.spans = [span for span in self._parts(sentences) if span.end > span.start]
        rows = {span for _, table in self._tables for span in table.body}
        self.rows = frozenset(part for part, span in enumerate(self.spans) if span in rows)

    def _parts(self, sentences: SentenceSplitter) -> Iterator[Span]:
        """Yield the sentences outside of tables and the rows of tables, in order."""
        start = 0
        for around, table in [*self._tables, (Span(start=len(self.text), end=len(self.text)), None)]:
            for one in sentences(self.text[start : around.start]):
                yield Span(start=start + one.start, end=start + one.end)
            yield from table.body if table else ()
            start = around.end

    def shown(self, part: int) -> str:
        """Return the words of a sentence."""
        return self.spans[part].of(self.text)

    @cached_property
    def claimless(self) -> frozenset[int]:
        """The sentences that claim nothing and so are no evidence: questions and headings."""
        chunk = self.hit.chunk
        titles = {chunk.title.casefold(), *str(chunk.facts.get("section", "")).casefold().split(" > ")}
        shown = (self.shown(part).strip() for part in range(len(self.spans)))
        return frozenset(
            part
            for part, text in enumerate(shown)
            if is_question(text)
            or markdown.is_heading(text)
            or text.casefold() in titles
            or (part == chunk.start == 0 and self._is_title(part))
        )

    def _is_title(self, part: int) -> bool:
        """Return whether a sentence is a line of its own without closing punctuation, above other text."""
        shown, rest = self.shown(part), self.text[self.spans[part].end :]
        return "\n" not in shown and rest.startswith("\n") and shown[-1:].isalnum() and part not in self.rows

    @cached_property
    def language(self) -> str:
        """The likely language of the passage as an ISO 639-1 code, or empty."""
        return language_of(self.text)

    @cached_property
    def code(self) -> str:
        """The heading and the text as `code_of` writes them, in which a code is looked for."""
        return code_of(f"{self.heading}{self.text}")

    @cached_property
    def words(self) -> list[list[Word]]:
        """The words of each sentence."""
        return [words(span.of(self.text)) for span in self.spans]

    @cached_property
    def heading_words(self) -> list[Word]:
        """The words of the heading."""
        return words(self.heading)

    @cached_property
    def described_words(self) -> list[Word]:
        """The words of what is known of the document."""
        return words(self.described)

    @cached_property
    def heading_forms(self) -> frozenset[str]:
        """The forms of the words of the heading."""
        return frozenset(map(form, self.heading_words))

    @cached_property
    def column_forms(self) -> frozenset[str]:
        """The forms of the words that stand above columns only, and not in the title or the section."""
        chunk = self.hit.chunk
        return frozenset(map(form, words(self.columns))) - {
            form(one) for one in (*words(chunk.title), *words(chunk.context))
        }

    @cached_property
    def parts_with(self) -> dict[str, list[int]]:
        """The sentences that have a word, by its form."""
        parts = defaultdict[str, list[int]](list)
        for part, some in enumerate(self.words):
            for one in set(map(form, some)):
                parts[one].append(part)
        return dict(parts)

    @cached_property
    def places(self) -> list[dict[str, list[int]]]:
        """The places of each word in each sentence, by its small letters."""
        out: list[dict[str, list[int]]] = []
        for some in self.words:
            places = defaultdict[str, list[int]](list)
            for place, word in enumerate(some):
                places[word.lower].append(place)
            out.append(dict(places))
        return out

    @cached_property
    def named(self) -> list[Word]:
        """All words, with those of the heading."""
        return [*self.heading_words, *(word for some in self.words for word in some)]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The forms of all words."""
        return Vocabulary(self.named)

    @cached_property
    def figures(self) -> list[Placed]:
        """The figures of the sentences, with the heads of their columns in tables."""
        return [
            Placed(
                figure=replace(figure, in_cell=cell is not None),
                part=part,
                head=cell.head if cell else "",
                is_marker=cell is None and figure.unit != DATE and markdown.is_marker(shown, figure.span),
            )
            for part, shown in enumerate(map(self.shown, range(len(self.spans))))
            for figure in self._scaled(figures(shown))
            for cell in (self.cell_at(part, figure.span),)
        ]

    @cached_property
    def figures_of(self) -> dict[int, list[Placed]]:
        """The figures of each sentence that has some."""
        out = defaultdict[int, list[Placed]](list)
        for placed in self.figures:
            out[placed.part].append(placed)
        return dict(out)

    def cell_at(self, part: int, span: Span) -> Cell | None:
        """Return the cell in which a span of a sentence begins; None outside of tables."""
        start = self.spans[part].start + span.start
        at = bisect_right(self._cells, start, key=lambda cell: cell.span.start) - 1
        return self._cells[at] if at >= 0 and start < self._cells[at].span.end else None

    @cached_property
    def other_figures(self) -> tuple[Figure, ...]:
        """The figures of the heading and of what is known of the document."""
        return (*figures(self.heading), *figures(self.described))

    def _scaled(self, some: Sequence[Figure]) -> Iterator[Figure]:
        """Yield figures with what bare ones and amounts may mean where a table is "in millions"."""
        factors = scales(f"{self.heading}\n{self.text}")
        for one in some:
            more = () if one.measure != one.unit or one.unit in ("%", *NAMED) else factors[1:]
            yield replace(one, values=(*one.values, *(value * by for value in one.values for by in more)))

    @cached_property
    def _cells(self) -> list[Cell]:
        """The cells of the tables below their heads, in order."""
        return [cell for _, table in self._tables for cell in table.cells]


class Passages:
    """Reads passages, and keeps the latest and those that somebody holds. Any number of threads may ask for them."""

    def __init__(self, sentences: SentenceSplitter) -> None:
        self._sentences, self._reading = sentences, Lock()
        self._latest: dict[tuple[str, str], Passage] = {}
        self._held = WeakValueDictionary[tuple[str, str], Passage]()

    def of(self, hits: Sequence[Hit]) -> list[Passage]:
        """Return the passages of hits, in order."""
        with self._reading:
            return list(self._each(hits))

    def _each(self, hits: Sequence[Hit]) -> Iterator[Passage]:
        for hit in hits:
            key = (hit.chunk.id, hit.chunk.headed)
            passage = self._held.get(key) or Passage(hit, self._sentences)
            self._latest.pop(key, None)
            while len(self._latest) >= MAX_CACHED:
                self._latest.pop(next(iter(self._latest)))
            self._latest[key] = self._held[key] = passage
            yield passage

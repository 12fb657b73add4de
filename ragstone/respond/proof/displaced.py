"""Find the figures and names of a sentence in whose place a passage has others.

They may well stand in the passages, but elsewhere: another sentence, or another row or column of a table, says all the
rest of the sentence, and has another figure or name there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.core.records import Span
from ragstone.language import language_of
from ragstone.language.facts import Word, alike, form, is_form, lexical, words
from ragstone.respond.proof.alignment import Overlap
from ragstone.respond.proof.doubts import Doubt, is_numbering
from ragstone.respond.proof.figure import Figure, same
from ragstone.respond.proof.figures import figures
from ragstone.respond.proof.names import CASED_NOUNS, names, whole
from ragstone.respond.proof.passages import Placed, may_replace
from ragstone.respond.proof.said import Said

_PAUSE = re.compile(r"[;,()](?!\d)|\s[–—]\s")
LEAST = 3
"""Content words that the rest of a sentence must have."""
SAYS, MORE, MORE_IN_TABLE, LESS = 0.6, 0.2, 0.1, 0.02
"""Share of the rest that the other place must say, how much more than that of the figure or name, in text and within a
row or column, and how much of what that one says it may lack."""


@frozen(eq=False)
class _Place:
    """Where a figure or a name stands: its sentence or row, the head of its column, and how it is written."""

    overlap: Overlap
    part: int
    head: str
    shown: str


class _Held:
    """How much of each word of one sentence places hold; the heads of columns are read once for all of their cells."""

    def __init__(self, sentence: str, asked: Sequence[Word]) -> None:
        self._asked, self._figures = asked, figures(sentence)
        self._above = dict[tuple[Overlap, str], tuple[NDArray[np.bool_], NDArray[np.bool_]]]()

    def at(self, place: _Place) -> NDArray[np.float64]:
        """Return how much of each word stands at a place or above it, (words,)."""
        held = place.overlap.found[place.part].copy()
        if place.head:
            above, elsewhere = self._columns(place.overlap, place.head)
            held[elsewhere & (held < 1)] = 0.0
            held[above] = 1.0
        return held

    def _columns(self, overlap: Overlap, head: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which words stand above a column, and which above others only, (words,) each."""
        found = self._above.get((overlap, head))
        if found is None:
            above = self._among(map(form, words(head)))
            for figure in self._figures:
                if any(same(figure, one) for one in figures(head)):  # "in the fourth quarter" below "Q4"
                    above |= _within(figure.span, self._asked)
            found = self._above[overlap, head] = above, self._among(overlap.passage.column_forms) & ~above
        return found

    def _among(self, forms: Iterable[str]) -> NDArray[np.bool_]:
        known = [*forms]
        return np.array([any(is_form(one, word) for one in known) for word in self._asked], dtype=bool)


@frozen
class _Figure:
    """A figure of a sentence; ``said`` are the others of the sentence, and those said before."""

    figure: Figure
    said: Sequence[Figure]

    @property
    def span(self) -> Span:
        """Where it stands in the sentence."""
        return self.figure.span

    def own(self, overlap: Overlap, part: int) -> list[_Place]:
        """Return the places in a sentence or row that have the same figure."""
        return [
            _placed(overlap, part, one.figure.span)
            for one in _placed_in(overlap, part)
            if same(self.figure, one.figure)
        ]

    def others(self, overlap: Overlap, part: int) -> list[_Place]:
        """Return the places in a sentence or row that have another figure of its kind."""
        return [
            _placed(overlap, part, one.figure.span)
            for one in _placed_in(overlap, part)
            if may_replace(one, self.figure) and not self._is_said(one.figure)
        ]

    def _is_said(self, other: Figure) -> bool:
        return any(same(one, other) or same(other, one) for one in self.said)


@frozen
class _Name:
    """The words of a name in a sentence; ``said`` are the words of the sentence, and those said before."""

    name: Sequence[Word]
    said: Sequence[Word]

    @property
    def span(self) -> Span:
        """Where it stands in the sentence."""
        return whole(self.name)

    def own(self, overlap: Overlap, part: int) -> list[_Place]:
        """Return the places in a sentence or row that have a word of the name; the heading is above all of them."""
        found = [_placed(overlap, part, word.span) for word in overlap.passage.words[part] if self._has(word)]
        if not found and any(self._has(word) for word in overlap.passage.heading_words):
            found.append(_Place(overlap=overlap, part=part, head="", shown=""))
        return found

    def others(self, overlap: Overlap, part: int) -> list[_Place]:
        """Return the places in a row, or in a sentence without the name, that have another one."""
        if part not in overlap.passage.rows and self.own(overlap, part):
            return []
        there = names(overlap.passage.shown(part))
        return [
            _placed(overlap, part, whole(name)) for name in there if not any(lexical(word, self.said) for word in name)
        ]

    def _has(self, word: Word) -> bool:
        return any(alike(word.lower, one.lower, name=True) for one in self.name)


def _placed_in(overlap: Overlap, part: int) -> Sequence[Placed]:
    return overlap.passage.figures_of.get(part, ())


def _placed(overlap: Overlap, part: int, span: Span) -> _Place:
    """Return the place of a span of a sentence or row, shown with all of its cell."""
    passage = overlap.passage
    if cell := passage.cell_at(part, span):
        return _Place(overlap=overlap, part=part, head=cell.head, shown=cell.span.of(passage.text).strip())
    return _Place(overlap=overlap, part=part, head="", shown=span.of(passage.shown(part)))


def _within(span: Span, asked: Sequence[Word]) -> NDArray[np.bool_]:
    """Return which words lie in a part of the sentence, (words,)."""
    return np.array([word.span.overlaps(span) for word in asked], dtype=bool)


def displaced(
    sentence: str, asked: Sequence[Word], weights: NDArray[np.float64], cited: Sequence[Overlap], before: Said
) -> Iterator[Doubt]:
    """Yield the figures and names of a sentence in whose place a passage has another one.

    Args:
        sentence: what was written.
        asked: its words.
        weights: their weights, (words,).
        cited: what the passages on which it rests hold of the words.
        before: what the question and the answer have said up to here.
    """
    holding = _Held(sentence, asked)
    for one in _parts(sentence, asked, before):
        rest = np.where(_within(one.span, asked), 0.0, weights)
        if np.count_nonzero(rest) < LEAST:
            continue
        rest /= rest.sum()
        # A row may mention less than it says, because periods stand at the heads of its columns.
        likely = [
            (overlap, part)
            for overlap in cited
            for part in overlap.mentioning(rest, SAYS / 2 if overlap.passage.rows else SAYS)
        ]
        others = [place for overlap, part in likely for place in one.others(overlap, part)]
        known = [(overlap, part) for overlap in cited for part in overlap.mentioning(weights, 0.0)] if others else []
        own = [place for overlap, part in known for place in one.own(overlap, part)]
        if not own:
            continue
        held = {place: holding.at(place) for place in (*own, *others)}
        first, other = (max(some, key=lambda place: float(held[place] @ rest)) for some in (own, others))
        if not _is_instead(other, first):
            continue
        said, instead = held[first], held[other]
        in_table = other.part in other.overlap.passage.rows
        least = MORE_IN_TABLE if in_table else MORE
        is_more = float(instead @ rest) >= SAYS and _exceeds(instead, said, rest, least)
        if is_more and in_table and other.part == first.part:
            # What a sentence says of other columns stands in other clauses.
            clause = np.where(_within(_clause(sentence, one.span), asked), rest, 0.0)
            is_more = _exceeds(instead, said, clause, least)
        if is_more:
            yield Doubt(span=one.span, reason=_reason(one.span.of(sentence), other, others))


def _exceeds(other: NDArray[np.float64], own: NDArray[np.float64], weights: NDArray[np.float64], by: float) -> bool:
    """Return whether another place says that much more than the own one, and all that it says."""
    return float((other - own) @ weights) >= by and float(np.maximum(own - other, 0) @ weights) <= LESS


def _clause(sentence: str, span: Span) -> Span:
    """Return the part of a sentence around a figure or name, between commas, semicolons and parentheses."""
    start = max((mark.end() for mark in _PAUSE.finditer(sentence, 0, span.start)), default=0)
    after = _PAUSE.search(sentence, span.end)
    return Span(start=start, end=after.start() if after else len(sentence))


def _parts(sentence: str, asked: Sequence[Word], before: Said) -> Iterator[_Figure | _Name]:
    """Yield the figures and names of a sentence that are new."""
    own = figures(sentence)
    said = (*own, *before.figures)
    for figure in own:
        if figure.unit != "code" and not before.has(figure) and not is_numbering(figure, sentence):
            yield _Figure(figure=figure, said=said)
    if language_of(f"{before.text} {sentence}") in CASED_NOUNS:
        return
    for name in names(sentence):
        new = [word for word in name if not any(alike(word.lower, one.lower, name=True) for one in before.words)]
        if new:
            yield _Name(name=new, said=(*asked, *before.words))


def _is_instead(other: _Place, own: _Place) -> bool:
    """Return whether a place can be the right one: it is in running text, or in the row or column of a cell."""
    passage = other.overlap.passage
    if other.part not in passage.rows:
        return True
    return passage is own.overlap.passage and (other.head == own.head or other.part == own.part)


def _reason(shown: str, other: _Place, others: Sequence[_Place]) -> str:
    beside = {place.shown for place in others if place.overlap is other.overlap and place.part == other.part}
    if other.head or len(beside) == 1:
        return f"the passage says {other.shown}, not {shown}"
    return f"the passage that says the rest does not mention {shown}"

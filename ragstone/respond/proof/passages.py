"""Read the passages of the evidence: their sentences, words and figures, and what stands near each figure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from threading import Lock
from weakref import WeakValueDictionary

from ragstone.core.frozen import frozen
from ragstone.core.protocols import SentenceSplitter
from ragstone.core.records import Hit
from ragstone.language import plain
from ragstone.language.facts import Vocabulary, Word, form, words
from ragstone.language.units import factors_in
from ragstone.respond.proof.figures import NAMED, Figure, code_of, figures, scale

_ROW = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^[\s|:-]+$")
MAX_CACHED = 128
"""Passages that are kept."""


@frozen
class Placed:
    """A figure of a passage, the sentence or row in which it stands, and the head of its column."""

    figure: Figure
    part: int
    head: str = ""


@lru_cache(maxsize=256)
def scales(text: str) -> tuple[float, ...]:
    """Return by what the bare figures of a passage may have to be multiplied: 1, and what its tables say."""
    return (1.0, *{scale(word, money=True) or 1e3 for word in factors_in(text)})


class Passage:
    """A passage with its heading; ``spans`` are its sentences, those that ask left out of the evidence."""

    def __init__(self, hit: Hit, sentences: SentenceSplitter) -> None:
        chunk = hit.chunk
        self.hit, self.text = hit, chunk.text
        self.heading = "\n".join(dict.fromkeys(part for part in (chunk.title, chunk.context) if part))
        told = [
            str(value) for value in (*chunk.metadata.values(), *chunk.facts.values()) if isinstance(value, str | int)
        ]
        self.described = " ".join(told)[:1000]
        self.lower = plain(f"{self.heading}\n{self.text}\n{self.described}")
        self.spans = [span for span in sentences(self.text) if span.end > span.start]

    def shown(self, part: int) -> str:
        """Return the words of a sentence."""
        return self.spans[part].of(self.text)

    @cached_property
    def questions(self) -> frozenset[int]:
        """The sentences that are questions, which are no evidence."""
        return frozenset(part for part in range(len(self.spans)) if self.shown(part).rstrip().endswith("?"))

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
    def heading_forms(self) -> frozenset[str]:
        """The forms of the words of the heading."""
        return frozenset(map(form, self.heading_words))

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
        out: list[Placed] = []
        heads = self._heads()
        for part, span in enumerate(self.spans):
            cells = _cells(span.of(self.text)) if heads[part] else []
            for figure in self._scaled(figures(span.of(self.text))):
                column = sum(start <= figure.span.start for start in cells) - 1
                names = heads[part]
                head = names[column] if 0 <= column < len(names) else ""
                out.append(Placed(figure=replace(figure, in_cell=bool(cells)), part=part, head=head))
        return out

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

    def _heads(self) -> list[list[str]]:
        """Return for each sentence the names of the columns, if it is a row of a table below its head."""
        out: list[list[str]] = []
        head: list[str] = []
        for part in range(len(self.spans)):
            text = self.shown(part)
            if not _ROW.match(text):
                head = []
                out.append([])
            elif not head:
                head = [cell.strip() for cell in text.strip().strip("|").split("|")]
                out.append([])
            else:
                out.append([] if _RULE.match(text) else head)
        return out


def _cells(row: str) -> list[int]:
    """Return where the cells of a row begin."""
    return [found.end() for found in re.finditer(r"\|", row)]


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

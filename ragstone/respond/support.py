"""Whether the evidence says what a sentence says: proved by its words, never believed.

Every sentence of the evidence is a span, and so are up to `SPANS` of them together, for a sentence of several
clauses. Those that hold most of the sentence's words are compared with it (`ragstone.respond.agreement`), and a
logistic model makes one number of that. Its coefficients come from ``tools/fit_support.py``: answers people wrote to
half the questions of CLAP NQ, sentences of XQuAD, and the same with numbers, names or negations changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.contracts import Hit, Span, TokenMatches
from ragstone.protocols import SentenceSplitter, TokenMatcher, Weigher
from ragstone.respond.agreement import Agreement, agreement
from ragstone.respond.facts import Vocabulary, Word, alike, form, initials, words

BIAS = -1.46
WEIGHTS = (2.74, 1.78, -3.88, -6.86, -5.74, -6.46, -4.09, -6.31, -5.12, -2.37, -3.11, -2.19)
"""Of the numbers of an `Agreement`, in order."""
THRESHOLD = 0.5
"""A sentence of at least this support counts as proved."""
SPANS = 3
"""Sentences of the evidence that may prove one together."""
GAIN = 0.04
"""Another span is taken where it adds this share of the sentence's words."""
CONTEXT = 200
"""Characters of what was said before that a sentence is read in, so that "it" is known."""
LONGEST = 300
"""Words of a sentence that are compared; what is longer is none."""
KEPT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words that prove something: ``span`` is of ``hit.chunk.text``."""

    hit: Hit
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """``support``, 0 to 1: how surely the evidence says what the sentence says; ``quotes`` where, or empty."""

    supported: bool
    support: float
    quotes: tuple[Quote, ...]


NONE = Proof(supported=False, support=0.0, quotes=())


class Checker(Protocol):
    """Proves sentences."""

    async def check(self, sentence: str, hits: Sequence[Hit], before: str = "") -> Proof:
        """The proof of a sentence, given what was said before it in the same answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    """A chunk's sentences, the words of each, and those of its heading."""

    spans: tuple[Span, ...]
    words: tuple[tuple[Word, ...], ...]
    heading: tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A sentence against the evidence: the quotes that hold most of it, and how far they agree."""

    agreement: Agreement
    quotes: tuple[Quote, ...]


class SupportChecker:
    def __init__(self, *, matcher: TokenMatcher, sentences: SentenceSplitter, weigh: Weigher) -> None:
        """Take the parts of other stages that it needs.

        Args:
            matcher: late interaction between a sentence and passages.
            sentences: splits a passage.
            weigh: how much each word tells.
        """
        self._matcher, self._sentences, self._weigh = matcher, sentences, weigh
        self._read: dict[tuple[str, str], _Passage] = {}

    async def check(self, sentence: str, hits: Sequence[Hit], before: str = "") -> Proof:
        """The proof of a sentence.

        Args:
            sentence: without markers of citations.
            hits: the evidence.
            before: what was said before it in the same answer.
        """
        compared = await self.compare(sentence, hits, before)
        if compared is None:
            return NONE
        support = probability(compared.agreement)
        supported = support >= THRESHOLD and self._says_something(sentence, hits)
        return Proof(supported=supported, support=support, quotes=compared.quotes if supported else ())

    def _says_something(self, sentence: str, hits: Sequence[Hit]) -> bool:
        """Whether it has two telling words, or one that is a number or a name: "This is a question" is nowhere said."""
        telling = [word for word in words(sentence) if not word.stop]
        if len(telling) > 1 or any(word.key for word in telling):
            return True
        names = [word for hit in hits for some in self._passage(hit).words for word in some if word.named]
        return any(alike(word.lower, name.lower, name=True) for word in telling for name in names)

    async def compare(self, sentence: str, hits: Sequence[Hit], before: str = "") -> Compared | None:
        """The best quotes for a sentence and how they agree with it; None where either says nothing."""
        asked = words(sentence)[:LONGEST]
        passages = [self._passage(hit) for hit in hits]
        if not asked or not any(passage.spans for passage in passages):
            return None
        lead = f"{before[-CONTEXT:].strip()} ".lstrip()
        matches = await self._matcher.match(lead + sentence, [hit.chunk.headed for hit in hits])
        weights = self._weights(asked)
        rows = _rows(asked, matches[0], len(lead))
        like = _likeness(hits, passages, matches, rows)  # (spans, words)
        places = [(number, span) for number, passage in enumerate(passages) for span in range(len(passage.spans))]
        found = _found(asked, passages, like)
        chosen = _chosen(found, weights)
        quoted = [places[i] for i in chosen]
        within = [word for n in dict.fromkeys(n for n, _ in quoted) for word in _all(passages[n])]
        compared = agreement(asked, weights, found[chosen], [passages[n].words[s] for n, s in quoted], within)
        quotes = (Quote(hit=hits[n], span=passages[n].spans[s]) for n, s in sorted(quoted))
        return Compared(agreement=compared, quotes=tuple(quotes))

    def _weights(self, asked: Sequence[Word]) -> NDArray[np.float64]:
        """Of each word; those that tell nothing weigh nothing, unless there are no others."""
        worth = np.array(self._weigh([word.lower for word in asked])) + 1e-6
        telling = worth * [not word.stop for word in asked]
        worth = telling if telling.any() else worth
        return worth / worth.sum()

    def _passage(self, hit: Hit) -> _Passage:
        key = (hit.chunk.id, hit.chunk.headed)
        if key not in self._read:
            while len(self._read) >= KEPT:
                self._read.pop(next(iter(self._read)))
            text = hit.chunk.text
            spans = tuple(self._sentences(text))
            self._read[key] = _Passage(
                spans=spans,
                words=tuple(tuple(words(span.of(text))) for span in spans),
                heading=tuple(words(f"{hit.chunk.context} {hit.chunk.title}")),
            )
        return self._read[key]


def probability(compared: Agreement) -> float:
    """0 to 1."""
    return float(1 / (1 + np.exp(-(BIAS + compared.row() @ np.array(WEIGHTS)))))


def _all(passage: _Passage) -> list[Word]:
    return [word for some in (*passage.words, passage.heading) for word in some]


def _rows(asked: Sequence[Word], match: TokenMatches, offset: int) -> list[list[int]]:
    """The tokens of each word, as rows of the similarities."""
    starts = [span.start - offset for span in match.asked]
    return [[i for i, at in enumerate(starts) if word.span.start <= at < word.span.end] for word in asked]


def _likeness(
    hits: Sequence[Hit], passages: Sequence[_Passage], matches: Sequence[TokenMatches], rows: Sequence[Sequence[int]]
) -> NDArray[np.float64]:
    """How like each word of the sentence (columns) is to the likest token of each span (rows).

    0 is the likeness of any two tokens, 1 that of the same; embedders differ in what any two tokens have in common.
    """
    total = sum(match.similarity.sum() for match in matches)
    common = float(total) / max(sum(match.similarity.size for match in matches), 1)
    best = []
    for hit, passage, match in zip(hits, passages, matches, strict=True):
        offset = len(hit.chunk.headed) - len(hit.chunk.text)
        starts = np.array([span.start for span in match.spans]) - offset
        for span in passage.spans:
            inside = match.similarity[:, np.searchsorted(starts, span.start) : np.searchsorted(starts, span.end)]
            best.append(inside.max(axis=1) if inside.size else np.full(len(match.similarity), common))
    mean = np.zeros((len(best[0]), len(rows)))
    for word, row in enumerate(rows):
        mean[list(row), word] = 1 / max(len(row), 1)
    return np.clip((np.array(best) @ mean - common) / max(1 - common, 1e-6), 0, 1)


def _found(asked: Sequence[Word], passages: Sequence[_Passage], like: NDArray[np.float64]) -> NDArray[np.float64]:
    """How surely each word is in each span, 1 where the very word is there or in the heading.

    Numbers and names are there or not.
    """
    vocabulary = Vocabulary(word for passage in passages for word in _all(passage))
    forms = [vocabulary.forms(word) for word in asked]
    found = like.clip(max=0.99) * [not word.key for word in asked]
    spans = [(*own, *passage.heading) for passage in passages for own in passage.words]
    for i, span in enumerate(spans):
        there = {form(word) for word in span}
        for k, word in enumerate(asked):
            if not forms[k].isdisjoint(there) or initials(word, span):
                found[i, k] = 1.0
    return found


def _chosen(found: NDArray[np.float64], weights: NDArray[np.float64]) -> list[int]:
    """The spans that together hold most of the sentence, the best first."""
    chosen, held = list[int](), np.zeros(found.shape[1])
    while len(chosen) < SPANS:
        gains = np.maximum(found, held) @ weights - held @ weights
        best = int(gains.argmax())
        if chosen and gains[best] < GAIN:
            break
        chosen.append(best)
        held = np.maximum(held, found[best])
    return chosen

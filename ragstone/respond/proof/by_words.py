"""Check by its words whether the evidence says what a sentence says; the claims of a model are never trusted.

Every sentence of the evidence is a span. The spans that contain most of the sentence's words, up to `SPANS` of them for
a sentence of several clauses, are compared with it (`ragstone.respond.proof.agreement`), and a logistic model turns the
comparison into one number. ``tools/fit_support.py`` fits its coefficients on answers that people wrote to half the
questions of CLAP NQ, on sentences of XQuAD, and on the same with numbers, names or negations changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.core.protocols import SentenceSplitter, TokenMatcher, Weigher
from ragstone.core.records import Hit, Span, TokenMatches
from ragstone.core.request import Request
from ragstone.respond.facts import Vocabulary, Word, alike, form, initials, words
from ragstone.respond.proof.agreement import Agreement, agreement
from ragstone.respond.proof.records import UNCHECKED, Proof, Quote

BIAS = -1.46
WEIGHTS = (2.74, 1.78, -3.88, -6.86, -5.74, -6.46, -4.09, -6.31, -5.12, -2.37, -3.11, -2.19)
"""Coefficients of the numbers of an `Agreement`, in order."""
THRESHOLD = 0.5
"""A sentence with at least this support counts as supported."""
REJECTED = 0.2
"""A sentence with less support counts as contradicted."""
SPANS = 3
"""Most sentences of the evidence that together may support one."""
GAIN = 0.04
"""Share of the sentence's words that a further span must add."""
CONTEXT = 200
"""Characters of the preceding answer that give a sentence context, so that "it" can be resolved."""
LONGEST = 300
"""Words of a sentence that are compared."""
MOST_AROUND = 1400
"""Characters of quotes with their neighbours."""
MAX_CACHED = 64
"""Passages whose words are cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    """The sentences of a chunk, the words of each, and the words of its heading."""

    spans: tuple[Span, ...]
    words: tuple[tuple[Word, ...], ...]
    heading: tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """A sentence aligned with the evidence: the quotes that contain most of it, and how far they agree."""

    agreement: Agreement
    quotes: tuple[Quote, ...]


class SupportChecker:
    """Checks sentences by comparing their words with the evidence."""

    def __init__(self, *, matcher: TokenMatcher, sentences: SentenceSplitter, weigh: Weigher) -> None:
        """Take the parts of other stages.

        Args:
            matcher: late interaction between a sentence and passages.
            sentences: splits a passage.
            weigh: weighs words.
        """
        self._matcher, self._sentences, self._weigh = matcher, sentences, weigh
        self._read: dict[tuple[str, str], _Passage] = {}

    async def check(
        self, sentence: str, hits: Sequence[Hit], request: Request, before: str = "", named: int = 0
    ) -> Proof:
        """Return the proof of a sentence; see `Checker`."""
        alignment = await self.align(sentence, hits, request, before)
        if alignment is None:
            return UNCHECKED
        return self.proof(sentence, hits, named, alignment, probability(alignment.agreement))

    def proof(self, sentence: str, hits: Sequence[Hit], named: int, alignment: Alignment, support: float) -> Proof:
        """Return the proof that an alignment and a support stand for."""
        if support >= THRESHOLD and self.has_content(sentence, hits):
            return Proof(state="supported", support=support, quotes=alignment.quotes)
        compared = alignment.agreement
        if compared.absent_numbers or compared.absent_names or support < REJECTED:
            reason = "no source says this"
            if compared.absent_numbers or compared.absent_names:
                reason = "no source has this number" if compared.absent_numbers else "no source mentions this name"
            return Proof(state="contradicted", support=support, reason=reason)
        near = {hit.chunk.id for hit in hits[:named]}
        quotes = tuple(one for one in alignment.quotes if one.hit.chunk.id in near)
        return Proof(state="unchecked", support=support, quotes=quotes)

    def has_content(self, sentence: str, hits: Sequence[Hit]) -> bool:
        """Return whether a sentence has two content words, or one number or name; "This is a question" has neither."""
        content = [word for word in words(sentence) if not word.stop]
        if len(content) > 1 or any(word.key for word in content):
            return True
        names = [word for hit in hits for some in self._passage(hit).words for word in some if word.named]
        return any(alike(word.lower, name.lower, name=True) for word in content for name in names)

    async def align(self, sentence: str, hits: Sequence[Hit], request: Request, before: str = "") -> Alignment | None:
        """Return the best quotes for a sentence and how they agree with it; None if either has no words."""
        asked = words(sentence)[:LONGEST]
        passages = [self._passage(hit) for hit in hits]
        if not asked or not any(passage.spans for passage in passages):
            return None
        lead = f"{before[-CONTEXT:].strip()} ".lstrip()
        matches = await self._matcher.match(lead + sentence, [hit.chunk.headed for hit in hits], request)
        weights = self._weights(asked, request)
        rows = _rows(asked, matches[0], len(lead))
        like = _likeness(hits, passages, matches, rows)  # (spans, words)
        places = [(number, span) for number, passage in enumerate(passages) for span in range(len(passage.spans))]
        found = _found(asked, passages, like)
        chosen = _chosen(found, weights)
        quoted = [places[i] for i in chosen]
        within = [word for n in dict.fromkeys(n for n, _ in quoted) for word in _all(passages[n])]
        compared = agreement(asked, weights, found[chosen], [passages[n].words[s] for n, s in quoted], within)
        quotes = (Quote(hit=hits[n], span=passages[n].spans[s]) for n, s in sorted(quoted))
        return Alignment(agreement=compared, quotes=tuple(quotes))

    def around(self, alignment: Alignment) -> str:
        """Return the quotes of an alignment with their headings and neighbouring sentences, at most `MOST_AROUND`."""
        parts: list[str] = []
        for hit in {quote.hit.chunk.id: quote.hit for quote in alignment.quotes}.values():
            text, spans = hit.chunk.text, self._passage(hit).spans
            quoted = {quote.span for quote in alignment.quotes if quote.hit.chunk.id == hit.chunk.id}
            near = {i + step for i, span in enumerate(spans) if span in quoted for step in (-1, 0, 1)}
            heading = hit.chunk.headed.removesuffix(text).strip()
            parts.append(" ".join([heading, *(span.of(text) for i, span in enumerate(spans) if i in near)]).strip())
        return "\n".join(parts)[:MOST_AROUND]

    def _weights(self, asked: Sequence[Word], request: Request) -> NDArray[np.float64]:
        """Return the weight of each word; stop words weigh nothing unless there are no others."""
        worth = np.array(self._weigh([word.lower for word in asked], request)) + 1e-6
        content = worth * [not word.stop for word in asked]
        worth = content if content.any() else worth
        return worth / worth.sum()

    def _passage(self, hit: Hit) -> _Passage:
        key = (hit.chunk.id, hit.chunk.headed)
        if key not in self._read:
            while len(self._read) >= MAX_CACHED:
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
    """Return the support, 0 to 1, that an agreement stands for."""
    return float(1 / (1 + np.exp(-(BIAS + compared.row() @ np.array(WEIGHTS)))))


def _all(passage: _Passage) -> list[Word]:
    return [word for some in (*passage.words, passage.heading) for word in some]


def _rows(asked: Sequence[Word], match: TokenMatches, offset: int) -> list[list[int]]:
    """Return the tokens of each word, as rows of the similarity matrix."""
    starts = [span.start - offset for span in match.asked]
    return [[i for i, at in enumerate(starts) if word.span.start <= at < word.span.end] for word in asked]


def _likeness(
    hits: Sequence[Hit], passages: Sequence[_Passage], matches: Sequence[TokenMatches], rows: Sequence[Sequence[int]]
) -> NDArray[np.float64]:
    """Return how similar each word of the sentence (columns) is to the most similar token of each span (rows).

    0 is the average similarity of two tokens, which differs between embedders; 1 is that of identical tokens.
    """
    total = sum(match.similarity.sum() for match in matches)
    common = float(total) / max(sum(match.similarity.size for match in matches), 1)
    best: list[NDArray[np.float32]] = []
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
    """Return how surely each word is in each span: 1 if the word itself is in the span or its heading.

    Numbers and names are either present or absent.
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
    """Return the spans that together contain most of the sentence, best first."""
    chosen, held = list[int](), np.zeros(found.shape[1])
    while len(chosen) < SPANS:
        gains = np.maximum(found, held) @ weights - held @ weights
        best = int(gains.argmax())
        if chosen and gains[best] < GAIN:
            break
        chosen.append(best)
        held = np.maximum(held, found[best])
    return chosen

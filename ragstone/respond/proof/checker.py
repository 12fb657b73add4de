"""Check sentences of a written answer against the passages that its writer had.

A sentence is contradicted or missing only if that is sure. It is contradicted if the passages have another figure or
name in the place of its own (`doubts`, `displaced`) or turn its predicate (`polarity`), and missing if its figures or
names stand nowhere or the trained model rejects it. The model reads the passage that the writer names. Data, figures
and limits are in ``training/README.md``; ``tools/fit_support.py`` fits the numbers below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.core.protocols import Entailment, SentenceSplitter, Weigher
from ragstone.core.readings import Judgement
from ragstone.core.records import Hit, Span
from ragstone.core.request import Request
from ragstone.core.threads import computed
from ragstone.language import language_of
from ragstone.language.facts import Word, alike, words
from ragstone.respond.proof.alignment import CLOSE, Overlap, chosen, hold, is_foreign, quotes
from ragstone.respond.proof.displaced import displaced
from ragstone.respond.proof.doubts import Doubt, doubtful_figures, doubtful_names
from ragstone.respond.proof.lacking import lack_something
from ragstone.respond.proof.passages import Passage, Passages
from ragstone.respond.proof.polarity import turned
from ragstone.respond.proof.records import UNCHECKED, Proof
from ragstone.respond.proof.said import NOTHING, Said
from ragstone.respond.quote import Quote

BIAS, BY_WORDS, BY_MODEL = 1.69, 0.94, 0.40
"""Coefficients of the support: of the share of the sentence that is found, and of the model's log odds."""
LACKING = -1.7
"""What a figure or name that the quotes lack adds to the log odds: 3.1% of 2,837 true sentences have one, and 17% of
2,048 false ones in which nothing is sure to be wrong."""
SUPPORTED = 0.75
"""A sentence with at least this support counts as supported, if its quotes have its figures and names."""
REJECTED = 0.027
"""A sentence to which the model gives less is missing; chosen on replies, left out one collection at a time."""
FAMILIAR = 0.7
"""Share of a sentence's words that the model must know."""
MARKED = 0.2
"""Probability from which nothing supports a word."""
LONGEST = 300
"""Words of a sentence that are compared."""
_GAP = 1
"""Words between two unsupported ones that are marked with them."""
_LIMIT = 6.0
_UNREAD = -2.3
"""Log odds of a sentence that the model did not read, so that half of its words must be found."""
_WORD = re.compile(r"\w+")


@frozen
class Reading:
    """A sentence beside the passages.

    ``quoted`` are those to quote and ``best`` is the first of them. ``cited`` are those on which the sentence may rest:
    the ones that the writer names, and any that hold more of it. ``others`` are the rest.
    """

    quoted: Sequence[Overlap]
    best: Overlap
    cited: Sequence[Overlap]
    others: Sequence[Overlap]


class ProofChecker:
    """A checker that compares words, figures and names, and reads the evidence."""

    def __init__(self, *, sentences: SentenceSplitter, weigh: Weigher, entailment: Entailment | None = None) -> None:
        """Take the parts of other stages.

        Args:
            sentences: splits a passage.
            weigh: weighs words.
            entailment: judges sentences; without one, words, figures and names decide.
        """
        self._passages, self._weigh, self._entailment = Passages(sentences), weigh, entailment

    def read_ahead(self, hits: Sequence[Hit]) -> object:
        """Return the passages as read; see `Checker`."""
        return self._passages.of(hits)

    async def check(
        self, sentence: str, hits: Sequence[Hit], request: Request, before: Said = NOTHING, named: int = 0
    ) -> Proof:
        """Return the proof of a sentence; see `Checker`."""
        asked = words(sentence)[:LONGEST]
        weights = self._weights(asked, request)
        comparing = partial(self._compared, sentence, asked, weights, hits, named, before)
        reading, doubts, lacking = await computed(comparing, can_wait=request.can_wait)
        if reading is None:
            return UNCHECKED
        quoted = quotes(reading.quoted)
        if not quoted and named and is_foreign(reading.best.passage, language_of(sentence)):
            quoted = (_whole(reading.best.passage.hit),)  # no words tell which part of it
        ids = {hit.chunk.id for hit in hits[:named]}
        own = quotes([one for one in reading.quoted if one.passage.hit.chunk.id in ids and one.share >= CLOSE])
        if doubts:
            return _flagged(doubts, sentence, supported(reading.best.share, None), quoted, own)
        judgement = await self.judged(sentence, reading.best, request)
        lacking = lacking and bool(quoted)
        support = supported(reading.best.share, judgement, lacking=lacking)
        if judgement is not None and judgement.supported < REJECTED:
            rest = [one for one in (*reading.cited, *reading.others) if one is not reading.best]
            if not await self._rejects(sentence, rest, reading.quoted, request):
                return Proof(state="unchecked", support=support, quotes=quoted)
            parts = tuple(span.of(sentence) for span in unsupported_words(sentence, judgement))
            reason = "no source says this"
            return Proof(state="missing", support=support, reason=reason, unsupported=parts, quotes=own)
        is_supported = bool(quoted) and support >= SUPPORTED and not lacking
        return Proof(state="supported" if is_supported else "unchecked", support=support, quotes=quoted)

    def read(self, sentence: str, hits: Sequence[Hit], request: Request, named: int) -> Reading | None:
        """Return what the passages hold of a sentence; None if one of them says nothing."""
        asked = words(sentence)[:LONGEST]
        return self._reading(sentence, asked, self._weights(asked, request), hits, named)

    def _compared(
        self,
        sentence: str,
        asked: Sequence[Word],
        weights: NDArray[np.float64],
        hits: Sequence[Hit],
        named: int,
        before: Said,
    ) -> tuple[Reading | None, list[Doubt], bool]:
        """Return what the passages hold of a sentence, its doubts, and whether the quotes lack a figure or a name."""
        reading = self._reading(sentence, asked, weights, hits, named, before)
        if reading is None:
            return None, [], False
        doubts = doubts_of(sentence, asked, weights, reading, before)
        lacking = not doubts and lack_something(sentence, reading.quoted, before)
        return reading, doubts, lacking

    def _reading(
        self,
        sentence: str,
        asked: Sequence[Word],
        weights: NDArray[np.float64],
        hits: Sequence[Hit],
        named: int,
        before: Said = NOTHING,
    ) -> Reading | None:
        passages = self._passages.of(hits)
        if not passages or not has_content(asked, passages):
            return None
        overlaps = hold(sentence, asked, weights, passages, before)
        some = chosen(overlaps, named, np.array([word.key for word in asked]), language_of(sentence))
        best = some[0] if some else max(overlaps, key=lambda one: one.share)
        most = max((one.share for one in overlaps[:named]), default=0.0)
        cited = [one for place, one in enumerate(overlaps) if place < named or one.share > most or not named]
        others = [one for one in overlaps if all(one is not other for other in cited)]
        return Reading(quoted=some, best=best, cited=cited, others=others)

    async def judged(self, sentence: str, overlap: Overlap, request: Request) -> Judgement | None:
        """Return what the model says of a sentence beside a passage; None if it cannot tell."""
        return await self._judged(sentence, [overlap], request)

    async def _judged(self, sentence: str, overlaps: Sequence[Overlap], request: Request) -> Judgement | None:
        told = [one.read() for one in overlaps if one.parts]
        if self._entailment is None or self._entailment.familiarity(sentence) < FAMILIAR or not told:
            return None
        [judgement] = await self._entailment.judge([sentence], ["\n".join(told)], request)
        return judgement

    async def _rejects(
        self, sentence: str, others: Sequence[Overlap], quoted: Sequence[Overlap], request: Request
    ) -> bool:
        """Return whether the model rejects a sentence beside another passage, too, because writers cite wrongly.

        If several are quoted, it also reads them together, since a sentence may say something of each.
        """
        best = max(others, key=lambda one: one.share, default=None)
        for some in ([best] if best else [], quoted if len(quoted) > 1 else []):
            judgement = await self._judged(sentence, some, request)
            if judgement is not None and judgement.supported >= REJECTED:
                return False
        return True

    def _weights(self, asked: Sequence[Word], request: Request) -> NDArray[np.float64]:
        """Return the weight of each word; stop words weigh nothing unless there are no others."""
        if not asked:
            return np.zeros(0)
        worth = np.array(self._weigh([word.lower for word in asked], request)) + 1e-6
        content = worth * [not word.stop for word in asked]
        worth = content if content.any() else worth
        return worth / worth.sum()


def doubts_of(
    sentence: str, asked: Sequence[Word], weights: NDArray[np.float64], reading: Reading, before: Said
) -> list[Doubt]:
    """Return what is surely wrong with a sentence, in its order; ``weights`` are those of its words, (words,)."""
    best = reading.best
    cited, others = ([one.passage for one in some] for some in (reading.cited, reading.others))
    exact = {doubt.span: doubt for doubt in displaced(sentence, asked, weights, reading.cited, before)}
    doubts = [
        *exact.values(),
        *(doubt for doubt in doubtful_figures(sentence, cited, others, before) if doubt.span not in exact),
        *doubtful_names(sentence, [*cited, *others], before),
        *(doubt for part in best.parts[:1] for doubt in turned(sentence, best.passage.shown(part))),
    ]
    return sorted(doubts, key=lambda doubt: doubt.span)


def has_content(asked: Sequence[Word], passages: Sequence[Passage]) -> bool:
    """Return whether a sentence has two content words, or one figure or name; "This is a question" has neither."""
    content = [word for word in asked if not word.stop]
    if len(content) > 1 or any(word.key for word in content):
        return True
    names = [word for passage in passages for word in passage.named if word.named]
    return any(alike(word.lower, name.lower, name=True) for word in content for name in names)


def features(share: float, judgement: Judgement | None) -> NDArray[np.float64]:
    """Return the input of the support: the share of the sentence that is found, and the model's log odds."""
    return np.array([share, _log_odds(judgement.supported) if judgement else _UNREAD])


def supported(share: float, judgement: Judgement | None, *, lacking: bool = False) -> float:
    """Return the probability, 0 to 1, that the evidence supports a sentence, whose quotes may lack something of it."""
    odds = BIAS + features(share, judgement) @ np.array([BY_WORDS, BY_MODEL]) + LACKING * lacking
    return float(1 / (1 + np.exp(-odds)))


def unsupported_words(sentence: str, judgement: Judgement) -> tuple[Span, ...]:
    """Return the parts of a sentence, of whole words, that nothing in the evidence says."""
    spans: list[Span] = []
    for word in _WORD.finditer(sentence):
        shares = [
            share
            for span, share in zip(judgement.spans, judgement.unsupported, strict=True)
            if span.start < word.end() and word.start() < span.end
        ]
        if max(shares, default=0.0) < MARKED:
            continue
        if spans and len(_WORD.findall(sentence[spans[-1].end : word.start()])) <= _GAP:
            spans[-1] = Span(start=spans[-1].start, end=word.end())
        else:
            spans.append(Span(start=word.start(), end=word.end()))
    return tuple(spans)


def _flagged(
    doubts: Sequence[Doubt], sentence: str, support: float, quoted: tuple[Quote, ...], own: tuple[Quote, ...]
) -> Proof:
    parts = tuple(dict.fromkeys(doubt.span.of(sentence) for doubt in doubts))
    reason = "; ".join(dict.fromkeys(doubt.reason for doubt in doubts))
    is_missing = all(doubt.missing for doubt in doubts)
    return Proof(
        state="missing" if is_missing else "contradicted",
        support=min(support, 1 - SUPPORTED),
        reason=reason,
        unsupported=parts,
        # Beside "no source mentions it", a quote that the writer does not name would look like its proof.
        quotes=own if is_missing else quoted,
    )


def _whole(hit: Hit) -> Quote:
    return Quote(hit=hit, span=Span(start=0, end=len(hit.chunk.text)))


def _log_odds(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return max(-_LIMIT, min(_LIMIT, math.log(share / (1 - share))))

"""Find the passage and the sentences in it that say most of what a sentence says, by its words.

The passages that the writer names come first. Another one is quoted only if it has much more of the sentence, and not
only its figures; a second one only for words that the first lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ragstone.language.facts import Word, form, initials, words
from ragstone.respond.proof.figure import same
from ragstone.respond.proof.figures import figures
from ragstone.respond.proof.passages import Passage
from ragstone.respond.proof.said import Said
from ragstone.respond.quote import Quote

GAIN = 0.2
"""Share of a sentence that a second quote must add."""
INSTEAD = 0.3
"""By how much more of the sentence a passage must have to be quoted instead of the one that the writer names."""
CLOSE = 0.45
"""Share of a sentence that a passage must have to be quoted though the writer names none."""
IN_HEADING = 0.6
"""How much of a word a sentence holds that only the heading of its passage has."""
_EQUAL = 1e-6
MOST_READ = 800
"""Characters of evidence that a model reads."""


class Overlap:
    """What a passage holds of the words of a sentence. Its parts are chosen on demand, because few passages are quoted.

    ``weights`` are those of the words, (words,). A figure is found in any form: £1,284,000 in a row with 1,284.
    """

    def __init__(
        self,
        passage: Passage,
        sentence: str,
        asked: Sequence[Word],
        weights: NDArray[np.float64],
        before: Said,
    ) -> None:
        self.passage, self.weights = passage, weights
        self._sentence, self._asked, self._own, self._before = sentence, asked, figures(sentence), before

    @cached_property
    def share(self) -> float:
        """The share of the sentence that the passage holds."""
        return float(self.found.max(axis=0) @ self.weights) if len(self.found) else 0.0

    def says_more(self, other: Overlap) -> bool:
        """Return whether the passage has more than another one of the words beside the figures."""
        own, its = (one.found.max(axis=0, initial=0.0) for one in (self, other))
        in_figure = [any(one.span.start <= word.span.start < one.span.end for one in self._own) for word in self._asked]
        return float((own - its) @ np.where(in_figure, 0.0, self.weights)) > 0

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """The sentences of the passage that hold most, two at most."""
        found, weights = self.found, self.weights
        parts: list[int] = []
        have = np.zeros(len(weights))
        while len(parts) < 2 and len(found):
            gains = np.maximum(found, have) @ weights - have @ weights
            best = self._closest(np.flatnonzero(gains >= gains.max() - _EQUAL))
            if gains[best] <= 0 or (parts and gains[best] < GAIN):
                break
            parts.append(best)
            have = np.maximum(have, found[best])
        return tuple(parts)

    def _closest(self, parts: NDArray[np.intp]) -> int:
        """Return the sentence, of those that hold as much, that has most of what was said last."""
        if len(parts) > 1:
            last = [word for word in words(self._before.last) if not word.stop]
            forms = [self.passage.vocabulary.forms(word) for word in last]
            own = [{form(word) for word in self.passage.words[int(part)]} for part in parts]
            parts = parts[[int(np.argmax([sum(not some.isdisjoint(one) for one in forms) for some in own]))]]
        return int(parts[0])

    @cached_property
    def words(self) -> NDArray[np.float64]:
        """How much of each word the chosen parts hold, (words,)."""
        return self.found[list(self.parts)].max(axis=0) if self.parts else np.zeros(len(self.weights))

    @cached_property
    def fit(self) -> float:
        """How well the passage suits as a quote: the mean of the shares that it and its chosen parts hold.

        A long passage may have all words, each in another sentence.
        """
        return (self.share + float(self.words @ self.weights)) / 2

    def quotes(self) -> list[Quote]:
        """Return the chosen parts, in the order of the passage; neighbours as one."""
        return [Quote(hit=self.passage.hit, span=self.passage.spans[part]) for part in sorted(self.parts)]

    def read(self) -> str:
        """Return the heading and the chosen parts with what stands around them, for a model."""
        passage, spans = self.passage, self.passage.spans
        kept: set[int] = set()
        room = MOST_READ - min(len(passage.heading), MOST_READ // 4)
        near = [part + step for step in (0, -1, 1, -2, 2) for part in self.parts]
        for part in near:
            if 0 <= part < len(spans) and part not in kept:
                size = spans[part].end - spans[part].start
                if size <= room or not kept:
                    kept.add(part)
                    room -= size
        told = " ".join(spans[part].of(passage.text) for part in sorted(kept))
        return f"{passage.heading[: MOST_READ // 4]}\n{told}".strip()[: 2 * MOST_READ]

    def mentioning(self, weights: NDArray[np.float64], least: float) -> Iterator[int]:
        """Yield the sentences that mention words of this weight or more, if only in the heading; (words,)."""
        weighed = (self.found > 0) @ weights
        return (int(part) for part in np.flatnonzero((weighed >= least) & (weighed > 0)))

    @cached_property
    def found(self) -> NDArray[np.float64]:
        """Return what each sentence of the passage holds of each word, (sentences, words)."""
        passage = self.passage
        found = np.zeros((len(passage.spans), len(self._asked)))
        for place, word in enumerate(self._asked):
            if forms := passage.vocabulary.forms(word):
                if not forms.isdisjoint(passage.heading_forms):
                    found[:, place] = IN_HEADING
                found[[part for one in forms for part in passage.parts_with.get(one, ())], place] = 1.0
            if word.capitals:
                found[[part for part, some in enumerate(passage.words) if initials(word, some)], place] = 1.0
        for figure in self._own:
            span = figure.span
            places = [n for n, word in enumerate(self._asked) if span.start <= word.span.start < span.end]
            parts = [placed.part for placed in passage.figures if same(figure, placed.figure)]
            found[np.ix_(parts, places)] = 1.0
        return _below_headings(found, passage.claimless)


def _below_headings(found: NDArray[np.float64], claimless: frozenset[int]) -> NDArray[np.float64]:
    """Return what sentences hold with the headings above them in the same passage, which themselves are no evidence."""
    above, was_heading = np.zeros(found.shape[1:]), False
    for part, row in enumerate(found):
        if part in claimless:
            own = np.minimum(row, IN_HEADING)
            above = np.maximum(above, own) if was_heading else own
            row[:] = 0.0
        else:
            np.maximum(row, above, out=row)
        was_heading = part in claimless
    return found


def hold(
    sentence: str, asked: Sequence[Word], weights: NDArray[np.float64], passages: Sequence[Passage], before: Said
) -> list[Overlap]:
    """Return how much of a sentence each passage holds, given its words and what was said before."""
    return [Overlap(passage, sentence, asked, weights, before) for passage in passages]


def chosen(overlaps: Sequence[Overlap], named: int, keys: NDArray[np.bool_], language: str) -> list[Overlap]:
    """Return the passages to quote, the best first; none if none holds enough.

    Args:
        overlaps: how much each passage holds; the first ``named`` are those that the writer cites.
        named: how many of them are cited.
        keys: which words are figures or names.
        language: ISO 639-1 code of the sentence, or empty. Words say little of a passage in another language, so that
            one which the writer names is never replaced by one in the language of the sentence.
    """
    best = max(overlaps, key=lambda one: one.share)
    if not named:
        return [max(overlaps, key=lambda one: one.fit)] if best.share >= CLOSE else []
    first = max(overlaps[:named], key=lambda one: one.share)
    if best.share - first.share >= INSTEAD and not (is_foreign(first.passage, language) or not best.says_more(first)):
        first = best
    out, have = [first], first.words
    for candidate in overlaps[:named]:
        gain = np.maximum(candidate.words - have, 0) * candidate.weights
        if candidate is not first and (gain.sum() >= GAIN or (gain * keys).sum() >= GAIN / 2):
            out.append(candidate)
            have = np.maximum(have, candidate.words)
    return out


def is_foreign(passage: Passage, language: str) -> bool:
    """Return whether a passage is in another language than a sentence, as far as both are known."""
    return bool(language and passage.language) and passage.language != language


def quotes(some: Sequence[Overlap]) -> tuple[Quote, ...]:
    """Return the quotes of passages, one for each hit and part."""
    return tuple(quote for one in some for quote in one.quotes())

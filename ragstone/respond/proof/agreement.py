"""Measure how far a sentence agrees with spans of the evidence, as a few numbers with a meaning each.

Words that can be paraphrased are compared softly: a word counts by its inverse document frequency, and is found if the
evidence contains it in any form, or a token with a similar vector in its context. Facts are compared strictly: numbers,
dates, units, names, negations, opposites, and which of them belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ragstone.respond.facts import Word, lexical
from ragstone.respond.words import lexicon

NEAR = 4
"""Distance in words within which a negation belongs to a word."""
AROUND = 6
"""Distance in content words within which two words of the evidence belong together."""
FOUND = 0.35
"""Similarity from which a word counts as found."""
_FAR = 10_000
ORDERLY = 0.6
"""Share of the words that must be in the order of the evidence; below it the sentence is a paraphrase."""
PLACES = 20
"""Occurrences of a word in the evidence that are examined."""
PAIRS = 1000
"""Most word occurrences whose order is compared; heavily repeated words have no meaningful order."""
MAX_COUNT = 2
"""Further disagreeing facts do not make a sentence more wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Input of the support estimate. Shares, 0 to 1, are of the sentence's words by weight; the rest are counts.

    ``found`` is the share of words found by similarity, ``exact`` by the word itself, and ``unmatched`` the share with
    no similar word. ``absent_*`` count numbers and names that are nowhere in the quoted passages, ``elsewhere_*`` those
    that are in the passages but not in the spans. ``denied`` counts negations on one side only. ``opposed`` counts
    opposites and conflicting units. ``apart`` is how far numbers and names are from their neighbours in the sentence.
    ``borrowed`` is the greatest share of numbers and names in what a further span adds. ``reordered`` counts numbers
    and names in another order than in the evidence.
    """

    found: float
    exact: float
    unmatched: float
    absent_numbers: float
    elsewhere_numbers: float
    absent_names: float
    elsewhere_names: float
    denied: float
    opposed: float
    apart: float
    borrowed: float
    reordered: float

    def row(self) -> NDArray[np.float64]:
        """Return the numbers in the order of the coefficients."""
        return np.array(astuple(self))


def agreement(
    asked: Sequence[Word],
    weights: NDArray[np.float64],
    found: NDArray[np.float64],
    spans: Sequence[Sequence[Word]],
    passages: Sequence[Word],
) -> Agreement:
    """Compare a sentence with spans of the evidence.

    Args:
        asked: the words of the sentence.
        weights: of the words (n,), 0 for words that do not count; they sum to 1.
        found: how surely each word is in each span or its heading (spans, n), 0 to 1; 1 for the word itself.
        spans: the words of each span, the one that contains most of the sentence first.
        passages: the words of the whole passages of the spans, with headings.
    """
    here = [word for span in spans for word in span]
    most = found.max(axis=0)
    matched = [i for i in range(len(asked)) if weights[i] > 0 and most[i] >= 1]
    missing = [
        (word, lexical(word, passages)) for i, word in enumerate(asked) if word.key and weights[i] > 0 and most[i] < 1
    ]
    return Agreement(
        found=float(weights @ most),
        exact=float(weights @ (most >= 1)),
        unmatched=float(weights @ (most < FOUND)),
        absent_numbers=_count(bool(word.value) and not near for word, near in missing),
        elsewhere_numbers=_count(bool(word.value) and near for word, near in missing),
        absent_names=_count(not word.value and not near for word, near in missing),
        elsewhere_names=_count(not word.value and near for word, near in missing),
        denied=_count(_denied(asked, spans)),
        opposed=_count([*_opposed(asked, spans), *_units(asked, here)]),
        apart=_apart(asked, matched, spans),
        borrowed=_borrowed(asked, weights, found),
        reordered=_reordered(asked, matched, spans[0]),
    )


def _count(these: Iterable[object]) -> float:
    return float(min(sum(map(bool, these)), MAX_COUNT))


def _denied(asked: Sequence[Word], spans: Sequence[Sequence[Word]]) -> list[bool]:
    """Return for each negation, on either side, whether the other side has fewer negations near the same words."""
    out: list[bool] = []
    for i, word in enumerate(asked):
        if word.negation:
            target = _target(asked, i)
            out.append(not any(_negated_there(asked, target, span) for span in spans))
    for span in spans:
        for j, word in enumerate(span):
            if word.negation and (target := _target(span, j)) is not None:
                places = [i for i, one in enumerate(asked) if not one.stop and lexical(one, [span[target]])]
                if places:
                    there = _negations_near(span, target)
                    out.append(not any(_negations_near(asked, i, denials=True) >= there for i in places))
    return out


def _negated_there(asked: Sequence[Word], target: int | None, span: Sequence[Word]) -> bool:
    places = [] if target is None else [j for j, one in enumerate(span) if lexical(asked[target], [one])]
    if target is None or not places:
        return any(word.negation or _denial(word) for word in span)
    here = _negations_near(asked, target)
    return any(_negations_near(span, j, denials=True) >= here for j in places)


def _target(words: Sequence[Word], i: int) -> int | None:
    """Return the word that a negation applies to: the next content word, else the one before."""
    after = (j for j in range(i + 1, min(i + 1 + NEAR, len(words))) if not words[j].stop and not words[j].negation)
    before = (j for j in range(i - 1, max(i - 1 - NEAR, -1), -1) if not words[j].stop and not words[j].negation)
    return next(after, next(before, None))


def _negations_near(words: Sequence[Word], place: int, *, denials: bool = False) -> int:
    around = words[max(0, place - NEAR) : place + NEAR]
    return sum(word.negation or (denials and _denial(word)) for word in around)


def _denial(word: Word) -> bool:
    return word.lower in lexicon().denials


def _opposed(asked: Sequence[Word], spans: Sequence[Sequence[Word]]) -> list[bool]:
    """Return for each word with an opposite whether the evidence has the opposite next to the same words."""
    there = {word.lower for span in spans for word in span}
    out: list[bool] = []
    for i, word in enumerate(asked):
        others = _opposites(word.lower) & there
        if others:
            context = [one for one in asked[max(0, i - 3) : i + 4] if one is not word and not one.stop]
            own, opposite = (max(_shared(these, context, span) for span in spans) for these in ({word.lower}, others))
            out.append(opposite > own)
    return out


def _opposites(word: str) -> set[str]:
    """Return the opposites of a word, from the lists or by a prefix such as "un"."""
    lists = lexicon()
    turned = set[str]()
    if len(word) > 3:
        turned = {f"{prefix}{word}" for prefix in lists.prefixes}
        turned |= {
            word.removeprefix(one) for one in lists.prefixes if word.startswith(one) and len(word) > len(one) + 3
        }
    return turned | lists.opposites.get(word, frozenset())


def _shared(these: set[str], context: Sequence[Word], span: Sequence[Word]) -> int:
    """Return how many context words are near one of these words in the span; -1 if it has none of these."""
    places = [j for j, word in enumerate(span) if word.lower in these]
    return max((sum(lexical(one, span[max(0, j - 3) : j + 4]) for one in context) for j in places), default=-1)


def _units(asked: Sequence[Word], here: Sequence[Word]) -> list[bool]:
    """Return for each number with a unit whether the evidence has it with other units only."""
    out: list[bool] = []
    for word in asked:
        if word.unit:
            units = {other.unit for other in here if other.value == word.value} - {""}
            out.append(bool(units) and word.unit not in units)
    return out


def _apart(asked: Sequence[Word], found: Sequence[int], spans: Sequence[Sequence[Word]]) -> float:
    """Return, for the worst number or name, the share of its neighbours that are not near it in the evidence.

    Distance is counted in content words; words of different spans are never near.
    """
    here = [(word, place) for n, span in enumerate(spans) for place, word in enumerate(_content(span), start=n * _FAR)]
    places = {i: list(islice((place for other, place in here if lexical(asked[i], [other])), PLACES)) for i in found}
    matched = [i for i in found if places[i]]
    worst = 0.0
    for at, i in enumerate(matched):
        neighbours = [*matched[max(0, at - 2) : at], *matched[at + 1 : at + 3]]
        if asked[i].key and neighbours:
            worst = max(worst, 1 - max(_near(j, [places[k] for k in neighbours]) for j in places[i]))
    return worst


def _near(place: int, neighbours: Sequence[Sequence[int]]) -> float:
    """Return the share of the neighbours that are near a position."""
    return sum(min(abs(place - other) for other in others) <= AROUND for others in neighbours) / len(neighbours)


def _content(span: Sequence[Word]) -> list[Word]:
    return [word for word in span if not word.stop]


def _borrowed(asked: Sequence[Word], weights: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """Return the greatest share of numbers and names in what a further span adds to the first."""
    keys, before, most = np.array([word.key for word in asked]), found[0], 0.0
    for span in found[1:]:
        added = weights * np.maximum(span - before, 0)
        most, before = max(most, float(added[keys].sum() / max(added.sum(), 1e-9))), np.maximum(span, before)
    return most


def _reordered(asked: Sequence[Word], matched: Sequence[int], span: Sequence[Word]) -> float:
    """Count numbers and names in another order than in a span whose other words are in order."""
    content = _content(span)
    options = [(i, [j for j, other in enumerate(content) if lexical(asked[i], [other])]) for i in matched]
    pairs = [(i, j) for i, places in options for j in places]
    if len(pairs) > PAIRS:
        return 0.0
    best: list[tuple[int, ...]] = []  # the longest chain of words in the same order that ends with each pair
    for n, (i, j) in enumerate(pairs):
        before = (best[m] for m in range(n) if pairs[m][0] < i and pairs[m][1] < j)
        best.append((*max(before, key=len, default=()), i))
    kept = max(best, key=len, default=())
    placed = [i for i, places in options if places]
    if len(kept) < ORDERLY * len(placed):
        return 0.0
    return _count(asked[i].key for i in placed if i not in kept)

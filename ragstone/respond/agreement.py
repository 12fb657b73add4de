"""How far a sentence agrees with spans of the evidence: a few numbers, each with a meaning.

What may be said otherwise is compared softly: a word counts as much as its inverse document frequency, and is found
where the same word stands, in another form too, or one whose token vector is like it in its context. What may not is
compared hard: numbers, dates, units, names, negations, opposites, and which of them belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ragstone.respond.facts import Word, lexical
from ragstone.respond.words import lexicon

NEAR = 4
"""Words on either side within which a negation belongs to a word."""
AROUND = 6
"""Words that tell something, on either side, within which two words of the evidence belong together."""
FOUND = 0.35
"""From so much likeness on a word counts as said."""
_FAR = 10_000
ORDERLY = 0.6
"""Where a smaller share of the words is in the order of the evidence, the sentence is told otherwise altogether."""
PLACES = 20
"""Places of a word in the evidence that are looked at."""
PAIRS = 1000
"""Places of words beyond which their order is not compared: the same words over and over have none."""
MOST = 2
"""More facts that do not agree make a sentence no falser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What support is estimated from. Shares are 0 to 1 of the sentence's words by weight, the rest are counts.

    ``said`` is the share of the words that is found, softly; ``same`` by the very words; ``unsaid`` the share of
    those that nothing is like. ``absent`` counts numbers and names that are nowhere in the passages quoted,
    ``elsewhere`` those that are in them, but not in the spans. ``denied`` counts negations of one side only,
    ``opposed`` opposites and units that exclude each other, ``apart`` is how far numbers and names are from the words
    they stand beside in the sentence.
    """

    said: float
    same: float
    unsaid: float
    absent_numbers: float
    elsewhere_numbers: float
    absent_names: float
    elsewhere_names: float
    denied: float
    opposed: float
    apart: float
    borrowed: float
    turned: float

    def row(self) -> NDArray[np.float64]:
        return np.array(astuple(self))


def agreement(
    asked: Sequence[Word],
    weights: NDArray[np.float64],
    found: NDArray[np.float64],
    spans: Sequence[Sequence[Word]],
    passages: Sequence[Word],
) -> Agreement:
    """Compare a sentence with spans.

    Args:
        asked: the words of the sentence.
        weights: of the words (n,), 0 for those that do not count; they sum to 1.
        found: how surely each word is in each span or its heading (spans, n), 0 to 1; 1 where the very word is.
        spans: the words of each span, the one that holds most of the sentence first.
        passages: the words of the whole passages that the spans are of, headings too.
    """
    here = [word for span in spans for word in span]
    most = found.max(axis=0)
    held = [i for i in range(len(asked)) if weights[i] > 0 and most[i] >= 1]
    missing = [
        (word, lexical(word, passages)) for i, word in enumerate(asked) if word.key and weights[i] > 0 and most[i] < 1
    ]
    return Agreement(
        said=float(weights @ most),
        same=float(weights @ (most >= 1)),
        unsaid=float(weights @ (most < FOUND)),
        absent_numbers=_count(bool(word.value) and not near for word, near in missing),
        elsewhere_numbers=_count(bool(word.value) and near for word, near in missing),
        absent_names=_count(not word.value and not near for word, near in missing),
        elsewhere_names=_count(not word.value and near for word, near in missing),
        denied=_count(_denied(asked, spans)),
        opposed=_count([*_opposed(asked, spans), *_units(asked, here)]),
        apart=_apart(asked, held, spans),
        borrowed=_borrowed(asked, weights, found),
        turned=_turned(asked, held, spans[0]),
    )


def _count(these: Sequence[bool] | object) -> float:
    return float(min(sum(bool(one) for one in these), MOST))  # pyright: ignore


def _denied(asked: Sequence[Word], spans: Sequence[Sequence[Word]]) -> list[bool]:
    """For each negation, of the sentence or the evidence: whether the other side has fewer near the same words."""
    out = []
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
    """The word that a negation turns round: the next that tells something, else the one before."""
    after = (j for j in range(i + 1, min(i + 1 + NEAR, len(words))) if not words[j].stop and not words[j].negation)
    before = (j for j in range(i - 1, max(i - 1 - NEAR, -1), -1) if not words[j].stop and not words[j].negation)
    return next(after, next(before, None))


def _negations_near(words: Sequence[Word], place: int, *, denials: bool = False) -> int:
    around = words[max(0, place - NEAR) : place + NEAR]
    return sum(word.negation or (denials and _denial(word)) for word in around)


def _denial(word: Word) -> bool:
    return word.lower in lexicon().denials


def _opposed(asked: Sequence[Word], spans: Sequence[Sequence[Word]]) -> list[bool]:
    """For each word of the sentence that has an opposite: whether the evidence has that beside the same words."""
    there = {word.lower for span in spans for word in span}
    out = []
    for i, word in enumerate(asked):
        others = _opposites(word.lower) & there
        if others:
            beside = [one for one in asked[max(0, i - 3) : i + 4] if one is not word and not one.stop]
            own, opposite = (max(_beside(these, beside, span) for span in spans) for these in ({word.lower}, others))
            out.append(opposite > own)
    return out


def _opposites(word: str) -> set[str]:
    """The words that exclude a word, from the lists or by a beginning such as "un"."""
    lists = lexicon()
    turned = set[str]()
    if len(word) > 3:
        turned = {f"{prefix}{word}" for prefix in lists.prefixes}
        turned |= {
            word.removeprefix(one) for one in lists.prefixes if word.startswith(one) and len(word) > len(one) + 3
        }
    return turned | lists.opposites.get(word, frozenset())


def _beside(these: set[str], beside: Sequence[Word], span: Sequence[Word]) -> int:
    """How many of some words stand near one of these; -1 where there is none of these."""
    places = [j for j, word in enumerate(span) if word.lower in these]
    return max((sum(lexical(one, span[max(0, j - 3) : j + 4]) for one in beside) for j in places), default=-1)


def _units(asked: Sequence[Word], here: Sequence[Word]) -> list[bool]:
    """For each number with a unit: whether the evidence has it with other units only."""
    out = []
    for word in asked:
        if word.unit:
            units = {other.unit for other in here if other.value == word.value} - {""}
            out.append(bool(units) and word.unit not in units)
    return out


def _apart(asked: Sequence[Word], held: Sequence[int], spans: Sequence[Sequence[Word]]) -> float:
    """The number or name whose neighbours in the sentence are least near it in the evidence: their share that is not.

    Places are counted in words that tell something; those of different spans are never near.
    """
    here = [(word, place) for n, span in enumerate(spans) for place, word in enumerate(_telling(span), start=n * _FAR)]
    places = {i: list(islice((place for other, place in here if lexical(asked[i], [other])), PLACES)) for i in held}
    matched = [i for i in held if places[i]]
    worst = 0.0
    for at, i in enumerate(matched):
        beside = [*matched[max(0, at - 2) : at], *matched[at + 1 : at + 3]]
        if asked[i].key and beside:
            worst = max(worst, 1 - max(_near(j, [places[k] for k in beside]) for j in places[i]))
    return worst


def _near(place: int, beside: Sequence[Sequence[int]]) -> float:
    """The share of the neighbours that are near a place."""
    return sum(min(abs(place - other) for other in others) <= AROUND for others in beside) / len(beside)


def _telling(span: Sequence[Word]) -> list[Word]:
    return [word for word in span if not word.stop]


def _borrowed(asked: Sequence[Word], weights: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """The greatest share that numbers and names have of what a further span adds to the first."""
    keys, before, most = np.array([word.key for word in asked]), found[0], 0.0
    for span in found[1:]:
        added = weights * np.maximum(span - before, 0)
        most, before = max(most, float(added[keys].sum() / max(added.sum(), 1e-9))), np.maximum(span, before)
    return most


def _turned(asked: Sequence[Word], held: Sequence[int], span: Sequence[Word]) -> float:
    """Numbers and names that stand in another order than in a span, where the other words have kept theirs."""
    telling = _telling(span)
    options = [(i, [j for j, other in enumerate(telling) if lexical(asked[i], [other])]) for i in held]
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

"""Find where a sentence denies what the evidence says, or says what it denies, or has the opposite of its word.

It compares the same predicate on both sides only: a part of the evidence that has most words of the sentence. A word
such as "unless" or "only" on either side makes it unsure, and then it finds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.core.records import Span
from ragstone.language import lexicon
from ragstone.language.facts import Word, lexical, words
from ragstone.respond.proof.doubts import Doubt

NEAR = 4
"""Distance in words within which a negation belongs to a word."""
_PAUSE = re.compile(r"[.,;:()](?!\d)|\n")
SHARED = 0.8
"""Share of the sentence's content words that must stand in the part of the evidence."""


def turned(sentence: str, part: str) -> list[Doubt]:
    """Return the words of a sentence that a part of the evidence turns into their opposite."""
    asked, there = words(sentence), words(part)
    content = [word for word in asked if not word.stop and not word.negation]
    if not content or sum(lexical(word, there) for word in content) < SHARED * len(content):
        return []
    return [*_denied(asked, part, there), *_opposed(sentence, asked, part, there)]


def _denied(asked: Sequence[Word], part: str, there: Sequence[Word]) -> list[Doubt]:
    if _is_unsure(asked) or _is_unsure(there):
        return []
    mine, theirs = _negations(asked), _negations(there)
    if bool(mine) == bool(theirs) or any(_denial(word) for word in (*asked, *there)):
        return []
    if mine:
        place = mine[0]
        target = _target(asked, place)
        if target is None or not lexical(asked[target], there):
            return []
        first, last = sorted((asked[place], asked[target]), key=lambda word: word.span)
        span = Span(start=first.span.start, end=last.span.end)
        return [Doubt(span=span, reason=f"the passage does not deny it: it says {asked[target].lower}")]
    target = _target(there, theirs[0])
    if target is None or not _says_denied(asked, part, there[target:]):
        return []
    own = next((word for word in asked if not word.stop and lexical(there[target], [word])), None)
    return [Doubt(span=own.span, reason="the passage denies this")] if own else []


def _says_denied(asked: Sequence[Word], part: str, denied: Sequence[Word]) -> bool:
    """Return whether a sentence says all that is denied up to a pause: "no dogs under 5 kg" denies nothing of dogs."""
    end = _PAUSE.search(part, denied[0].span.end)
    clause = [word for word in denied if end is None or word.span.start < end.start()]
    return all(lexical(word, asked) for word in clause if not word.stop)


def _opposed(sentence: str, asked: Sequence[Word], part: str, there: Sequence[Word]) -> list[Doubt]:
    if any(word.negation or _denial(word) for word in (*asked, *there)):
        return []
    lower = {word.lower for word in there}
    out: list[Doubt] = []
    for place, word in enumerate(asked):
        others = _opposites(word.lower) & lower
        if not others or word.lower in lower or len(others) > 1:
            continue
        [other] = others
        if _opposites(other) & {one.lower for one in asked if one is not word} or other in {one.lower for one in asked}:
            continue
        near = _content_near(asked, place)
        at = next(i for i, one in enumerate(there) if one.lower == other)
        shared = sum(lexical(one, _content_near(there, at)) for one in near)
        if near and shared >= max(1, round(SHARED * len(near))):
            shown = word.span.of(sentence)
            out.append(Doubt(span=word.span, reason=f"the passage says {there[at].span.of(part)}, not {shown}"))
    return out


def _negations(some: Sequence[Word]) -> list[int]:
    """Return where the negations are; a "no" that answers the question, and "without", deny no predicate."""
    answers = lexicon().disagrees
    return [
        place
        for place, word in enumerate(some)
        if word.negation and word.lower != "without" and (place or word.lower not in answers)
    ]


def _is_unsure(some: Sequence[Word]) -> bool:
    return any(
        word.lower in lexicon().unsure
        for place in _negations(some)
        for word in some[max(0, place - 2) : place + NEAR]
        if not word.negation
    )


def _target(some: Sequence[Word], place: int) -> int | None:
    """Return the word that a negation applies to: the next one, but for an article or "be"."""
    after = range(place + 1, min(place + 3, len(some)))
    return next((at for at in after if not some[at].stop and not some[at].negation and not some[at].value), None)


def _denial(word: Word) -> bool:
    return word.lower in lexicon().denials


def _opposites(word: str) -> set[str]:
    """Return the opposites of a word, from the lists or by a prefix such as "un"."""
    lists = lexicon()
    turned = set[str]()
    if len(word) > 4:
        turned = {f"{prefix}{word}" for prefix in lists.prefixes}
        turned |= {
            word.removeprefix(one) for one in lists.prefixes if word.startswith(one) and len(word) > len(one) + 4
        }
    return turned | lists.opposites.get(word, frozenset())


def _content_near(some: Sequence[Word], place: int) -> list[Word]:
    return [one for one in some[max(0, place - 4) : place + 5] if one is not some[place] and not one.stop]

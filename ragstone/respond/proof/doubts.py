"""Find the parts of a sentence that the passages contradict, or that stand in none of them: figures and names.

Only what is sure is a doubt. What the question or the answer has said before is not claimed anew; small counts may have
been counted, and what follows from the passages by one step was calculated.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from ragstone.core.frozen import frozen
from ragstone.core.records import Span
from ragstone.language import language_of, lexicon, plain
from ragstone.language.facts import Word, alike, words
from ragstone.language.words import any_of
from ragstone.respond.proof.arithmetic import derived
from ragstone.respond.proof.durations import is_between
from ragstone.respond.proof.figure import DATE, Figure, code_of, is_period, kind_of, same
from ragstone.respond.proof.figures import figures
from ragstone.respond.proof.names import CASED_NOUNS, names, whole
from ragstone.respond.proof.passages import Passage, Placed, may_replace
from ragstone.respond.proof.said import Said

NEAR = 0.4
"""Share of the words near a figure that must stand near another one, which then takes its place."""
AHEAD, AHEAD_BARE = 0.25, 0.35
"""By how much that share must exceed that of the figure itself, if it has a unit and if it has none."""
COLUMN = 0.25
"""What the right period at the head of a column adds to that share, and the wrong one takes away."""
_AROUND = 6
"""Words on either side that are near."""
_CLOSE, _FALL = 3, 8
"""Words between a figure and a word that take nothing from its weight, and further ones that halve it."""
_DIGITS = re.compile(r"\d+")
_RANGE = re.compile(r"[\s\d.]*[-–—][\s\d.]*")
"""What stands between the months of a range; see also `_until`."""


@frozen
class Doubt:
    """A part of a sentence and why it is wrong, in a reader's words; ``missing`` if it only stands nowhere."""

    span: Span
    reason: str
    missing: bool = False


def doubtful_figures(sentence: str, cited: Sequence[Passage], others: Sequence[Passage], before: Said) -> list[Doubt]:
    """Return the figures of a sentence that the cited passages lack, or in whose place they have another.

    Args:
        sentence: what was written.
        cited: the passages on which it rests.
        others: the rest of the evidence, for the reason.
        before: what the question and the answer have said up to here.
    """
    own = figures(sentence)
    content = _content(sentence) if own else []
    near: list[Figure] | None = None
    out: list[Doubt] = []
    for figure in own:
        if is_numbering(figure, sentence) or before.has(figure):
            continue
        if figure.unit == "code":
            version = None if _stands(figure, [*cited, *others]) else _other_version(figure, sentence, cited)
            if version is not None:
                out.append(Doubt(span=figure.span, reason=f"the passage says {version.shown}, not {figure.shown}"))
            continue
        stands = _stands(figure, cited)
        rival = None if _stand_together(figure, sentence, cited) else _rival(figure, sentence, content, cited)
        if stands and (rival is None or figure.measure in ("month name", DATE, "time")):
            continue
        if figure.measure == "time" and (_is_distance(figure, sentence) or is_between(figure, sentence)):
            continue  # "two weeks before", or "from 3 to 10 May, one week": calculated from dates
        if rival is not None:
            reason = f"the passage says {rival.shown}, not {figure.shown}"
        elif figure.counted or figure.rough:
            continue  # counted or estimated by the writer
        else:
            elsewhere = _stands(figure, others)
            reason = f"the cited passage does not say {figure.shown}" if elsewhere else f"no source says {figure.shown}"
        near = operands(sentence, before, cited) if near is None else near
        beside = [other for other in own if other is not figure]
        if stands or not derived(figure, sentence, [*near, *beside]):
            out.append(Doubt(span=figure.span, reason=reason, missing=rival is None))
    return out


def doubtful_names(sentence: str, passages: Sequence[Passage], before: Said) -> list[Doubt]:
    """Return the names of a sentence that no passage mentions, and neither the question nor the answer before."""
    out: list[Doubt] = []
    for name in names(sentence):
        if not any(_is_known(word, before.words, passages) for word in name):
            span = whole(name)
            out.append(Doubt(span=span, reason=f"no source mentions {span.of(sentence)}", missing=True))
    return [] if out and language_of(f"{before.text} {sentence}") in CASED_NOUNS else out


def _stands(one: Figure, passages: Sequence[Passage]) -> bool:
    return any(
        (one.unit == "month name" and _spans_month(one, passage))
        or any(same(one, placed.figure) for placed in passage.figures)
        or any(same(one, other) for other in passage.other_figures)
        or (one.unit == "code" and code_of(one.shown) in passage.code)
        for passage in passages
    )


def _stand_together(figure: Figure, sentence: str, passages: Sequence[Passage]) -> bool:
    """Return whether one sentence or row of a passage has a figure and another one of the sentence, as of two years.

    Only `displaced` can tell then that one is in the wrong place.
    """
    beside = [one for one in figures(sentence) if _is_apart(one, figure, sentence)]
    rows = (some for passage in passages for some in passage.figures_of.values()) if beside else ()
    return any(
        any(same(figure, placed.figure) for placed in some)
        and any(same(one, placed.figure) for one in beside for placed in some)
        for some in rows
    )


def _is_apart(one: Figure, other: Figure, sentence: str) -> bool:
    """Return whether a figure is a measure of its own beside another one, and not a period or a part of "1:27:04"."""
    if one.counted or is_period(one) or one.unit == DATE:
        return False
    first, second = sorted((one.span, other.span))
    return any(letter.isalpha() for letter in sentence[first.end : second.start])


def _spans_month(one: Figure, passage: Passage) -> bool:
    """Return whether a passage has a range of months around a month: July is within "1 June to 31 August"."""
    months = [placed for placed in passage.figures if placed.figure.unit == "month name"]
    for first, last in pairwise(months):
        between = passage.shown(first.part)[first.figure.span.end : last.figure.span.start]
        if first.part == last.part and (_RANGE.fullmatch(between) or _until().fullmatch(plain(between))):
            start, end, own = (month.values[0] for month in (first.figure, last.figure, one))
            if start <= own <= end if start <= end else own >= start or own <= end:
                return True
    return False


def operands(sentence: str, before: Said, passages: Sequence[Passage]) -> list[Figure]:
    """Return the figures of the sentences and rows that share a word with a sentence or the one before it."""
    told = f"{before.last.rpartition(chr(10))[2][-300:]} {sentence}" if before.last else sentence
    content = _content(told)
    out: list[Figure] = []
    for passage in passages:
        forms = {one for word in content for one in passage.vocabulary.forms(word)}
        shared = [not forms.isdisjoint({word.lower for word in some}) for some in passage.words]
        out += [placed.figure for placed in passage.figures if shared[placed.part]]
    return out


def _rival(figure: Figure, sentence: str, content: Sequence[Word], passages: Sequence[Passage]) -> Figure | None:
    """Return the figure of the passages in whose place this one stands; None if that is not sure.

    The words near it stand near the other one, whose unit or kind is the same, and not near itself.
    """
    near = _near_words(content, figure)
    if not near:
        return None
    best, own, rival = 0.0, 0.0, None
    others = [other for other in figures(sentence) if other is not figure]
    for passage in passages:
        forms = [passage.vocabulary.forms(word) for word, _ in near]
        for placed in passage.figures:
            equal = same(figure, placed.figure)
            if not (equal or may_replace(placed, figure)) or placed.part in passage.claimless:
                continue
            if figure.counted and not equal and not _counts(near, forms, passage, placed, figure):
                continue  # "three dealers" is not denied by "24 bikes"
            share = _share(near, forms, passage, placed, others)
            if equal:
                own = max(own, share)
            elif share > best:
                best, rival = share, placed.figure
            if placed.head and any(same(figure, one) for one in figures(placed.head)):
                own = max(own, share)  # the head of a column is a condition of its cells
    ahead = AHEAD_BARE if not figure.unit else AHEAD
    if rival is not None and best >= NEAR and best - own >= ahead and not _within(figure, sentence, rival):
        return rival
    return None


def _is_distance(one: Figure, sentence: str) -> bool:
    """Return whether a duration says how far two times are apart."""
    return lexicon().calculated["apart"].search(plain(sentence[one.span.end : one.span.end + 20])) is not None


def _other_version(one: Figure, sentence: str, passages: Sequence[Passage]) -> Figure | None:
    """Return a code of the passages that differs from this one in its digits only, as A320 and A330."""
    letters = _DIGITS.sub("", code_of(one.shown))
    codes = [placed.figure for passage in passages for placed in passage.figures if placed.figure.unit == "code"]
    alike_ones = (other for other in codes if _DIGITS.sub("", code_of(other.shown)) == letters)
    return next((other for other in alike_ones if not _within(one, sentence, other)), None)


def _within(one: Figure, sentence: str, rival: Figure) -> bool:
    """Return whether the sentence has the rival, too."""
    return any(same(other, rival) for other in figures(sentence) if other is not one)


def _content(text: str) -> list[Word]:
    """Return the words of a text that are neither numbers nor stop words."""
    return [word for word in words(text) if not word.stop and not word.value]


def _near_words(content: Sequence[Word], one: Figure) -> list[tuple[Word, float]]:
    """Return the content words near a figure, with weights that fall with the distance."""
    left = [word for word in content if word.span.end <= one.span.start]
    right = [word for word in content if word.span.start >= one.span.end]
    found = [*zip(reversed(left), range(_AROUND), strict=False), *zip(right, range(_AROUND), strict=False)]
    return [(word, 1.0 / (1 + distance / 3)) for word, distance in found]


def _share(
    near: Sequence[tuple[Word, float]],
    forms: Sequence[frozenset[str]],
    passage: Passage,
    placed: Placed,
    own: Sequence[Figure],
) -> float:
    """Return the share of the words that stand near a figure of a passage, or at the head of its column."""
    some, places = passage.words[placed.part], passage.places[placed.part]
    head = {word.lower for word in words(placed.head)} if placed.head else set[str]()
    before = bisect_right(some, placed.figure.span.start, key=lambda word: word.span.end)
    weights: list[float] = []
    for (_, weight), these in zip(near, forms, strict=True):
        if not these.isdisjoint(head):
            weights.append(weight)
            continue
        apart = [(before - n - 1) if n < before else n - before for one in these for n in places.get(one, ())]
        if apart:
            far = 0 if placed.figure.in_cell else max(0, min(apart) - _CLOSE)
            weights.append(weight / (1 + far / _FALL))
    headed = _headed(placed, own)
    if len(weights) + (headed != 0) < min(2, len(near)):
        return 0.0
    return sum(weights) / sum(weight for _, weight in near) + headed


def _counts(
    near: Sequence[tuple[Word, float]],
    forms: Sequence[frozenset[str]],
    passage: Passage,
    placed: Placed,
    figure: Figure,
) -> bool:
    """Return whether a figure of a passage counts the same things as a count: the same word follows, or is the head."""
    if placed.figure.scale != 1:
        return False
    following = ((word, these) for (word, _), these in zip(near, forms, strict=True))
    behind = next((these for word, these in following if word.span.start >= figure.span.end), None)
    if behind is None:
        return True
    after = [word.lower for word in passage.words[placed.part] if word.span.start >= placed.figure.span.end]
    return not behind.isdisjoint([*after[:2], *(word.lower for word in words(placed.head))])


def _headed(placed: Placed, own: Sequence[Figure]) -> float:
    """Return what the head of a column adds: a period that the sentence names, or another one."""
    named, asked = _periods(figures(placed.head)) if placed.head else {}, _periods(own)
    shared = named.keys() & asked.keys()
    if not shared & {"year", "quarter"}:
        return 0.0
    return COLUMN if all(named[kind] & asked[kind] for kind in shared) else -COLUMN


def _periods(some: Sequence[Figure]) -> dict[str, set[float]]:
    """Return the years, quarters and months among figures."""
    out = defaultdict[str, set[float]](set)
    for one in some:
        kind = one.unit if one.unit in ("quarter", "month name") else kind_of(one)
        if kind in ("year", "quarter", "month name"):
            out[kind] |= set(one.values)
    return dict(out)


def _is_known(word: Word, given: Sequence[Word], passages: Sequence[Passage]) -> bool:
    """Return whether passages, or the words before, mention a word of a name in any form."""
    stem = word.lower.removesuffix("s") if len(word.lower) > 3 else word.lower
    if any(stem in passage.lower or passage.vocabulary.forms(word) for passage in passages):
        return True
    return any(alike(word.lower, other.lower, name=True) for other in given)


def is_numbering(one: Figure, sentence: str) -> bool:
    """Return whether a figure is the number of a step or a source."""
    return _step().search(sentence[: one.span.start]) is not None


@cache
def _step() -> re.Pattern[str]:
    """Return a pattern of what stands before the number of a step or a source."""
    return re.compile(rf"(?:{any_of(lexicon().layout['numbered'])}|#|\[)\s*$", re.IGNORECASE)


@cache
def _until() -> re.Pattern[str]:
    """Return a pattern of what stands between the months of a range in words: " to 31 "."""
    return re.compile(rf"[\s\d.]*(?:{any_of(lexicon().until)})\s+(?:\w+\s+)?[\s\d.]*")

"""Whether quotes have the figures and names of a sentence, which a reader would look for in them.

A date of another sentence of the passage is in the evidence, so it is not missing, and rarely so clearly in the wrong
place that it is contradicted. But a quote without it does not support the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.core.words import Word
from ragstone.language import language_of
from ragstone.language.facts import alike
from ragstone.respond.proof.alignment import Overlap
from ragstone.respond.proof.arithmetic import derived
from ragstone.respond.proof.doubts import is_numbering, operands
from ragstone.respond.proof.figure import Figure, same
from ragstone.respond.proof.figures import figures
from ragstone.respond.proof.names import CASED_NOUNS, names
from ragstone.respond.proof.said import Said


def lack_something(sentence: str, quoted: Sequence[Overlap], before: Said) -> bool:
    """Return whether a sentence has a figure or a name that none of its quotes has.

    What was counted, estimated or calculated, and what was said before, is not looked for; nor is a duration, which
    may be the time between two dates.

    Args:
        sentence: what was written.
        quoted: the passages with the parts that are quoted.
        before: what the question and the answer have said up to here.
    """
    own = figures(sentence)
    lacking = [one for one in own if _is_claim(one, sentence, before) and not _have(quoted, one)]
    if lacking:
        near = operands(sentence, before, [one.passage for one in quoted])
        for figure in lacking:
            if not derived(figure, sentence, [*near, *(one for one in own if one is not figure)]):
                return True
    if language_of(f"{before.text} {sentence}") in CASED_NOUNS:
        return False
    known = [*before.words, *(word for one in quoted for word in _words(one))]
    return any(not any(_is_among(word, known) for word in name) for name in names(sentence))


def _is_claim(one: Figure, sentence: str, before: Said) -> bool:
    """Return whether a figure is a new claim that a quote would have as it is."""
    if one.unit == "code" or one.measure == "time" or one.counted or one.rough or is_numbering(one, sentence):
        return False
    return not before.has(one)


def _have(quoted: Sequence[Overlap], figure: Figure) -> bool:
    return any(same(figure, other) for one in quoted for other in _figures(one))


def _figures(one: Overlap) -> Iterator[Figure]:
    """Yield the figures of the parts that are quoted, of the heading, and of what is known of the document."""
    for part in one.parts:
        yield from (placed.figure for placed in one.passage.figures_of.get(part, ()))
    yield from one.passage.other_figures


def _words(one: Overlap) -> Iterator[Word]:
    """Yield the words of the parts that are quoted, of the heading, and of what is known of the document."""
    for part in one.parts:
        yield from one.passage.words[part]
    yield from one.passage.heading_words
    yield from one.passage.described_words


def _is_among(word: Word, known: Sequence[Word]) -> bool:
    return any(alike(word.lower, one.lower, name=True) for one in known)

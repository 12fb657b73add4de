"""Find the names of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.core.span import Span
from ragstone.language import lexicon
from ragstone.language.days import days_in
from ragstone.language.facts import Word, words
from ragstone.respond.proof.figures import figures

CASED_NOUNS = ("de",)
"""Languages whose common nouns have a capital, so that capitals tell no names."""
_ABBREVIATION = 5
"""Letters of an abbreviation, at most."""


def names(sentence: str) -> list[list[Word]]:
    """Return the names of a sentence, each as the words that stand together, without codes such as COVID-19.

    Abbreviations and general words are no part of them: writers use them for what passages spell out, or say in other
    words. Neither are the names of units and of days.
    """
    measured = [figure.span for figure in figures(sentence)]  # "Celsius" is the name of a unit
    measured += [day.span for day in days_in(sentence)]
    out: list[list[Word]] = []
    for name in _capitalised(sentence, words(sentence)):
        if any(span.holds(name[0].span) and span.holds(name[-1].span) for span in measured):
            continue
        if telling := [word for word in name if _is_telling(word, sentence)]:
            out.append(telling)
    return out


def whole(name: Sequence[Word]) -> Span:
    """Return where a name stands, from its first to its last word."""
    return Span(start=name[0].span.start, end=name[-1].span.end)


def _capitalised(sentence: str, asked: Sequence[Word]) -> list[list[Word]]:
    out: list[list[Word]] = []
    for word in asked:
        after = sentence[word.span.end : word.span.end + 2].strip("-")
        if word.named and not word.value and not word.stop and not after[:1].isdigit():
            if out and sentence[out[-1][-1].span.end : word.span.start] in (" ", "-"):
                out[-1].append(word)
            else:
                out.append([word])
    return out


def _is_telling(word: Word, sentence: str) -> bool:
    """Return whether a word of a name can be looked for: it is neither general nor an abbreviation."""
    shown = word.span.of(sentence)
    is_short = len(shown) <= _ABBREVIATION and sum(map(str.isupper, shown)) > 1
    return word.lower not in lexicon().general and len(shown) > 2 and not is_short

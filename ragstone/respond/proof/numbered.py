"""Find the names of a text that are a word and a number: "room 3", "gates 4 to 6", "week 37".

Such a name is the same only as a whole. Whether a word is one of these is not known: "lost 3" is found, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from ragstone.core.frozen import frozen
from ragstone.core.span import Span
from ragstone.core.words import Word
from ragstone.language import lexicon
from ragstone.language.facts import words
from ragstone.language.words import any_of
from ragstone.respond.proof.figure import Figure, is_year
from ragstone.respond.proof.figures import figures

_NUMBER = re.compile(r"\d{1,4}")
_BETWEEN = re.compile(r"\s|\s?(?:#|[Nn]o\.|[Nn]r\.)\s?")
_AND = re.compile(r"\s*(?:,|&|/)\s*|\s+\w{1,3}\s+")
_WIDEST = 50
"""Numbers of a range, at most."""


@frozen
class Numbered:
    """A word and the numbers behind it; ``number`` is where the first of them stands."""

    word: Word
    number: Span
    values: frozenset[int]

    @property
    def span(self) -> Span:
        """Where the name stands."""
        return Span(start=self.word.span.start, end=self.number.end)


@lru_cache(maxsize=512)
def numbered(text: str) -> tuple[Numbered, ...]:
    """Return the names of a text that are a word and a number, in order."""
    return tuple(_numbered(text)) if _NUMBER.search(text) else ()


def _numbered(text: str) -> Iterator[Numbered]:
    bare = [one for one in figures(text) if _is_bare(one)]
    ends = {word.span.end: word for word in words(text) if not word.stop and not word.value}
    for place, one in enumerate(bare):
        gap = next((gap for gap in (1, 2, 3, 4, 5) if one.span.start - gap in ends), 0)
        if not gap or not _BETWEEN.fullmatch(text, one.span.start - gap, one.span.start):
            continue
        values, last = {_value(one)}, one
        for after in bare[place + 1 :]:
            if _to().fullmatch(text, last.span.end, after.span.start):
                values |= set(range(_value(last), min(_value(after), _value(last) + _WIDEST) + 1))
            elif not _AND.fullmatch(text, last.span.end, after.span.start):
                break
            values.add(_value(after))
            last = after
        yield Numbered(word=ends[one.span.start - gap], number=one.span, values=frozenset(values))


def _is_bare(one: Figure) -> bool:
    return not one.unit and _NUMBER.fullmatch(one.shown) is not None and not is_year(one)


def _value(one: Figure) -> int:
    return int(one.values[0])


@cache
def _to() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:[-–—]|{any_of(lexicon().until)})\s*", re.IGNORECASE)

"""Places that a text names, in any form or language: "Polish", "Polen" and "Lenkijoje" are one place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from ragstone.core.records import Span
from ragstone.language.words import lexicon


def places(text: str) -> dict[str, Span]:
    """Return the codes of the countries and unions that a text names, with the first place of each."""
    folded, beginnings = _folded(text), _beginnings()
    spans: dict[str, Span] = {}
    end = 0
    for word in _WORD.finditer(folded):
        # There are hundreds of names, so only those that begin with the same letters are tried, and compiled.
        if word.start() >= end and (begins := beginnings.match(folded, word.start())):
            match = _pattern(begins[0].lower()).match(folded, word.start())
            if match and match.lastgroup:
                spans.setdefault(match.lastgroup, Span(start=match.start(), end=match.end()))
                end = match.end()
    return spans


_WORD = re.compile(r"\b\w")
_BEGINNING = 3
"""Letters of a word that decide whether it may begin the name of a place."""


@cache
def _pattern(beginning: str) -> re.Pattern[str]:
    """Return the pattern of the places whose names begin with these letters; its groups are their codes."""
    found = ((code, _alternatives(names, beginning)) for code, names in lexicon().places.items())
    return re.compile(rf"(?:{'|'.join(f'(?P<{code}>{names})' for code, names in found if names)})\b")


def _alternatives(names: Sequence[str], beginning: str) -> str:
    return "|".join(_alternative(name) for name in names if _beginning(name).startswith(beginning))


@cache
def _beginnings() -> re.Pattern[str]:
    """Return the pattern of the first letters of all names."""
    return re.compile(
        _tree(sorted({_beginning(name) for names in lexicon().places.values() for name in names})), re.IGNORECASE
    )


@cache
def _beginning(name: str) -> str:
    return re.split(r"\W", name)[0][:_BEGINNING].lower()


def _tree(words: Sequence[str]) -> str:
    """Return a pattern of words in which those that begin alike share the letter, so that few are tried."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], []).append(word[1:])
    if "" in by_letter:  # a word ends here, whatever follows
        return ""
    return f"(?:{'|'.join(re.escape(letter) + _tree(rest) for letter, rest in by_letter.items())})"


def _alternative(name: str) -> str:
    pattern = re.escape(name).replace(r"\*", r"[^\W\d_]*").replace(r"\ ", r"\s+")
    return f"(?i:{pattern})" if name[0].islower() else pattern


@cache
def _bases() -> dict[int, str]:
    """Return the letters with diacritics below U+0250, each with its base letter, as `str.translate` takes them."""
    decomposed = ((code, unicodedata.normalize("NFKD", chr(code))) for code in range(0xC0, 0x250))
    return {code: parts[0] for code, parts in decomposed if len(parts) == 2 and unicodedata.combining(parts[1])}


def _folded(text: str) -> str:
    """Return the text without diacritics; its length stays the same."""
    return text.translate(_bases())

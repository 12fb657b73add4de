"""Names in a text: which it has, and whether it mentions a given one.

A name is a run of words with capitals, such as "Bank of America" or "Apollo 11". In German every noun has a capital, so
a name may be a plain noun there; whoever uses names weighs them by how rare they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ragstone.language import lexicon
from ragstone.language.facts import STEM, alike

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_JOINS = r"(?:of|the|&|de|del|la|le|du|di|da|von|van|der|den|für|bin|binti)"
_CAPITAL = r"(?:(?:[A-ZÀ-ÖØ-ÞĀ-Ž]\.)+|[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'&-]*)"
NAME = rf"(?<!\w){_CAPITAL}(?:(?:[ ]{_JOINS}){{0,2}}[ ](?:{_CAPITAL}|\d+))*"
"""A pattern of a name."""
_NAME = re.compile(NAME)
_BRACKETS = re.compile(r"\s*\([^)]*\)\s*$")
_POSSESSIVE = re.compile(r"['’]s?(?![^\W_])")
MAX_TEXT = 4000
"""Characters of a passage in which names are looked for."""


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order, without a possessive ending."""
    lower = text.lower()
    return _WORD.findall(_POSSESSIVE.sub(" ", lower) if "'" in lower or "’" in lower else lower)


def content(text: str) -> list[str]:
    """Return the words of a text that are no stop words of any language, each once, in order."""
    stop = _stop()
    return [word for word in dict.fromkeys(words(text)) if word not in stop]


def sentences(text: str) -> list[str]:
    """Return the sentences of a passage, roughly; an abbreviation may end one early."""
    return [sentence for sentence in _SENTENCE.split(text[:MAX_TEXT]) if sentence.strip()]


def bare(title: str) -> str:
    """Return a title without the brackets that tell it from others of the same name: "Mercury (planet)"."""
    return _BRACKETS.sub("", title) or title


def names(text: str) -> list[str]:
    """Return the names of a text, each once, in order; a stop word at their beginning is left out."""
    ordered = dict[str, None]()
    for sentence in sentences(text):
        for match in _NAME.finditer(sentence):
            name = without_stop_words(match.group())
            if len(name) > 1:
                ordered[name] = None
    return list(ordered)


class Mentions:
    """The words of a text, for telling whether it mentions a name in any form: "Lenkijoje" is "Lenkija"."""

    def __init__(self, text: str) -> None:
        self.words = words(text)
        self._distinct = frozenset(self.words)
        self.beginnings = {word[:STEM] for word in self._distinct}
        """What the words begin with; the text has no name whose `beginning` is not among them."""

    def has(self, name: Sequence[str]) -> bool:
        """Return whether the words of a name follow each other in the text."""
        if not name or (start := beginning(name)) not in self.beginnings:
            return False  # that is so for nearly all names
        if len(name) == 1:
            (only,) = name
            return only in self._distinct or any(_same(word, only) for word in self._distinct if word.startswith(start))
        if not self.beginnings.issuperset(word[:STEM] for word in name[1:]):
            return False
        places = (place for place, word in enumerate(self.words) if word.startswith(start))
        parts = (self.words[place : place + len(name)] for place in places)
        return any(len(part) == len(name) and all(map(_same, part, name)) for part in parts)


def beginning(name: Sequence[str]) -> str:
    """Return what a text has at the beginning of a word if it has the name in any form."""
    return name[0][:STEM]


def _same(first: str, second: str) -> bool:
    """Return whether two lower-case words are forms of one name."""
    if first == second:
        return True
    return alike(first, second, name=True) and not (first[-1:].isdigit() or second[-1:].isdigit())


def without_stop_words(name: str) -> str:
    """Return a name without stop words at its beginning, and without a possessive ending."""
    parts = name.split()
    while parts and (parts[0].lower() in _stop() or lexicon("").refers.fullmatch(parts[0].lower())):
        parts.pop(0)
    return _POSSESSIVE.sub("", " ".join(parts).rstrip(".,-&"))


@cache
def _stop() -> frozenset[str]:
    """Return the stop words of all languages, because a question and its passages may be in different ones."""
    return lexicon("").search_stop

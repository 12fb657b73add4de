"""The words of questions, headings and values of tables, so that they can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ragstone.language.facts import alike, alike_in_topic, words

_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


@lru_cache(maxsize=8192)
def normalized(text: str) -> str:
    """Return the words of a text in lower case, with a blank between two."""
    return " ".join(lower_words(text))


def lower_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [word.lower for word in words(text.lower())]


def heading_words(name: str) -> list[str]:
    """Return the words of a heading, without units in brackets and words that name nothing."""
    bare = _IN_BRACKETS.sub(" ", name).replace("_", " ")
    return [singular(word.lower) for word in words(bare.lower()) if not word.stop]


def singular(word: str) -> str:
    """Return a word in lower case without the ending of an English plural."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def is_same(one: str, other: str) -> bool:
    """Return whether two words in lower case are the same, or forms of a longer one."""
    return one == other or (len(one) > 4 and len(other) > 4 and alike(one, other, name=True))


def contains(text: str, part: str) -> bool:
    """Return whether a normalized text has all words of another one in a row."""
    return f" {part} " in f" {text} "


def has_words(text: str, name: str) -> bool:
    """Return whether a text has all words of a name, in any form."""
    said = [one.lower for one in words(text)]
    return all(any(alike_in_topic(one.lower, other) for other in said) for one in words(name) if not one.stop)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct texts, in their order; those that differ in case alone count once."""
    return tuple({one.casefold(): one for one in reversed([*texts])}.values())[::-1]

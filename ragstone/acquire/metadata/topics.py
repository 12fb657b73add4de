"""The topics of a text, judged by its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache

from ragstone.language import lexicon
from ragstone.settings import MetadataSettings

_WORD = re.compile(r"\w+")
_MENTIONS = 3
"""Mentions of the words of a topic from which a text has the topic."""

_Wanted = tuple[str, list[str], bool]
"""A topic, the words of a phrase that mentions it, and whether the last word is a prefix."""


def find(text: str, settings: MetadataSettings) -> tuple[str, ...]:
    """Return the topics whose words a text mentions often enough, sorted.

    Words and phrases match whole and regardless of case; one that ends in ``*`` matches any ending. A hyphen counts as
    a space.
    """
    shipped = _shipped() if settings.company_topics else {}
    beginning_with = _lookup(tuple({**shipped, **settings.topics}.items()))
    words_of_text = _WORD.findall(text.casefold())
    mentions: Counter[str] = Counter()
    for at, word in enumerate(words_of_text):
        if wanted := beginning_with(word):
            # A set, because "partner" and "partner*" are one mention.
            mentions.update({topic for topic, phrase, prefix in wanted if _matches(words_of_text, at, phrase, prefix)})
    return tuple(sorted(topic for topic, count in mentions.items() if count >= _MENTIONS))


def _matches(text: list[str], at: int, phrase: list[str], prefix: bool) -> bool:
    *first, last = phrase
    end = at + len(first)
    if end >= len(text) or text[at:end] != first:
        return False
    return text[end].startswith(last) if prefix else text[end] == last


@cache
def _lookup(topics: tuple[tuple[str, tuple[str, ...]], ...]) -> Callable[[str], list[_Wanted]]:
    """Return a function from a word to the phrases that may begin with it."""
    wanted = [
        (topic, phrase, written.endswith("*"))
        for topic, words_of_it in topics
        for written in dict.fromkeys(word.casefold() for word in words_of_it)
        if (phrase := _WORD.findall(written))
    ]

    # Texts repeat their words, so most lookups are cached.
    @lru_cache(maxsize=50_000)
    def beginning_with(word: str) -> list[_Wanted]:
        return [one for one in wanted if word.startswith(one[1][0])]

    return beginning_with


@cache
def _shipped() -> dict[str, tuple[str, ...]]:
    return {name: tuple(words) for name, words in lexicon().topics.items()}

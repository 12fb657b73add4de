"""What a text is about, by the words it uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache

from ragstone.acquire.facts import words
from ragstone.sections import MetadataSettings

_WORD = re.compile(r"\w+")

_Wanted = tuple[str, list[str], bool]
"""A topic, the words of a phrase that tells of it, and whether the last of them may go on."""


def find(text: str, settings: MetadataSettings) -> tuple[str, ...]:
    """The topics whose words a text mentions often enough, sorted.

    Words and phrases are matched whole and without case; one that ends in ``*`` matches all its endings. A hyphen
    counts as a space.
    """
    shipped = _shipped() if settings.company_topics else {}
    beginning_with = _lookup(tuple({**shipped, **settings.topics}.items()))
    said = _WORD.findall(text.casefold())
    mentions: Counter[str] = Counter()
    for at, word in enumerate(said):
        if wanted := beginning_with(word):
            # A set, for "partner" and "partner*" are one mention.
            mentions.update({topic for topic, phrase, open_end in wanted if _stands_at(said, at, phrase, open_end)})
    return tuple(sorted(topic for topic, count in mentions.items() if count >= settings.topic_mentions))


def _stands_at(said: list[str], at: int, phrase: list[str], open_end: bool) -> bool:
    *first, last = phrase
    end = at + len(first)
    if end >= len(said) or said[at:end] != first:
        return False
    return said[end].startswith(last) if open_end else said[end] == last


@cache
def _lookup(topics: tuple[tuple[str, tuple[str, ...]], ...]) -> Callable[[str], list[_Wanted]]:
    """A function from a word to what may begin with it."""
    wanted = [
        (topic, phrase, written.endswith("*"))
        for topic, words_of_it in topics
        for written in dict.fromkeys(word.casefold() for word in words_of_it)
        if (phrase := _WORD.findall(written))
    ]

    # Texts repeat their words, so most are looked at only once.
    @lru_cache(maxsize=50_000)
    def beginning_with(word: str) -> list[_Wanted]:
        return [one for one in wanted if word.startswith(one[1][0])]

    return beginning_with


@cache
def _shipped() -> dict[str, tuple[str, ...]]:
    topics: dict[str, tuple[str, ...]] = {}
    for part in words.in_all("topics"):
        for name, wanted in part.items():
            topics[name] = (*topics.get(name, ()), *wanted)
    return topics

"""Split compound words into their parts.

A compound is split if all its parts are in a word list sorted by frequency. If there are several ways, the one with
the most probable parts is chosen; the probability of a part follows from its rank (Zipf's law), after Koehn and Knight
2003, "Empirical Methods for Compound Splitting". The list is shipped and not taken from the index: the terms of a text
must not change with every document.
"""

from __future__ import annotations

import gzip
import hashlib
import math
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib.resources import files

_SHORTEST_WORD = 8
_SHORTEST_PART = 4
_MOST_PARTS = 3
_LINKS = ("", "s", "es", "n", "en", "er", "e")
"""Letters between the parts: Arbeit-s-amt, Kranke-n-haus."""


class Compounds:
    """Splits words into words of a list.

    Args:
        listed: words in lower case, the most frequent first.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self._cost = {word: math.log(rank + 100) for rank, word in enumerate(listed)}
        self.fingerprint = hashlib.sha256(" ".join(self._cost).encode()).hexdigest()[:12]

    @classmethod
    @cache
    def shipped(cls, language: str) -> Compounds:
        """Return a splitter with the shipped word list of a language."""
        packed = (files("ragstone.index.keyword") / "words" / f"compounds_{language}.txt.gz").read_bytes()
        return cls(line for line in gzip.decompress(packed).decode("utf-8").splitlines() if not line.startswith("#"))

    @property
    def listed(self) -> Collection[str]:
        """The words of the list."""
        return self._cost.keys()

    def split(self, word: str) -> tuple[str, ...]:
        """Return the parts of a word in lower case; empty if it is not a compound of listed words."""
        if len(word) < _SHORTEST_WORD or not word.isalpha():
            return ()
        ways = [parts for parts in self._ways(word, _MOST_PARTS) if len(parts) > 1]
        return min(ways, key=lambda parts: (sum(self._cost[part] for part in parts), parts), default=())

    def _ways(self, rest: str, most: int) -> Iterator[tuple[str, ...]]:
        if rest in self._cost:
            yield (rest,)
        if most == 1:
            return
        for at in range(_SHORTEST_PART, len(rest) - _SHORTEST_PART + 1):
            heads = list(self._heads(rest[:at]))
            if heads:
                for tail in self._ways(rest[at:], most - 1):
                    yield from ((head, *tail) for head in heads)

    def _heads(self, text: str) -> Iterator[str]:
        """Yield the words that a first part may stand for: without linking letters, or with a dropped e (Schul-amt)."""
        for link in _LINKS:
            word = text.removesuffix(link) if link else text
            if text.endswith(link) and len(word) >= _SHORTEST_PART and word in self._cost:
                yield word
        if text + "e" in self._cost:
            yield text + "e"

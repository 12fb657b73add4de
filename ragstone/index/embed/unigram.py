"""The tokenizer of XLM-R: the most probable pieces of each word, under a unigram model (Kudo 2018, arXiv 1804.10959).

Written here because of what a start costs: the `tokenizers` package needs 1.5 s for a vocabulary of 250,000
pieces, a dictionary 0.2 s. Words recur, so what a word was cut into is remembered; then it is as fast.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

_WORD = re.compile("[^\\s\u200b-\u200f\u2581\ufeff\ufffd]+")
_DROPPED = re.compile("[\x00-\x1f\x7f-\x9f]")
_JAMO = ("\u1160", "\u11ff")
"""Vowels and endings of Korean syllables, first and last; they become one with the character before, as marks do."""
_BEFORE_WORD = "▁"
_REMEMBERED = 50_000
_SHORT = 40
"""Longer words are hardly met twice."""

UNKNOWN = 3
_IMPROBABLE = 10.0
"""How much less probable than any piece a character is that the vocabulary does not hold."""


class Cut(NamedTuple):
    """A word in pieces: their ids, and where in the word each begins and ends."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


class Encoded(NamedTuple):
    """A text in pieces: their ids, and the characters each stands for."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Unigram:
    """Cuts texts into pieces of a vocabulary."""

    def __init__(self, pieces: Mapping[str, int], scores: Sequence[float]) -> None:
        """Take the vocabulary.

        Args:
            pieces: id of each piece, without those that stand for no text.
            scores: log probability of each id.
        """
        self._pieces, self._scores = pieces, scores
        self._longest = max(map(len, pieces))
        self._unknown = min(scores) - _IMPROBABLE
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._cut)

    def encode(self, text: str) -> Encoded:
        """The pieces of a text, in order. One that is but the blank before a word has the word's first character."""
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for match in _WORD.finditer(text):
            word, start = match[0], match.start()
            cut = self._remembered(word) if len(word) <= _SHORT else self._cut(word)
            ids += cut.ids
            offsets += [(start + a, start + b) for a, b in cut.spans]
        return Encoded(ids, offsets)

    def known(self, text: str) -> float:
        """Share of the words that are cut into pieces of the vocabulary, no character left over."""
        words = [match[0] for match in _WORD.finditer(text)]
        return sum(UNKNOWN not in self._remembered(word).ids for word in words) / len(words) if words else 1.0

    def _cut(self, word: str) -> Cut:
        normal, starts, ends = _normalised(word)
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        for part in _WORD.finditer(normal):  # a single character may stand for several words
            at = part.start()
            for id, begin, end in self._best(_BEFORE_WORD + part[0]):
                first, last = max(begin - 1, 0) + at, max(end - 2, 0) + at
                if id == UNKNOWN and ids and ids[-1] == UNKNOWN:
                    spans[-1] = (spans[-1][0], ends[last])
                    continue
                ids.append(id)
                spans.append((starts[first], ends[last]))
        return Cut(tuple(ids), tuple(spans))

    def _best(self, word: str) -> list[tuple[int, int, int]]:
        """Ids, begins and ends of the pieces with the greatest sum of scores (Viterbi 1967)."""
        best = [0.0, *[float("-inf")] * len(word)]
        last = [(UNKNOWN, 0)] * (len(word) + 1)
        find, scores = self._pieces.get, self._scores
        for begin in range(len(word)):
            here = best[begin]
            if here + self._unknown > best[begin + 1]:
                best[begin + 1], last[begin + 1] = here + self._unknown, (UNKNOWN, begin)
            for end in range(begin + 1, min(begin + self._longest, len(word)) + 1):
                id = find(word[begin:end])
                if id is not None and here + scores[id] > best[end]:
                    best[end], last[end] = here + scores[id], (id, begin)
        out = list[tuple[int, int, int]]()
        end = len(word)
        while end:
            id, begin = last[end]
            out.append((id, begin, end))
            end = begin
        return out[::-1]


def _normalised(word: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The word in NFKC without control characters, and where in it each character comes from: begins and ends."""
    if unicodedata.is_normalized("NFKC", word) and not _DROPPED.search(word):
        return word, range(len(word)), range(1, len(word) + 1)
    clusters: list[str] = []
    for char in word:  # what combines with the character before is normalised together with it
        first = unicodedata.normalize("NFKD", char)[0]
        if clusters and (unicodedata.category(first)[0] == "M" or _JAMO[0] <= first <= _JAMO[1]):
            clusters[-1] += char
        else:
            clusters.append(char)
    ends = list(accumulate(map(len, clusters)))
    normal = [_DROPPED.sub("", unicodedata.normalize("NFKC", cluster)) for cluster in clusters]
    where = [(end - len(cluster), end, len(one)) for one, cluster, end in zip(normal, clusters, ends, strict=True)]
    return (
        "".join(normal),
        [start for start, _, count in where for _ in range(count)],
        [end for _, end, count in where for _ in range(count)],
    )

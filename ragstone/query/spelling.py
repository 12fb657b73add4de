"""Correct typing errors in a question with the words of the documents.

A word that no document contains is replaced by a similar word of the documents, at most one edit away, or two in a long
word. An edit is a missing, extra, wrong or transposed letter (Damerau 1964). Words of the language are kept:
"price" is not an error just because the documents only contain "prime". Words with digits, in capitals, short names and
parts of identifiers are kept too, because they may be meant exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST, _LONG, _LONGEST = 4, 8, 40
"""Letters of a word: to be corrected at all, to be corrected for two errors, and at most."""
_JOINS = frozenset("_@/\\:#=<>.-")
_CAPITALS = frozenset({"de", "lb"})
"""Languages that capitalise every noun."""
_MAX_UNKNOWN = 5
"""Unknown words above which the question is taken to be in another language, and nothing is corrected."""


class Vocabulary(Protocol):
    """The words of the documents, in lower case and without diacritics."""

    def known(self, words: Sequence[str], language: str) -> list[bool]:
        """Return for each word whether any document contains it, or another form of it."""
        ...

    def ordinary(self, word: str, language: str) -> bool:
        """Return whether a word in lower case is one of a language, whether or not a document contains it."""
        ...

    def near(self, word: str, errors: int) -> dict[str, int]:
        """Return words of the documents that look like this one, with the number of chunks that contain each."""
        ...


def correct(text: str, vocabulary: Vocabulary, language: str, keep: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return the mistyped words of a text with their corrections, both in lower case.

    Args:
        text: the question.
        vocabulary: the words of the documents.
        language: of the question.
        keep: correct words, in lower case.
    """
    words = list(
        dict.fromkeys(found.group().lower() for found in _WORD.finditer(text) if _is_plain(text, found, language))
    )
    words = [word for word in words if _SHORTEST <= len(word) <= _LONGEST and word not in keep]
    unknown = [word for word, known in zip(words, vocabulary.known(words, language), strict=True) if not known]
    if not unknown or len(unknown) > _MAX_UNKNOWN:
        return {}
    mistyped = (word for word in unknown if not vocabulary.ordinary(word, language))
    return {word: best for word in mistyped if (best := _nearest(word, vocabulary))}


def distance(first: str, second: str, most: int) -> int:
    """Return the Damerau-Levenshtein distance of two words, or ``most`` + 1 if it is greater than ``most``."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    if first == second:
        return 0
    # What is equal at the beginning and the end costs nothing, and most words that look alike differ in the middle.
    start = _alike(first, second)
    first, second = first[start:], second[start:]
    end = _alike(first[::-1], second[::-1])
    first, second = first[: len(first) - end], second[: len(second) - end]
    far = most + 1
    before: list[int] = []
    row = [min(j, far) for j in range(len(second) + 1)]
    for i, a in enumerate(first, start=1):
        before, above = row, before
        row = [min(i, far)] + [far] * len(second)
        best = row[0]
        for j in range(max(1, i - most), min(len(second), i + most) + 1):  # cells further away exceed the limit
            b = second[j - 1]
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, above[j - 2] + 1)
            row[j] = cost
            best = min(best, cost)
        if best > most:
            return far
    return min(row[-1], far)


def _alike(one: str, other: str) -> int:
    """Return how many letters two words have in common at their beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _nearest(word: str, vocabulary: Vocabulary) -> str:
    """Return the word with the fewest errors; prefer the same first letter, then the most frequent word."""
    for errors in (1, 2) if len(word) >= _LONG else (1,):
        frequencies = {
            one: count for one, count in vocabulary.near(word, errors).items() if distance(word, one, errors) <= errors
        }
        if frequencies:
            return max(frequencies, key=lambda one: (one[0] == word[0], frequencies[one], one))
    return ""


def _is_plain(text: str, match: re.Match[str], language: str) -> bool:
    typed = match.group()
    if typed[0].isupper() and len(typed) < _LONG and language not in _CAPITALS and text[: match.start()].strip():
        return False  # most likely a name, which the documents may not contain
    before, after = text[: match.start()][-1:], text[match.end() :]
    ends = after[:1] == "." and not after[1:2].isalnum()  # a full stop at the end of a sentence does not join words
    joined = (before in _JOINS and before) or (after[:1] in _JOINS and after and not ends) or before.isdigit()
    return not (joined or after[:1].isdigit() or (typed.isupper() and len(typed) > 1) or not typed[1:].islower())

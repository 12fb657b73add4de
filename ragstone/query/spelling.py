"""Typing errors in a question, corrected by the words of the documents themselves.

A word that no document has is replaced by one that documents have, where it differs by an error of typing: one letter
left out, put in, mistaken, or exchanged with its neighbour (Damerau 1964); two in a long word. Ordinary words of the
language stay as they are: "price" is no error where the documents only have "prime". So do words with digits, in
capitals, short names, or joined to identifiers, for what they name may be meant exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST, _LONG, _LONGEST = 4, 8, 40
"""Letters a word must have to be corrected at all, and for two errors; a longer one than the last is no word."""
_JOINS = frozenset("_@/\\:#=<>.-")
_CAPITALS = frozenset({"de", "lb"})
"""Languages that write every noun with a capital."""
_MOST = 5
"""A question with more unknown words is in another language than the documents; nothing is corrected."""


class Vocabulary(Protocol):
    """The words of the documents, in lower case and without diacritics."""

    def known(self, words: Sequence[str], language: str) -> list[bool]:
        """Whether any document has the word, or another form of it."""
        ...

    def ordinary(self, language: str) -> frozenset[str]:
        """Words of a language that are no errors, in lower case, whether a document has them or not."""
        ...

    def near(self, word: str, errors: int) -> dict[str, int]:
        """Words of the documents that look like it, and how many chunks have each."""
        ...


def correct(text: str, vocabulary: Vocabulary, language: str, keep: frozenset[str] = frozenset()) -> dict[str, str]:
    """Words of the text that look mistyped, and what was likely meant; both in lower case.

    Args:
        text: the question.
        vocabulary: the words of the documents.
        language: of the question.
        keep: words in lower case that are right.
    """
    words = list(
        dict.fromkeys(found.group().lower() for found in _WORD.finditer(text) if _is_plain(text, found, language))
    )
    words = [word for word in words if _SHORTEST <= len(word) <= _LONGEST and word not in keep]
    unknown = [word for word, known in zip(words, vocabulary.known(words, language), strict=True) if not known]
    if not unknown or len(unknown) > _MOST:
        return {}
    ordinary = vocabulary.ordinary(language)
    return {word: best for word in unknown if word not in ordinary and (best := _nearest(word, vocabulary))}


def distance(one: str, other: str, most: int) -> int:
    """Errors between two words: letters put in, left out, mistaken or exchanged; ``most`` + 1 where there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    if one == other:
        return 0
    far = most + 1
    before: list[int] = []
    row = [min(j, far) for j in range(len(other) + 1)]
    for i, a in enumerate(one, start=1):
        before, above = row, before
        row = [min(i, far)] + [far] * len(other)
        best = row[0]
        for j in range(max(1, i - most), min(len(other), i + most) + 1):  # further off the diagonal are more errors
            b = other[j - 1]
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, above[j - 2] + 1)
            row[j] = cost
            best = min(best, cost)
        if best > most:
            return far
    return min(row[-1], far)


def _nearest(word: str, vocabulary: Vocabulary) -> str:
    """The word with the fewest errors, then with the same first letter, then the most frequent."""
    for errors in (1, 2) if len(word) >= _LONG else (1,):
        found = {
            one: count for one, count in vocabulary.near(word, errors).items() if distance(word, one, errors) <= errors
        }
        if found:
            return max(found, key=lambda one: (one[0] == word[0], found[one], one))
    return ""


def _is_plain(text: str, found: re.Match[str], language: str) -> bool:
    typed = found.group()
    if typed[0].isupper() and len(typed) < _LONG and language not in _CAPITALS and text[: found.start()].strip():
        return False  # a name, most likely, which no document need know
    before, after = text[: found.start()][-1:], text[found.end() :]
    ends = after[:1] == "." and not after[1:2].isalnum()  # the end of a sentence joins nothing
    joined = (before in _JOINS and before) or (after[:1] in _JOINS and after and not ends) or before.isdigit()
    return not (joined or after[:1].isdigit() or (typed.isupper() and len(typed) > 1) or not typed[1:].islower())

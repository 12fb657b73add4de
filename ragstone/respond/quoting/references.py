"""Sentences that cannot be quoted alone, because they refer to the sentence before: "It was built in 1921."."""

from __future__ import annotations

import re
from itertools import pairwise

from ragstone.language import language_of, plain
from ragstone.language.facts import Word
from ragstone.language.words import written_in

_BEGINNING = 40
"""Characters of a sentence that an opening may take."""
_EARLY = 6
"""Words of a sentence among which a pronoun without a name before it refers to the sentence before."""
_NOT_LETTER = re.compile(r"[\W\d_]+")
_READ_FOR_LANGUAGE = 600
"""Characters of a text that tell its language."""
_ARTICLES = frozenset(["the", "a", "an"])


def language_at_start(text: str) -> str:
    """Return the language of a text by its beginning, an ISO 639-1 code or empty if unsure."""
    return language_of(text[:_READ_FOR_LANGUAGE])


def refers_back(sentence: str, words: list[Word], language: str) -> bool:
    """Return whether a sentence refers to the one before.

    Args:
        sentence: its text.
        words: its words.
        language: ISO 639-1 code; English if there are no words of it.
    """
    lists = written_in(language)
    if lists.openings.match(plain(_NOT_LETTER.sub(" ", sentence[:_BEGINNING])).strip()):
        return True
    for before, word in pairwise(words[:_EARLY]):
        if before.named or before.lower in _ARTICLES:
            return False
        if word.lower in lists.pronouns:
            return before.stop  # "to her", not "Thomas said he"
    return False

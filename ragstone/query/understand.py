"""What a question asks for: its language, and its words as they were likely meant.

A question is searched for as it was typed and as it was meant, so that a wrong guess hides nothing.
"""

from __future__ import annotations

import re

from ragstone.contracts import QueryAnalysis, Question
from ragstone.query import diacritics
from ragstone.query.analysis import analyse
from ragstone.query.spelling import Vocabulary, correct
from ragstone.query.variations import variations
from ragstone.sections import QuerySettings

_WORD = re.compile(r"[^\W_]+")


def understand(
    text: str, settings: QuerySettings, language: str, vocabulary: Vocabulary, *, analysed: bool = True
) -> Question:
    """The question, with what its typing hides.

    Args:
        text: as it was typed.
        settings: which words the user knows, and whether spelling is looked at.
        language: it is likely in, as ISO 639-1 code; empty where that is not known.
        vocabulary: the words of the documents.
        analysed: whether it is looked at what the question is after.
    """
    meant = _meant(text, settings, language, vocabulary) if settings.spelling else text
    analysis = analyse(meant, language, settings.entities) if analysed else QueryAnalysis()
    return Question(
        asked=text,
        text=meant,
        language=language,
        analysis=analysis,
        variations=variations(meant, analysis, settings.synonyms, settings.variations),
    )


def _meant(text: str, settings: QuerySettings, language: str, vocabulary: Vocabulary) -> str:
    """The text with its diacritics, and without its typing errors."""
    names = {diacritics.bare(name).lower(): name for name in settings.words}
    meant = _replaced(text, names)
    keep = frozenset(names) | frozenset(name.lower() for name in settings.words)
    known = diacritics.shipped(language)
    if known:
        meant = diacritics.restore(meant, known, keep)
    if mistyped := correct(meant, vocabulary, language, keep):
        meant = _replaced(meant, mistyped)
        if known:  # a word of the documents comes without its diacritics
            meant = diacritics.restore(meant, known, keep)
    return meant


def _replaced(text: str, words: dict[str, str]) -> str:
    """The text with words exchanged; a word typed with a capital keeps it where the new one has none."""

    def new(found: re.Match[str]) -> str:
        typed = found.group()
        word = words.get(diacritics.bare(typed).lower(), words.get(typed.lower(), typed))
        return word[:1].upper() + word[1:] if typed[:1].isupper() else word

    return _WORD.sub(new, text) if words else text

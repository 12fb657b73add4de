"""Understand a question: correct its spelling, analyse it, and add variations.

Search uses both the typed and the corrected question, so a wrong correction hides nothing.
"""

from __future__ import annotations

import re

from ragstone.core.records import QueryAnalysis, Question
from ragstone.language import lexicon
from ragstone.query import diacritics
from ragstone.query.analysis import analyse
from ragstone.query.spelling import Vocabulary, correct
from ragstone.query.variations import variations
from ragstone.settings import QuerySettings

_WORD = re.compile(r"[^\W_]+")


def understand(
    text: str, settings: QuerySettings, language: str, vocabulary: Vocabulary, *, analysed: bool = True
) -> Question:
    """Return the corrected and analysed question.

    Args:
        text: as it was typed.
        settings: known words, and whether spelling is corrected.
        language: ISO 639-1 code of the likely language, or empty.
        vocabulary: the words of the documents.
        analysed: whether to analyse what the question asks for.
    """
    meant = _corrected(text, settings, language, vocabulary) if settings.spelling else text
    analysis = analyse(meant, language, settings.entities) if analysed else QueryAnalysis()
    return Question(
        asked=text,
        text=meant,
        language=language,
        analysis=analysis,
        variations=variations(meant, analysis, settings.synonyms, settings.variations),
    )


def _corrected(text: str, settings: QuerySettings, language: str, vocabulary: Vocabulary) -> str:
    """Restore the diacritics of a text and correct its typing errors."""
    names = {diacritics.bare(name).lower(): name for name in settings.words}
    meant = _replaced(text, names)
    keep = frozenset(names) | frozenset(name.lower() for name in settings.words)
    known = diacritics.shipped(language)
    if known:
        meant = diacritics.restore(meant, known, keep)
    if known:  # a word of the language is no error only because the documents have another
        keep |= {word for word in _words(meant) if diacritics.is_word(diacritics.bare(word), known)}
    if mistyped := correct(meant, vocabulary, language, keep | lexicon(language).search_stop):
        meant = _replaced(meant, mistyped)
        if known:  # the vocabulary has no diacritics
            meant = diacritics.restore(meant, known, keep)
    return meant


def _words(text: str) -> list[str]:
    return [found.group().lower() for found in _WORD.finditer(text)]


def _replaced(text: str, words: dict[str, str]) -> str:
    """Replace words of a text, keeping an initial capital."""

    def new(found: re.Match[str]) -> str:
        typed = found.group()
        word = words.get(diacritics.bare(typed).lower(), words.get(typed.lower(), typed))
        return word[:1].upper() + word[1:] if typed[:1].isupper() else word

    return _WORD.sub(new, text) if words else text

"""Word a question for retrieval: correct its spelling, and add variations.

Search uses both the typed and the corrected question, so a wrong correction hides nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ragstone.core.question import Question
from ragstone.language import lexicon
from ragstone.query import diacritics
from ragstone.query.diacritics import Spellings
from ragstone.query.spelling import Vocabulary, correct
from ragstone.query.variations import variations
from ragstone.settings import QuerySettings

_WORD = re.compile(r"[^\W_]+")


def worded(question: Question, settings: QuerySettings, language: str, vocabulary: Vocabulary) -> Question:
    """Return the question with the words that retrieval searches for.

    Args:
        question: what is asked.
        settings: known words, and whether spelling is corrected.
        language: ISO 639-1 code of the likely one among the languages of the documents, or empty.
        vocabulary: the words of the documents.
    """
    typed = question.wording.typed
    # The words of the documents correct no question in another language.
    is_theirs = question.language in ("", language)
    stop = lexicon(language).search_stop
    meant = _corrected(typed, settings, language, vocabulary, stop) if settings.spelling and is_theirs else typed
    others = variations(meant, question, settings.synonyms, settings.variations)
    return replace(question, wording=replace(question.wording, text=meant, language=language, variations=others))


def _corrected(text: str, settings: QuerySettings, language: str, vocabulary: Vocabulary, stop: frozenset[str]) -> str:
    """Restore the diacritics of a text and correct its typing errors, except in stop words."""
    names = {diacritics.bare(name).lower(): name for name in settings.words}
    meant = _replaced(text, names)
    keep = frozenset(names) | frozenset(name.lower() for name in settings.words)
    spellings = diacritics.shipped(language)
    can_restore = spellings is not None and _are_of(_words(meant), spellings)
    if spellings and can_restore:
        meant = diacritics.restore(meant, spellings, keep)
    if spellings:  # a word of the language is no error only because the documents have another
        keep |= {word for word in _words(meant) if diacritics.is_word(diacritics.bare(word), spellings)}
    if mistyped := correct(meant, vocabulary, language, keep | stop):
        meant = _replaced(meant, mistyped)
        if spellings and can_restore:  # the vocabulary has no diacritics
            meant = diacritics.restore(meant, spellings, keep)
    return meant


def _are_of(words: list[str], spellings: Spellings) -> bool:
    """Return whether at least half of the words of a text are listed, so that it is in this language."""
    listed = sum(diacritics.is_word(diacritics.bare(word), spellings) for word in words)
    return 2 * listed >= len(words)


def _words(text: str) -> list[str]:
    return [found.group().lower() for found in _WORD.finditer(text)]


def _replaced(text: str, words: dict[str, str]) -> str:
    """Replace words of a text, keeping an initial capital."""

    def new(found: re.Match[str]) -> str:
        typed = found.group()
        word = words.get(diacritics.bare(typed).lower(), words.get(typed.lower(), typed))
        return word[:1].upper() + word[1:] if typed[:1].isupper() else word

    return _WORD.sub(new, text) if words else text

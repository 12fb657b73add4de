"""Tell in which of the documents' languages a question is, if its words do, before profiles of letters decide.

A few words rarely show a language by their letters: "list the minutes" looks like Lithuanian, which has "minutės".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ragstone.language import language_of
from ragstone.query import diacritics
from ragstone.query.spelling import Vocabulary

LISTED = ("en", "de", "lt")
"""Languages with a list of words. The list of English has no words of others, but theirs have English ones."""
_SHORTEST = 3
"""Letters of a word that tells a language."""
_WORD = re.compile(r"[^\W\d_]+")


def likely_language(
    question: str,
    own: str,
    shares: Mapping[str, float],
    vocabulary: Vocabulary,
    profiled: Callable[[], str],
) -> str:
    """Return the language, among those of the documents, that a question most likely has.

    Args:
        question: as it was typed.
        own: the language that its function words tell, or empty.
        shares: the share of the chunks in each language.
        vocabulary: the words of the documents.
        profiled: returns the language that the letters of the question look like.
    """
    own = own or language_of(question)
    if own in shares:
        return own
    words = {word.lower() for word in _WORD.findall(question) if len(word) >= _SHORTEST}
    listed = {
        code: sum(is_listed(word, code, vocabulary) for word in words) for code in LISTED if words and code in shares
    }
    whole = [code for code in shares if listed.get(code) == len(words) > 0]
    if not whole:
        guess = profiled()
        told = [code for code in shares if listed.get(code, 1)]
        return guess if guess in told or not told else max(told, key=lambda code: shares[code])
    if "en" in whole and len(words) > 1:
        return "en"
    best = max(whole, key=lambda code: shares[code])
    # Lists have words of other languages and lack new ones: "wifi password" is all in that of German.
    others = [code for code in listed if shares[code] > shares[best] and 2 * listed[code] >= len(words)]
    return guess if others and (guess := profiled()) in others else best


def is_listed(word: str, language: str, vocabulary: Vocabulary) -> bool:
    """Return whether a word in lower case is one of a language; False if the language has no list."""
    if vocabulary.ordinary(word, language):
        return True
    spellings = diacritics.shipped(language)
    return spellings is not None and diacritics.is_word(diacritics.bare(word), spellings)

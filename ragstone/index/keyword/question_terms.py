"""The terms of a question that are searched for: those of its content words."""

from __future__ import annotations

from itertools import chain

from ragstone.core.protocols import Analyzer
from ragstone.index.keyword.analyze import PAIR, written_words
from ragstone.language import languages, plain
from ragstone.language.words import written_in


def question_terms(analyzer: Analyzer, text: str, language: str = "") -> list[str]:
    """Return the terms of a question without those of its function words, unless it has no others.

    "How do I" says nothing about what is sought, but manuals rarely say it, so that BM25 takes it for content. A pair
    of words stays if one of them has content, as in "terms of". A word in capitals is a name: "IT".

    Args:
        analyzer: makes the terms.
        text: of the question.
        language: ISO 639-1 code, or empty if unknown; then all terms are returned.
    """
    terms = analyzer(text, language)
    if language not in languages():
        return terms
    stop, written = written_in(language).search_stop, written_words(text)
    function = {word for word in written if plain(word) in stop and not (len(word) > 1 and word.isupper())}
    content = [word for word in written if word not in function]
    if not function or not content:
        return terms
    dropped = set(chain.from_iterable(analyzer(word, language) for word in function))
    dropped -= set(chain.from_iterable(analyzer(word, language) for word in content))
    return [term for term in terms if term not in dropped and not _joins(term, dropped)]


def _joins(term: str, dropped: set[str]) -> bool:
    """Return whether a term is a pair of two dropped words."""
    return term.startswith(PAIR) and dropped.issuperset(term[len(PAIR) :].split(PAIR))

"""The vocabulary of the knowledge base, limited to what one reader may read.

Whether any document contains a word, and which words look like it, can reveal documents that a reader may not read. A
restricted reader is therefore answered from the documents of that reader alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragstone.core.catalog import IndexedCatalog, Stamp
from ragstone.core.filters import Filter, filter_key
from ragstone.core.request import Request
from ragstone.index.keyword.ordinary import is_ordinary

if TYPE_CHECKING:
    from ragstone.index.keyword.terms import Terms

COUNT_LIMIT = 100
"""Of several likely words the most frequent is chosen; chunks are counted up to this number."""
CACHE_LIMIT = 100_000
"""Most answers, over all readers, that the cache of known words holds."""


class Words:
    """The words and languages of a `Terms`. Every question about them names a request."""

    def __init__(self, terms: Terms, catalog: IndexedCatalog) -> None:
        self._cache = _KnownWords(terms, catalog)
        self._terms, self._catalog = terms, catalog

    def for_request(self, request: Request) -> RequestWords:
        """Return the words of the documents that the request may read."""
        return RequestWords(self._terms, self._catalog, self._cache, request.allowed)

    def known(self, words: Sequence[str], language: str, request: Request) -> list[bool]:
        """Return for each word whether a chunk contains it, or another form of it in that language.

        True for all words where there is no index.
        """
        return self.for_request(request).known(words, language)

    def weigh(self, words: Sequence[str], request: Request) -> list[float]:
        """Return the inverse document frequency of each word.

        A word that only hidden documents contain is as rare as an unknown one.
        """
        weights = self._terms.weigh(words)
        if request.allowed is None:
            return weights
        unseen = self._terms.unseen()
        readable = self.known(words, "", request)
        return [weight if there or not weight else unseen for weight, there in zip(weights, readable, strict=True)]


class RequestWords:
    """The words and languages of the documents that one request may read."""

    def __init__(self, terms: Terms, catalog: IndexedCatalog, cache: _KnownWords, allowed: Filter | None) -> None:
        self._terms, self._catalog, self._cache, self._allowed = terms, catalog, cache, allowed

    def known(self, words: Sequence[str], language: str = "") -> list[bool]:
        """Return for each word whether a readable chunk contains it, or another form of it in that language."""
        if self._allowed is None:
            return self._terms.known(words, language)
        return self._cache.known(words, language, self._allowed)

    def ordinary(self, word: str, language: str) -> bool:
        """Return whether a word is one of a language, whether or not a document has it; False if there is no list."""
        return is_ordinary(word, language)

    def near(self, word: str, errors: int) -> dict[str, int]:
        """Return words that look like this one, folded, with the number of chunks that have each (or an estimate)."""
        near = self._terms.near(word, errors)
        if self._allowed is None or not near:
            return near
        rows = self._catalog.select(self._allowed)
        counted = {word: self._terms.among(word, "", rows, COUNT_LIMIT) for word in near}
        return {word: count for word, count in counted.items() if count}

    def languages(self) -> Mapping[str, float]:
        """Return the share of the chunks in each language; equal shares for a restricted reader."""
        shares = self._terms.languages()
        if self._allowed is None or not shares:
            return shares
        rows = self._catalog.select(self._allowed)
        own = {code: share for code, share in shares.items() if self._terms.has_language(code, rows)}
        return {code: 1 / len(own) for code in own}

    def language(self, text: str) -> str | None:
        """Return the document language that a question most likely has; None if that is not known."""
        if self._allowed is None:
            return self._terms.language(text)
        shares = self.languages()
        likely = self._terms.profiled(text, shares)
        return likely if likely in shares else None


@dataclass(slots=True)
class _KnownWords:
    """Remembers, until the next commit, which words the readers of each filter know."""

    terms: Terms
    catalog: IndexedCatalog
    stamp: tuple[Stamp, Stamp] = field(default_factory=lambda: (Stamp(), Stamp()))
    by_filter: dict[str, dict[tuple[str, str], bool]] = field(default_factory=dict[str, dict[tuple[str, str], bool]])

    def known(self, words: Sequence[str], language: str, allowed: Filter) -> list[bool]:
        cached = self._cached(allowed)
        new = [word for word in dict.fromkeys(words) if (word, language) not in cached]
        if new:
            rows = self.catalog.select(allowed)
            for word, there in zip(new, self.terms.known(new, language), strict=True):
                cached[word, language] = there and self.terms.among(word, language, rows, 1) > 0
        return [cached[word, language] for word in words]

    def _cached(self, allowed: Filter) -> dict[tuple[str, str], bool]:
        stamp = self.catalog.stamp(), self.terms.stamp
        if stamp != self.stamp or sum(map(len, self.by_filter.values())) > CACHE_LIMIT:
            self.stamp, self.by_filter = stamp, {}
        return self.by_filter.setdefault(filter_key(allowed), {})

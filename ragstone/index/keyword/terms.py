"""What the terms of all chunks tell: how rare a word is, whether a document has it, and which language it looks like.

`TermIndex` reads that from files of this host, `ragstone.index.engines.postgres.served_terms` from a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ragstone.core.catalog import Stamp
from ragstone.core.protocols import Analyzer, Detector
from ragstone.core.records import Chunk
from ragstone.index.keyword.analyze import MARKS, PAIR, START, weight_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.core.filters import Filter
    from ragstone.core.records import Matches

_CODE = re.compile("[a-z]{2}")


NEWEST = 2000
"""Chunks that a server may lack and a question still finds by their words; more are found once it has caught up."""


class Counts(Protocol):
    """How many chunks have each term, in one state of an index."""

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        ...

    def having(self, term: str) -> int:
        """Return the number of chunks that have a term."""
        ...

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term."""
        ...

    def prepare(self, terms: Iterable[str]) -> None:
        """Read the counts of these terms together, if that is faster."""
        ...


class Terms(Protocol):
    """The terms of a version of a knowledge base; `TermIndex` describes the methods."""

    @property
    def is_local(self) -> bool:
        """Whether they are in files of this host, which can be searched if an engine is away."""
        ...

    @property
    def stamp(self) -> Stamp: ...

    def follow(self, *, write: bool = True) -> None: ...

    def analysed(self, chunk: Chunk) -> list[str]: ...

    def best_of(self, rows: NDArray[np.int64], terms: Sequence[str], k: int, where: Filter | None) -> Matches: ...

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """Return the ``k`` best chunks; only if they are in files of this host."""
        ...

    def weigh(self, words: Sequence[str]) -> list[float]: ...

    def unseen(self) -> float: ...

    def ceiling(self, terms: Sequence[str]) -> float: ...

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]: ...

    def mean_length(self) -> float: ...

    def known(self, words: Sequence[str], language: str) -> list[bool]: ...

    def near(self, word: str, errors: int) -> dict[str, int]: ...

    def among(self, word: str, language: str, rows: NDArray[np.int64], most: int) -> int: ...

    def languages(self) -> Mapping[str, float]: ...

    def has_language(self, code: str, rows: NDArray[np.int64]) -> bool: ...

    def language(self, text: str) -> str | None: ...

    def profiled(self, text: str, shares: Mapping[str, float]) -> str | None: ...


def weights(counts: Counts, analyzer: Analyzer, words: Sequence[str]) -> list[float]:
    """Return the inverse document frequency of each word as written, or of its rarest part."""
    terms = [[t for t in analyzer(word) if not t.startswith(MARKS)] for word in words]
    counts.prepare(t for some in terms for t in some)
    rarity = {t: counts.rarity(t) for some in terms for t in some}
    return [max((rarity[t] for t in some), default=0.0) for some in terms]


def most_scored(counts: Counts, terms: Sequence[str], k1: float) -> float:
    """Return the score of a chunk that repeats these terms forever; no chunk scores more.

    Words that no chunk has count, because they show how much of the question is found. Pairs of words do not.
    """
    counts.prepare(terms)
    scored = (term for term in terms if not term.startswith(PAIR) or counts.having(term))
    return (k1 + 1) * sum(weight_of(term) * counts.rarity(term) for term in scored)


def known_words(counts: Counts, analyzer: Analyzer, words: Sequence[str], language: str) -> list[bool]:
    """Return for each word whether a chunk has it or another form of it in that language."""
    terms = [[t for t in analyzer(word, language) if not t.startswith(START)] for word in words]
    counts.prepare(t for some in terms for t in some)
    return [any(map(counts.having, some)) for some in terms]


def count_word(counts: Counts, analyzer: Analyzer, word: str) -> int:
    """Count the chunks that have a word, or a form of it if the analyzer keeps no word as written."""
    if count := counts.having(word):
        return count
    return max(map(counts.having, (term for term in analyzer(word) if not term.startswith(MARKS))), default=0)


def language_of(chunk: Chunk, detect: Detector | None) -> str:
    """Return the language of the document, or else of the chunk's own text; empty if nobody can tell."""
    language = chunk.metadata.get("language")
    if isinstance(language, str) and _CODE.fullmatch(language):
        return language
    return detect(chunk.headed) if detect else ""

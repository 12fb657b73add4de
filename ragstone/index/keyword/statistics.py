"""How often terms occur in the chunks of a keyword index, removed ones left out.

tantivy weighs terms by every chunk that its segments hold, removed ones included until it merges them. A chunk that
was replaced ten times would make its own words common. So the chunks that have a term are counted here, and a query
corrects tantivy's weight of each term.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import tantivy

from ragstone.index.keyword.scoring import idf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_REMEMBERED = 100_000
"""Terms whose counts are cached. The most common ones take longest to count, and come back in most questions."""


class Statistics:
    """Counts of one state of an index, made when they are first asked for and kept."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema, total: int) -> None:
        """
        Args:
            searcher: sees the state.
            schema: of the index.
            total: chunks in all segments, removed ones included.
        """
        self.searcher, self._schema = searcher, schema
        self.chunks = searcher.num_docs
        """The number of chunks."""
        self.removed = max(0, total - self.chunks)
        """The number of removed chunks that the segments still hold."""
        self._counts: dict[tuple[str, str], int] = {}
        self._corrections: dict[str, float] = {}
        self._mean: float | None = None

    def prepare(self, terms: Iterable[str]) -> None:
        """Do nothing: each count is a look-up."""

    def having(self, term: str, field: str = "terms") -> int:
        """Return the number of chunks that have a term."""
        count = self._counts.get((field, term))
        if count is None:
            if len(self._counts) >= _REMEMBERED:
                self._counts.clear()
            count = self._counts[field, term] = self._counted(term, field)
        return count

    def _counted(self, term: str, field: str) -> int:
        count = self.searcher.doc_freq(field, term)
        if not self.removed or not count:
            return count
        query = tantivy.Query.term_query(self._schema, field, term, "basic")
        result: Any = self.searcher.search(query, 1, count=True)
        return int(result.count)

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term."""
        return idf(self.having(term), self.chunks)

    def correction(self, term: str) -> float:
        """Return what to multiply tantivy's weight of a term by; 0 if no chunk has the term."""
        if not self.removed:
            return float(self.having(term) > 0)
        correction = self._corrections.get(term)
        if correction is None:
            if len(self._corrections) >= _REMEMBERED:
                self._corrections.clear()
            engine = idf(self.searcher.doc_freq("terms", term), self.chunks + self.removed)
            correction = self._corrections[term] = self.rarity(term) / engine if self.having(term) else 0.0
        return correction

    def shares(self, languages: Sequence[str]) -> dict[str, float]:
        """Return the share of the chunks in each of these languages that is there."""
        count = {code: self.having(code, "language") for code in languages}
        total = sum(count.values())
        return {code: part / total for code, part in count.items() if part}

    def mean_length(self) -> float:
        """Return the mean number of terms of a chunk; 0 if there is no chunk."""
        if self._mean is None:
            wanted: dict[str, Any] = {"mean": {"avg": {"field": "length"}}}
            asked: Any = self.searcher
            mean = asked.aggregate(tantivy.Query.all_query(), wanted)["mean"]["value"] if self.chunks else 0.0
            self._mean = float(mean)
        return self._mean

    def engine_length(self, term: str) -> float:
        """Return the mean length that tantivy scores by, removed chunks included; ``term`` is in some chunk."""
        query = tantivy.Query.term_query(self._schema, "terms", term, "freq")
        for _, address in self.searcher.search(query, 1, count=False).hits:
            for name, value in _explained(json.loads(query.explain(self.searcher, address).to_json())):
                if name.startswith("avgdl"):
                    return value
        return self.mean_length()


def _explained(score: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield name and value of each factor of a score."""
    yield score["description"], score["value"]
    for part in score.get("details") or ():
        yield from _explained(part)

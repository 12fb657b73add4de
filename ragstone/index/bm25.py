"""Keyword search: BM25 over terms that were analysed outside, on tantivy.

Terms reach tantivy joined by spaces, so any analyzer works. tantivy fixes k1 = 1.2 and b = 0.75; where
others are set, its best thousand are scored again here. Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond"; the idf is Lucene's, which is never negative.
"""

from __future__ import annotations

import asyncio
import json
import math
import mmap
import shutil
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tantivy

from ragstone.contracts import Filter, Match
from ragstone.errors import Damaged
from ragstone.index.catalog import Catalog
from ragstone.index.files import disposable, read_json, write_json
from ragstone.index.records import Stamp
from ragstone.protocols import Analyzer

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENGINE_K1, ENGINE_B = 1.2, 0.75
RESCORED = 1000
MOST_TERMS = 1024
"""A longer question is cut: no more clauses than the engine searches in milliseconds."""
FEW_ROWS = 2000
"""Up to so many rows a filter is handed to the engine; above, its results are read until enough pass."""


class TermIndex:
    """A tantivy index of every chunk's terms that follows the catalog.

    Opening changes nothing on disk, since any process may do it; what is missing, damaged or made for
    another catalog or analyzer is made again by `follow`.
    """

    def __init__(self, folder: Path, catalog: Catalog, analyzer: Analyzer, *, k1: float, b: float) -> None:
        self._folder, self._catalog, self._analyzer = folder, catalog, analyzer
        self._k1, self._b = k1, b
        self._schema = (
            tantivy.SchemaBuilder()
            .add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
            .add_integer_field("row", indexed=True, fast=True)
            .add_integer_field("length", fast=True)
            .build()
        )
        self._index = self._opened()

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> list[Match]:
        """The ``k`` best chunks by BM25, best first, of those ``where`` lets through."""
        return await asyncio.to_thread(self._search, terms, k, where)

    @property
    def stamp(self) -> Stamp:
        """The last commit of the catalog that can be found here; the stamp before all where nothing can."""
        index = self._index = self._index or self._opened()
        about = read_json(self._folder / "manifest.json")
        if index is None or about.get("analyzer") != self._analyzer.fingerprint:
            return Stamp()
        try:
            with self._sound():
                index.reload()
                # A last look at what tantivy itself does not check: its list of segments.
                return Stamp(**about["stamp"]) if index.searcher().num_docs == about["chunks"] else Stamp()
        except (KeyError, TypeError, Damaged):
            return Stamp()

    def weigh(self, words: Sequence[str]) -> list[float]:
        """Inverse document frequency of each word; of its rarest term where it is analysed into several.

        All weigh the same where there is no index.
        """
        if self._index is None:
            return [1.0] * len(words)
        with self._sound():
            searcher = self._index.searcher()
            terms = [self._analyzer(word) for word in words]
            idf = {t: _idf(searcher.doc_freq("terms", t), searcher.num_docs) for some in terms for t in some}
        return [max((idf[t] for t in some), default=0.0) for some in terms]

    def follow(self) -> None:
        """Take in what the catalog has and the index has not. Only for the process that holds the lock.

        Raises:
            KnowledgeBaseError: the index could not be written.
        """
        with self._catalog.snapshot() as now, disposable(self._folder):
            since = self.stamp
            if since == now:
                return
            if self._index is None or not self._catalog.knows(since):
                self._index, since = self._made(), Stamp()
            with _writer(self._index) as writer:
                if since.generation:
                    for row in self._catalog.removed_since(since.generation):
                        writer.delete_documents_by_term("row", row)
                for row, chunk in self._catalog.chunks_since(since.generation):
                    if since.generation:  # there already if the last follow was cut short
                        writer.delete_documents_by_term("row", row)
                    terms = self._analyzer(chunk.headed)
                    writer.add_document(tantivy.Document(row=row, length=len(terms), terms=" ".join(terms)))
                writer.commit()
                self._index.reload()
                # Only now, and before segments are merged, which may take long and changes no count. An index
                # that was committed and not described is not believed, and made again.
                about = {"stamp": asdict(now), "analyzer": self._analyzer.fingerprint}
                write_json(self._folder / "manifest.json", about | {"chunks": self._index.searcher().num_docs})
            self._index.reload()

    def _opened(self) -> tantivy.Index | None:
        """The index in the folder; None where there is none, or one that is damaged or of another format."""
        try:
            for file in _segment_files(self._folder):
                _verify(file)
            return tantivy.Index(self._schema, path=str(self._folder), reuse=True)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _made(self) -> tantivy.Index:
        """An empty index in the place of whatever is there."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        return tantivy.Index(self._schema, path=str(self._folder), reuse=False)

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Doubt the index when reading it fails: it is verified before it is used again."""
        try:
            yield
        except BaseException as error:
            # tantivy panics over some damage, and its panics are no Exception.
            if not isinstance(error, (ValueError, OSError)) and type(error).__name__ != "PanicException":
                raise
            self._index = None
            raise Damaged(f"the index in {self._folder} cannot be read: {error}") from error

    def _search(self, terms: Sequence[str], k: int, where: Filter | None) -> list[Match]:
        terms = terms[:MOST_TERMS]
        index = self._index
        if index is None or not terms or k < 1:
            return []
        allowed = None if where is None else self._catalog.select(where)
        ours = (self._k1, self._b) != (ENGINE_K1, ENGINE_B)
        with self._sound():
            index.reload()
            searcher = index.searcher()
            depth = max(k, RESCORED) if ours else k
            matches = _filtered(searcher, self._schema, _query(self._schema, terms), depth, allowed)
            if ours and matches:
                matches = self._rescored(searcher, terms, matches)
        return matches[:k]

    def _rescored(self, searcher: tantivy.Searcher, terms: Sequence[str], matches: Sequence[Match]) -> list[Match]:
        chunks = self._catalog.chunks([match.row for match in matches])
        texts = {row: self._analyzer(chunk.headed) for row, chunk in chunks.items()}
        average = searcher.aggregate(tantivy.Query.all_query(), {"mean": {"avg": {"field": "length"}}})["mean"]["value"]
        frequency = {term: searcher.doc_freq("terms", term) for term in set(terms)}
        scores = bm25(terms, list(texts.values()), frequency, searcher.num_docs, average, k1=self._k1, b=self._b)
        rows = list(texts)
        return [Match(row=rows[i], score=float(scores[i])) for i in np.lexsort((np.array(rows), -scores))]


def bm25(
    terms: Sequence[str],
    texts: Sequence[Sequence[str]],
    frequency: Mapping[str, int],
    count: int,
    average: float,
    *,
    k1: float,
    b: float,
) -> NDArray[np.float64]:
    """BM25 of each text for the terms of a question.

    Args:
        terms: of the question; one that occurs twice counts twice.
        texts: the analysed texts.
        frequency: of each term of the question, the number of texts of the whole collection that have it.
        count: texts in the collection.
        average: their mean length in terms.
        k1: term saturation.
        b: length normalisation, 0 to 1.

    Returns:
        Scores, shape (texts,).
    """
    scores = np.zeros(len(texts))
    counters = [Counter(text) for text in texts]
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    norm = k1 * (1 - b + b * lengths / max(average, 1e-9))
    for term in terms:
        idf = _idf(frequency.get(term, 0), count)
        tf = np.array([counter[term] for counter in counters], dtype=np.float64)
        has = tf > 0  # without the term nothing is scored, and with k1 = 0 nothing could be divided by
        scores[has] += idf * tf[has] * (k1 + 1) / (tf[has] + norm[has])
    return scores


def _idf(frequency: int, count: int) -> float:
    frequency = min(frequency, count)  # tantivy counts removed texts in the one until it merges, never in the other
    return math.log1p((count - frequency + 0.5) / (frequency + 0.5))


def _query(schema: tantivy.Schema, terms: Sequence[str]) -> tantivy.Query:
    should = [
        (tantivy.Occur.Should, tantivy.Query.term_query(schema, "terms", term, "freq")) for term in terms[:MOST_TERMS]
    ]
    return tantivy.Query.boolean_query(should)


def _filtered(
    searcher: tantivy.Searcher,
    schema: tantivy.Schema,
    query: tantivy.Query,
    k: int,
    allowed: NDArray[np.int64] | None,
) -> list[Match]:
    """The best ``k`` of the allowed rows. A score does not depend on the filter, so reading on is exact."""
    most = max(searcher.num_docs, 1)
    k = min(k, most)  # tantivy makes room for as many as it is asked for
    if allowed is None:
        return _read(searcher, query, k)
    if len(allowed) <= FEW_ROWS:
        among = tantivy.Query.term_set_query(schema, "row", allowed.tolist())
        scored = (tantivy.Occur.Must, query)
        return _read(
            searcher,
            tantivy.Query.boolean_query([scored, (tantivy.Occur.Must, tantivy.Query.const_score_query(among, 0.0))]),
            k,
        )
    depth = min(k * 4, most)
    while True:
        matches = _read(searcher, query, depth)
        passed = np.isin([match.row for match in matches], allowed)
        kept = [match for match, ok in zip(matches, passed, strict=True) if ok]
        if len(kept) >= k or len(matches) < depth or depth == most:
            return kept[:k]
        depth = min(depth * 4, most)


def _read(searcher: tantivy.Searcher, query: tantivy.Query, k: int) -> list[Match]:
    hits = searcher.search(query, k, count=False).hits
    rows = searcher.fast_field_values("row", [address for _, address in hits])
    matches = [Match(row=int(row or 0), score=float(score)) for row, (score, _) in zip(rows, hits, strict=True)]
    return sorted(matches, key=lambda match: (-match.score, match.row))


@contextmanager
def _writer(index: tantivy.Index) -> Iterator[tantivy.IndexWriter]:
    """A writer that is let go of in any case; tantivy's own context manager commits even after an exception."""
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    try:
        yield writer
    finally:
        writer.wait_merging_threads()


def _segment_files(folder: Path) -> list[Path]:
    """The files that tantivy's list of segments names."""
    segments = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
    names = {segment["segment_id"].replace("-", "") for segment in segments}
    return [file for file in folder.iterdir() if file.name.partition(".")[0] in names]


def _verify(file: Path) -> None:
    """Compare a file with the checksum at its end, which tantivy writes and does not read.

    Raises:
        ValueError: they differ.
    """
    with file.open("rb") as opened:
        content = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    length = int.from_bytes(content[-8:-4], "little")
    footer = json.loads(bytes(content[-8 - length : -8]))
    if zlib.crc32(content[: -8 - length]) != footer["crc"]:
        raise ValueError(f"{file} is not what was written")

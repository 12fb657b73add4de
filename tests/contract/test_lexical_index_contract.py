"""Every keyword index against BM25 in plain Python: the same chunks, scores within the stated tolerance.

tantivy keeps the length of a text in one byte (exact up to 40 terms, within an eighth above), so its own
scores differ a little for long texts; where k1 or b is set, scores are computed exactly.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from kb import commit

from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.filters import Compare, In, Not
from ragstone.core.protocols import LexicalIndex
from ragstone.core.records import Document
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.synced_keywords import SyncedKeywords
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import ENGINE_B, ENGINE_K1, MOST_TERMS, TermIndex
from ragstone.index.keyword.scoring import bm25
from ragstone.settings import ChunkSettings
from ragstone.settings.services import QdrantSettings

if TYPE_CHECKING:
    from ragstone.index.engines.qdrant.connection import Connect

Engine = Callable[[Path, Catalog], LexicalIndex]
LONG = ChunkSettings(strategy="paragraph", size=5000, overlap=0)


def make_tantivy(folder: Path, catalog: Catalog, k1: float, b: float) -> LexicalIndex:
    index = TermIndex(folder, catalog, Plain(), k1=k1, b=b)
    index.follow()
    return index


def make_postgres(folder: Path, catalog: Catalog, k1: float, b: float) -> LexicalIndex:
    pytest.importorskip("psycopg", reason="needs psycopg")
    from ragstone.index.engines.postgres.keywords import PostgresTerms
    from ragstone.services.postgres import Server
    from servers.postgres_server import shared

    terms = TermIndex(folder / "terms", catalog, Plain(), k1=k1, b=b)
    terms.follow()
    (folder / "v1").mkdir(parents=True)
    names = CollectionNames(folder / "v1", "postgres-keywords", "keywords")
    store = PostgresTerms(Server(shared().settings()), names, Plain().fingerprint, k1=k1, b=b)
    index = SyncedKeywords(store, catalog, terms)
    index.follow(write=True)
    return index


def make_served(folder: Path, catalog: Catalog, k1: float, b: float) -> LexicalIndex:
    """In PostgreSQL, without an index of terms on this host."""
    pytest.importorskip("psycopg", reason="needs psycopg")
    from ragstone.index.engines.postgres.keywords import PostgresTerms
    from ragstone.index.engines.postgres.served_terms import ServedTerms
    from ragstone.services.postgres import Server
    from servers.postgres_server import shared

    (folder / "v1").mkdir(parents=True)
    names = CollectionNames(folder / "v1", "postgres-keywords", "keywords")
    store = PostgresTerms(Server(shared().settings()), names, Plain().fingerprint, k1=k1, b=b, counts=True)
    index = SyncedKeywords(store, catalog, ServedTerms(store, catalog, Plain(), None, k1=k1, b=b))
    index.follow(write=True)
    return index


def make_qdrant(folder: Path, catalog: Catalog, k1: float, b: float) -> LexicalIndex:
    """In the client's own memory, which has all of its protocol."""
    qdrant = pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    client = qdrant.QdrantClient(":memory:")
    return in_qdrant(QdrantSettings(), lambda *_: client, folder, catalog, k1, b)


def make_qdrant_edge(folder: Path, catalog: Catalog, k1: float, b: float) -> LexicalIndex:
    """On Qdrant's own engine, over HTTP."""
    pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    from ragstone.index.engines.qdrant.connection import connect
    from servers.qdrant_server import shared

    return in_qdrant(QdrantSettings(url=shared().url), connect, folder, catalog, k1, b)


def in_qdrant(
    settings: QdrantSettings, connect: Connect, folder: Path, catalog: Catalog, k1: float, b: float
) -> LexicalIndex:
    from ragstone.index.engines.qdrant.terms import QdrantTerms

    terms = TermIndex(folder / "terms", catalog, Plain(), k1=k1, b=b)
    terms.follow()
    (folder / "v1").mkdir(parents=True)
    names = CollectionNames(folder / "v1", "qdrant-keywords", "contract-keywords")
    store = QdrantTerms(settings, names, Plain().fingerprint, terms.mean_length, k1=k1, b=b, connect=connect)
    index = SyncedKeywords(store, catalog, terms)
    index.follow(write=True)
    return index


ENGINES: dict[str, tuple[Engine, float, float, float]] = {
    # name: how it is made, its k1 and b, and how far a score may be off
    "tantivy": (lambda folder, catalog: make_tantivy(folder, catalog, ENGINE_K1, ENGINE_B), 1.2, 0.75, 0.05),
    "tantivy, k1 and b set": (lambda folder, catalog: make_tantivy(folder, catalog, 0.9, 0.4), 0.9, 0.4, 1e-5),
    "tantivy, k1 of nothing": (lambda folder, catalog: make_tantivy(folder, catalog, 0.0, 0.4), 0.0, 0.4, 1e-5),
    "postgres": (lambda folder, catalog: make_postgres(folder, catalog, 1.2, 0.75), 1.2, 0.75, 1e-5),
    "postgres, k1 of nothing": (lambda folder, catalog: make_postgres(folder, catalog, 0.0, 0.4), 0.0, 0.4, 1e-5),
    "postgres, served": (lambda folder, catalog: make_served(folder, catalog, 1.2, 0.75), 1.2, 0.75, 1e-5),
    "qdrant": (lambda folder, catalog: make_qdrant(folder, catalog, 1.2, 0.75), 1.2, 0.75, 1e-5),
    "qdrant, own engine": (lambda folder, catalog: make_qdrant_edge(folder, catalog, 1.2, 0.75), 1.2, 0.75, 1e-5),
    "qdrant, k1 of nothing": (lambda folder, catalog: make_qdrant_edge(folder, catalog, 0.0, 0.4), 0.0, 0.4, 1e-5),
}
each_engine = pytest.mark.parametrize("name", ENGINES)
WORDS = [f"w{i}" for i in range(60)]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    rng = np.random.default_rng(3)
    popular = rng.zipf(1.5, size=200_000) % len(WORDS)
    out, at = [], 0
    for i in range(2600):
        length = int(rng.integers(1, 20 if i % 10 else 300))
        out.append(Document(id=f"d{i}", text=" ".join(WORDS[j] for j in popular[at : at + length]), metadata={"n": i}))
        at += length
    return out


@pytest.fixture(scope="module")
def catalog(documents: list[Document], tmp_path_factory: pytest.TempPathFactory):
    catalog = create_catalog(tmp_path_factory.mktemp("terms") / "catalog.db", {})
    commit(catalog, *documents, settings=LONG)
    yield catalog
    catalog.close()


@pytest.fixture(scope="module")
def indexes(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory):
    made: dict[str, LexicalIndex] = {}

    def index(name: str) -> LexicalIndex:
        """Made when first asked for, so that an engine whose package is missing skips its own tests only."""
        if name not in made:
            made[name] = ENGINES[name][0](tmp_path_factory.mktemp("index"), catalog)
        return made[name]

    return index


def plain_bm25(terms: Sequence[str], texts: Sequence[Sequence[str]], k1: float, b: float) -> list[float]:
    """The formula as the textbooks have it, in loops."""
    average = sum(map(len, texts)) / len(texts)
    scores = []
    counters = [Counter(text) for text in texts]
    having = {term: sum(term in counter for counter in counters) for term in set(terms)}
    for text, counter in zip(texts, counters, strict=True):
        score = 0.0
        for term in terms:
            if tf := counter[term]:
                idf = math.log(1 + (len(texts) - having[term] + 0.5) / (having[term] + 0.5))
                score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(text) / average))
        scores.append(score)
    return scores


def row_of_each(catalog: Catalog) -> dict[str, int]:
    rows = catalog.select(Compare(key="n", op=">=", value=0)).tolist()
    return {chunk.document_id: row for row, chunk in catalog.chunks(rows).items()}


@each_engine
@pytest.mark.parametrize("terms", [["w5"], ["w1", "w7", "w30"], ["w2", "w2", "w50"], ["w59", "unknown"]], ids=str)
def test_scores_are_bm25(name: str, terms: list[str], indexes, catalog: Catalog, documents: list[Document]):
    _, k1, b, off = ENGINES[name]
    true = plain_bm25(terms, [document.text.split() for document in documents], k1, b)
    rows = row_of_each(catalog)
    score_of = {rows[document.id]: score for document, score in zip(documents, true, strict=True)}
    found = asyncio.run(indexes(name).search(terms, 50))
    wanted = sorted((score for score in score_of.values() if score > 0), reverse=True)[:50]
    assert len(found) == len(wanted)
    assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
    for row, score, best in zip(found.rows.tolist(), found.scores.tolist(), wanted, strict=True):
        assert score == pytest.approx(score_of[row], rel=off)
        assert score == pytest.approx(best, rel=2 * off)


@each_engine
@pytest.mark.parametrize("below", [0, 3, 200, 1999, 2001, 2500, 2600])
def test_a_filter_leaves_the_order_and_always_enough(name: str, below: int, indexes, catalog: Catalog):
    """Every way to filter is reached: by rows, by blocks of rows, by reading on; each keeps the unfiltered order."""
    terms, where = ["w1", "w4"], Compare(key="n", op="<", value=below)
    allowed = set(catalog.select(where).tolist())
    if name in ("tantivy", "postgres", "qdrant", "qdrant, own engine"):
        everything = asyncio.run(indexes(name).search(terms, 5000))
        expected = [row for row in everything.rows.tolist() if row in allowed][:30]
        assert asyncio.run(indexes(name).search(terms, 30, where)).rows.tolist() == expected
    found = asyncio.run(indexes(name).search(terms, 30, Not(part=where)))
    assert not set(found.rows.tolist()) & allowed


@each_engine
def test_nothing_asked_nothing_found(name: str, indexes):
    for terms, k in (([], 5), (["w1"], 0), (["unknown"], 5)):
        assert not len(asyncio.run(indexes(name).search(terms, k)))
    assert len(asyncio.run(indexes(name).search(["w1"], 10**12))) > 100
    assert not len(asyncio.run(indexes(name).search(["w1"], 5, In(key="n", values=()))))


@each_engine
def test_a_question_of_ten_thousand_terms_is_cut(name: str, indexes):
    long = [f"x{i}" for i in range(10_000)]
    assert asyncio.run(indexes(name).search(["w1", *long], 5))
    assert not len(asyncio.run(indexes(name).search([*long[:MOST_TERMS], "w1"], 5)))


def test_the_vectorised_formula_is_the_plain_one(documents: list[Document]):
    texts = [document.text.split() for document in documents[:300]]
    terms = ["w1", "w9", "w9", "none"]
    having = {term: sum(term in text for text in texts) for term in terms}
    average = sum(map(len, texts)) / len(texts)
    for k1, b in ((1.2, 0.75), (0.0, 0.0), (2.0, 1.0)):
        ours = bm25(terms, texts, having, len(texts), average, k1=k1, b=b)
        assert np.allclose(ours, plain_bm25(terms, texts, k1, b))


def test_weights_of_words_are_never_negative(tmp_path: Path):
    """After removals tantivy still counts the removed texts; a word is not rarer than nowhere for that."""
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{i}", text="common words") for i in range(20)))
    index = TermIndex(tmp_path / "terms", catalog, Plain(), k1=1.2, b=0.75)
    assert index.weigh(["common", "rare"]) == [1.0, 1.0]  # nothing is known yet
    index.follow()
    catalog.remove([f"d{i}" for i in range(19)])
    index.follow()
    common, rare, blank = index.weigh(["common", "rare", "-"])
    assert 0 <= common < rare
    assert blank == 0
    catalog.close()


@pytest.mark.parametrize("name", ["postgres", "qdrant", "qdrant, own engine"])
def test_finds_what_the_engine_lacks_yet(name: str, tmp_path: Path) -> None:
    with closing(create_catalog(tmp_path / "catalog.db", {})) as catalog:
        commit(catalog, *(Document(id=f"d{i}", text=f"w{i % 7} w{i % 5} n{i}") for i in range(60)))
        index = ENGINES[name][0](tmp_path / "index", catalog)
        assert isinstance(index, SyncedKeywords)
        with closing(index):
            assert isinstance(index._terms, TermIndex)
            catalog.remove(["d1", "d2"])
            commit(catalog, Document(id="new", text="w1 w1 w1 fresh"))
            index._terms.follow()
            assert index.status().behind == 2
            for asked in (["fresh"], ["w1", "fresh"], ["n1"], ["w2"]):
                found, true = asyncio.run(index.search(asked, 60)), asyncio.run(index._terms.search(asked, 60))
                assert set(found.rows.tolist()) == set(true.rows.tolist()), asked
            index.follow(write=True)
            assert index.status().behind == 0
            assert len(index.difference(mend=False)) == 0

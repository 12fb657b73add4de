"""Keywords in Qdrant, on its own engine over HTTP: the embedded search finds the same, whatever happened meanwhile."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from kb import add, commit, open_fast

from ragstone.catalog.folder_location import FolderLocation
from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.access import OWNER
from ragstone.core.catalog import Stamp
from ragstone.core.errors import EngineBehind, EngineError
from ragstone.core.filters import Compare
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.follow import synced_keywords
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.synced_keywords import SyncedKeywords
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.index.keyword.scoring import Weighed, bm25
from ragstone.services import breaker as breaker_module
from ragstone.settings.services import QdrantSettings
from servers.qdrant_server import QdrantServer, shared

pytest.importorskip("qdrant_client", reason="needs qdrant-client")
from ragstone.index.engines.qdrant import terms as terms_module
from ragstone.index.engines.qdrant.terms import QdrantTerms

COUNT = 600
WORDS = [f"w{i}" for i in range(80)]
pytestmark = pytest.mark.usefixtures("workdir")


def documents(count: int, length: int = 12, first: int = 0) -> Iterator[Document]:
    rng = np.random.default_rng(first + 5)
    popular = rng.zipf(1.4, size=count * length) % len(WORDS)
    for i in range(count):
        text = " ".join(WORDS[j] for j in popular[length * i : length * (i + 1)])
        yield Document(id=f"d{first + i}", text=f"{text} n{first + i}", metadata={"n": first + i})


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with closing(create_catalog(tmp_path_factory.mktemp("qdrant") / "catalog.db", {})) as catalog:
        commit(catalog, *documents(COUNT))
        yield catalog


def names(folder: Path, version: str = "v1") -> CollectionNames:
    (folder / version).mkdir(exist_ok=True)
    return CollectionNames(folder / version, "qdrant-keywords", "tests-keywords")


def at(server: QdrantServer) -> QdrantSettings:
    return QdrantSettings(url=server.url, collection="tests")


def keywords_in(
    server: QdrantServer, folder: Path, catalog: Catalog, *, k1: float = 1.2, version: str = "v1"
) -> tuple[SyncedKeywords, TermIndex]:
    terms = TermIndex(folder / f"terms-{version}", catalog, Plain(), k1=k1, b=0.75)
    terms.follow()
    held = names(folder, version)
    store = QdrantTerms(at(server), held, Plain().fingerprint, terms.mean_length, k1=k1, b=0.75)
    return SyncedKeywords(store, catalog, terms), terms


def true_scores(catalog: Catalog, terms: TermIndex, asked: list[str]) -> dict[int, float]:
    """BM25 of every chunk that has a term, computed from the texts; how rare a term is, the embedded index says."""
    rows = catalog.rows_since(0).tolist()
    texts = [chunk.headed.split() for _, chunk in sorted(catalog.chunks(rows).items())]
    total, having = terms.frequencies(asked)
    mean = sum(map(len, texts)) / len(texts)
    scores = bm25(asked, texts, having, total, mean, k1=1.2, b=0.75)
    return {row: float(score) for row, score in zip(sorted(rows), scores, strict=True) if score > 0}


def assert_best(index: SyncedKeywords, catalog: Catalog, asked: list[str], k: int) -> None:
    found, true = asyncio.run(index.search(asked, k)), true_scores(catalog, index._terms, asked)
    assert found.scores == pytest.approx(sorted(true.values(), reverse=True)[:k], rel=1e-5)
    assert found.scores == pytest.approx([true[row] for row in found.rows.tolist()], rel=1e-5)


def some_words(seed: int) -> list[str]:
    return [str(word) for word in np.random.default_rng(seed).choice(WORDS, size=4)]


def test_overwritten_terms_are_found_and_mended(tmp_path: Path, catalog: Catalog) -> None:
    index, _ = keywords_in(shared(), tmp_path, catalog)
    index.follow(write=True)
    rows = index._store.rows()[:5].tolist()
    index._store.drop(np.empty(0, dtype=np.int64))
    index._store.put([(row, ["zzz"]) for row in rows])
    assert index.difference(mend=False).changed.tolist() == rows
    assert len(index.difference(mend=True)) == 5
    assert len(index.difference(mend=False)) == 0
    assert_best(index, catalog, some_words(1), 10)


@pytest.mark.parametrize("told", [50_000, 0], ids=["rows told", "more asked for"])
def test_filters_of_any_selectivity_leave_enough(
    told: int, tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, terms = keywords_in(shared(), tmp_path, catalog)
    index.follow(write=True)
    monkeypatch.setattr(terms_module, "TOLD", told)
    for share in (1.0, 0.5, 0.1, 0.01):
        where = Compare(key="n", op="<", value=int(COUNT * share))
        allowed = catalog.select(where)
        for seed in range(3):
            asked = some_words(seed)
            true = sorted(
                (score for row, score in true_scores(catalog, terms, asked).items() if row in allowed), reverse=True
            )
            found = asyncio.run(index.search(asked, 10, where))
            assert found.scores == pytest.approx(true[:10], rel=1e-5)
            assert np.isin(found.rows, allowed).all()
            assert len(found) == len(asyncio.run(terms.search(asked, 10, where)))


@pytest.mark.parametrize(
    "word", ["it's", "a\\b", "'", '"', "a.b", "a[]", "%s", "ą", "w\0x", "z" * 3000, "\n", "\ud800"]
)
def test_any_term_is_only_a_term(word: str, tmp_path: Path) -> None:
    with closing(create_catalog(tmp_path / "catalog.db", {})) as catalog:
        commit(catalog, Document(id="a", text="x"), Document(id="b", text="y"))
        store = QdrantTerms(at(shared()), names(tmp_path), "any", lambda: 0.0, k1=1.2, b=0.75)
        store.begin()
        store.put([(1, [word, word, "other"]), (2, ["other"] * 300), (3, [])])
        store.put([(1, [word, word, "other"])])  # again: changes nothing
        store.seal(catalog.stamp())
        found = store.best([Weighed(term=word, weight=1.0, chunks=1)], 5, None)
        assert found.rows.tolist() == [1]
        assert store.rows().tolist() == [1, 2, 3]
        assert store.stamp() == catalog.stamp()


def test_terms_that_share_a_place_are_told_apart(
    tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms_module, "_place", lambda term: len(term))
    index, _ = keywords_in(shared(), tmp_path, catalog)
    index.follow(write=True)
    for seed in range(5):
        assert_best(index, catalog, some_words(seed), 10)
    assert_best(index, catalog, ["n7"], 10)


@pytest.mark.parametrize("length", [3, 90], ids=["shorter", "longer"])
def test_scores_are_those_of_today_when_chunks_became_longer_or_shorter(
    length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms_module, "DRIFTED", 100.0)  # never made anew
    monkeypatch.setattr(terms_module, "ROOM", 0)
    with closing(create_catalog(tmp_path / "catalog.db", {})) as catalog:
        commit(catalog, *documents(300))
        index, terms = keywords_in(shared(), tmp_path, catalog)
        index.follow(write=True)
        collection, before = names(tmp_path).current, terms.mean_length()
        commit(catalog, *documents(200, length, first=300))
        terms.follow()
        index.follow(write=True)
        assert not 0.75 < terms.mean_length() / before < 1.5
        for seed in range(8):
            assert_best(index, catalog, some_words(seed), 5)
        assert names(tmp_path).current == collection
        monkeypatch.undo()
        catalog.remove(["d1"])
        terms.follow()
        index.follow(write=True)  # is made anew, for it has drifted too far
        assert names(tmp_path).current != collection
        for seed in range(3):
            assert_best(index, catalog, some_words(seed), 5)


def test_what_was_made_with_other_constants_is_made_anew(tmp_path: Path, catalog: Catalog) -> None:
    index, _ = keywords_in(shared(), tmp_path, catalog)
    index.follow(write=True)
    other, _ = keywords_in(shared(), tmp_path, catalog, k1=2.0)
    assert (index.stamp, other.stamp) == (catalog.stamp(), Stamp())
    with pytest.raises(EngineBehind):
        asyncio.run(other.search(["w1"], 5))
    other.follow(write=True)
    assert other.stamp == catalog.stamp()


def test_what_somebody_else_changed_is_told_and_mended(tmp_path: Path, catalog: Catalog) -> None:
    index, _ = keywords_in(shared(), tmp_path, catalog)
    index.follow(write=True)
    store = index._store
    store.drop(np.array([3, 4], dtype=np.int64))
    store.put([(99999, ["x"])])
    mended = index.difference(mend=True)
    assert (mended.missing.tolist(), mended.extra.tolist()) == ([3, 4], [99999])
    assert len(index.difference(mend=False)) == 0
    assert_best(index, catalog, ["w1", "w9"], 20)


def said(server: QdrantServer, path: str) -> dict:
    with urllib.request.urlopen(f"{server.url}/{path}") as answer:
        return json.loads(answer.read())["result"]


def test_keeps_payload_and_vectors_on_disk(tmp_path: Path) -> None:
    held = names(tmp_path)
    store = QdrantTerms(at(shared()), held, "any", lambda: 0.0, k1=1.2, b=0.75)
    store.begin()
    asked = said(shared(), f"collections/{held.coming}")["config"]["params"]
    assert asked["on_disk_payload"]
    assert asked["sparse_vectors"]["words"]["index"]["on_disk"]


def test_a_rebuild_switches_the_alias_and_clears_away(tmp_path: Path) -> None:
    server, home = shared(), FolderLocation(tmp_path)

    def version(folder: Path) -> Catalog:
        folder.mkdir()
        return create_catalog(folder / "catalog.db", {})

    def named() -> str:
        aliases = said(server, "aliases")["aliases"]
        return next((one["collection_name"] for one in aliases if one["alias_name"] == "tests-keywords"), "")

    with (
        closing(version(tmp_path / "v1")) as old_catalog,
        closing(version(tmp_path / "v2")) as new_catalog,
    ):
        commit(old_catalog, *documents(10))
        commit(new_catalog, *documents(20))
        old, _ = keywords_in(server, tmp_path, old_catalog)
        home.point(tmp_path / "v1")
        old.follow(write=True)
        first = names(tmp_path).current
        assert named() == first
        new, _ = keywords_in(server, tmp_path, new_catalog, version="v2")
        new.follow(write=True)
        second = names(tmp_path, "v2").current
        assert named() == first  # until the version is in use
        home.point(tmp_path / "v2")
        shutil.rmtree(tmp_path / "v1")
        new.follow(write=True)
        assert named() == second
        held = {one["name"] for one in said(server, "collections")["collections"]}
        assert (first in held, second in held) == (False, True)
        assert_best(new, new_catalog, ["w1"], 20)


@pytest.fixture
def own() -> Iterator[QdrantServer]:
    shared()  # skips where there is no engine
    server = QdrantServer()
    yield server
    server.stop()


def test_a_server_killed_while_it_is_filled_loses_nothing_and_has_nothing_twice(
    own: QdrantServer, tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synced_keywords, "AT_ONCE", 40)
    index, _ = keywords_in(own, tmp_path, catalog)
    failed = 0
    for seconds in (0.0, 0.02, 0.05, 0.1):  # the first comes before all is written, however fast the machine is
        killer = threading.Timer(seconds, own.kill)
        killer.start()
        try:
            index.follow(write=True)
        except EngineError:
            failed += 1
        killer.join()
        own.start()
    assert failed
    index.follow(write=True)
    assert index.stamp == catalog.stamp()
    assert len(index.difference(mend=False)) == 0
    assert_best(index, catalog, ["w1", "w7"], 20)


def opened(folder: Path, server: QdrantServer, *settings: str) -> KnowledgeBase:
    return open_fast(folder, f"services.qdrant.url={server.url}", "cache.enabled=false", *settings)


def asked(engine: KnowledgeBase, question: str) -> tuple[list[str], bool]:
    """The documents found, best first, and whether the answer says that a part of the search failed."""
    answer = asyncio.run(engine.ask(question, reader=OWNER))
    hits = asyncio.run(engine.search(question, 8, reader=OWNER))
    return [hit.chunk.document_id for hit in hits], any("search failed" in notice for notice in answer.notices)


BOTH = ("index.vectors=qdrant", "index.keywords=qdrant")


def test_an_engine_answers_from_it_as_from_its_own_and_goes_on_while_it_is_killed(
    own: QdrantServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker_module, "LONGEST", 1.0)  # it is tried again sooner than otherwise
    texts = [Document(id=f"d{i}", text=f"Room {i} is called {WORDS[i]} and has {i % 7} windows.") for i in range(40)]
    with closing(opened(tmp_path / "a", own)) as embedded, closing(opened(tmp_path / "b", own, *BOTH)) as engine:
        for one in (embedded, engine):
            assert not add(one, *texts).notices
            one.documents.remove(["d3"], reader=OWNER)
        questions = ("Room 7 windows", "called w12", "has 3 windows")
        expected = [asked(embedded, question) for question in questions]
        assert [asked(engine, question) for question in questions] == expected
        assert not any(missing for _, missing in expected)
        assert [(one.leg, one.behind) for one in engine.status().engines] == [("vectors", 0), ("keywords", 0)]
        own.kill()
        found, missing = asked(engine, "called w12")
        assert (found[0], missing) == ("d12", True)
        assert add(engine, Document(id="late", text="Room 77 is called late.")).notices
        own.start()
        deadline = time.monotonic() + 30
        while asked(engine, "Room 77 late")[1]:  # it is tried again by itself
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert asked(engine, "Room 77 late")[0][0] == "late"
        add(engine, Document(id="later", text="Room 78 is called later."))
        assert [one.behind for one in engine.status().engines] == [0, 0]
        (moved,) = embedded.versions.use_engines({"keywords": "qdrant"})
        assert (moved.leg, moved.behind) == ("keywords", 0)
        assert [asked(embedded, question) for question in questions] == expected
        assert embedded.versions.check_engines() == ()
        assert embedded.versions.use_engines({"keywords": "embedded"}) == ()

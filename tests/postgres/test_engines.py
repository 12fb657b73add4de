"""Indexes in PostgreSQL under what happens to servers: filters, killed processes, silence, several who write."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from kb import add, commit, open_fast

from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.access import OWNER
from ragstone.core.catalog import Stamp
from ragstone.core.errors import EngineError, SettingsError
from ragstone.core.filters import Compare
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.engines.postgres import keywords as terms_module
from ragstone.index.engines.postgres import vectors as vectors_module
from ragstone.index.engines.postgres.keywords import PostgresTerms
from ragstone.index.engines.postgres.vectors import PostgresVectors
from ragstone.index.follow import synced_keywords as keywords_module
from ragstone.index.follow import synced_vectors
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.synced_keywords import SyncedKeywords
from ragstone.index.follow.synced_vectors import SyncedVectors
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.index.vectors.embedded import EmbeddedVectors
from ragstone.services import breaker as breaker_module
from ragstone.services.postgres import Server
from servers.postgres_server import PostgresServer

COUNT = 1000
WORDS = [f"w{i}" for i in range(80)]
pytestmark = pytest.mark.usefixtures("workdir")


def documents(count: int) -> Iterator[Document]:
    rng = np.random.default_rng(5)
    popular = rng.zipf(1.4, size=count * 12) % len(WORDS)
    for i in range(count):
        text = " ".join(WORDS[j] for j in popular[12 * i : 12 * i + 12])
        yield Document(id=f"d{i}", text=f"{text} n{i}", metadata={"n": i})


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with closing(create_catalog(tmp_path_factory.mktemp("engines") / "catalog.db", {})) as catalog:
        commit(catalog, *documents(COUNT))
        yield catalog


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[Server]:
    with closing(Server(postgres.settings(postgres.database("engines")))) as server:
        yield server


def names(folder: Path, leg: str) -> CollectionNames:
    (folder / "v1").mkdir(exist_ok=True)
    return CollectionNames(folder / "v1", f"postgres-{leg}", leg)


def vectors_in(server: Server, folder: Path, catalog: Catalog, *, exact_limit: int = 10**6) -> SyncedVectors:
    store = PostgresVectors(server, names(folder, "vectors"), 32, exact_limit=exact_limit)
    return SyncedVectors(store, catalog, dimensions=32)


def keywords_in(server: Server, folder: Path, catalog: Catalog) -> tuple[SyncedKeywords, TermIndex]:
    terms = TermIndex(folder / "terms", catalog, Plain(), k1=1.2, b=0.75)
    terms.follow()
    store = PostgresTerms(server, names(folder, "keywords"), Plain().fingerprint, k1=1.2, b=0.75)
    return SyncedKeywords(store, catalog, terms), terms


def random_vector(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=32).astype(np.float32)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("exact_limit", [10**6, 100], ids=["exact", "HNSW"])
def test_filters_of_any_selectivity_leave_enough(
    exact_limit: int, server: Server, tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synced_vectors, "FEW", 0)  # otherwise so few are compared here
    index = vectors_in(server, tmp_path, catalog, exact_limit=exact_limit)
    index.follow(write=True)
    reference = EmbeddedVectors(tmp_path / "reference", catalog, dimensions=32, exact_limit=10**6)
    for told in (50_000, 0):  # with the rows told, and with the graph asked for more
        monkeypatch.setattr(synced_vectors, "FILTERED", told)
        shared = []
        for share in (1.0, 0.5, 0.1, 0.01):
            where = Compare(key="n", op="<", value=int(COUNT * share))
            for seed in range(3):
                found = asyncio.run(index.search(random_vector(seed), 10, where))
                true = asyncio.run(reference.search(random_vector(seed), 10, where))
                assert len(found) == 10
                shared.append(len(np.intersect1d(found.rows, true.rows)))
        assert min(shared) == 10 if exact_limit > COUNT else np.mean(shared) >= 9.5
    assert len(asyncio.run(index.search(random_vector(1), COUNT + 5))) == COUNT


def test_a_graph_is_made_when_there_are_many(server: Server, tmp_path: Path) -> None:
    with closing(create_catalog(tmp_path / "catalog.db", {})) as catalog:
        commit(catalog, *documents(50))
        index = vectors_in(server, tmp_path, catalog, exact_limit=100)
        index.follow(write=True)
        assert graphs(server) == 0
        commit(catalog, *documents(200))
        index.follow(write=True)
        assert graphs(server) == 1
        assert len(asyncio.run(index.search(random_vector(1), 200))) == 200


def graphs(server: Server) -> int:
    with server.transaction() as db:
        found = db.execute("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'").fetchone()
    return found[0] if found else 0


def test_leaving_common_words_out_finds_the_same(
    server: Server, tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, terms = keywords_in(server, tmp_path, catalog)
    index.follow(write=True)
    rng = np.random.default_rng(2)
    for budget in (1, 30, 300):
        monkeypatch.setattr(terms_module, "LOOKED_UP", budget)
        for _ in range(6):
            asked = [str(word) for word in rng.choice(WORDS, size=5)]
            found, true = asyncio.run(index.search(asked, 10)), asyncio.run(terms.search(asked, 10))
            assert found.scores == pytest.approx(true.scores, rel=1e-4)


@pytest.mark.parametrize("word", ["it's", "a\\b", "'", "\\", "x:*", "a & !b", "%s", "ą", "w\0x", "z" * 3000, "\n"])
def test_any_term_is_only_a_term(word: str, server: Server, tmp_path: Path) -> None:
    with closing(create_catalog(tmp_path / "catalog.db", {})) as catalog:
        commit(catalog, Document(id="a", text="x"), Document(id="b", text="y"))
        store = PostgresTerms(server, names(tmp_path, "keywords"), "any", k1=1.2, b=0.75)
        store.begin()
        store.put([(1, [word, word, "other"]), (2, ["other"] * 300)])
        store.put([(1, [word, word, "other"])])  # again: changes nothing
        store.seal(catalog.stamp())
        found = store.best([terms_module.Weighed(term=word, weight=1.0, chunks=1)], 5, None)
        assert found.rows.tolist() == [1]
        assert store.rows().tolist() == [1, 2]
        assert store.stamp() == catalog.stamp()


def test_what_somebody_else_changed_is_told_and_mended(server: Server, tmp_path: Path, catalog: Catalog) -> None:
    index, _ = keywords_in(server, tmp_path, catalog)
    index.follow(write=True)
    near = vectors_in(server, tmp_path, catalog)
    near.follow(write=True)
    with server.transaction() as db:
        for table in (index._store._table.table, near._store._table.table):  # pyright: ignore
            db.execute(f"DELETE FROM {table} WHERE row IN (3, 4)".encode())  # noqa: S608
        db.execute(f"INSERT INTO {index._store._table.table} VALUES (99999, 1, 'x:1')".encode())  # noqa: S608
    for one, extra in ((index, [99999]), (near, [])):
        found = one.difference(mend=True)
        assert (found.missing.tolist(), found.extra.tolist(), found.changed.tolist()) == ([3, 4], extra, [])
        assert len(one.difference(mend=False)) == 0


def test_overwritten_terms_and_lengths_are_found_and_mended(server: Server, tmp_path: Path, catalog: Catalog) -> None:
    index, terms = keywords_in(server, tmp_path, catalog)
    index.follow(write=True)
    table = index._store._table.table  # pyright: ignore
    counted = "SELECT chunks, length FROM ragstone.indexes"
    with server.transaction() as db:
        before = db.execute(counted).fetchall()
        db.execute(f"UPDATE {table} SET terms = 'zzz:1', length = 1".encode())  # noqa: S608
    assert len(asyncio.run(index.search(["w1"], 5))) == 0
    assert len(index.difference(mend=False).changed) == COUNT
    index.difference(mend=True)
    assert len(index.difference(mend=False)) == 0
    with server.transaction() as db:
        assert db.execute(counted).fetchall() == before
    found, true = asyncio.run(index.search(["w1", "w7"], 20)), asyncio.run(terms.search(["w1", "w7"], 20))
    assert found.scores == pytest.approx(true.scores, rel=1e-4)


def test_a_table_dropped_by_somebody_is_made_again(server: Server, tmp_path: Path, catalog: Catalog) -> None:
    index = vectors_in(server, tmp_path, catalog)
    index.follow(write=True)
    with server.transaction() as db:
        db.execute("DROP SCHEMA ragstone CASCADE")
    assert index.stamp == Stamp()
    index.follow(write=True)
    assert index.stamp == catalog.stamp()
    with server.transaction() as db:  # nothing is left of the first
        assert db.execute("SELECT count(*) FROM ragstone.indexes").fetchone() == (1,)


def test_a_server_killed_while_it_is_filled_loses_nothing_and_has_nothing_twice(
    postgres: PostgresServer, server: Server, tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_module, "AT_ONCE", 50)
    monkeypatch.setattr(keywords_module, "AT_ONCE", 50)
    index, terms = keywords_in(server, tmp_path, catalog)
    near = vectors_in(server, tmp_path, catalog)
    rng, failed = np.random.default_rng(1), 0
    for _ in range(5):
        killer = threading.Timer(float(rng.uniform(0.01, 0.25)), postgres.kill)
        killer.start()
        for one in (index, near):
            try:
                one.follow(write=True)
            except EngineError:
                failed += 1
        killer.join()
        postgres.start()
    assert failed
    index.follow(write=True)
    near.follow(write=True)
    for one in (index, near):
        assert one.stamp == catalog.stamp()
        assert len(one.difference(mend=False)) == 0
    with server.transaction() as db:
        counted = db.execute("SELECT chunks FROM ragstone.indexes ORDER BY name").fetchall()
        assert counted == [(COUNT,), (COUNT,)]
    found, true = asyncio.run(index.search(["w1", "w7"], 20)), asyncio.run(terms.search(["w1", "w7"], 20))
    assert found.scores == pytest.approx(true.scores, rel=1e-4)


def test_closes_a_connection_that_cannot_be_set_up(postgres: PostgresServer) -> None:
    database, others = postgres.database("refused"), "SELECT count(*) FROM pg_stat_activity WHERE datname = 'refused'"
    longer_than_allowed = 1e7
    with closing(Server(postgres.settings(database), schema="any", seconds=longer_than_allowed)) as server:
        with pytest.raises(EngineError, match="statement_timeout"):
            server.rows("SELECT 1")
        gc.collect()  # a connection that is left open would warn here
        with closing(postgres.connect()) as db:
            assert db.execute(others).fetchone() == (0,)


def test_a_server_that_says_nothing_is_left_alone(postgres: PostgresServer, tmp_path: Path, catalog: Catalog) -> None:
    with closing(Server(postgres.settings(postgres.database("silent")), seconds=0.3)) as server:
        index = vectors_in(server, tmp_path, catalog)
        index.follow(write=True)
        with server.transaction() as db:
            (pid,) = db.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        os.kill(pid, signal.SIGSTOP)
        started = time.monotonic()
        with suppress(EngineError):  # a new connection may do
            asyncio.run(index.search(random_vector(1), 5))
        assert time.monotonic() - started < 5
        os.kill(pid, signal.SIGCONT)
        while index._follower.calls.problem:  # it is tried again by itself
            assert time.monotonic() - started < 30
            time.sleep(0.05)
        assert len(asyncio.run(index.search(random_vector(1), 5))) == 5


def opened(folder: Path, address: str, *settings: str) -> KnowledgeBase:
    service = (f"services.postgres.dsn={address}", "services.engine_seconds=3")
    return open_fast(folder, *service, "cache.enabled=false", *settings)


def asked(engine: KnowledgeBase, question: str) -> tuple[list[str], bool]:
    """The documents found, best first, and whether the answer says that a part of the search failed."""
    answer = asyncio.run(engine.ask(question, reader=OWNER))
    hits = asyncio.run(engine.search(question, 8, reader=OWNER))
    return [hit.chunk.document_id for hit in hits], any("search failed" in notice for notice in answer.notices)


BOTH = ("index.vectors=postgres", "index.keywords=postgres")


def test_a_question_brings_both_legs_up_that_have_lost_everything(postgres: PostgresServer, tmp_path: Path) -> None:
    database = postgres.database("lost")
    with closing(opened(tmp_path / "kb", postgres.address(database), *BOTH)) as engine:
        add(engine, *documents(50))
        expected = asked(engine, WORDS[3])
        with closing(postgres.connect(database)) as db:
            db.execute("DROP SCHEMA ragstone CASCADE")
    with closing(opened(tmp_path / "kb", postgres.address(database), *BOTH)) as engine:
        assert asked(engine, WORDS[3]) == expected
        assert [one.behind for one in engine.status().engines] == [0, 0]
    assert not expected[1]


def test_an_engine_answers_from_it_as_from_its_own(postgres: PostgresServer, tmp_path: Path) -> None:
    address = postgres.address(postgres.database("whole"))
    texts = [Document(id=f"d{i}", text=f"Room {i} is called {WORDS[i]} and has {i % 7} windows.") for i in range(40)]
    with closing(opened(tmp_path / "a", address)) as own, closing(opened(tmp_path / "b", address, *BOTH)) as other:
        for engine in (own, other):
            assert not add(engine, *texts).notices
            engine.documents.remove(["d3"], reader=OWNER)
        for question in ("Room 7 windows", "called w12", "has 3 windows"):
            assert asked(other, question) == asked(own, question)
            assert asked(own, question)[1] is False
        assert [one.behind for one in other.status().engines] == [0, 0]


@pytest.mark.parametrize("leg", BOTH)
def test_questions_go_on_while_it_is_killed_and_started(
    leg: str, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker_module, "LATER", 1.0)  # it is tried again sooner than otherwise
    address = postgres.address(postgres.database("killed"))
    texts = [Document(id=f"d{i}", text=f"Room {i} is called {WORDS[i]}.") for i in range(30)]
    with closing(opened(tmp_path / "kb", address, leg)) as engine:
        add(engine, *texts)
        told = []
        for i in range(21):
            if i == 7:
                postgres.kill()
            if i == 14:
                notices = add(engine, Document(id="late", text="Room 77 is called late.")).notices
                assert any("catches up" in notice for notice in notices)
                postgres.start()
            found, missing = asked(engine, f"Room {i % 30} is called {WORDS[i % 30]}")
            assert found[0] == f"d{i % 30}"
            told.append(missing)
        assert not any(told[:7])
        assert all(told[7:14])
        deadline = time.monotonic() + 40
        while asked(engine, "Room 77 late")[1]:  # it is tried again by itself
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert asked(engine, "Room 77 late")[0][0] == "late"
        add(engine, Document(id="later", text="Room 78 is called later."))
        assert [one.behind for one in engine.status().engines] == [0]


def test_it_must_be_said_where_it_is(tmp_path: Path) -> None:
    refused = pytest.raises(SettingsError, match="DATABASE_URL")
    with refused, closing(open_fast(tmp_path / "kb", "index.keywords=postgres")) as engine:
        add(engine, Document(id="a", text="b"))


def test_partitions_that_differ_from_the_settings_are_told(
    tmp_path: Path, catalog: Catalog, postgres: PostgresServer
) -> None:
    (tmp_path / "v1").mkdir()
    names = CollectionNames(tmp_path / "v1", "postgres-vectors", "vectors")

    def index(partitions: int) -> SyncedVectors:
        server = Server(postgres.settings())
        store = PostgresVectors(server, names, 32, exact_limit=100, partitions=partitions)
        return SyncedVectors(store, catalog, dimensions=32)

    with closing(index(0)) as plain, closing(index(3)) as parted:
        plain.follow(write=True)
        assert plain.status().unlike == ""
        assert "made with 0 partitions, and services.postgres.partitions is 3" in parted.status().unlike
        parted.difference(mend=True)
        assert parted.status().unlike == ""
        assert len(parted.difference(mend=False)) == 0
        vector = next(iter(catalog.vectors([1]).values()))
        found = asyncio.run(parted.search(vector, 1))
        assert found.rows.tolist() == [1]

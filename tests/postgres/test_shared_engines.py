"""Hosts that keep no copy of the index: catalog, vectors and keywords are in PostgreSQL."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from kb import add, open_fast, parts

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import EngineError
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.engine import doctor, following
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.follow.synced_keywords import SyncedKeywords
from servers.postgres_server import PostgresServer

pytestmark = pytest.mark.usefixtures("workdir")
ENGINES = ("index.vectors=postgres", "index.keywords=postgres")
WORDS = ("tower", "harbour", "Leuchtturm", "windows", "painted", "orange", "keeper", "lantern", "Kessel", "granite")
Opened = Callable[..., KnowledgeBase]
_NAMES = (f"engines{n}" for n in count())


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    return postgres.address(postgres.database("engines"))


@pytest.fixture
def opened(tmp_path: Path, address: str) -> Iterator[Opened]:
    """Opens a knowledge base on a host."""
    catalog = f"services.postgres.catalog={next(_NAMES)}"
    shared, engines = [f"services.postgres.dsn={address}", "index.catalog=postgres", catalog], list[KnowledgeBase]()

    def at(host: str, *settings: str, create: bool = True) -> KnowledgeBase:
        engines.append(open_fast(tmp_path / host, *shared, *settings, create=create))
        return engines[-1]

    yield at
    for engine in engines:
        engine.close()


def found(engine: KnowledgeBase, question: str, reader: Reader = OWNER) -> list[str]:
    return [hit.chunk.document_id for hit in asyncio.run(engine.search(question, 9, reader=reader))]


def text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=12))


def test_a_new_host_answers_without_an_index_of_its_own(opened: Opened, tmp_path: Path) -> None:
    one = opened("one", *ENGINES)
    assert not add(one, *(Document(id=f"room{n}", text=f"Room {n} is called n{n}.") for n in range(30))).notices
    add(one, Document(id="secret", text="The tower has a cellar.", metadata={"readers": "staff"}))
    other = opened("other", create=False)
    for question in ("Room called n7", "which room is n3"):
        assert found(other, question)[:1] == found(one, question)[:1]
    answer = asyncio.run(other.ask("What is room 5 called?", reader=OWNER))
    assert "n5" in answer.answer
    assert not answer.notices
    assert "secret" in found(other, "tower cellar", Reader.of("staff"))
    assert "secret" not in found(other, "tower cellar", Reader.of("guests"))
    add(other, Document(id="new", text="The harbour freezes in winter."))
    one.documents.remove(["room7"], reader=OWNER)
    assert found(one, "harbour freezes")[0] == "new"
    assert "room7" not in found(other, "Room called n7")
    for host in ("one", "other"):
        assert not [*(tmp_path / host).glob("v*/*")], "no file of an index"
    assert [leg.behind for leg in other.status().engines] == [0, 0]


def test_words_weigh_as_in_an_index_that_is_made_again(opened: Opened, tmp_path: Path) -> None:
    chance = random.Random(5)
    texts = [Document(id=f"d{n}", text=text(chance), metadata={"language": "en" if n % 3 else "de"}) for n in range(40)]
    served = opened("one", *ENGINES)
    add(served, *texts[:25])
    changed = [*texts[:20], *(Document(id=one.id, text=text(chance), metadata=one.metadata) for one in texts[20:])]
    add(served, *changed)
    served.documents.remove([f"d{n}" for n in range(0, 40, 7)], reader=OWNER)
    with closing(open_fast(tmp_path / "file")) as own:
        add(own, *(one for n, one in enumerate(changed) if n % 7))
        with served.current() as here, own.current() as there:
            mine, theirs = here.indexes.terms(), there.indexes.terms()
            theirs.follow()
            analyzer = there.indexes.analyzer()
            terms = sorted({term for word in WORDS for term in analyzer(word, "de")})
            terms.append("absent")
            assert mine.frequencies(terms) == theirs.frequencies(terms)
            assert mine.mean_length() == pytest.approx(theirs.mean_length())
            assert mine.weigh([*WORDS, "absent"]) == pytest.approx(theirs.weigh([*WORDS, "absent"]))
            assert mine.ceiling(terms) == pytest.approx(theirs.ceiling(terms))
            assert mine.unseen() == theirs.unseen()
            assert mine.known(["towers", "absent"], "en") == theirs.known(["towers", "absent"], "en") == [True, False]
            for wrong in ("harbuor", "lantren", "orage", "towwer", "absent"):
                assert mine.near(wrong, 1) == theirs.near(wrong, 1)
            assert dict(mine.languages()) == pytest.approx(dict(theirs.languages()))
            few = here.catalog.rows_since(0)[:5]
            for word in WORDS:
                counted = sum(word.lower() in one.text.lower() for one in here.catalog.chunks(few.tolist()).values())
                assert mine.among(word, "en", few, 99) == counted
            assert here.indexes.words().known(["tower"], "en", Request.by_owner("question")) == [True]
    assert served.versions.check_engines() == ()


def test_what_an_interrupted_ingest_left_behind_is_found(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = opened("one", *ENGINES), opened("other", *ENGINES)
    add(one, *(Document(id=f"room{n}", text=f"Room {n} is called n{n}.") for n in range(9)))

    def killed(*_: object, **__: object) -> None:
        raise EngineError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(SyncedKeywords, "follow", killed)
        add(one, Document(id="late", text="The tower is painted orange."))
        one.documents.remove(["room3"], reader=OWNER)
    assert found(other, "tower painted orange")[0] == "late"
    assert "room3" not in found(other, "Room called n3")
    monkeypatch.setattr(following, "NEWEST", 0)
    assert "does not know the newest" in asyncio.run(other.ask("What is room 5 called?", reader=OWNER)).notices[0]
    add(other, Document(id="next", text="The harbour freezes."))
    assert [leg.behind for leg in other.status().engines] == [0, 0]
    assert found(one, "tower painted orange")[0] == "late"


def test_a_change_of_engines_and_a_rebuild_reach_every_host(
    opened: Opened, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_SERVICES__POSTGRES__DSN", address)
    one = opened("one")
    add(one, *(Document(id=f"room{n}", text=f"Room {n} is called n{n}. It is large.") for n in range(9)))
    other = opened("other", create=False)
    assert found(other, "Room called n3")[0] == "room3"
    statuses = one.versions.use_engines({"vectors": "postgres", "keywords": "postgres"})
    assert [status.behind for status in statuses] == [0, 0]
    assert found(other, "Room called n3")[0] == "room3"
    assert len(parts(other).external_indexes()) == 2
    asyncio.run(other.versions.rebuild(["chunk.size=90"]))
    assert found(one, "Room called n3")[0] == "room3"
    assert [status.behind for status in one.status().engines] == [0, 0]


def test_doctor_mends_what_somebody_changed(
    opened: Opened, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch, postgres: PostgresServer
) -> None:
    one = opened("one", *ENGINES)
    add(one, *(Document(id=f"room{n}", text=f"Room {n} is called n{n}.") for n in range(9)))
    with one.current() as version:
        table = version.location.shelf.read("v1/postgres-keywords.json")["current"]
    with closing(postgres.connect("engines")) as db:
        db.execute(f'DELETE FROM ragstone."{table}" WHERE row < 4'.encode())  # noqa: S608
        db.commit()
    assert "it lacks 3 chunks" in one.versions.check_engines()[0].what
    assert one.versions.check_engines(mend=True)[0].mended
    assert one.versions.check_engines() == ()
    with one.current() as version:
        assert version.indexes.terms().frequencies(["room"])[1] == {"room": 9}
    monkeypatch.setenv("RAGSTONE_SERVICES__POSTGRES__DSN", address)
    assert doctor.doctor(tmp_path / "one").findings == ()


def test_a_chunk_that_the_catalog_does_not_know_is_never_shown(opened: Opened, postgres: PostgresServer) -> None:
    """As when a host writes to an engine after it lost its lock."""
    one = opened("one", *ENGINES)
    add(one, *(Document(id=f"room{n}", text=f"Room {n} is called n{n}.") for n in range(9)))
    expected = found(one, "Room called n3")
    with one.current() as version, closing(postgres.connect("engines")) as db:
        for leg, columns in (("keywords", "length, terms"), ("vectors", "embedding")):
            table = version.location.shelf.read(f"v1/postgres-{leg}.json")["current"]
            sql = f'INSERT INTO ragstone."{table}" SELECT row + 10^6, {columns} FROM ragstone."{table}"'  # noqa: S608
            db.execute(sql.encode())
        db.commit()
    assert found(one, "called n3, that room")[0] == expected[0] == "room3"
    assert set(found(one, "called n3, that room")) <= {f"room{n}" for n in range(9)}

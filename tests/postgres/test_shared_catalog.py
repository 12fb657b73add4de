"""Several hosts on one catalog in PostgreSQL. A host is a folder of its own; the ones that are killed are processes."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from kb import add, open_fast, parts

from ragstone.catalog.location import MARKER
from ragstone.chunk import chunk_id
from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import KnowledgeBaseError, Locked, NotFound, SettingsError, SettingsMismatch
from ragstone.core.records import Document
from ragstone.engine import backup, doctor
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.views import state
from servers.postgres_server import PostgresServer

pytestmark = pytest.mark.usefixtures("workdir")
_NAMES = (f"kb{n}" for n in count())
Opened = Callable[..., KnowledgeBase]


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    return postgres.address(postgres.database("shared"))


@pytest.fixture
def name() -> str:
    return next(_NAMES)


@pytest.fixture
def shared(address: str, name: str) -> list[str]:
    """The settings of a new knowledge base."""
    return [f"services.postgres.dsn={address}", "index.catalog=postgres", f"services.postgres.catalog={name}"]


@pytest.fixture
def opened(tmp_path: Path, shared: list[str]) -> Iterator[Opened]:
    """Opens the knowledge base on a host."""
    engines: list[KnowledgeBase] = []

    def at(host: str, *settings: str, create: bool = True) -> KnowledgeBase:
        engines.append(open_fast(tmp_path / host / ".ragstone", *shared, *settings, create=create))
        return engines[-1]

    yield at
    for engine in engines:
        engine.close()


def found(engine: KnowledgeBase, question: str, reader: Reader = OWNER) -> list[str]:
    hits = asyncio.run(engine.search(question, 9, reader=reader))
    return [hit.chunk.document_id for hit in hits]


def room(i: int, more: str = "") -> Document:
    return Document(id=f"room{i}", text=f"The room number {i} is called n{i}.{more}")


def test_what_one_host_does_the_other_finds_in_its_next_answer(opened: Opened) -> None:
    one = opened("one")
    add(one, *(room(i) for i in range(5)))
    other = opened("other", create=False)
    assert found(other, "called n3")[0] == "room3"
    for change, colour in (
        (lambda: add(one, Document(id="new", text="The tower is painted orange.")), "orange"),
        (lambda: add(one, Document(id="new", text="The tower is painted purple.")), "purple"),
        (lambda: one.documents.remove(["new"], reader=OWNER), ""),
    ):
        change()
        answer = asyncio.run(other.ask("In which colour is the tower painted?", reader=OWNER))
        assert not answer.notices
        sources = " ".join(hit.chunk.text for hit in answer.hits)
        assert [colour for colour in ("orange", "purple") if colour in sources] == ([colour] if colour else [])
        assert found(other, "painted tower") == found(one, "painted tower")
    add(other, Document(id="secret", text="The tower has a cellar.", metadata={"readers": "staff"}))
    add(other, room(2, " It has a door of oak."))
    for engine in (one, other):
        assert "secret" in found(engine, "cellar", Reader.of("staff"))
        assert "secret" not in found(engine, "cellar", Reader.of("guests"))
        assert "oak" in engine.documents.get("room2", reader=OWNER).text
        assert engine.status().documents == 6
        assert engine.status().behind == 0
    assert one.status().catalog.endswith(f"schema {parts(one).location._name}")  # pyright: ignore


def test_one_indexer_at_a_time_and_the_next_is_told_who(opened: Opened) -> None:
    one, other = opened("one"), opened("other")
    add(one, room(1))
    with parts(one).location.indexing():
        with pytest.raises(Locked, match=r"being indexed by process \d+ .* on .* since"):
            add(other, room(2))
        with pytest.raises(Locked), parts(other).location.rebuilding(), parts(one).location.rebuilding():
            pass
        assert found(other, "called n1") == ["room1"]
    add(other, room(2))


def test_a_holder_that_lost_its_lock_writes_nothing_more(opened: Opened, postgres: PostgresServer) -> None:
    one, other = opened("one"), opened("other")
    add(one, room(1))
    with parts(one).location.indexing():
        with closing(postgres.connect("shared")) as db:
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND mode <> 'ShareLock'"
            )
        add(other, room(2))
        with pytest.raises(KnowledgeBaseError, match="broke, and process"):
            parts(one).catalog.remove(["room1"])
    assert found(other, "called n1")[0] == "room1"


def test_a_rebuild_is_seen_by_all_and_can_be_taken_back(opened: Opened, postgres: PostgresServer, name: str) -> None:
    one, other = opened("one"), opened("other")
    add(one, *(room(i, " And it is large. " * 20) for i in range(4)))
    before = found(other, "called n3")
    embedded = asyncio.run(one.versions.rebuild(["chunk.size=90"])).embedded
    assert embedded > 0
    assert found(other, "called n3")[0] == "room3"
    assert other.status().built_with.settings["chunk.size"] == 90
    with pytest.raises(SettingsMismatch, match=r"ragstone rebuild"):
        opened("third", "chunk.size=120")
    add(other, room(9))
    assert asyncio.run(other.versions.revert()).embedded <= 1
    assert set(found(one, "called n3")) == {*before, "room9"}
    asyncio.run(one.versions.rebuild(["chunk.size=120"], switch=False))
    assert [version.role for version in other.status().others] == ["next", "previous"]
    asyncio.run(other.versions.switch())
    for engine in (one, other):  # which let go of the version before
        assert engine.status().built_with.settings["chunk.size"] == 120
    one.versions.drop_previous()
    with closing(postgres.connect("shared")) as db:
        like = f"{name}\\_v%"
        schemas = db.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE %s", [like]).fetchone()
    assert schemas == (1,)


def test_a_version_that_is_still_read_stays(opened: Opened) -> None:
    one, other = opened("one"), opened("other")
    add(one, room(1))
    old = parts(other).source.path
    kept = other.uncached()  # stays with its version
    asyncio.run(one.versions.rebuild(["chunk.size=90"]))
    asyncio.run(one.versions.rebuild(["chunk.size=80"]))
    assert found(kept, "called n1") == ["room1"]
    kept.close()
    found(other, "called n1")
    parts(one).location.clear(parts(one).location.previous())
    with pytest.raises(NotFound):
        parts(one).location.catalog(old)


def test_it_moves_in_and_out_without_embedding_again(
    tmp_path: Path, shared: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_fast(tmp_path / "file")) as engine:
        add(engine, *(room(i) for i in range(7)))
        engine.documents.remove(["room6"], reader=OWNER)
        wanted = {question: found(engine, question) for question in ("called n1", "called n5", "room number")}
        asyncio.run(engine.ask("What is room 1 called?", session="s", reader=OWNER))
        said = engine.history.turns("s", reader=OWNER)
    backup.backup(tmp_path / "file", tmp_path / "copy")
    with pytest.raises(SettingsMismatch, match="ragstone backup COPY"):
        open_fast(tmp_path / "file", *shared)
    for setting in shared:
        path, _, value = setting.partition("=")
        monkeypatch.setenv(f"RAGSTONE_{path.upper().replace('.', '__')}", value)
    copied = backup.restore(tmp_path / "copy", tmp_path / "host")
    assert copied.documents == 6
    assert doctor.doctor(tmp_path / "host").findings == ()
    monkeypatch.delenv("RAGSTONE_INDEX__CATALOG")  # the folder remembers
    monkeypatch.delenv("RAGSTONE_SERVICES__POSTGRES__CATALOG")
    with closing(open_fast(tmp_path / "host", create=False)) as engine:
        assert {question: found(engine, question) for question in wanted} == wanted
        assert add(engine, room(1), room(7)).embedded == 1
        assert said == engine.history.turns("s", reader=OWNER) != []
    with pytest.raises(SettingsMismatch, match="ragstone backup FOLDER"):
        open_fast(tmp_path / "host", "index.catalog=embedded")
    backup.backup(tmp_path / "host", tmp_path / "out")
    monkeypatch.delenv("RAGSTONE_SERVICES__POSTGRES__DSN")
    with closing(open_fast(tmp_path / "out", create=False)) as engine:
        assert add(engine, *(room(i) for i in range(8) if i != 6)).embedded == 0
        assert found(engine, "called n7")[0] == "room7"
        assert engine.history.turns("s", reader=OWNER) == said
    assert doctor.doctor(tmp_path / "out").findings == ()


def test_what_cannot_be_is_refused_with_what_to_do(
    tmp_path: Path, shared: list[str], opened: Opened, postgres: PostgresServer
) -> None:
    with pytest.raises(SettingsError, match="DATABASE_URL"):
        open_fast(tmp_path / "nowhere", "index.catalog=postgres")
    with pytest.raises(NotFound, match="ragstone add"):
        open_fast(tmp_path / "empty", *shared, create=False)
    for catalog in ("public", "pg_x", "Kb", "information_search", "ragstone"):
        with pytest.raises(SettingsError, match=r"services\.postgres\.catalog"):
            open_fast(tmp_path / "named", *shared, f"services.postgres.catalog={catalog}")
    with pytest.raises(SettingsMismatch, match=r"set index\.vectors"):
        opened("one", "index.vectors=faiss:Flat")
    with closing(opened("one")) as engine:
        add(engine, room(1))
    elsewhere = [f"services.postgres.dsn={postgres.address(postgres.database('elsewhere'))}", *shared[1:]]
    with pytest.raises(KnowledgeBaseError, match="check DATABASE_URL"):
        open_fast(tmp_path / "one" / ".ragstone", *elsewhere)
    away = ["services.postgres.dsn=postgresql://me:hidden@127.0.0.1:1/x", *shared[1:]]
    with pytest.raises(KnowledgeBaseError, match=r"PostgreSQL at 127\.0\.0\.1:1") as refused:
        open_fast(tmp_path / "one" / ".ragstone", *away)
    assert "hidden" not in str(refused.value)


def test_status_says_where_it_is_and_what_is_shared(tmp_path: Path, opened: Opened) -> None:
    engine = opened("one")
    add(engine, room(1))
    told = " ".join(str(line) for line in state.status(engine.status()))
    assert "PostgreSQL at 127.0.0.1" in told
    assert "all hosts share it" in told
    assert "postgresql://" not in (tmp_path / "one" / ".ragstone" / MARKER).read_text()


WRITER = """
import asyncio, json, sys
from kb import open_fast
from ragstone.core.layout import Placed
from ragstone.core.records import Document
from pathlib import Path
folder, first, last, *settings = sys.argv[1:]
engine = open_fast(Path(folder), *settings)
texts = {f"d{i}": f"Room {i} is called n{i}. " + f"It has {i} windows. " * 30 for i in range(int(first), int(last))}
documents = [Document(id=id, text=text) for id, text in texts.items()]
for start in range(0, len(documents), 4):
    part = documents[start:start + 4]
    asyncio.run(engine.documents.add(part))
    print(json.dumps([one.id for one in part]), flush=True)
"""


def test_killed_writers_and_servers_lose_nothing_acknowledged_and_have_nothing_twice(
    postgres: PostgresServer, tmp_path: Path, shared: list[str], opened: Opened
) -> None:
    reader = opened("reader")
    acknowledged: set[str] = set()
    for round, victim in enumerate(("writer", "server")):
        command = [sys.executable, "-c", WRITER, str(tmp_path / f"w{round}"), "0", "120", *shared]
        tests = Path(__file__).parent.parent
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tests
        ) as writer:
            kill = writer.kill if victim == "writer" else postgres.kill
            assert writer.stdout is not None
            for seen, line in enumerate(writer.stdout):
                acknowledged |= set(json.loads(line))
                if seen == 2:
                    threading.Timer(0.02, kill).start()
        assert seen >= 2
        if victim == "server":
            postgres.start()
        deadline = time.monotonic() + 30
        while True:  # the lock is free as soon as the server sees that its holder is gone
            try:
                add(reader, room(round))
                break
            except KnowledgeBaseError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        stored = [one.id for one in reader.documents.all()]
        assert acknowledged <= set(stored)
        assert len(stored) == len(set(stored))
    assert parts(reader).catalog.verify(chunk_id) == []
    assert found(reader, "called n5")[0] == "d5"

"""A knowledge base whose documents programs find in SQL, in the words of their languages, each reader their own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from kb import FAST, add

from ragstone.core.access import OWNER
from ragstone.core.errors import SettingsError
from ragstone.core.records import Document
from ragstone.engine.attached import folder_of
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.engines.postgres import schema
from ragstone.services.postgres import Server
from servers.postgres_server import PostgresServer

pytestmark = pytest.mark.usefixtures("workdir")
GERMAN = Document(id="haus", title="Häuser", text="Die Häuser stehen am Hafen.", metadata={"language": "de"})
ENGLISH = Document(
    id="mast", title="Mast", url="https://ship.example/mast", text="The masts are tall.", metadata={"language": "en"}
)
SECRET = Document(id="pay", text="The harbour pays well.", metadata={"readers": ("staff",), "kind": "memo"})


@pytest.fixture
def place(postgres: PostgresServer) -> Iterator[tuple[list[str], psycopg.Connection]]:
    name = postgres.database("kept")
    settings = [
        *FAST,
        f"services.postgres.dsn={postgres.address(name)}",
        "services.postgres.documents=true",
        "services.postgres.configurations={de: german}",
    ]
    with closing(postgres.connect(name)) as connection:
        yield settings, connection


def apply(postgres: PostgresServer, connection: psycopg.Connection) -> None:
    with closing(Server(postgres.settings(connection.info.dbname))) as server:
        schema.apply(server)


def found(db: psycopg.Connection, text: str) -> list[Any]:
    return db.execute("SELECT title, url, source_type FROM search_documents(%s)", [text]).fetchall()


def test_documents_are_found_in_their_languages_and_follow_every_change(
    tmp_path: Path, postgres: PostgresServer, place: tuple[list[str], psycopg.Connection]
) -> None:
    settings, db = place
    with closing(KnowledgeBase.open(tmp_path / "kb", settings, create=True)) as engine:
        report = add(engine, GERMAN)
        assert "run: ragstone postgres apply" in report.notices[0]
        apply(postgres, db)
        db.execute("INSERT INTO information_search.documents (title) VALUES ('somebody else')")
        assert add(engine, ENGLISH, SECRET).notices == ()
        assert found(db, "haus") == [("Häuser", "", "")]  # the stem of German
        assert found(db, "mast") == [("Mast", "https://ship.example/mast", "")]  # the word, for English is simple here
        assert found(db, "harbour") == [("", "", "memo")]
        assert [one.behind for one in engine.status().engines] == [0]
        add(engine, Document(id="mast", text="The funnel is low."))
        engine.documents.remove(["haus"], reader=OWNER)
        assert found(db, "mast") == found(db, "haus") == []
        assert len(found(db, "funnel")) == 1
        asyncio.run(engine.versions.rebuild(["chunk.size=100"]))
        assert len(found(db, "funnel")) == 1
    rows = db.execute("SELECT count(*) FROM information_search.documents").fetchone()
    assert rows == (3,)


def test_texts_that_somebody_else_changed_are_mended(
    tmp_path: Path, postgres: PostgresServer, place: tuple[list[str], psycopg.Connection]
) -> None:
    settings, db = place
    apply(postgres, db)
    with closing(KnowledgeBase.open(tmp_path / "kb", settings, create=True)) as engine:
        add(engine, GERMAN, ENGLISH)
        db.execute("UPDATE information_search.document_chunks SET chunk_content = 'zzz' WHERE configuration = 'german'")
        db.execute("UPDATE information_search.documents SET title = 'zzz' WHERE title = 'Mast'")
        for mend in (False, True):
            (fault,) = engine.versions.check_engines(mend=mend)
            assert (fault.what, fault.mended) == ("it holds 2 chunks with other content", mend)
        assert engine.versions.check_engines() == ()
        assert found(db, "haus") == [("Häuser", "", "")]
        assert found(db, "masts") == [("Mast", "https://ship.example/mast", "")]


def test_attached_files_are_neither_held_nor_missed(
    tmp_path: Path, postgres: PostgresServer, place: tuple[list[str], psycopg.Connection]
) -> None:
    settings, db = place
    apply(postgres, db)
    conversation = OWNER.within("s").conversation
    file = tmp_path / "kb" / folder_of(conversation) / "boat.txt"
    with closing(KnowledgeBase.open(tmp_path / "kb", settings, create=True)) as engine:
        add(engine, ENGLISH)
        file.parent.mkdir(parents=True)
        file.write_text("The boathouse opens in April.")
        asyncio.run(engine.documents.add_uploads([file], conversation=conversation))
        assert found(db, "boathouse") == []
        assert engine.versions.check_engines() == ()


def test_a_reader_that_is_taken_away_is_taken_away_there(
    tmp_path: Path, postgres: PostgresServer, place: tuple[list[str], psycopg.Connection]
) -> None:
    settings, db = place
    apply(postgres, db)
    groups = "SELECT readers FROM information_search.documents"
    with closing(KnowledgeBase.open(tmp_path / "kb", settings, create=True)) as engine:
        add(engine, SECRET)
        assert db.execute(groups).fetchall() == [(["staff"],)]
        add(engine, Document(id="pay", text=SECRET.text, metadata={"readers": ()}))
        assert db.execute(groups).fetchall() == [([],)]


def test_a_configuration_that_is_changed_is_used(
    tmp_path: Path, postgres: PostgresServer, place: tuple[list[str], psycopg.Connection]
) -> None:
    settings, db = place
    apply(postgres, db)
    with closing(KnowledgeBase.open(tmp_path / "kb", settings[:-1], create=True)) as engine:
        add(engine, GERMAN)
        assert found(db, "haus") == []
    with closing(KnowledgeBase.open(tmp_path / "kb", settings)) as engine:
        (one,) = engine.status().engines
        assert (one.leg, one.behind) == ("documents", 1)
        add(engine, ENGLISH)
        assert found(db, "haus") == [("Häuser", "", "")]


def test_a_configuration_that_is_not_there_is_told(
    tmp_path: Path, postgres: PostgresServer, place: tuple[list[str], psycopg.Connection]
) -> None:
    settings, db = place
    apply(postgres, db)
    wrong = [*settings[:-1], "services.postgres.configurations={de: klingon}"]
    with closing(KnowledgeBase.open(tmp_path / "kb", wrong, create=True)) as engine:
        (notice,) = add(engine, GERMAN).notices
        assert 'text search configuration "klingon" does not exist' in notice


def test_a_configuration_is_a_name() -> None:
    with pytest.raises(SettingsError, match="configurations"):
        KnowledgeBase.open("kb", ['services.postgres.configurations={de: "german\'); DROP"}'], create=True)

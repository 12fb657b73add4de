"""Erasing documents from a catalog, a journal, indexes and copies in PostgreSQL, down to the files of the server."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from pathlib import Path

import pytest
from kb import READY, add, open_fast

from ragstone.core.access import OWNER
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.records import Document
from ragstone.engine.jobs.queue import Work
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.engines.postgres import schema
from ragstone.services.postgres import Server
from servers.postgres_server import PostgresServer

WORDS = (b"Zyxwvutia", b"zyxwvutia", b"glimmerpox")
TEXT = "Zyxwvutia lives at the harbour and has the diagnosis glimmerpox."


def _opened(folder: Path, address: str) -> KnowledgeBase:
    settings = (
        f"services.postgres.dsn={address}",
        "services.postgres.documents=true",
        "index.catalog=postgres",
        "index.keywords=postgres",
        "jobs.queue=postgres",
    )
    return open_fast(folder, READY, *settings)


def _in_files(server: PostgresServer, database: str) -> set[str]:
    with closing(server.connect(database)) as db:
        db.execute("CHECKPOINT")
        folder = db.execute("SELECT oid::text FROM pg_database WHERE datname = current_database()").fetchone()
    assert folder is not None
    return {path.name for path in (server.files / "base" / folder[0]).iterdir() if _has_a_word(path)}


def _has_a_word(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except FileNotFoundError:  # the running server removes files of its own between the listing and the reading
        return False
    return any(word in content for word in WORDS)


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    return postgres.database("erasing")


@pytest.fixture
def engine(tmp_path: Path, postgres: PostgresServer, database: str) -> KnowledgeBase:
    with closing(Server(postgres.settings(database))) as server:
        schema.apply(server)
    kb = _opened(tmp_path / "host", postgres.address(database))
    notes = [Document(id=f"n{n}", text=f"The harbour note {n} speaks about ferries.") for n in range(30)]
    add(kb, *notes, Document(id="person.md", text=TEXT, source="/person.md"))
    asyncio.run(kb.ask("Which diagnosis has Zyxwvutia?", reader=OWNER, session="talk"))
    asyncio.run(kb.versions.rebuild(["chunk.size=150"]))
    kb.documents.jobs.put("add", [Work(files=("/person.md",))])
    return kb


def test_leaves_no_trace_in_the_servers_files(engine: KnowledgeBase, postgres: PostgresServer, database: str) -> None:
    with closing(engine):
        assert _in_files(postgres, database)
        report = engine.documents.forget(["person.md"], reader=OWNER)
        assert _in_files(postgres, database) == set()
        assert report.found == ()
        assert report.searched_rows > 100
        assert any("WAL" in one for one in report.unreachable)
        assert engine.documents.jobs.last(10) == []
        assert len(asyncio.run(engine.search("harbour ferries", 5, reader=OWNER))) == 5


def test_waits_for_transactions_that_keep_rows(engine: KnowledgeBase, postgres: PostgresServer, database: str) -> None:
    with closing(engine), closing(postgres.connect(database)) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        ended = threading.Timer(1.0, other.close)
        ended.start()
        engine.documents.forget(["person.md"], reader=OWNER)
        ended.join()
        assert _in_files(postgres, database) == set()


def test_refuses_if_a_transaction_never_ends(engine: KnowledgeBase, postgres: PostgresServer, database: str) -> None:
    with closing(engine), closing(postgres.connect(database)) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        with pytest.raises(KnowledgeBaseError, match="keeps deleted rows"):
            engine.documents.forget(["person.md"], reader=OWNER)

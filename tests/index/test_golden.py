"""Knowledge bases that released versions wrote are opened, searched and extended; others are refused unchanged."""

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, check_whole, look, open_fast, parts

from ragstone.catalog.rows import TABLES
from ragstone.catalog.sqlite import FORMAT, create_catalog
from ragstone.core.access import OWNER
from ragstone.core.errors import Damaged, KnowledgeBaseError
from ragstone.core.records import Document
from ragstone.engine.backup import backup, restore
from ragstone.engine.doctor import doctor
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.conversations import Conversations
from ragstone.history.journal import Journal

GOLDEN = Path(__file__).parent.parent / "golden"
FORMATS = sorted(path.name for path in GOLDEN.iterdir())


@pytest.fixture(params=FORMATS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    shutil.copytree(GOLDEN / request.param, tmp_path / "kb")
    return tmp_path / "kb"


def test_every_format_has_a_sample() -> None:
    assert [f"kb_v{number}" for number in range(1, FORMAT + 1)] == FORMATS


def test_opens_and_extends_the_sample(folder: Path) -> None:
    expected = json.loads((folder / "documents.json").read_text(encoding="utf-8"))
    with closing(open_fast(folder, create=False)) as engine:
        stored = list(parts(engine).catalog.documents())
        assert [(one.id, one.text, one.title, one.source) for one in stored] == [
            (one["id"], one["text"], one["title"], one["source"]) for one in expected
        ]
        assert asyncio.run(engine.search("Petrel sails", 1, reader=OWNER))[0].chunk.document_id == "sources/harbour.md"
        assert [hit.chunk.document_id for hit in asyncio.run(engine.search("text", 9, "tags = red", reader=OWNER))] == [
            "tags"
        ]
        assert add(engine, Document(id="new", text="zebra crossing")).added == 1
        check_whole(parts(engine).source.path / "catalog.db", contexts=False)
    with closing(Journal(folder)) as journal:
        turns = Conversations(journal, tokens=100, days=36_500).turns("harbour")
        assert [turn.question for turn in turns] == ["When is high tide?"]
    assert doctor(folder).findings == ()


def test_sample_has_the_tables_of_a_new_catalog(folder: Path, tmp_path: Path) -> None:
    create_catalog(tmp_path / "new.db", {}).close()
    for table in TABLES:
        sql = 'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)'
        assert look(folder / "v1" / "catalog.db", sql, [table]) == look(tmp_path / "new.db", sql, [table])


def test_restores_a_backup_of_the_sample(folder: Path, tmp_path: Path) -> None:
    assert restore(folder, tmp_path / "restored").documents == 5
    assert backup(folder, tmp_path / "copy").documents == 5


@pytest.mark.parametrize("other", ["application_id = 0", f"user_version = {FORMAT + 1}"])
def test_refuses_another_format_unchanged(folder: Path, tmp_path: Path, other: str) -> None:
    path = folder / "v1" / "catalog.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA {other}")
    content = path.read_bytes()
    with pytest.raises(KnowledgeBaseError, match="ragstone add SOURCE --kb FOLDER"):
        KnowledgeBase.open(folder)
    with pytest.raises(KnowledgeBaseError, match=f"reads format {FORMAT}, and left it unchanged"):
        restore(folder, tmp_path / "restored")
    assert path.read_bytes() == content


def test_refuses_a_database_of_another_program(folder: Path) -> None:
    path = folder / "v1" / "catalog.db"
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE notes (text)")
    with pytest.raises(Damaged, match="restore"):
        KnowledgeBase.open(folder)

"""Knowledge bases that earlier versions wrote: they are opened, searched, and gone on with."""

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, check_whole, look, open_fast, parts

from ragstone.catalog.migrations import FORMAT
from ragstone.catalog.rows import TABLES
from ragstone.catalog.sqlite import create_catalog, open_catalog
from ragstone.core.access import OWNER
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.records import Document
from ragstone.engine.backup import backup, restore
from ragstone.engine.doctor import doctor

GOLDEN = Path(__file__).parent.parent / "golden"
FORMATS = sorted(path.name for path in GOLDEN.iterdir())


@pytest.fixture(params=FORMATS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    shutil.copytree(GOLDEN / request.param, tmp_path / "kb")
    return tmp_path / "kb"


def test_there_is_a_sample_of_every_format():
    assert [f"kb_v{number}" for number in range(1, FORMAT + 1)] == FORMATS


def test_an_older_one_is_opened_and_gone_on_with(folder: Path):
    expected = json.loads((folder / "documents.json").read_text(encoding="utf-8"))
    engine = open_fast(folder, create=False)
    try:
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
    finally:
        engine.close()
    assert look(folder / "v1" / "catalog.db", "PRAGMA user_version") == [(FORMAT,)]
    assert doctor(folder).findings == ()


def test_an_older_one_is_brought_to_the_same_tables_as_a_new_one(folder: Path, tmp_path: Path):
    open_catalog(folder / "v1" / "catalog.db").close()
    create_catalog(tmp_path / "new.db", {}).close()
    for table in TABLES:
        sql = 'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)'
        assert look(folder / "v1" / "catalog.db", sql, [table]) == look(tmp_path / "new.db", sql, [table])


def test_an_older_backup_can_be_restored(folder: Path, tmp_path: Path):
    restored = restore(folder, tmp_path / "restored")
    assert restored.documents == 5
    assert backup(folder, tmp_path / "copy").documents == 5


def test_one_that_cannot_be_written_is_refused_in_words(folder: Path):
    path = folder / "v1" / "catalog.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 1")
        db.execute("DROP TABLE IF EXISTS vectors")
        db.commit()
    with pytest.raises(KnowledgeBaseError, match="could not be migrated to format"):
        open_catalog(path)

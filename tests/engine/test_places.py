"""Where the words of a stored document stand on its pages: kept with it, copied with it, and gone with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, look, open_fast, parts
from pdf_file import pdf

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import Damaged, NotFound
from ragstone.core.records import Document
from ragstone.engine.backup import backup, restore
from ragstone.engine.doctor import doctor
from ragstone.engine.knowledge_base import KnowledgeBase

TEXT = "The mill grinds rye.\nIt stands still in winter."


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    (tmp_path / "mill.pdf").write_bytes(pdf([TEXT, "The Petrel sails on Monday."]))
    engine = open_fast(tmp_path / "kb")
    add(engine, str(tmp_path / "mill.pdf"), Document(id="note", text="no pages"))
    yield engine
    engine.close()


def of_petrel(engine: KnowledgeBase, reader: Reader = OWNER) -> object:
    text = engine.documents.get("mill.pdf", reader=OWNER).text
    start = text.index("Petrel")
    return engine.documents.places("mill.pdf", start, start + len("Petrel"), reader=reader)


def test_words_are_found_on_their_page(engine: KnowledgeBase) -> None:
    found = engine.documents.places("mill.pdf", 0, 20, reader=OWNER)
    (box,) = found[0]
    # The line begins 72 points from the left and 92 from the top of a page of 612 by 792 points.
    assert (box.left, box.bottom) == (pytest.approx(72 / 612, abs=0.005), pytest.approx(92 / 792, abs=0.005))
    assert [*of_petrel(engine)] == [1]  # pyright: ignore
    assert engine.documents.places("note", 0, 8, reader=OWNER) == {}


def test_documents_are_read_without_them(engine: KnowledgeBase) -> None:
    assert all(one.placed == () for one in engine.documents.all())


def test_only_readers_of_the_document_see_them(tmp_path: Path) -> None:
    (tmp_path / "mill.pdf").write_bytes(pdf([TEXT]))
    engine = open_fast(tmp_path / "kb")
    asyncio.run(engine.documents.add_uploads([tmp_path / "mill.pdf"], groups=["millers"]))
    with pytest.raises(NotFound):
        engine.documents.places("mill.pdf", 0, 5, reader=Reader(groups=frozenset()))
    assert engine.documents.places("mill.pdf", 0, 5, reader=Reader(groups=frozenset({"millers"})))
    engine.close()


def test_rebuilds_and_backups_keep_them(engine: KnowledgeBase, tmp_path: Path) -> None:
    before = of_petrel(engine)
    asyncio.run(engine.versions.rebuild(["chunk.size=100"]))
    assert of_petrel(engine) == before
    backup(tmp_path / "kb", tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "restored")
    copy = open_fast(tmp_path / "restored", create=False)
    assert of_petrel(copy) == before
    copy.close()


def test_unchanged_files_keep_them_and_removed_ones_do_not(engine: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "mill.pdf").touch()
    assert add(engine, str(tmp_path / "mill.pdf")).unchanged == 1
    layouts = parts(engine).source.path / "catalog.db", "SELECT count(*) FROM layouts"
    assert look(*layouts) == [(1,)]
    engine.documents.remove(["mill.pdf"], reader=OWNER)
    assert look(*layouts) == [(0,)]


def test_damage_is_found(engine: KnowledgeBase, tmp_path: Path) -> None:
    path = parts(engine).source.path / "catalog.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE layouts SET value = x'01ff'")
        db.commit()
    with pytest.raises(Damaged, match="the boxes of the text are damaged"):
        of_petrel(engine)
    engine.close()
    (finding,) = [one for one in doctor(tmp_path / "kb").findings if one.part == "documents"]
    assert finding.what == "the places of their words are damaged"
    assert len(finding.documents) == 1

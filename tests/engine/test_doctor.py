"""The doctor: finds what is wrong, mends what can be made again, and names the documents that are lost."""

import asyncio
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, open_fast

from ragstone.catalog import location
from ragstone.core.access import OWNER
from ragstone.core.errors import Damaged, KnowledgeBaseError, MissingExtra, NotFound
from ragstone.core.records import Document
from ragstone.engine.backup import backup
from ragstone.engine.doctor import doctor
from ragstone.index.keyword.bm25 import TermIndex

DOCUMENTS = [Document(id=f"d{i}", text=f"word{i} common place{i % 5}", metadata={"n": i}) for i in range(8)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    engine = open_fast(tmp_path / "kb")
    add(engine, *DOCUMENTS)
    asyncio.run(engine.search("word1", 1, reader=OWNER))
    engine.close()
    return tmp_path / "kb"


def change(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / "v1" / "catalog.db")) as db:
        db.execute(sql)
        db.commit()


def test_a_healthy_one_is_well(folder: Path):
    health = doctor(folder)
    assert (health.well, health.findings, health.documents, health.chunks) == (True, (), 8, 8)
    with pytest.raises(NotFound):
        doctor(folder / "nothing")


@pytest.mark.parametrize(
    ("sql", "part", "what"),
    [
        ("UPDATE contents SET text = replace(text, 'word3', 'wOrd3')", "documents", "texts are damaged"),
        ("UPDATE documents SET title = 'x' WHERE id = 'd3'", "documents", "titles, sources or metadata are damaged"),
        ("UPDATE facts SET value = 99 WHERE key = 'n' AND value = 3", "documents", "filters do not see their metadata"),
        ("UPDATE chunks SET start = 1 WHERE position = 0 AND row = 4", "documents", "chunks are damaged"),
        ("DELETE FROM chunks WHERE row = 4", "documents", "chunks are missing"),
        ("UPDATE about SET built_with = replace(built_with, '200', '201')", "catalog", "settings it was built with"),
        ("UPDATE commits SET generation = 9 WHERE generation = 0", "catalog", "gap"),
        ("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'chunks'", "catalog", "could be reused"),
    ],
)
def test_changed_values_are_found_and_their_documents_named(folder: Path, sql: str, part: str, what: str):
    change(folder, sql)
    health = doctor(folder, mend=True)
    assert not health.well
    found = next(one for one in health.findings if what in one.what)
    assert found.part == part
    assert found.documents == (("d3",) if part == "documents" else ())
    assert "ragstone restore" in found.remedy


def test_new_files_are_private(folder: Path):
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "v1", *folder.glob("**/*.db*"))}
    assert {"kb", "v1", "catalog.db", "journal.db", "cache.db"} <= set(modes)
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}


def test_reports_files_that_everybody_can_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(location, "is_public", lambda path: path.stat().st_mode & 0o004)
    (folder / "v1" / "catalog.db").chmod(0o644)
    (finding,) = doctor(folder).findings
    assert (finding.part, finding.remedy) == ("permissions", f"chmod -R go-rwx {folder}")


@pytest.mark.parametrize("sql", ["UPDATE about SET built_with = '{}'", "DELETE FROM about"])
def test_one_that_does_not_tell_what_it_was_built_with_is_refused(folder: Path, sql: str):
    change(folder, sql)
    with pytest.raises(Damaged, match="ragstone restore"):
        open_fast(folder, create=False)


def test_metadata_that_is_none_is_refused_and_told(folder: Path):
    change(folder, "UPDATE documents SET metadata = '{' WHERE id = 'd3'")
    engine = open_fast(folder, create=False)
    with pytest.raises(Damaged, match="ragstone doctor"):
        engine.documents.get("d3", reader=OWNER)
    engine.close()
    assert doctor(folder).findings[0].documents == ("d3",)


def test_what_is_lost_is_whole_again_after_remove_and_add(folder: Path):
    change(folder, "UPDATE contents SET text = replace(text, 'word3', 'wOrd3')")
    engine = open_fast(folder, create=False)
    engine.documents.remove(["d3"], reader=OWNER)
    add(engine, DOCUMENTS[3])
    engine.close()
    assert doctor(folder).findings == ()


def test_vectors_are_computed_again(folder: Path):
    change(folder, "UPDATE vectors SET value = zeroblob(128) WHERE vector = 4")
    assert [(one.part, one.documents, one.mended) for one in doctor(folder).findings] == [
        ("stored vectors", ("d3",), False),
    ] or any(one.part == "index vectors" for one in doctor(folder).findings)
    assert doctor(folder, mend=True).well
    assert doctor(folder).findings == ()
    engine = open_fast(folder, create=False)
    assert asyncio.run(engine.search("word3", 1, reader=OWNER))[0].chunk.document_id == "d3"
    engine.close()


def test_a_damaged_index_is_made_again(folder: Path):
    for file in (folder / "v1" / "terms").glob("*.idx"):
        file.write_bytes(b"")
    assert [(one.part, one.mended) for one in doctor(folder).findings] == [("index terms", False)]
    assert not doctor(folder).well
    assert doctor(folder, mend=True).well
    assert doctor(folder).findings == ()


def test_lost_commits_are_told_by_the_indexes(folder: Path, tmp_path: Path):
    shutil.copy(folder / "v1" / "catalog.db", tmp_path / "older.db")
    engine = open_fast(folder, create=False)
    add(engine, Document(id="later", text="lost with its commit"))
    engine.close()
    shutil.copy(tmp_path / "older.db", folder / "v1" / "catalog.db")
    findings = doctor(folder, mend=True).findings
    assert any(one.part == "catalog" and "last commits are lost" in one.what for one in findings)
    assert doctor(folder).findings == ()


def test_the_pointer_is_written_again_where_there_is_one_version(folder: Path):
    (folder / "CURRENT").unlink()
    assert [one.part for one in doctor(folder).findings] == ["CURRENT"]
    assert doctor(folder, mend=True).well
    assert doctor(folder).documents == 8
    (folder / "CURRENT").write_text("v7\n")
    shutil.copytree(folder / "v1", folder / "v2")
    health = doctor(folder, mend=True)
    assert not health.well
    assert "v1, v2" in health.findings[0].remedy


def test_a_catalog_that_cannot_be_opened_is_told(folder: Path):
    (folder / "v1" / "catalog.db").write_bytes(b"not a database, but long enough to be one" * 100)
    health = doctor(folder)
    assert not health.well
    assert "ragstone restore" in health.findings[0].remedy


def test_leftovers_are_cleared_away(folder: Path):
    (folder / ".CURRENT.123").write_text("v1")
    (folder / "v2").mkdir()
    (folder / "v2" / "unfinished").touch()
    assert doctor(folder, mend=True).well
    assert not (folder / ".CURRENT.123").exists()
    assert not (folder / "v2").exists()


@pytest.mark.parametrize("name", ["v1/catalog.db", "journal.db"])
def test_unreadable_schema_text_is_damage(folder: Path, name: str):
    with closing(open_fast(folder, create=False)) as engine:
        asyncio.run(engine.ask("word1", reader=OWNER))
    content = bytearray((folder / name).read_bytes())
    at = content.find(b"CREATE TABLE") + len("CREATE TABLE ")
    content[at : at + 4] = b"#\xbc\xd7T"
    (folder / name).write_bytes(content)
    (finding,) = doctor(folder).findings
    assert "restore" in finding.remedy or "backup" in finding.remedy
    with pytest.raises(Damaged):
        backup(folder, folder.parent / "copy")
    if name == "v1/catalog.db":
        with pytest.raises(Damaged, match=r"it is damaged .*ragstone restore SOURCE --replace"):
            open_fast(folder, create=False)


def test_reports_a_keyword_index_that_is_behind(folder: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as full, closing(open_fast(folder, create=False)) as engine:
        full.setattr(TermIndex, "follow", full_disk)
        with pytest.raises(KnowledgeBaseError):
            add(engine, Document(id="later", text="not in the index yet"))
    assert [(one.part, one.what, one.mended) for one in doctor(folder).findings] == [
        ("keyword search", "its index is 1 change behind and does not know the newest documents", False)
    ]
    with monkeypatch.context() as full:
        full.setattr(TermIndex, "follow", full_disk)
        (finding,) = doctor(folder, mend=True).findings
        assert (finding.part, finding.mended, "disk is full" in finding.what) == ("index terms", False, True)
    assert doctor(folder, mend=True).well
    assert doctor(folder).findings == ()


def full_disk(*_: object, **__: object) -> None:
    raise KnowledgeBaseError("the disk is full")


def test_checks_what_needs_no_missing_package(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(*_: object) -> None:
        raise MissingExtra("sentence-transformers", extra="sentence-transformers")

    monkeypatch.setattr("ragstone.index.build_embedder", missing)
    for file in (folder / "v1" / "terms").glob("*.idx"):
        file.write_bytes(b"")
    health = doctor(folder)
    assert (health.documents, health.chunks) == (8, 8)
    told = {one.part: one.what for one in health.findings}
    assert told["index terms"] == "is damaged or was written by another version"
    assert "not checked: sentence-transformers is not installed" in told["index vectors"]
    mended = {one.part: one.mended for one in doctor(folder, mend=True).findings}
    assert mended["index terms"]
    assert not mended["index vectors"]

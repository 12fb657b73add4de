"""What is stored and unchanged is not embedded again, and what is shared is stored once."""

import asyncio
import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from kb import add, check_whole, embedder_of, look, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase


@pytest.fixture
def engine(tmp_path: Path):
    engine = open_fast(tmp_path / "kb")
    yield engine
    engine.close()


def path_of(engine: KnowledgeBase) -> Path:
    return parts(engine).source.path / "catalog.db"


def paragraphs(*names: str) -> str:
    return "\n\n".join(f"{name} " + f"words of {name} " * 8 for name in names)


def test_one_document_among_a_thousand_embeds_only_itself(engine: KnowledgeBase):
    assert add(engine, *(Document(id=f"d{i}", text=f"text number {i}") for i in range(1000))).embedded == 1000
    seen = embedder_of(engine).seen
    seen.clear()
    report = add(engine, *(Document(id=f"d{i}", text=f"text number {i}") for i in range(1001)))
    assert (report.added, report.unchanged, report.embedded) == (1, 1000, 1)
    assert seen == ["text number 1000"]


def test_a_paragraph_inserted_at_the_start_leaves_the_other_vectors(engine: KnowledgeBase):
    names = [f"name{i}" for i in range(30)]
    assert add(engine, Document(id="long", text=paragraphs(*names))).chunks == 30
    report = add(engine, Document(id="long", text=paragraphs("fresh", *names)))
    assert (report.updated, report.chunks, report.embedded) == (1, 31, 1)
    check_whole(path_of(engine))
    report = add(engine, Document(id="long", text=paragraphs(*reversed(names))))
    assert (report.chunks, report.embedded) == (30, 0)
    check_whole(path_of(engine))


def test_a_text_that_moves_to_another_document_keeps_its_vector(engine: KnowledgeBase):
    add(engine, Document(id="a", text="shared words"), Document(id="b", text="other words"))
    report = add(engine, Document(id="a", text="other words"), Document(id="b", text="shared words"))
    assert (report.updated, report.embedded) == (2, 0)
    check_whole(path_of(engine))
    report = add(engine, Document(id="a", text="third words"), Document(id="b", text="other words"))
    assert report.embedded == 1
    check_whole(path_of(engine))


def test_adding_again_changes_nothing(engine: KnowledgeBase):
    documents = [Document(id=f"d{i}", text=f"text {i}", metadata={"n": i, "t": ("x",)}) for i in range(5)]
    add(engine, *documents)
    before = engine.status()
    report = add(engine, *documents, *documents)
    assert (report.added, report.updated, report.unchanged, report.embedded) == (0, 0, 10, 0)
    assert engine.status().generation == before.generation


def test_the_same_id_twice_in_one_add_counts_once_and_the_last_stays(engine: KnowledgeBase):
    report = add(engine, *(Document(id="d", text=f"version {i}") for i in range(3)))
    assert (report.added, report.updated) == (1, 2)
    assert engine.documents.get("d", reader=OWNER).text == "version 2"
    check_whole(path_of(engine), {"d": Document(id="d", text="version 2")})


def test_the_same_content_is_stored_once_and_outlives_one_of_its_documents(engine: KnowledgeBase):
    text = paragraphs("one", "two")
    report = add(engine, Document(id="a", text=text), Document(id="b", text=text, metadata={"k": 1}))
    assert (report.chunks, report.embedded) == (4, 2)
    assert look(path_of(engine), "SELECT (SELECT count(*) FROM contents), (SELECT count(*) FROM vectors)") == [(1, 2)]
    engine.documents.remove(["a"], reader=OWNER)
    check_whole(path_of(engine), {"b": Document(id="b", text=text, metadata={"k": 1})})
    engine.documents.remove(["b"], reader=OWNER)
    assert look(path_of(engine), "SELECT * FROM contents") == look(path_of(engine), "SELECT * FROM vectors") == []


def test_a_changed_title_or_fact_is_an_update(engine: KnowledgeBase):
    add(engine, Document(id="d", text="some text", title="old", metadata={"lang": "de"}))
    report = add(engine, Document(id="d", text="some text", title="old", metadata={"lang": "en"}))
    assert (report.updated, report.embedded) == (1, 0)
    assert not asyncio.run(engine.search("text", where="lang = de", reader=OWNER))
    report = add(engine, Document(id="d", text="some text", title="zebra", metadata={"lang": "en"}))
    assert (report.updated, report.embedded) == (1, 1)
    (hit,) = asyncio.run(engine.search("zebra", where="lang = en", reader=OWNER))
    assert [step.stage for step in hit.why] == ["bm25", "vector", "fusion"]


def test_reading_the_same_file_again_keeps_its_time(engine: KnowledgeBase, tmp_path: Path):
    file = tmp_path / "a.txt"
    file.write_text("words")
    add(engine, str(file))
    first = engine.documents.get("a.txt", reader=OWNER).metadata["extracted_at"]
    time.sleep(1.1)  # it counts whole seconds
    os.utime(file)
    assert add(engine, str(file)).unchanged == 1
    assert engine.documents.get("a.txt", reader=OWNER).metadata["extracted_at"] == first
    file.write_text("other words")
    assert add(engine, str(file)).updated == 1
    again = engine.documents.get("a.txt", reader=OWNER).metadata
    assert str(again["extracted_at"]) > str(first)
    assert again["content_hash"] == hashlib.sha256(b"other words").hexdigest()


def test_reading_a_file_more_slowly_is_no_update(engine: KnowledgeBase):
    read = Document(id="a.pdf", text="words", source="a.pdf", metadata={"path": "a.pdf", "read_seconds": 1.0})
    add(engine, read)
    generation = engine.status().generation
    assert add(engine, replace(read, metadata={**read.metadata, "read_seconds": 2.0})).unchanged == 1
    assert engine.status().generation == generation
    assert engine.documents.reading("a.pdf", reader=OWNER).seconds == 1.0
    assert add(engine, replace(read, text="other", metadata={**read.metadata, "read_seconds": 2.0})).updated == 1
    assert engine.documents.reading("a.pdf", reader=OWNER).seconds == 2.0


def test_skipping_is_noted_without_a_new_generation(engine: KnowledgeBase):
    report = add(engine, Document(id="d", text="words"), Document(id="blank", text=" \n ", source="blank.txt"))
    assert [one.source for one in report.skipped] == ["blank.txt"]
    before = engine.status()
    add(engine, Document(id="blank", text=" \n ", source="blank.txt"))
    after = engine.status()
    assert after.generation == before.generation
    assert [one.source for one in after.skipped] == ["blank.txt"]


def test_a_document_that_becomes_blank_says_that_the_old_one_is_kept(engine: KnowledgeBase):
    add(engine, Document(id="d", text="words", source="d.txt"))
    (one,) = add(engine, Document(id="d", text=" ", source="d.txt"), Document(id="new", text="\n")).skipped[:1]
    assert one.reason.endswith("; its stored version is kept")
    assert engine.documents.get("d", reader=OWNER).text == "words"
    assert [skipped.reason for skipped in engine.status().skipped if skipped.source == "new"] == [
        "there is no text in it"
    ]

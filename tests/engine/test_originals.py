"""The files behind documents: drawn and handed out as long as they are as they were read, to those who may."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from kb import add, open_fast
from pdf_file import pdf

from benchmarks.access_originals import wrongly_shown
from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import NotFound, SourceError
from ragstone.core.records import Document
from ragstone.engine import originals
from ragstone.engine.backup import backup, restore
from ragstone.engine.knowledge_base import KnowledgeBase

MILLERS, NOBODY = Reader.of("millers"), Reader(groups=frozenset())
PAGES = ["The mill grinds rye.\nIt stands still in winter.", "The Petrel sails on Monday."]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    (tmp_path / "mill.pdf").write_bytes(pdf(PAGES))
    (tmp_path / "rows.csv").write_text("id,text,kept\n1,The hall seats ninety.,x\n2,The bar is closed.,y\n")
    engine = open_fast(tmp_path / "kb")
    add(engine, str(tmp_path / "mill.pdf"), str(tmp_path / "rows.csv"), Document(id="note", text="no file"))
    yield engine
    engine.close()


def pixels(png: bytes) -> np.ndarray:
    """Decode a PNG image of ours: its rows are differences to those above."""
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    channels = 3 if kind == 2 else 1
    at = png.index(b"IDAT") + 4
    raw = np.frombuffer(zlib.decompress(png[at:-16]), np.uint8).reshape(height, 1 + width * channels)
    return np.cumsum(raw[:, 1:].reshape(height, width, channels), axis=0, dtype=np.uint8)


def test_words_are_drawn_where_their_boxes_are(engine: KnowledgeBase) -> None:
    text = engine.documents.get("mill.pdf", reader=OWNER).text
    start = text.index("Petrel")
    (cited,) = engine.originals.cited("mill.pdf", start, start + len("Petrel"), reader=OWNER)
    (box,) = cited.boxes
    page = pixels(engine.originals.draw("mill.pdf", cited.number, 800, reader=OWNER))
    height, width, _ = page.shape
    assert (cited.number, width, height) == (2, 800, pytest.approx(800 * 792 / 612, abs=1))
    within = page[int(box.top * height) : int(box.bottom * height), int(box.left * width) : int(box.right * width)]
    ink = (page < 128).sum()
    assert (within < 128).sum() > 0.15 * ink
    assert (page[: int(0.9 * box.top * height)] < 128).sum() == 0


def test_says_what_is_known_of_a_file(engine: KnowledgeBase, tmp_path: Path) -> None:
    mill = engine.originals.find("mill.pdf", reader=MILLERS)
    assert (mill.state, mill.name, mill.may_save, mill.pages) == ("same", "mill.pdf", True, 2)
    assert mill.size == (tmp_path / "mill.pdf").stat().st_size
    row = engine.originals.find("rows.csv#1", reader=MILLERS)
    assert (row.state, row.name, row.may_save, row.size, row.pages) == ("part", "rows.csv", False, 0, 0)
    assert engine.originals.find("note", reader=OWNER).state == "none"


def test_rows_of_tables_do_not_give_away_the_table(engine: KnowledgeBase) -> None:
    with pytest.raises(NotFound):
        engine.originals.open("rows.csv#1", reader=MILLERS)
    about, file = engine.originals.open("rows.csv#1", reader=OWNER)
    with file:
        assert (file.read().startswith(b"id,text,kept"), about.name) == (True, "rows.csv")


@pytest.mark.parametrize("harm", ["changed", "touched", "gone", "link", "folder link", "pipe"])
def test_files_that_are_no_longer_as_read_are_withheld(engine: KnowledgeBase, tmp_path: Path, harm: str) -> None:
    path = tmp_path / "mill.pdf"
    secret = tmp_path.parent / f"{tmp_path.name}-secret.pdf"
    shutil.copy2(path, secret)
    engine.originals.draw("mill.pdf", 1, 300, reader=OWNER)
    if harm == "changed":
        path.write_bytes(pdf(["Other words."]))
    elif harm == "touched":
        os.utime(path, ns=(0, 0))
    else:
        path.unlink()
    if harm == "link":
        path.symlink_to(secret)
    elif harm == "pipe":
        os.mkfifo(path)
    elif harm == "folder link":
        (tmp_path / "real").mkdir()
        shutil.copy2(secret, tmp_path / "real" / "mill.pdf")
    expected = "gone" if harm in ("gone", "folder link") else "changed"
    about = engine.originals.find("mill.pdf", reader=OWNER)
    assert (about.state, about.may_save, about.pages, about.size) == (expected, False, 0, 0)
    for refused in (
        lambda: engine.originals.draw("mill.pdf", 1, 300, reader=OWNER),
        lambda: engine.originals.etag("mill.pdf", 1, 300, reader=OWNER),
        lambda: engine.originals.open("mill.pdf", reader=OWNER),
    ):
        with pytest.raises(NotFound):
            refused()


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mill.pdf").write_bytes(pdf(PAGES))
    engine = open_fast(tmp_path / "kb")
    add(engine, str(tmp_path / "docs"))
    (tmp_path / "docs").rename(tmp_path / "elsewhere")
    (tmp_path / "docs").symlink_to(tmp_path / "elsewhere")
    assert engine.originals.find("mill.pdf", reader=OWNER).state == "changed"
    with pytest.raises(NotFound):
        engine.originals.open("mill.pdf", reader=OWNER)
    engine.close()


@pytest.mark.parametrize("number", [0, 3, 10**6])
def test_pages_that_are_not_there_are_not_found(engine: KnowledgeBase, number: int) -> None:
    with pytest.raises(NotFound):
        engine.originals.draw("mill.pdf", number, 300, reader=OWNER)


def test_only_readers_of_the_document_get_anything(tmp_path: Path) -> None:
    (tmp_path / "kb" / "uploads").mkdir(parents=True)
    file = tmp_path / "kb" / "uploads" / "mill.pdf"
    file.write_bytes(pdf(PAGES))
    engine = open_fast(tmp_path / "kb")
    asyncio.run(engine.documents.add_uploads([file], groups=["millers"]))
    originals, id = engine.originals, "uploads/mill.pdf"
    for refused in (
        lambda: originals.find(id, reader=NOBODY),
        lambda: originals.cited(id, 0, 5, reader=NOBODY),
        lambda: originals.etag(id, 1, 300, reader=NOBODY),
        lambda: originals.draw(id, 1, 300, reader=NOBODY),
        lambda: originals.open(id, reader=NOBODY),
    ):
        with pytest.raises(NotFound, match=f"there is no document '{id}'"):
            refused()
    assert originals.draw(id, 1, 300, reader=MILLERS).startswith(b"\x89PNG")
    with originals.open(id, reader=MILLERS)[1] as opened:
        assert opened.read() == file.read_bytes()
    engine.close()


def test_generated_readers_get_nothing_of_others(tmp_path: Path) -> None:
    groups, chance = [f"team-{number}" for number in range(8)], random.Random(7)

    def reader() -> Reader:
        return Reader(groups=frozenset(chance.sample(groups, chance.randint(0, 3))))

    engine = open_fast(tmp_path / "kb")
    assert asyncio.run(wrongly_shown(engine, groups, reader, chance, 1_000)) == 0
    engine.close()


def test_restored_uploads_are_found_in_their_new_folder(tmp_path: Path) -> None:
    (tmp_path / "kb" / "uploads").mkdir(parents=True)
    (tmp_path / "kb" / "uploads" / "mill.pdf").write_bytes(pdf(PAGES))
    engine = open_fast(tmp_path / "kb")
    asyncio.run(engine.documents.add_uploads([tmp_path / "kb" / "uploads" / "mill.pdf"]))
    engine.close()
    backup(tmp_path / "kb", tmp_path / "copy")
    shutil.rmtree(tmp_path / "kb")
    restore(tmp_path / "copy", tmp_path / "restored")
    engine = open_fast(tmp_path / "restored", create=False)
    assert engine.originals.find("uploads/mill.pdf", reader=OWNER).pages == 2
    engine.close()


def test_files_read_in_part_are_not_gone(engine: KnowledgeBase, tmp_path: Path) -> None:
    """A row that cannot be read leaves the whole file without a stamp; ids may be longer than names of files."""
    long = "x" * 400
    (tmp_path / "part.csv").write_text(f"id,text\n{long},The hall seats ninety.\n2,\n")
    add(engine, str(tmp_path / "part.csv"))
    assert engine.originals.find(f"part.csv#{long}", reader=MILLERS).state == "changed"
    (tmp_path / "part.csv").unlink()
    assert engine.originals.find(f"part.csv#{long}", reader=MILLERS).state == "gone"


def test_few_of_many_small_pages_are_kept(engine: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(originals, "KEPT_PAGES", 3)
    for width in range(16, 26):
        engine.originals.draw("mill.pdf", 1, width, reader=OWNER)
    assert len(engine.originals._kept) == 3  # pyright: ignore[reportPrivateUsage]


def test_damaged_pages_are_said_to_be_damaged(engine: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "mill.pdf"
    state = path.stat()
    path.write_bytes(b"%PDF" + bytes(state.st_size - 4))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(SourceError, match="cannot be drawn: it is damaged"):
        engine.originals.draw("mill.pdf", 1, 300, reader=OWNER)


def test_huge_pages_become_bounded_images(tmp_path: Path) -> None:
    content = pdf(["The map of the valley."]).replace(b"[0 0 612 792]", b"[0 0 12 14400]")
    (tmp_path / "map.pdf").write_bytes(content.replace(b"72 700 Td", b"1 14000 Td"))
    engine = open_fast(tmp_path / "kb")
    add(engine, str(tmp_path / "map.pdf"))
    height, width, _ = pixels(engine.originals.draw("map.pdf", 1, 2000, reader=OWNER)).shape
    assert height * width <= 8_100_000
    engine.close()


# ---------------------------------------------------------------- rows of tables
def test_cited_row_stands_among_its_neighbours(engine: KnowledgeBase) -> None:
    text = engine.documents.get("rows.csv#2", reader=OWNER).text
    start = text.index("closed")
    table = engine.originals.rows("rows.csv#2", start, start + len("closed"), reader=OWNER)
    assert table.columns == ("id", "text", "kept")
    assert table.rows == (("1", "The hall seats ninety.", "x"), ("2", "The bar is closed.", "y"))
    (cell,) = table.cited
    assert (table.at, cell.column, table.rows[1][1][cell.start : cell.end]) == (1, 1, "closed")


def test_cited_cell_of_a_record_is_found(engine: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("Stone,Price 2024,Note\nTravertine,83,\nBasalt,44, rough \n")
    add(engine, str(tmp_path / "prices.csv"))
    text = engine.documents.get("prices.csv#2", reader=OWNER).text
    assert text == "Stone: Basalt; Price 2024: 44; Note: rough"
    table = engine.originals.rows("prices.csv#2", text.index("44"), len(text), reader=OWNER)
    assert [table.rows[table.at][one.column][one.start : one.end] for one in table.cited] == ["44", " rough "]


def test_other_readers_rows_are_not_shown(engine: KnowledgeBase, tmp_path: Path) -> None:
    rows = "id,text,readers\n1,Open to all.,*\n2,For the millers.,millers;bakers\n3,Secret.,bakers\n"
    (tmp_path / "kept.csv").write_text(rows)
    add(engine, str(tmp_path / "kept.csv"))
    table = engine.originals.rows("kept.csv#1", 0, 4, reader=MILLERS)
    assert (table.columns, table.rows) == (("id", "text"), (("1", "Open to all."), ("2", "For the millers.")))
    assert engine.originals.rows("kept.csv#1", 0, 4, reader=NOBODY).rows == (("1", "Open to all."),)
    assert len(engine.originals.rows("kept.csv#1", 0, 4, reader=OWNER).rows) == 3
    with pytest.raises(NotFound):
        engine.originals.rows("kept.csv#3", 0, 4, reader=MILLERS)


def test_rows_of_a_changed_table_are_withheld(engine: KnowledgeBase, tmp_path: Path) -> None:
    assert engine.originals.find("rows.csv#1", reader=NOBODY).is_row
    (tmp_path / "rows.csv").write_text("id,text,kept\n1,The hall seats ninety.,x\n2,Something new and secret.,y\n")
    assert not engine.originals.find("rows.csv#1", reader=NOBODY).is_row
    for document in ("rows.csv#1", "mill.pdf", "note"):
        with pytest.raises(NotFound):
            engine.originals.rows(document, 0, 4, reader=OWNER)

"""PowerPoint presentations before 2007, and what only LibreOffice reads."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from compound_file import compound
from hypothesis import given
from hypothesis import strategies as st
from structure import outline

from ragstone.acquire.readers import programs
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office import libreoffice
from ragstone.acquire.readers.office.slides97 import parse
from ragstone.acquire.readers.parsed import File
from ragstone.core.records import Document
from ragstone.settings import AcquireSettings

Read = Callable[..., Document]
Why = Callable[..., str]
TITLE, BODY, NOTES, OTHER = 0, 1, 2, 4
DATE = 7
needs_office = pytest.mark.skipif(not programs.office(), reason="LibreOffice is not installed")


def record(kind: int, *content: bytes, instance: int = 0, holds: bool = False) -> bytes:
    inside = b"".join(content)
    return struct.pack("<HHI", instance << 4 | (0xF if holds else 0), kind, len(inside)) + inside


def number(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def words(kind: int, text: str) -> bytes:
    """A text of a type, in characters of one byte if they suffice."""
    try:
        return record(0x0F9F, number(kind)) + record(0x0FA8, text.encode("latin-1"))
    except UnicodeEncodeError:
        return record(0x0F9F, number(kind)) + record(0x0FA0, text.encode("utf-16-le"))


def shape(*content: bytes, placeholder: int | None = None) -> bytes:
    about = b"" if placeholder is None else record(0x0BC3, number(0) + bytes([placeholder, 0, 0, 0]))
    box = record(0xF00D, *content, holds=False)
    return record(0xF004, record(0xF011, about, holds=True), box, holds=True)


def page(kind: int, *shapes: bytes, head: bytes = b"") -> bytes:
    group = record(0xF003, *shapes, holds=True)
    return record(kind, head, record(0x040C, record(0xF002, group, holds=True), holds=True), holds=True)


def deck() -> dict[int, bytes]:
    """The numbered records of a presentation: the document, two slides, and the notes of the second."""
    slides = record(
        0x0FF0,
        record(0x03F3, number(2, 0, 2, 256, 0)),
        words(TITLE, "Rent"),
        words(BODY, "By the third day\rRepairs – the owner"),
        record(0x03F3, number(3, 0, 0, 257, 0)),
        instance=0,
        holds=True,
    )
    noted = record(0x0FF0, record(0x03F3, number(4, 0, 0, 300, 0)), instance=2, holds=True)
    outlined = [shape(record(0x0F9E, number(at))) for at in (0, 1)]
    date = shape(words(OTHER, "6 May 2004"), placeholder=DATE)
    group = record(0xF003, shape(words(OTHER, "Ačiū")), shape(words(OTHER, "*")), holds=True)
    return {
        1: record(0x03E8, slides, noted, holds=True),
        2: page(0x03EE, *outlined, date),
        3: page(0x03EE, shape(words(6, "The end")), group),
        4: page(0x03F0, shape(words(NOTES, "Say it slowly")), head=record(0x03F1, number(257, 0))),
    }


def ppt(*edits: dict[int, bytes], token: int = 0xE391C05F) -> bytes:
    """A file that was saved once for each of these sets of records."""
    stream, last = b"", 0
    for edit in edits:
        places: dict[int, int] = {}
        for key, content in edit.items():
            places[key] = len(stream)
            stream += content
        directory = len(stream)
        stream += record(0x1772, *(number(1 << 20 | key, at) for key, at in places.items()))
        last, before = len(stream), last
        stream += record(0x0FF5, number(0, 0, before, directory, 1, 5, 0))
    user = record(0x0FF6, number(20, token, last))
    return compound({"Current User": user, "PowerPoint Document": stream})


def test_reads_slides_with_titles_and_notes(read_one: Read) -> None:
    document = read_one("a.ppt", ppt(deck()))
    assert document.text.split("\n\n") == [
        "Rent",
        "By the third day\nRepairs – the owner",
        "The end",
        "Ačiū",
        "Notes: Say it slowly",
    ]
    assert outline(document) == [(1, "Rent"), (1, "The end")]
    assert [mark.label for mark in document.marks if mark.kind == "page"] == ["1", "2"]
    assert document.metadata["kind"] == "ppt"
    assert document.metadata["pages"] == 2


def cell(text: str, left: int, top: int, right: int, bottom: int) -> bytes:
    box = record(0xF00D, words(OTHER, text) if text else record(0x0F9F, number(OTHER)))
    return record(0xF004, record(0xF00F, struct.pack("<4i", left, top, right, bottom)), box, holds=True)


def test_reads_tables_by_the_places_of_cells(read_one: Read) -> None:
    head = record(0xF004, record(0xF122, struct.pack("<HI", 0x039F, 1), instance=1), holds=True)
    cells = (
        cell("Tons", 10, 0, 30, 5),
        cell("9", 10, 10, 20, 15),
        cell("", 0, 0, 10, 5),
        cell("2023", 10, 5, 20, 10),
        cell("2024", 20, 5, 30, 10),
        cell("", 0, 5, 10, 10),
        cell("Forge", 0, 10, 10, 15),
        cell("7", 20, 10, 30, 15),
    )
    slide = {3: page(0x03EE, shape(words(6, "Output")), record(0xF003, head, *cells, holds=True))}
    document = read_one("a.ppt", ppt(deck(), slide))
    assert " | Tons | Tons\n | 2023 | 2024\nForge | 9 | 7" in document.text
    assert [mark.header for mark in document.marks if mark.kind == "table"] == [2]


def test_last_version_of_a_slide_counts(read_one: Read) -> None:
    changed = {3: page(0x03EE, shape(words(6, "A new end")))}
    document = read_one("a.ppt", ppt(deck(), changed))
    assert outline(document) == [(1, "Rent"), (1, "A new end")]


def test_slides_are_read_without_a_directory(read_one: Read) -> None:
    stream = b"".join(deck().values())
    damaged = compound({"Current User": b"", "PowerPoint Document": stream})
    assert read_one("a.ppt", damaged).text == "The end\n\nAčiū"


def test_refuses_encrypted_slides(why_skipped: Why) -> None:
    assert why_skipped("a.ppt", ppt(deck(), token=0xF3D1C4DF)) == "encrypted"


def test_says_what_reads_older_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "office", tuple)
    file = File(path=Path("a.wpd"), name="a", source="a", suffix=".wpd", settings=AcquireSettings())
    with pytest.raises(Unreadable, match=r"^only LibreOffice reads it; install LibreOffice, or save it as \.docx$"):
        libreoffice.parse(file)


@given(data=st.data())
def test_damage_raises_nothing_else(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    whole = bytearray(ppt(deck()))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(512, 9000))] = data.draw(st.sampled_from([0, 1, 0x0F, 0x7F, 0xFF]))
    path = tmp_path_factory.getbasetemp() / "damaged.ppt"
    path.write_bytes(whole)
    try:
        parsed = parse(File(path=path, name="a", source="a", suffix=".ppt", settings=AcquireSettings()))
    except Unreadable:
        return
    assert all(0 <= mark.start < mark.end <= len(parsed.text) for mark in parsed.marks)


# ---------------------------------------------------------------- LibreOffice


@needs_office
def test_reads_wordperfect(read_one: Read) -> None:
    text = b"The tenant pays by the third day\x0aRepairs are paid by the owner\x0a"
    head = b"\xffWPC" + struct.pack("<I", 16) + b"\x01\x0a\x00\x01" + bytes(4)
    document = read_one("a.wpd", head + text, parse_seconds=240)
    assert document.text == "The tenant pays by the third day\n\nRepairs are paid by the owner"
    assert document.metadata["kind"] == "wpd"


@needs_office
def test_says_that_libreoffice_cannot_read_it(why_skipped: Why) -> None:
    assert why_skipped("a.wpd", b"\xffWPC" + bytes(40), parse_seconds=240).startswith(("LibreOffice cannot", "empty"))


@pytest.mark.parametrize("may_unshare", [True, False])
def test_a_file_that_fails_is_not_tried_again_with_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_unshare: bool
) -> None:
    log, program, unshare = tmp_path / "log", tmp_path / "soffice", tmp_path / "unshare"
    program.write_text(f'#!/bin/sh\necho "${{NETWORK:-there}}" >> {log}\n')
    unshare.write_text('#!/bin/sh\nshift 3\nNETWORK=none exec "$@"\n' if may_unshare else "#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    unshare.chmod(0o755)
    monkeypatch.setattr(programs, "office", lambda: (str(program), str(unshare)))
    path = tmp_path / "a.wpd"
    path.write_bytes(b"damaged")
    file = File(path=path, name="a", source="a", suffix=".wpd", settings=AcquireSettings())
    with pytest.raises(Unreadable, match="LibreOffice cannot read it"), libreoffice.converted(file):
        pass
    assert log.read_text() == ("none\n" if may_unshare else "there\n")

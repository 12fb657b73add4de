"""Texts that programs give."""

from __future__ import annotations

import pytest
from structure import check, marked, outline

from ragstone.acquire import read_given
from ragstone.core.records import Document, TextKind
from ragstone.settings import AcquireSettings

SETTINGS = AcquireSettings()


MARKDOWN = "# Prices\n\n| item | euros |\n|---|---|\n| mill | 12 |\n"
HTML = "<h1>Prices</h1><table><tr><th>item<th>euros<tr><td>mill<td>12</table>"
RST = "Prices\n======\n\n==== =====\nitem euros\n==== =====\nmill 12\n==== =====\n"
SHOWN = "Prices\n\nitem | euros\nmill | 12"


@pytest.mark.parametrize(
    ("kind", "written", "text", "stored_as"),
    [
        ("markdown", MARKDOWN, MARKDOWN, "markdown"),
        ("html", HTML, SHOWN, "html"),
        ("rst", RST, SHOWN, "restructuredtext"),
    ],
)
def test_texts_have_the_structure_of_their_kind(kind: TextKind, written: str, text: str, stored_as: str) -> None:
    given = Document(id="a", text=written, metadata={"owner": "Ann"}, kind=kind)
    document = read_given(given, SETTINGS)
    assert isinstance(document, Document)
    check(document)
    assert document.text == text
    assert outline(document) == [(1, "Prices")]
    assert len(marked(document, "table")) == 1
    assert (document.id, document.title, document.kind) == ("a", "Prices", "")
    assert document.metadata["owner"] == "Ann"
    assert document.metadata["kind"] == stored_as
    assert document.metadata["word_count"] == len(text.split())


def test_documents_without_a_kind_stay_as_they_are() -> None:
    document = Document(id="a", text="# Prices", metadata={"owner": "Ann"})
    assert read_given(document, SETTINGS) == document


@pytest.mark.parametrize("metadata", [{"readers": ("hr", "board")}, {}])
def test_texts_and_programs_narrow_readers(metadata: dict[str, tuple[str, ...]]) -> None:
    given = Document(id="a", text="---\nreaders: [hr]\n---\nThe bonus.", metadata={**metadata}, kind="markdown")
    document = read_given(given, SETTINGS)
    assert isinstance(document, Document)
    assert document.metadata["readers"] == ("hr",)


def test_readers_of_a_program_count_without_others_in_the_text() -> None:
    document = read_given(Document(id="a", text="The bonus.", metadata={"readers": ("hr",)}, kind="text"), SETTINGS)
    assert isinstance(document, Document)
    assert document.metadata["readers"] == ("hr",)

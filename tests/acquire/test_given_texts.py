"""Texts that programs give."""

from __future__ import annotations

import pytest
from structure import check, marked, outline

from ragstone.acquire import read_given
from ragstone.core.records import Document, TextKind
from ragstone.settings import AcquireSettings
from ragstone.settings.acquire import MetadataSettings

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


def test_documents_without_a_kind_get_derived_metadata() -> None:
    text = (
        "# Prices\n\nOn 15.01.2023 the 5G network of Nokia Corporation cost 12 euros. 5G phones in 5G cells were free."
    )
    settings = AcquireSettings(metadata=MetadataSettings(publisher="Ann", company_topics=True))
    document = read_given(Document(id="news/253.txt", text=text, metadata={"language": "und"}), settings)
    assert isinstance(document, Document)
    assert (document.id, document.text, document.title) == ("news/253.txt", text, "")
    facts = dict(document.metadata)
    assert facts.pop("extracted_at")
    assert facts == {
        "publication_id": "253",
        "source": "Ann",
        "content_hash": document.content_hash,
        "word_count": 20,
        "mentioned_dates": ("2023-01-15",),
        "mentioned_companies": ("Nokia", "Nokia Corporation"),
        "topics": ("5G",),
        "language": "und",
    }


def test_documents_keep_their_metadata_where_none_is_derived() -> None:
    document = Document(id="a", text="# Prices", metadata={"owner": "Ann"})
    assert read_given(document, AcquireSettings(metadata=MetadataSettings(enabled=False))) == document


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

"""Lists of all documents that fit: by metadata, by subject, cited, counted, and only what the reader may read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer, Answered
from ragstone.core.records import Document
from ragstone.core.research import ItemList, Notebook, Researched
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.research import lists
from ragstone.language import phrases
from ragstone.question import read
from ragstone.question.wanted import WantedDocuments, WantedRows, wanted_of
from ragstone.serve.as_csv import csv_of

TOPICS = ("5G", "fibre", "5G", "satellites", "5G and fibre", "parking")


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    documents = [
        Document(
            id=f"news/{n}",
            title=f"Release {n}",
            text=f"The company spoke to the press in Bonn. The subject was {topic}. Questions were answered.",
            metadata={
                "date": f"202{n % 3}-04-0{n + 1}",
                "publisher": "Acme Press (AP)" if n % 2 else "Bonn Wire",
                **({"readers": ("board",)} if n == 4 else {}),
            },
        )
        for n, topic in enumerate(TOPICS)
    ]
    documents.append(Document(id="formula", title="=1+1", text="A parking rule: cars park behind the mill."))
    opened = KnowledgeBase.open(tmp_path_factory.mktemp("lists") / "kb", ["cache.enabled=false"], create=True)
    asyncio.run(opened.documents.add(documents))
    yield opened
    opened.close()


def listed(kb: KnowledgeBase, question: str, reader: Reader = OWNER) -> tuple[ItemList, Answer]:
    async def last() -> tuple[ItemList, Answer]:
        items: ItemList | None = None
        async for event in kb.research(question, reader=reader):
            if isinstance(event, Researched):
                items = event.notebooks[0].items
            if isinstance(event, Answered) and items is not None:
                return items, event.answer
        raise AssertionError("no list")

    return asyncio.run(last())


def documents_of(question: str) -> WantedDocuments | None:
    """Return the documents that a question wants, if no table has rows that fit."""
    wanted = wanted_of(read(question))
    found = wanted.otherwise if isinstance(wanted, WantedRows) else wanted
    return found if isinstance(found, WantedDocuments) else None


def test_a_list_that_is_cut_says_so(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "MOST", 2)
    items, answer = listed(kb, "All press releases from Bonn Wire")
    assert (len(items.items), items.expected, items.is_complete) == (2, 3, False)
    assert answer.answer.startswith(phrases("en").expected.format(count="2", expected="3"))


def ids(items: ItemList) -> set[str]:
    return {one.document_id for one in items.items}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("All press releases about 5G", {"news/0", "news/2", "news/4"}),
        ("All press releases about 5G in 2021", {"news/4"}),
        ("Which press releases mention satellites?", {"news/3"}),
        ("All press releases from Bonn Wire", {"news/0", "news/2", "news/4"}),
        ("All press releases from AP that mention parking", {"news/5"}),
        ("How many press releases are from 2022?", {"news/2", "news/5"}),
        ("All documents about submarines", set[str]()),
    ],
)
def test_lists_all_that_fit(kb: KnowledgeBase, question: str, expected: set[str]) -> None:
    items, answer = listed(kb, question)
    assert ids(items) == expected
    assert items.expected == len(expected)
    assert answer.outcome == ("answer" if expected else "refusal")
    if expected:
        assert f"Documents that fit: {len(expected)}." in answer.answer


def test_each_item_is_cited_exactly(kb: KnowledgeBase) -> None:
    items, answer = listed(kb, "All press releases about fibre")
    assert len(answer.citations) == len(items.items) == 2
    for one in answer.citations:
        text = kb.documents.get(one.document_id, reader=OWNER).text
        assert text[one.start : one.end] == one.quote
        assert "fibre" in one.quote


def test_lists_only_what_the_reader_may_read(kb: KnowledgeBase) -> None:
    items, answer = listed(kb, "All press releases about 5G", Reader.of("staff"))
    assert ids(items) == {"news/0", "news/2"}
    assert "Release 4" not in answer.answer


def test_csv_has_every_item_and_no_formula(kb: KnowledgeBase) -> None:
    question = "All documents about parking"
    items, _ = listed(kb, question)
    lines = csv_of([Notebook(question=read(question), items=items)]).splitlines()
    assert lines[0].startswith("title,date,document_id,quote")
    assert len(lines) == 3
    assert any(line.startswith("'=1+1,") for line in lines)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Welche Verträge enthalten eine Klausel zur Haftung?", "Verträge"),
        ("Visi klausimai apie augintinius", "klausimai"),
        ("Semua berita tentang 1MDB pada 2018", "berita"),
        ("Tutti gli articoli sul clima", "articoli"),
        ("Alle artikelen over water", "artikelen"),
        ("Wszystkie artykuły o klimacie", "artykuły"),
        ("Alla artiklar om klimatet", "artiklar"),
    ],
)
def test_recognises_lists_in_every_language(question: str, wanted: str) -> None:
    found = documents_of(question)
    assert found is not None
    assert found.noun == wanted


@pytest.mark.parametrize(
    "question",
    [
        "Which city hosted the Olympics?",
        "How many employees does Halden have?",
        "Which documents do I need to register?",
        "What are the steps to install it?",
        "Which band was formed in 1981?",
        "Show me the report",
        "What is the name of the band founded by Orla Finch?",
    ],
)
def test_other_questions_are_no_lists(question: str) -> None:
    assert documents_of(question) is None

"""Questions of the report of a period: which documents they are asked of."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb import open_fast

from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.answers import Answer
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase

REPORTS = (
    ("acme-1", "Acme Inc.", "10-Q", "2022-12-31", "first quarter of fiscal 2023"),
    ("acme-2", "Acme Inc.", "10-Q", "2023-04-01", "second quarter of fiscal 2023"),
    ("acme-3", "Acme Inc.", "10-Q", "2023-07-01", "third quarter of fiscal 2023"),
    ("acme-4", "Acme Inc.", "10-K", "2023-09-30", "fiscal 2023"),
    ("2023 Q2 BOLT", "Bolt Corporation", "10-Q", "2023-03-31", "third quarter of fiscal 2023"),
    ("2023 Q4 BOLT", "Bolt Corporation", "10-Q", "2023-09-30", "first quarter of fiscal 2024"),
)


def _report(name: str, company: str, form: str, period: str, fiscal: str) -> Document:
    return Document(
        id=f"filings/{name}.pdf",
        text=f"The gross margin of {company} was {len(name) + int(period[5:7])} million dollars.",
        title=f"{company} · Form {form} · period ended {period} · {fiscal}",
        metadata={"company": company, "form": form, "period": period, "fiscal_period": fiscal},
    )


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    made = open_fast(tmp_path / "kb")
    secret = _report("acme-5", "Acme Inc.", "10-Q", "2023-12-31", "first quarter of fiscal 2024")
    secret = Document(
        id=secret.id, text=secret.text, title=secret.title, metadata={**secret.metadata, READERS: ("board",)}
    )
    asyncio.run(made.documents.add([*(_report(*one) for one in REPORTS), secret]))
    yield made
    made.close()


def ask(engine: KnowledgeBase, question: str, reader: Reader = OWNER) -> Answer:
    return asyncio.run(engine.ask(question, reader=reader))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What was the gross margin of Acme in the latest 10-Q?", ["acme-5"]),
        ("What was Acme's gross margin in its latest annual report?", ["acme-4"]),
        (
            "What was Acme's gross margin in its Q2 2023 10-Q?",
            ["acme-2"],
        ),  # the fiscal quarter, not that of the calendar
        ("What was Bolt's gross margin according to its Q2 2023 report?", ["2023 Q2 BOLT"]),  # its name
        ("What was Bolt's gross margin in its 10-Q for the first quarter of fiscal 2024?", ["2023 Q4 BOLT"]),
        ("What was Bolt's gross margin in its Q1 2023 10-Q?", ["2023 Q2 BOLT"]),  # the calendar
        ("What was Acme's gross margin in the latest quarter?", ["acme-5"]),
        ("What was Acme's gross margin in the quarter ended July 1, 2023?", ["acme-3"]),
        ("What was the gross margin of Acme and Bolt on September 30, 2023?", ["acme-4", "2023 Q4 BOLT"]),
    ],
)
def test_asks_the_report_of_the_period(engine: KnowledgeBase, question: str, names: list[str]) -> None:
    answer = ask(engine, question)
    assert {hit.chunk.document_id for hit in answer.hits} == {f"filings/{name}.pdf" for name in names}
    assert answer.notices[0].startswith("only in: ")


@pytest.mark.parametrize(
    "question",
    [
        "What was the gross margin in the latest 10-Q?",  # of which company?
        "What was Acme's gross margin in its Q2 2019 10-Q?",
        "What was Crane's gross margin in its latest 10-Q?",
        "What was Acme's gross margin on July 2, 2023?",
        "How did Acme's gross margin change from April 1, 2023 to July 1, 2023?",
    ],
)
def test_asks_all_documents_otherwise(engine: KnowledgeBase, question: str) -> None:
    assert not any(notice.startswith("only in") for notice in ask(engine, question).notices)


def test_the_latest_report_is_the_latest_that_a_reader_may_read(engine: KnowledgeBase) -> None:
    answer = ask(engine, "What was the gross margin of Acme in the latest 10-Q?", Reader(groups=frozenset({"staff"})))
    assert {hit.chunk.document_id for hit in answer.hits} == {"filings/acme-3.pdf"}


NAMES = ("Bolt Corporation", "Bolt Threads, Inc.", "On Holding AG", "First Solar, Inc.", "Target Corporation")


@pytest.fixture
def alike(tmp_path: Path) -> Iterator[KnowledgeBase]:
    made = open_fast(tmp_path / "alike")
    reports = [
        _report(f"{name.split(',')[0]} {year}", name, "10-K", f"{year}-0{at + 1}-28", f"fiscal {year}")
        for at, name in enumerate(NAMES)
        for year in (2022, 2023)
    ]
    amended = _report("Target amended", "Target Corporation", "10-K/A", "2023-05-28", "fiscal 2023")
    asyncio.run(made.documents.add([*reports, amended]))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What was Bolt's gross margin in its latest 10-K?", ["Bolt Corporation 2023"]),
        ("What was Bolt Threads' gross margin in its latest 10-K?", ["Bolt Threads 2023"]),
        ("what was the gross margin of bolt threads in its latest 10-k?", ["Bolt Threads 2023"]),
        ("What was the target of Bolt for its gross margin in its latest 10-K?", ["Bolt Corporation 2023"]),
        ("What was the gross margin of Target in its latest 10-K?", ["Target Corporation 2023"]),
        ("What was the gross margin of Target in its latest 10-K/A?", ["Target amended"]),
        ("What was the gross margin of On in its latest 10-K?", ["On Holding AG 2023"]),
        (
            "What were the gross margins of Bolt and Target in the latest 10-K?",
            ["Bolt Corporation 2023", "Target Corporation 2023"],
        ),
    ],
)
def test_tells_companies_with_like_names_apart(alike: KnowledgeBase, question: str, names: list[str]) -> None:
    answer = ask(alike, question)
    assert {hit.chunk.document_id for hit in answer.hits} == {f"filings/{name}.pdf" for name in names}


@pytest.mark.parametrize(
    "question",
    [
        "On what date was the latest annual report filed?",
        "What is said on gross margins in the latest 10-K?",
        "What was the first gross margin in the latest annual report?",
    ],
)
def test_ordinary_words_are_no_companies(alike: KnowledgeBase, question: str) -> None:
    assert not any(notice.startswith("only in") for notice in ask(alike, question).notices)


def test_one_report_among_others_is_not_meant_by_every_report(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    others = [Document(id=f"news{n}", text=f"The report on the climate of {n}.") for n in range(3)]
    asyncio.run(engine.documents.add([_report(*REPORTS[0]), *others]))
    for question in ("What does the latest report on the climate say?", "What does the annual report for 2022 say?"):
        assert not any(notice.startswith("only in") for notice in ask(engine, question).notices)
    assert ask(engine, "What was Acme's gross margin in its latest 10-Q?").notices[0].startswith("only in")
    engine.close()

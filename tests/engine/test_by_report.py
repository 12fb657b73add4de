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
    ],
)
def test_asks_all_documents_otherwise(engine: KnowledgeBase, question: str) -> None:
    assert not any(notice.startswith("only in") for notice in ask(engine, question).notices)


def test_the_latest_report_is_the_latest_that_a_reader_may_read(engine: KnowledgeBase) -> None:
    answer = ask(engine, "What was the gross margin of Acme in the latest 10-Q?", Reader(groups=frozenset({"staff"})))
    assert {hit.chunk.document_id for hit in answer.hits} == {"filings/acme-3.pdf"}

"""Tables beyond the best hits: read for an answer, cited, cached, and shown only to those who may read them."""

import asyncio
from pathlib import Path

import pytest

from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.records import Document, Mark
from ragstone.engine.knowledge_base import KnowledgeBase

ROWS = "Year | 2023 | 2022\nNet sales | $8,412 | $7,998\nNet income | $1,204 | $1,100"
QUESTION = "What was Acme's net income in 2023?"


def report(groups: tuple[str, ...] = ()) -> Document:
    mark = Mark(kind="table", start=0, end=len(ROWS), header=1, label="In millions")
    metadata = {READERS: groups} if groups else {}
    return Document(id="report", title="Annual figures of Acme", text=ROWS, marks=(mark,), metadata=metadata)


def letter(number: int) -> Document:
    text = f"Letter {number}. What was Acme's net income in 2023? Acme's shareholders asked for net income of 2023."
    return Document(id=f"letter-{number}", title="Acme's net income in 2023", text=text)


def filled(folder: Path, table: Document) -> KnowledgeBase:
    kb = KnowledgeBase.open(folder, ["rank.top_k=2"], create=True)
    asyncio.run(kb.documents.add([table, *map(letter, range(5))]))
    return kb


def test_a_table_beyond_the_hits_answers(tmp_path: Path):
    kb = filled(tmp_path, report())
    assert "report" not in {hit.chunk.document_id for hit in asyncio.run(kb.search(QUESTION, reader=OWNER))}
    first, again = (asyncio.run(kb.ask(QUESTION, reader=OWNER)) for _ in range(2))
    for answer in (first, again):
        assert answer.answer == "Net income · 2023 · in millions: $1,204 [1]"
        (citation,) = answer.citations
        assert citation.quote == ROWS[citation.start : citation.end]
        assert [source.document_id for source in answer.sources] == ["report"]
        assert answer.hits[-1].chunk.document_id == "report"
    assert again.usage.cached
    kb.close()


@pytest.mark.parametrize("groups", [("finance",), ("sales",)])
def test_only_those_who_may_read_a_table_are_answered_from_it(tmp_path: Path, groups: tuple[str, ...]):
    kb = filled(tmp_path, report(groups))
    reader = Reader(name="k", groups=frozenset({"finance"}))
    cited = {one.document_id for one in asyncio.run(kb.ask(QUESTION, reader=reader)).citations}
    assert ("report" in cited) == ("finance" in groups)
    kb.close()

"""Answers from rows of data files: the cell or the row that is asked for, and comparisons over all rows."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer
from ragstone.engine import whole_tables
from ragstone.engine.knowledge_base import KnowledgeBase

STATIONS = """Station,Country,Capacity (kW),Opened,Price
Alpha,Germany,"1,200",2001,$4.50
Beta,Poland,940,2004,$3.10
Gamma,Germany,310,2010,$2.00
Delta,Lithuania,2200,2015,$9.90
Epsilon,Lithuania,150,2019,$1.20
"""
SESSIONS = {
    "paths": {"/session": {"get": {"summary": "How long a session lasts", "operationId": "session_length"}}},
    "sessions": {"description": "How long does a session last?", "ttl": 30},
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "stations.csv").write_text(STATIONS)
    made = KnowledgeBase.open(folder / "kb", create=True)
    asyncio.run(made.documents.add([str(folder / "stations.csv")]))
    yield made
    made.close()


def asked(kb: KnowledgeBase, question: str, reader: Reader = OWNER) -> Answer:
    answer = asyncio.run(kb.ask(question, reader=reader))
    for one in answer.citations:
        text = kb.documents.get(one.document_id, reader=OWNER).text
        assert text[one.start : one.end] == one.quote
    return answer


def test_cites_the_cell_of_a_row(kb: KnowledgeBase):
    found = asked(kb, "When was Delta opened?")
    assert found.answer == "Station Delta · Opened: 2015 [1]"
    assert found.citations[0].document_id == "stations.csv#4"


def test_shows_the_row_when_no_column_is_sure(kb: KnowledgeBase):
    found = asked(kb, "Tell me about Gamma")
    assert "Station: Gamma; Country: Germany; Capacity (kW): 310" in found.answer


@pytest.mark.parametrize(
    ("question", "quotes", "compared"),
    [
        ("Which station has the highest capacity?", ["Delta", "2200"], "(5 rows): max(Capacity (kW)) = 2200"),
        ("What is the lowest price?", ["Epsilon", "$1.20"], "(5 rows): min(Price) = $1.20"),
        ("Which is the cheapest station?", ["Epsilon", "$1.20"], "(5 rows): min(Price) = $1.20"),
        ("How many stations are in Germany?", ["Alpha", "Gamma"], "(5 rows), Country = Germany: 2"),
        ("How many stations have a capacity above 500?", ["Alpha", "Beta", "Delta"], "Capacity (kW) > 500: 3"),
        ("How many different countries are there?", ["Germany", "Poland", "Lithuania"], "Country: 3"),
        ("How many stations are there?", ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"], "(5 rows): 5"),
        ("Which stations are in Germany?", ["Alpha", "Gamma"], "(5 rows), Country = Germany: 2"),
        ("List all stations in Lithuania", ["Delta", "Epsilon"], "(5 rows), Country = Lithuania: 2"),
        ("Which stations have a capacity above 500?", ["Alpha", "Beta", "Delta"], "Capacity (kW) > 500: 3"),
        ("Show me all stations", ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"], "(5 rows): 5"),
    ],
)
def test_compares_all_rows_of_a_file(kb: KnowledgeBase, question: str, quotes: list[str], compared: str):
    found = asked(kb, question)
    assert sorted(one.quote for one in found.citations) == sorted(quotes)
    assert compared in found.answer.splitlines()[-1]


@pytest.mark.parametrize(
    "question",
    [
        "How many stations are in France?",
        "Which station has the highest staff?",
        "How many countries joined the union?",
        "How many stations in Germany are closed?",
        "How many countries are there in the world?",
        "Which stations are in France?",
        "Which stations in Germany are closed?",
        "Which stations do you recommend?",
        "What is the capacity of Delta?",
    ],
)
def test_refuses_what_no_column_has(kb: KnowledgeBase, question: str):
    assert "rows)" not in asked(kb, question).answer


def test_what_is_wanted_is_not_what_is_compared(tmp_path: Path):
    file = tmp_path / "dealers.csv"
    file.write_text("Dealer,Dealer since,Bikes sold\nAlder,2019,40\nBirch,2021,90\nCedar,2023,10\n")
    made = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(made.documents.add([str(file)]))
    assert [one.quote for one in asked(made, "Which dealer sold the most bikes?").citations] == ["Birch", "90"]
    made.close()


def test_counts_only_rows_that_may_be_read(tmp_path: Path):
    lines = ["Station,Country,readers", "Alpha,Germany,hr", "Beta,Germany,it", "Gamma,Germany,hr"]
    (tmp_path / "stations.csv").write_text("\n".join(lines))
    kb = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(kb.documents.add([str(tmp_path / "stations.csv")]))
    reader = Reader(name="k", groups=frozenset({"hr"}))
    assert asked(kb, "How many stations are in Germany?", reader).answer.endswith("Country = Germany: 2 [1][2]")
    assert "Germany: 3" in asked(kb, "How many stations are in Germany?").answer
    kb.close()


def test_tells_files_of_one_name_apart(tmp_path: Path):
    for place, rows in {"old": "A1,Alpha,Germany\nB2,Beta,Poland", "new": "C3,Gamma,Germany\nD4,Delta,Spain"}.items():
        folder = tmp_path / place
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "stations.csv").write_text(f"id,Station,Country\n{rows}\n")
    kb = KnowledgeBase.open(tmp_path / "old" / "kb", create=True)
    asyncio.run(kb.documents.add([str(tmp_path / "old" / "data")]))
    kb.close()
    (tmp_path / "old" / "kb").rename(tmp_path / "new" / "kb")
    kb = KnowledgeBase.open(tmp_path / "new" / "kb")
    asyncio.run(kb.documents.add([str(tmp_path / "new" / "data")]))
    kept = {one.document_id for one in kb.documents.list(reader=OWNER).documents}
    assert kept == {f"data/stations.csv#{id}" for id in ("A1", "B2", "C3", "D4")}
    found = asked(kb, "How many stations are in Spain?")
    assert found.answer.splitlines()[-1].startswith("stations.csv (2 rows), Country = Spain: 1")
    assert "rows)" not in asked(kb, "How many stations are in Germany?").answer
    kb.close()


def test_counts_rows_that_have_a_path(tmp_path: Path):
    (tmp_path / "requests.csv").write_text("Request,path,Status\nr1,/start,200\nr2,/end,404\nr3,/end,200\n")
    kb = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(kb.documents.add([str(tmp_path / "requests.csv")]))
    assert "(3 rows): max(Status) = 404" in asked(kb, "Which request has the highest status?").answer
    kb.close()


def test_compares_all_parts_of_a_large_sheet(tmp_path: Path):
    rows = "\n".join(f"| Pump {n} | Model {n} | {7 * n % 1000} |" for n in range(1, 120))
    (tmp_path / "pumps.md").write_text(f"# Pumps\n\n| Pump | Model | Pressure |\n|---|---|---|\n{rows}\n")
    kb = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(kb.documents.add([str(tmp_path / "pumps.md")]))
    found = asked(kb, "Which pump has the highest pressure?")
    best = max(range(1, 120), key=lambda n: 7 * n % 1000)
    assert [one.quote for one in found.citations] == [f"Pump {best}", str(7 * best % 1000)]
    assert "(119 rows)" in found.answer
    kb.close()


def test_lists_rows_by_the_name_behind_their_number_and_says_how_many_are_left_out(tmp_path: Path):
    rows = "\n".join(f"PX-{n:03},Pump {n},{'Mill' if n % 2 else 'Quay'}" for n in range(1, 80))
    (tmp_path / "pumps.csv").write_text(f"Number,Name,Place\n{rows}\n")
    kb = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(kb.documents.add([str(tmp_path / "pumps.csv")]))
    found = asked(kb, "Which pumps are in the mill?")
    assert [one.quote for one in found.citations] == [f"Pump {n}" for n in range(1, 60, 2)]
    assert "(79 rows), Place = Mill: 30 / 40" in found.answer
    kb.close()


def test_lists_the_numbers_that_a_question_asks_for(tmp_path: Path):
    (tmp_path / "garages.csv").write_text("Garage,Yard,Status\nN03,North,vacant\nS01,South,let\nS04,South,vacant\n")
    kb = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(kb.documents.add([str(tmp_path / "garages.csv")]))
    assert [one.quote for one in asked(kb, "Which garages are vacant?").citations] == ["N03", "S04"]
    kb.close()


def test_reads_no_table_of_too_many_rows(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(whole_tables, "MOST_ROWS", 4)
    assert "rows)" not in asked(kb, "How many of the stations are in Lithuania?").answer


def test_quotes_prose_and_not_data_files(tmp_path: Path):
    (tmp_path / "openapi.json").write_text(json.dumps(SESSIONS))
    (tmp_path / "guide.md").write_text("# Signing in\n\nA session lasts thirty days. Then you sign in again.\n")
    kb = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(kb.documents.add([str(tmp_path)]))
    found = asked(kb, "How long does a session last?")
    assert {one.document_id for one in found.citations} == {"guide.md"}
    kb.close()

"""Lists of the rows of tables that fit, each cited by its row, and of documents of a kind wherever they lie."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, Answered
from ragstone.core.records import Document
from ragstone.core.research import ItemList, Researched
from ragstone.engine.knowledge_base import KnowledgeBase

PRODUCTS = "product,price (EUR),colour\nOtter,3490,green\nBell,24,red\nLock,89,black\nChain,100,black\n"
DEALERS = "dealer,country,dealer since,bikes sold in 2025\nPedal,United Kingdom,2013,214\nRad,Germany,2019,150\n"
EMPLOYEES = "name,role,office\nIda Holm,engineer,Berlin\nTom Reyes,engineer,Paris\nEva Lind,accountant,Berlin\n"
WERKZEUG = "Werkzeug,Preis (EUR),Gewicht (kg)\nHammer,24,1.2\nSäge,89,2.5\nBohrer,3490,4.8\n"
RÄDER = "# Räder\n\n| Rad | Preis |\n|---|---|\n| Reiher | 3.490 € |\n| Dachs | 1.204 € |\n| Wiesel | 990 € |\n"
PREKES = "prekė,kaina (EUR),svoris (kg)\nVarpelis,24,1.2\nSpyna,89,2.5\nGrandinė,3490,4.8\n"
BARANG = "barang,harga (RM),berat (kg)\nLoceng,24,1.2\nKunci,89,2.5\nRantai,3490,4.8\n"
MANUAL = """\
# Commands

## Spare parts

| Part | Price excl. VAT (£) | Price incl. VAT (£) |
|---|---|---|
| Lever | 48.33 | 58 |
| Pedal | 75 | 90 |
| Motor | 415 | 498 |

## SET

SET changes how a session works. Its options are below.

| Option | Meaning |
|---|---|
| TIMEZONE | the time zone of dates |
| ENCODING | the encoding of texts |
| TIMEOUT | the seconds after which a command ends |

## SHOW

SHOW prints what a session has.
"""
LETTERS = {
    "letters/1": ("Lease", "The rent of the mill rises in May. Late deliveries are fined."),
    "letters/2": ("Thanks", "Thank you for the tour of the mill."),
    "archive/letter-to-corvo": ("Corvo", "Your late deliveries cost us a week."),
    "archive/7": ("Scan 7", "With this letter we complain about late deliveries."),
    "minutes/3": ("March", "Late deliveries were discussed."),
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("rows")
    for name, text in {
        "products.csv": PRODUCTS,
        "dealers.csv": DEALERS,
        "employees.csv": EMPLOYEES,
        "werkzeug.csv": WERKZEUG,
        "räder.md": RÄDER,
        "prekes.csv": PREKES,
        "barang.csv": BARANG,
        "manual.md": MANUAL,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    with closing(KnowledgeBase.open(folder / "kb", ["cache.enabled=false"], create=True)) as opened:
        asyncio.run(opened.documents.add([str(one) for one in sorted(folder.glob("*.*"))]))
        letters = (Document(id=id, title=title, text=text) for id, (title, text) in LETTERS.items())
        asyncio.run(opened.documents.add([*letters]))
        yield opened


def listed(kb: KnowledgeBase, question: str, session: str = "") -> tuple[ItemList | None, Answer]:
    async def last() -> tuple[ItemList | None, Answer]:
        items: ItemList | None = None
        async for event in kb.research(question, reader=OWNER, session=session):
            if isinstance(event, Researched):
                items = event.notebooks[0].items
            if isinstance(event, Answered):
                return items, event.answer
        raise AssertionError("no answer")

    return asyncio.run(last())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which products cost less than 100 euro?", ["Bell", "Lock"]),
        ("Which products cost at most €100?", ["Bell", "Lock", "Chain"]),
        ("Which products have a price above 80?", ["Otter", "Lock", "Chain"]),
        ("All dealers in the United Kingdom", ["Pedal"]),
        ("Which dealers sold more than 150 bikes in 2025?", ["Pedal"]),
        ("Which spare parts cost less than 80 pounds?", ["Lever"]),
        ("Which spare parts cost less than 80 pounds excl. VAT?", ["Lever", "Pedal"]),
        ("All black products", ["Lock", "Chain"]),
        ("all employees in the Berlin office", ["Ida Holm", "Eva Lind"]),
        ("List every engineer", ["Ida Holm", "Tom Reyes"]),
        ("List every option of SET", ["TIMEZONE", "ENCODING", "TIMEOUT"]),
        ("Which products cost between 50 and 100 euro?", ["Lock", "Chain"]),
    ],
)
def test_lists_the_rows_that_fit(kb: KnowledgeBase, question: str, expected: list[str]) -> None:
    items, answer = listed(kb, question)
    assert items is not None
    assert items.are_rows
    assert [one.title for one in items.items] == expected
    assert f"Rows that fit: {len(expected)}." in answer.answer
    assert answer.outcome == "answer"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Welche Werkzeuge kosten weniger als 3.500 Euro?", ["Hammer", "Säge", "Bohrer"]),
        ("Welche Werkzeuge kosten mindestens 89 Euro?", ["Säge", "Bohrer"]),
        ("Welche Räder kosten mehr als 1.000 Euro?", ["Reiher", "Dachs"]),
        ("Alle Werkzeuge zwischen 20 und 100 Euro", ["Hammer", "Säge"]),
        ("Welche Werkzeuge haben ein Gewicht über 1,5?", ["Säge", "Bohrer"]),
        ("Welche Werkzeuge wiegen höchstens 2,5 kg?", ["Hammer", "Säge"]),
        ("Kurios prekės sveria daugiau nei 1,5 kg?", ["Spyna", "Grandinė"]),
        ("Kurios prekės kainuoja mažiau nei 100 eurų?", ["Varpelis", "Spyna"]),
        ("Kurios prekės kainuoja ne mažiau kaip 89 eurus?", ["Spyna", "Grandinė"]),
        ("Visos prekės nuo 50 iki 100 eurų", ["Spyna"]),
        ("Manakah barang yang berharga kurang daripada RM100?", ["Loceng", "Kunci"]),
        ("Manakah barang yang berharga sekurang-kurangnya 89 ringgit?", ["Kunci", "Rantai"]),
        ("Senaraikan semua barang yang berharga antara RM50 dan RM3,500", ["Kunci", "Rantai"]),
    ],
)
def test_reads_limits_in_other_languages(kb: KnowledgeBase, question: str, expected: list[str]) -> None:
    items, _ = listed(kb, question)
    assert items is not None
    assert items.are_rows
    assert [one.title for one in items.items] == expected


def test_each_row_is_cited(kb: KnowledgeBase) -> None:
    items, answer = listed(kb, "Which products cost less than 100 euro?")
    assert items is not None
    assert items.examined == 4
    for one in answer.citations:
        assert kb.documents.get(one.document_id, reader=OWNER).text[one.start : one.end] == one.quote
    assert "Bell" in answer.citations[0].quote
    assert "24" in answer.citations[0].quote


@pytest.mark.parametrize(
    "question",
    [
        "Which products cost less than 100 dollars?",
        "Welche Werkzeuge wiegen höchstens 2 Meter?",
        "Which products are loud?",
        "Which products do you recommend?",
        "Which is the cheapest product?",
    ],
)
def test_lists_no_rows_of_which_a_word_is_unclear(kb: KnowledgeBase, question: str) -> None:
    items, _ = listed(kb, question)
    assert items is None or not items.are_rows


def test_letters_are_found_outside_of_their_folder(kb: KnowledgeBase) -> None:
    items, _ = listed(kb, "All letters about late deliveries")
    assert items is not None
    assert {one.document_id for one in items.items} == {"letters/1", "archive/letter-to-corvo", "archive/7"}

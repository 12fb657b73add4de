"""Figures and names that stand in the passages, but not where a sentence has them."""

import asyncio

import pytest

from ragstone.core.records import Chunk, Hit
from ragstone.core.request import Request
from ragstone.respond.proof.records import Proof
from ragstone.respond.proof.said import NOTHING
from tests.respond.proofs import checker, proof

CREW = """The workshop in Lund is led by Anna Berg. The workshop in Malmö is led by Peter Holm. \
The shop in Lund closes at 18:00, and the shop in Malmö, which is smaller, closes at 17:00. \
Repairs of gearboxes take 10 working days. Repairs of brakes take 4 working days. The party is on 12 May."""
KEYS = ("Gate | Keeper | Deputy", "North gate | Anna Berg | Peter Holm", "Harbour gate | Ida Lind | Karl Öst")
DRAUGHT = ("Berth | Cargo | Length (m) | Draught (m)", "7 | grain | 230 | 13.4", "8 | timber | 180 | 10.8")
HOURS = ("Office | Monday to Thursday | Friday", "Lund | 08:00–17:00 | 08:00–16:00", "Malmö | 09:00–17:30 | closed")


def of_rows(sentence: str, rows: tuple[str, ...], question: str = "") -> Proof:
    """Return the proof of a sentence by a table, whose first row has the headings."""
    text = "\n".join(rows)
    chunk = Chunk(
        id="t", document_id="t", index=0, total=1, start=0, end=len(text), text=text, title="List",
        facts={"is_table": True, "table_header": rows[0], "header_rows": 1},
    )  # fmt: skip
    hits, said = [Hit(chunk=chunk, score=1.0)], NOTHING.and_then(question)
    return asyncio.run(checker().check(sentence, hits, Request.by_owner(), said, 1))


@pytest.mark.parametrize(
    ("question", "sentence", "reason"),
    [
        (
            "Who leads Malmö?",
            "The workshop in Malmö is led by Anna Berg.",
            "the passage says Peter Holm, not Anna Berg",
        ),
        (
            "How long do repairs take?",
            "Repairs of brakes take 10 working days.",
            "the passage says 4 working days, not 10 working days",
        ),
    ],
)
def test_finds_what_stands_in_another_sentence(question: str, sentence: str, reason: str) -> None:
    assert proof(sentence, before=question, texts=[CREW]).reason == reason


@pytest.mark.parametrize(
    ("sentence", "rows", "reason"),
    [
        ("The keeper of the harbour gate is Anna Berg.", KEYS, "the passage says Ida Lind, not Anna Berg"),
        ("The greatest draught at berth 8 for timber is 13.4 m.", DRAUGHT, "the passage says 10.8, not 13.4 m"),
        ("On Friday Lund is open until 17:00.", HOURS, "the passage says 08:00–16:00, not 17:00"),
    ],
)
def test_finds_what_stands_in_another_row_or_column(sentence: str, rows: tuple[str, ...], reason: str) -> None:
    assert of_rows(sentence, rows).reason == reason


@pytest.mark.parametrize(
    ("sentence", "rows"),
    [
        ("The keeper of the harbour gate is Ida Lind.", KEYS),
        ("The deputy of the harbour gate is Karl Öst.", KEYS),
        ("The greatest draught at berth 8 for timber is 10.8 m.", DRAUGHT),
        ("Berth 7 for grain is 230 m long and 13.4 m deep.", DRAUGHT),
        ("The Lund office is open on Friday until 16:00.", HOURS),
        ("From Monday to Thursday the Lund office is open until 17:00.", HOURS),
    ],
)
def test_leaves_the_right_row_and_column(sentence: str, rows: tuple[str, ...]) -> None:
    assert not of_rows(sentence, rows).flagged


@pytest.mark.parametrize(
    "sentence",
    [
        "The workshop in Lund is led by Anna Berg.",
        "The workshops in Lund and Malmö are led by Anna Berg and Peter Holm.",
        "Anna Berg, who runs Lund, and Peter Holm will come to the party on 12 May.",
        "Repairs of brakes take 4 working days, those of gearboxes 10.",
        "It takes 10 working days.",
    ],
)
def test_leaves_what_several_sentences_say(sentence: str) -> None:
    assert not proof(sentence, texts=[CREW]).flagged


def test_what_the_question_says_is_not_displaced() -> None:
    asked = "Is Anna Berg the keeper of the harbour gate?"
    assert not of_rows("Anna Berg is not the keeper of the harbour gate.", KEYS, asked).reason.startswith(
        "the passage says"
    )


SECTION = """Inspection log

Ropes are retired after 3 years, helmets after 10.

Item | In use | Passed | Retired
Rope red | 52 | 49 | 3
Rope blue | 34 | 33 | 1

Visits by quarter:

| Hall | Q1 | Q2 |
|---|---|---|
| Main | 120 | 95 |
| Small | 40 | 61 |

The log is kept for five years."""


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("One blue rope was retired; 33 of 34 passed.", ""),
        ("Of the red ropes, 49 of 52 passed, and 3 were retired.", ""),
        ("The main hall had 95 visits in the second quarter.", ""),
        ("The log is kept for five years.", ""),
        ("Of the blue ropes 49 passed the inspection.", "the passage says 33, not 49"),
        ("The main hall had 120 visits in the second quarter.", "the passage says 95, not 120"),
        ("The small hall had 95 visits in the second quarter.", "the passage says 61, not 95"),
    ],
)
def test_reads_the_tables_within_a_section(sentence: str, reason: str) -> None:
    assert proof(sentence, texts=[SECTION]).reason == reason


def test_quotes_neither_the_title_nor_the_heads_of_a_section() -> None:
    for sentence in ("The inspection log says that 49 red ropes passed.", "Of the blue ropes in use, one was retired."):
        quoted = [quote.text for quote in proof(sentence, texts=[SECTION]).quotes]
        assert quoted
        assert not {"Inspection log", "Item | In use | Passed | Retired"} & set(quoted)


SHIFTS = ("Task | Wed 4.3. | Thu 5.3. | Fri 6.3.", "Ferry | Ingrid | Ingrid | Oskar", "Kiosk | Oskar | Tuva | Tuva")
FREIGHT = (
    "Parcel | up to 20 kg | 21 to 60 kg | per",
    "Express | 9.40 | 14.20 | parcel",
    "Standard | 5.10 | 8.30 | parcel",
)


def test_reads_the_heads_of_columns() -> None:
    assert not of_rows("Ingrid works on the ferry on Thursday, 5 March.", SHIFTS).flagged
    assert not of_rows("Express costs 14.20 per parcel of 21 to 60 kg.", FREIGHT).flagged
    assert of_rows("Express costs 8.30 per parcel of 21 to 60 kg.", FREIGHT).flagged

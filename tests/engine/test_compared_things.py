"""Research that compares things: which cells a table has, what each one cites, and what stays empty."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from scripted_model import ScriptedModel

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer, Answered, Message
from ragstone.core.records import Document
from ragstone.core.research import ActionTaken, Budget, Compared, Forecast, Notebook, Researched
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.question import read
from ragstone.question.wanted import WantedComparison, wanted_of
from ragstone.serve.as_csv import csv_of
from ragstone.serve.as_report import html_of, markdown_of

POLICY = """\
# Travel policy

Valid from 1 January {year}.

## Hotels

The company pays for hotels up to {hotel} pounds a night.

## Meals

Meals are paid on receipt in all countries. Breakfast counts if the hotel has none. Drinks are never paid at all. {meal}

## Private cars

A private car is paid at 45 pence a mile if no train goes there. {car}
"""
PRODUCTS = "product,price (EUR),weight (kg),warranty\nOtter,3490,38,5 years\nBadger,2790,31,\nStoat,990,12,1 year\n"
COMPANIES = {
    ("Halden Mills", 2022): "In 2022 the revenue of Halden Mills was 41 million euros. Its profit was 3 million euros.",
    ("Halden Mills", 2023): "In 2023 the revenue of Halden Mills was 44 million euros. It built a new mill.",
    ("Corvo Foods", 2022): "In 2022 the revenue of Corvo Foods was 12 million euros. It bought two farms.",
}
STRANGER = Reader.of("staff")


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("compared")
    bike = "A trip with a cargo bike is paid at 25 pence a mile."
    for year, hotel, meal, car in ((2023, 110, "32 pounds", ""), (2024, 135, "40 pounds", bike)):
        policy = POLICY.format(year=year, hotel=hotel, meal=f"The limit is {meal} a day.", car=car)
        (folder / f"travel-policy-{year}.md").write_text(policy, encoding="utf-8")
    (folder / "products.csv").write_text(PRODUCTS, encoding="utf-8")
    reports = [
        Document(
            id=f"reports/{name}-{year}",
            title=f"{name} annual report {year}",
            text=text,
            metadata={"date": f"{year}-12-31", **({"readers": ("board",)} if name.startswith("Corvo") else {})},
        )
        for (name, year), text in COMPANIES.items()
    ]
    with closing(KnowledgeBase.open(folder / "kb", ["cache.enabled=false"], create=True)) as opened:
        files = [str(one) for one in sorted(folder.glob("*.*"))]
        asyncio.run(opened.documents.add([*reports]))
        asyncio.run(opened.documents.add(files))
        yield opened


def researched(
    kb: KnowledgeBase, question: str, reader: Reader = OWNER, budget: Budget | None = None
) -> tuple[Notebook, Answer, list[ActionTaken], Forecast]:
    async def collected() -> list[object]:
        return [one async for one in kb.research(question, reader=reader, budget=budget)]

    events = asyncio.run(collected())
    (told,) = (one for one in events if isinstance(one, Forecast))
    (notes,) = (one for one in events if isinstance(one, Researched))
    (answered,) = (one for one in events if isinstance(one, Answered))
    return notes.notebooks[0], answered.answer, [one for one in events if isinstance(one, ActionTaken)], told


def table(compared: Compared | None) -> dict[tuple[str, str], str]:
    """Return the words of each cell by aspect and thing; without those that were not found."""
    assert compared is not None
    return {
        (aspect.name, thing): cell.quote
        for aspect in compared.aspects
        for thing, cell in zip(compared.things, aspect.cells, strict=True)
        if cell
    }


@pytest.mark.parametrize(
    ("question", "things", "aspects", "head"),
    [
        ("Compare the travel policy of 2023 and 2024", ("2023", "2024"), (), "travel policy"),
        (
            "Compare the revenue of Alpha and Beta in 2022 and 2023",
            ("Alpha 2022", "Alpha 2023", "Beta 2022", "Beta 2023"),
            ("revenue",),
            "",
        ),
        (
            "What is the difference between Otter and Badger in price, weight and warranty?",
            ("Otter", "Badger"),
            ("price", "weight", "warranty"),
            "",
        ),
        ("How does Otter differ from Badger in price?", ("Otter", "Badger"), ("price",), ""),
        ("Compare the 2022 and the 2023 annual report in revenue", ("2022", "2023"), ("revenue",), "annual report"),
        ("Compare Alpha and Beta in revenue and number of jobs", ("Alpha", "Beta"), ("revenue", "number of jobs"), ""),
        ("Please compare Q4 2025 and Q1 2026", ("Q4 2025", "Q1 2026"), (), ""),
        ("Vergleiche den Umsatz von Alpha und Beta", ("Alpha", "Beta"), ("Umsatz",), ""),
        ("Was ist der Unterschied zwischen Otter und Dachs bei Preis und Gewicht?", ("Otter", "Dachs"), None, ""),
        ("Confronta il prezzo di Otter e Badger", ("Otter", "Badger"), ("prezzo",), ""),
        ("Jämför priset för Otter och Badger", ("Otter", "Badger"), ("priset",), ""),
    ],
)
def test_reads_things_and_aspects(
    question: str, things: Sequence[str], aspects: Sequence[str] | None, head: str
) -> None:
    wanted = wanted_of(read(question))
    assert isinstance(wanted, WantedComparison)
    assert tuple(map(str, wanted.things)) == tuple(things)
    assert aspects is None or wanted.aspects == aspects
    assert wanted.head == head


@pytest.mark.parametrize("question", ["What does Otter cost?", "Compare the mills", "Who compared the two reports?"])
def test_other_questions_compare_nothing(question: str) -> None:
    assert not isinstance(wanted_of(read(question)), WantedComparison)


def test_versions_of_a_document_are_compared_by_their_sections(kb: KnowledgeBase) -> None:
    notes, answer, _, _ = researched(kb, "Compare the travel policy of 2023 and 2024")
    found = table(notes.compared)
    assert "110 pounds" in found["Hotels", "travel policy 2023"]
    assert "135 pounds" in found["Hotels", "travel policy 2024"]
    assert found["Meals", "travel policy 2023"] == "The limit is 32 pounds a day.", "it begins with what differs"
    assert "45 pence" in found["Private cars", "travel policy 2024"], "a short section is whole"
    assert len(found) == 6
    assert answer.outcome == "answer"
    assert answer.retrieval_method == "comparison"


def test_each_cell_is_cited_exactly(kb: KnowledgeBase) -> None:
    _, answer, _, _ = researched(kb, "Compare the travel policy of 2023 and 2024")
    assert len(answer.citations) == len(answer.statements) == 6
    for cited, stated in zip(answer.citations, answer.statements, strict=True):
        assert kb.documents.get(cited.document_id, reader=OWNER).text[cited.start : cited.end] == cited.quote
        assert answer.answer[stated.start : stated.end].endswith(f"[{cited.marker}]")
        assert stated.markers == (cited.marker,)


def test_figures_of_companies_and_years(kb: KnowledgeBase) -> None:
    question = "Compare the revenue of Halden Mills and Corvo Foods in 2022 and 2023"
    notes, answer, actions, told = researched(kb, question)
    found = table(notes.compared)
    assert "41 million" in found["revenue", "Halden Mills 2022"]
    assert "44 million" in found["revenue", "Halden Mills 2023"]
    assert "12 million" in found["revenue", "Corvo Foods 2022"]
    assert ("revenue", "Corvo Foods 2023") not in found
    assert "| not found |" in answer.answer
    assert told.actions == 8 == len(actions), "a search for each thing, and one for each cell"
    assert answer.usage.model_calls == 0


def test_named_aspects_of_rows_are_values(kb: KnowledgeBase) -> None:
    notes, _, _, _ = researched(kb, "What is the difference between Otter and Badger in price, weight and warranty?")
    found = table(notes.compared)
    assert found["price (EUR)", "Otter"] == "3490"
    assert found["price (EUR)", "Badger"] == "2790"
    assert found["weight (kg)", "Badger"] == "31"
    assert "5 years" in found["warranty", "Otter"]
    assert ("warranty", "Badger") not in found


def test_rows_that_only_mention_a_thing_are_others(tmp_path: Path) -> None:
    bikes = 'article,description,price\nOT,"Otter, 522 Wh battery",4408\nWR,"Wren, 400 Wh battery",2658\n'
    accessories = 'article,description,price,fits\nRC,Rain cover,137,Otter\nCS,Child seat,104,"Alder, Wren"\n'
    (tmp_path / "bikes.csv").write_text(bikes, encoding="utf-8")
    (tmp_path / "accessories.csv").write_text(accessories, encoding="utf-8")
    with closing(KnowledgeBase.open(tmp_path / "kb", ["cache.enabled=false"], create=True)) as opened:
        asyncio.run(opened.documents.add([str(tmp_path)]))
        notes, _, _, _ = researched(opened, "Compare the Otter and the Wren in price")
    assert table(notes.compared) == {("price", "Otter"): "4408", ("price", "Wren"): "2658"}


def test_columns_are_the_aspects_of_rows(kb: KnowledgeBase) -> None:
    notes, _, _, _ = researched(kb, "Compare Otter and Stoat")
    assert table(notes.compared) == {
        ("price (EUR)", "Otter"): "3490",
        ("price (EUR)", "Stoat"): "990",
        ("weight (kg)", "Otter"): "38",
        ("weight (kg)", "Stoat"): "12",
        ("warranty", "Otter"): "5 years",
        ("warranty", "Stoat"): "1 year",
    }


def test_shows_nothing_of_hidden_documents(kb: KnowledgeBase) -> None:
    notes, answer, actions, _ = researched(
        kb, "Compare the revenue of Halden Mills and Corvo Foods in 2022 and 2023", STRANGER
    )
    assert {thing for _, thing in table(notes.compared)} == {"Halden Mills 2022", "Halden Mills 2023"}
    assert "12 million" not in answer.answer
    assert all("Corvo Foods annual report" not in title for one in actions for title in one.titles)


def test_the_budget_ends_the_search_for_cells(kb: KnowledgeBase) -> None:
    budget = Budget(actions=5, calls=0, tokens=0, seconds=60)
    question = "Compare the revenue of Halden Mills and Corvo Foods in 2022 and 2023"
    notes, answer, _, _ = researched(kb, question, budget=budget)
    assert len(table(notes.compared)) == 1
    assert any("budget" in one for one in answer.notices)


def test_what_cannot_be_compared_is_searched(kb: KnowledgeBase) -> None:
    notes, answer, _, _ = researched(kb, "Compare the moon and the sun")
    assert notes.compared is None
    assert answer.retrieval_method != "comparison"


def test_csv_has_a_row_for_each_aspect(kb: KnowledgeBase) -> None:
    notes, _, _, _ = researched(kb, "Compare Otter and Badger in price and warranty")
    head, price, warranty = csv_of([notes]).splitlines()
    assert head == "aspect,Otter,source of Otter,Badger,source of Badger"
    assert price.startswith("price (EUR),3490,")
    assert "products.csv#" in price
    assert warranty.endswith(",,")


def test_reports_have_the_table(kb: KnowledgeBase) -> None:
    _, answer, _, _ = researched(kb, "Compare Otter and Stoat")
    assert "| price (EUR) | 3490 [1] | 990 [2] |" in markdown_of(answer)
    assert "<td>3490 [1]</td>" in html_of(answer)


# ---------------------------------------------------------------- with a language model


replies: list[str] = []


def planner(settings: object) -> ScriptedModel:  # noqa: ARG001 - as the settings call it
    """Return a model that lays a table out as the test says."""
    return ScriptedModel(_replied, name="scripted:layout")


def _replied(messages: Sequence[Message]) -> str:
    return replies[-1].replace("KEY", re.findall(r'"key": "(\w+)"', messages[0].content)[-1])


@pytest.fixture
def planned(kb: KnowledgeBase) -> Iterator[KnowledgeBase]:
    model = "respond.model.name=test_compared_things:planner"
    with closing(KnowledgeBase.open(Path(kb.folder), ["cache.enabled=false", model])) as opened:
        yield opened


def test_a_model_names_the_aspects(planned: KnowledgeBase) -> None:
    replies.append(json.dumps({"key": "KEY", "things": [], "aspects": ["hotels"]}))
    notes, answer, actions, told = researched(planned, "Compare the travel policy of 2023 and 2024")
    assert [aspect for aspect, _ in table(notes.compared)] == ["hotels", "hotels"]
    assert actions[0].by_model
    assert answer.usage.model_calls == 1
    assert told.calls == 1


def test_a_wrong_reply_costs_one_call(planned: KnowledgeBase) -> None:
    replies.append("Hotels are better now.")
    notes, answer, actions, _ = researched(planned, "Compare the travel policy of 2023 and 2024")
    assert len(table(notes.compared)) == 6
    assert answer.usage.model_calls == 1
    assert actions[0].note == "The model named no aspect."


def test_named_aspects_need_no_model(planned: KnowledgeBase) -> None:
    replies.append("")
    _, answer, _, told = researched(planned, "Compare Otter and Badger in price")
    assert (told.calls, answer.usage.model_calls) == (0, 0)

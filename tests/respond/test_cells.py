"""Answers from tables: the cell that a question asks for, its periods and units, and when none is sure."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragstone import question as reader
from ragstone.core.answers import Draft
from ragstone.core.kinds import Kind
from ragstone.core.records import Chunk, Evidence, Hit, Passage, Span
from ragstone.core.request import Request
from ragstone.core.table import Cell, as_markdown, table_of
from ragstone.index import build_passage_model
from ragstone.respond.requirements.unmet import CAP
from ragstone.respond.tables import TableReader, draft_of
from ragstone.respond.tables.asked import Asked
from ragstone.respond.tables.calculate import calculation, value_of
from ragstone.respond.tables.cell_kinds import is_figure
from ragstone.respond.tables.cell_model import believed, log_odds
from ragstone.respond.tables.dates import Dates, only_day
from ragstone.respond.tables.features import cells_of, features_of, values_of
from ragstone.respond.tables.lookup import Looked

HEADER = (
    " | Three Months Ended | Three Months Ended | Nine Months Ended\n | July 1, 2023 | June 25, 2022 | July 1, 2023"
)
INCOME = (
    f"{HEADER}\nNet sales:\nProducts | $60,584 | $63,355 | $230,901\nServices | 21,213 | 19,604 | 62,886\n"
    "Total net sales | 81,797 | 82,959 | 293,787\nResearch and development | 7,442 | 6,797 | 22,608\n"
    "Net income | 19,881 | 19,442 | 74,039\nEarnings per share:\nBasic | $1.27 | $1.20 | $4.69\n"
    "Diluted | $1.26 | $1.20 | $4.67"
)
HOSTS = "Year | City | Country\n1998 | Nagano | Japan\n2002 | Salt Lake City | United States\n2006 | Turin | Italy"


def hit(text: str, title: str, header: int, *, caption: str = "") -> Hit:
    rows = text.split("\n")
    facts = {
        "is_table": True,
        "table_header": "\n".join(rows[:header]),
        "header_rows": header,
        "table_caption": caption,
        "table_sections": "",
    }
    made = Chunk(
        id=title,
        document_id=title,
        index=0,
        total=1,
        start=100,
        end=100 + len(text),
        text=text,
        title=title,
        facts=facts,
    )
    return Hit(chunk=made, score=1.0)


ISSUED = (
    "Year | Q1 | Q2 | Q3 | Q4 | Total\n"
    "2004 | 34.7 | 36.2 | 44.5 | 51.3 | 166.7\n"
    "2005 | 58.1 | 63.4 | 61.6 | 55.2 | 238.4"
)
DIED = (
    "Sex | Heart disease | Heart disease | Stroke | Stroke\n | no. | Rate | no. | Rate\n"
    "Female | 200,915 | 103.1 | 82,595 | 42.6\nMale | 224,510 | 176.5 | 54,524 | 43.9"
)
REPORT = hit(INCOME, "Apple 10-Q", 2, caption="Statements of operations (In millions, except per share amounts)")
GAMES = hit(HOSTS, "Winter games", 1)
ISSUES = hit(ISSUED, "eu-002.pdf", 1, caption="Table 3 - European ABCP issuance")
DEATHS = hit(DIED, "Deaths from heart disease and stroke in 2006", 2)
READER = TableReader(
    occurs=lambda words, _request: [True] * len(words), weigh=lambda words, _request: [1.0] * len(words)
)


def read(question: str, *hits: Hit) -> Looked | None:
    return asyncio.run(
        READER.read(Evidence(question=reader.read(question), hits=hits, method="test"), Request.by_owner())
    )


def looked(question: str, *hits: Hit) -> Looked:
    found = read(question, *hits)
    assert found is not None
    return found


def answer(question: str, *hits: Hit) -> Draft:
    return draft_of(looked(question, *hits))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What was Apple's net income in the three months ended July 1, 2023?", "19,881"),
        ("What was Apple's net income for the nine months ended July 1, 2023?", "74,039"),
        ("How much profit did Apple make in the quarter ended June 25, 2022?", "19,442"),
        ("What were R&D expenses in the three months ended June 25, 2022?", "6,797"),
        ("What were the total net sales in the quarter ended June 25, 2022?", "82,959"),
        ("What was the diluted EPS in the three months ended July 1, 2023?", "$1.26"),
        ("In which city were the Winter games of 2002?", "Salt Lake City"),
    ],
)
def test_looks_up_measure_and_period(question: str, value: str):
    found = looked(question, REPORT, GAMES)
    assert [one.cell.text for one in found.cells] == [value]


def test_looks_up_a_period_in_a_table_about_one_measure():
    found = looked("What was the European ABCP issuance in the third quarter of 2005?", ISSUES)
    assert [one.cell.text for one in found.cells] == ["61.6"]
    assert found.probability > 0.7
    assert read("What was the Asian bond issuance in the third quarter of 2007?", ISSUES) is None


def test_the_first_quarter_orders_nothing():
    first = looked("What was the European ABCP issuance in the first quarter of 2005?", ISSUES)
    third = looked("What was the European ABCP issuance in the third quarter of 2005?", ISSUES)
    assert [one.cell.text for one in first.cells] == ["58.1"]
    assert first.probability == pytest.approx(third.probability, abs=0.02)


def test_reads_how_many_from_a_column_that_counts():
    found = looked("How many women died of a stroke in 2006?", DEATHS)
    assert [one.cell.text for one in found.cells] == ["82,595"]
    assert found.probability > 0.7


@pytest.mark.parametrize("money", ["$39,669", "39,669 CHF", "39,669 RM"])
def test_money_does_not_say_how_many(money: str):
    table = hit(f"Product | July 1, 2023\niPhone | {money}\niPad | 5,791", "Acme, quarter ended July 1, 2023", 1)
    assert looked("What did iPhone earn in the quarter ended July 1, 2023?", table).probability > CAP
    assert looked("How many iPhone units were shipped in the quarter ended July 1, 2023?", table).probability <= CAP
    assert looked("How many dollars did iPhone earn in the quarter ended July 1, 2023?", table).probability > CAP


def probability(question: str, kind: Kind) -> float:
    evidence = Evidence(question=replace(reader.read(question), kind=kind), hits=(DEATHS,), method="test")
    found = asyncio.run(READER.read(evidence, Request.by_owner()))
    assert found is not None
    return found.probability


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How did women die of a stroke in 2006?", "how_to"),
        ("Why did women die of a stroke in 2006?", "quantity"),
        ("What caused women to die of a stroke in 2006?", "quantity"),
        ("Who died of a stroke in 2006, women?", "quantity"),
        ("Where did women die of a stroke in 2006?", "quantity"),
    ],
)
def test_no_figure_answers_a_question_for_words(question: str, kind: Kind):
    assert probability(question, kind) <= CAP


@pytest.mark.parametrize(
    "question", ["How many women died of a stroke in 2006?", "How many women were there who died of a stroke in 2006?"]
)
def test_figures_say_how_many(question: str):
    assert probability(question, "quantity") > CAP


def test_a_place_in_a_race_is_a_number():
    race = hit("Athlete | Placing\nShaul Ladani | 19\nBernd Kannenberg | 1", "Men's 50 km walk", 1)
    found = looked("What place did Shaul Ladani take in the men's 50 km walk?", race)
    assert [one.cell.text for one in found.cells] == ["19"]
    assert found.probability > CAP


@pytest.mark.parametrize(
    "question",
    [
        "What does basalt cost?",
        "Was kostet Basalt?",
        "Wie viel kostet Basalt?",
        "Kiek kainuoja Basalt?",
        "Berapa harga Basalt?",
    ],
)
def test_a_price_is_an_amount_of_money(question: str):
    stones = hit("Stone | Weight | Sold for (CHF)\nTravertine | 83 | 44\nBasalt | 90 | 51", "Stones", 1)
    assert [one.cell.text for one in looked(question, stones).cells] == ["51"]


def test_a_row_is_shown_if_the_question_names_no_column_of_it():
    benefits = hit(
        "What | Amount | Who\nTraining budget | 600 a year | Everybody\nParental leave | 16 weeks | Everybody",
        "Benefits",
        1,
    )
    found = looked("What is the training budget?", benefits)
    assert [one.cell.text for one in found.cells] == ["600 a year", "Everybody"]
    amount = looked("What is the amount of the training budget?", benefits)
    assert [one.cell.text for one in amount.cells] == ["600 a year"]


def test_an_answer_has_no_link_of_a_cell():
    desks = hit(
        "Article | Price | Maker\nDesk | [90 euros](http://evil.example/x) | Ash ![](http://evil.example/y)",
        "Prices",
        1,
    )
    draft = answer("What is the price of the desk?", desks)
    assert draft.text == "Desk · Price: 90 euros [1]"
    assert draft.citations[0].quote == "[90 euros](http://evil.example/x)"
    assert answer("Who is the maker of the desk?", desks).text == "Desk · Maker: Ash [1]"


def test_names_the_table_if_another_one_says_something_else():
    def cups(heading: str, count: int) -> Hit:
        found = hit(f"Team | Cups\nFlyers | 2\nLeafs | {count}", "cups.xlsx", 1)
        facts = {**found.chunk.facts, "section": heading}
        return replace(found, chunk=replace(found.chunk, id=heading, facts=facts))

    since, whole = cups("Cups since 1967", 0), cups("All cups", 13)
    assert looked("How many cups have the Flyers?", since, whole).place == ""
    found = looked("How many cups have the Leafs since 1967?", since, whole)
    assert found.place == found.cells[0].hit.chunk.heading != ""
    assert draft_of(found).text.startswith(f"{found.place} · Leafs · Cups: ")


def test_cites_the_cell_exactly():
    draft = answer("What were Apple's Services net sales in the three months ended July 1, 2023?", REPORT)
    assert draft.text == "Net sales · Services · Three Months Ended · July 1, 2023 · in millions: 21,213 [1]"
    (citation,) = draft.citations
    assert citation.quote == "21,213" == INCOME[citation.start - 100 : citation.end - 100]
    (statement,) = draft.statements
    assert (statement.start, statement.end, statement.markers) == (0, len(draft.text), (1,))


def test_a_model_reads_markdown():
    table = table_of(REPORT.chunk)
    assert table is not None
    caption, _, head, rule, section, products, *_ = as_markdown(table).split("\n")
    assert caption == "Statements of operations (In millions, except per share amounts)"
    assert head.startswith("|  | Three Months Ended · July 1, 2023 | Three Months Ended · June 25, 2022 |")
    assert rule == "| --- | --- | --- | --- |"
    assert section == "| Net sales: |"
    assert products == "| Products | $60,584 | $63,355 | $230,901 |"


def test_a_model_is_given_the_table_that_answers():
    question = "What was Apple's net income in the three months ended July 1, 2023?"
    found = Evidence(question=reader.read(question), hits=(GAMES,), tables=(REPORT,), method="test")
    assert asyncio.run(READER.shown(found, Request.by_owner())).hits == (REPORT, GAMES)
    other = replace(found, question=reader.read("Who won the marathon of 1896?"))
    assert asyncio.run(READER.shown(other, Request.by_owner())) == other


def test_a_model_reads_the_table_first():
    question = "What was Apple's net income in the three months ended July 1, 2023?"
    passages = (Passage(hit=GAMES),)
    found = Evidence(question=reader.read(question), hits=(GAMES,), tables=(REPORT,), method="test", passages=passages)
    assert asyncio.run(READER.shown(found, Request.by_owner())).passages == (Passage(hit=REPORT), *passages)


def test_omits_the_unit_that_excepts_shares():
    draft = answer("What was basic earnings per share in the nine months ended July 1, 2023?", REPORT)
    assert "in millions" not in draft.text
    assert "$4.69 [1]" in draft.text
    rows = "| 2023 | 2022\nNet income | 22,291 | 17,556\nDiluted earnings per share | 2.99 | 2.35"
    summary = hit(rows, "Microsoft", 1, caption="Summary (In millions)")
    assert answer("What was diluted earnings per share in 2023?", summary).text.endswith("· 2023: 2.99 [1]")
    assert "in millions" in answer("What was net income in 2023?", summary).text


def test_shows_both_years_and_their_difference():
    question = "How much higher were Services net sales in the three months ended July 1, 2023 than June 25, 2022?"
    draft = answer(question, REPORT)
    assert [one.quote for one in draft.citations] == ["21,213", "19,604"]
    assert draft.text.endswith("\n21,213 − 19,604 = 1,609 [1][2]")
    assert draft.text[draft.statements[-1].start : draft.statements[-1].end].startswith("21,213 −")


def test_is_unsure_of_what_no_row_names():
    sure = looked("What was Apple's net income in the three months ended July 1, 2023?", REPORT).probability
    assert sure > 0.5
    assert read("What was Apple's advertising in 2023?", REPORT) is None
    assert read("What was Apple's interest income in 2023?", REPORT) is None
    assert looked("What was Apple's net income in the three months ended July 1, 2015?", REPORT).probability < 0.5


def test_competes_with_quotes():
    question = "What was Apple's net income in the three months ended July 1, 2023?"
    cells = looked(question, REPORT)

    def outweighs(quote: str, probability: float) -> bool:
        return READER.outweighs(cells, [(quote, REPORT.chunk)], probability, reader.read(question), Request.by_owner())

    assert outweighs("Net income was $5 billion.", cells.probability - 0.01)
    assert not outweighs("Net income was $5 billion.", 0.999)
    assert outweighs("The table shows net income for the three months ended July 1, 2023.", 0.999)
    assert outweighs("Net income rose because sales rose by $7 billion.", 0.999)


PARTS = (
    " | 2023 | 2022\niPhone | 200 | 190\nMac | 100 | 90\nTotal products | 300 | 280\nServices | 100 | 80\n"
    "Total net sales | 400 | 360"
)


YEARS = hit(
    " | 2017 | 2018 | 2019\nRevenue | 5,120 | 4,800 | (5,400)\nStaff | 12 | 15 | 9k",
    "Acme 10-K",
    1,
    caption="(In thousands)",
)


def test_reads_no_table_where_there_is_none():
    prose = replace(REPORT, chunk=replace(REPORT.chunk, facts={}))
    assert read("What was the net income?", prose) is None


def cell(text: str, row: int = 0) -> Cell:
    return Cell(span=Span(start=0, end=len(text)), text=text, row=row, column=1, header=(), label=())


@pytest.mark.parametrize(
    ("text", "value"),
    [("$ 1,234", "1234"), ("(12.5)", "-12.5"), ("-3", "-3"), ("5%", None), ("n/a", None), ("", None), ("1,5", None)],
)
def test_reads_values(text: str, value: str | None):
    assert value_of(text) == (None if value is None else pytest.approx(value_of(value)))


def test_reads_the_time_above_the_labels():
    text = (
        "Three Months Ended September 30, | 2023 | 2022\nTotal revenue | 56,517 | 50,122\nNet income | 22,291 | 17,556"
    )
    quarter = hit(text, "Microsoft 10-Q", 1, caption="Income statements (In millions)")
    draft = answer("What was Microsoft's net income in the three months ended September 30, 2023?", quarter)
    assert draft.text == "Net income · Three Months Ended September 30 · 2023 · in millions: 22,291 [1]"


def test_compares_years():
    sizes = hit(" | 2019 | 2018 | 2017\nInterest cost | 5 | 9 | (12)\nPlan assets | 4 | 3 | 2", "Pensions", 1)
    assert answer("In which year was the interest cost largest?", sizes).text.startswith("Interest cost · 2018: 9 [1]")
    assert answer("Which year had the lowest interest cost?", sizes).text.startswith("Interest cost · 2017: (12) [1]")
    assert len(answer("In which year was the interest cost largest?", sizes).citations) == 3
    losses = hit(" | 2019 | 2018\nNet loss | (5) | (9)\nOther | 1 | 2", "Report", 1)
    assert answer("In which year was the net loss larger?", losses).text.startswith("Net loss · 2018: (9) [1]")


@pytest.mark.parametrize(
    ("question", "figures", "shown"),
    [
        ("By how much did it rise?", ["5", "(3)"], "5 − (−3) = 8"),
        ("By how much percent did it rise?", ["5", "4"], "(5 − 4) ÷ 4 = 25.00%"),
        ("By how much percent did it rise?", ["5", "(3)"], ""),
        ("What was the percentage change in revenue from 2018 to 2019?", ["3.0", "4.0"], "(3.0 − 4.0) ÷ 4.0 = −25.00%"),
        ("What was the average of 2018 and 2019?", ["1,000", "1,001"], "(1,000 + 1,001) ÷ 2 = 1,000.5"),
        ("What was the average from 2017 to 2019?", ["1", "2", "3"], "(1 + 2 + 3) ÷ 3 = 2"),
        ("What was the combined amount of both?", ["1.5", "(2)"], "1.5 + (−2) = −0.5"),
        ("What was it in both years?", ["5", "3"], ""),
        ("Why did the increase in it fall?", ["5", "3"], ""),
        ("What was the difference between the three?", ["5", "3", "1"], ""),
        ("By how much did it rise?", ["5%", "3%"], ""),
        ("By how much did it rise?", ["5", "n/a"], ""),
        ("By how much did it rise?", ["€5", "$3"], ""),
        ("By how much did it rise?", ["5", "$3"], "5 − 3 = 2"),
        ("By how much did it rise?", ["1.500", "1.200"], ""),
        ("By how much percent did it rise?", ["1.500", "1.200"], "(1.500 − 1.200) ÷ 1.200 = 25.00%"),
        ("By how much percent did it rise?", ["1.500", "950"], ""),
    ],
)
def test_calculates_only_what_is_asked(question: str, figures: Sequence[str], shown: str):
    assert calculation(reader.read(question).asks.operation, [cell(one) for one in figures]) == shown


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("2022 (EUR)", "2021 (USD)"),
        ("2022 in rupees", "2021 in ringgit"),
        ("2022 in millions", "2021 in thousands"),
        ("2022 in millions", "2021"),
        ("2022 %", "2021"),
        ("2022 (t)", "2021 (kg)"),
    ],
)
def test_never_calculates_across_units(later: str, earlier: str):
    cells = [replace(cell("5"), header=(later,)), replace(cell("3"), header=(earlier,))]
    assert calculation(reader.read("By how much did it rise?").asks.operation, cells) == ""
    same = [
        replace(one, header=(later.replace("2022", year),)) for one, year in zip(cells, ("2022", "2021"), strict=True)
    ]
    assert calculation(reader.read("By how much did it rise?").asks.operation, same) == "5 − 3 = 2"


@pytest.mark.parametrize("figures", ["€5 | $9", "1.500 | 950", "5 million | 9"])
def test_compares_no_years_of_different_units(figures: str):
    sizes = hit(f" | 2019 | 2018\nInterest cost | {figures}\nPlan assets | 4 | 3", "Pensions", 1)
    assert read("In which year was the interest cost largest?", sizes) is None


def test_calculates_within_a_row():
    assert calculation(reader.read("By how much did it rise?").asks.operation, [cell("5"), cell("3", row=1)]) == ""


def test_takes_the_mean_of_all_years_of_a_range():
    sizes = hit(" | 2019 | 2018 | 2017\nInterest cost | 6 | 9 | 12\nPlan assets | 4 | 3 | 2", "Pensions", 1)
    assert answer("What was the average interest cost from 2017 to 2019?", sizes).text.endswith(
        "(6 + 9 + 12) ÷ 3 = 9 [1][2][3]"
    )
    assert answer("What was the average interest cost of 2017 and 2019?", sizes).text.endswith(
        "(6 + 12) ÷ 2 = 9 [1][2]"
    )


def report(text: str, name: str, **metadata: str) -> Hit:
    made = hit(text, name, 1)
    return replace(made, chunk=replace(made.chunk, metadata=metadata))


def test_reads_a_fiscal_period_as_its_last_day():
    facts = {"company": "Acme", "period": "2023-10-29", "fiscal_period": "third quarter of fiscal 2024"}
    text = " | October 29, 2023 | October 30, 2022\nRevenue | 18,120 | 5,931\nNet income | 9,243 | 680"
    quarter = report(text, "Acme · Form 10-Q", **facts)
    assert (
        answer("What was Acme's revenue in the third quarter of fiscal 2024?", quarter).citations[0].quote == "18,120"
    )
    assert looked("What was Acme's revenue in the third quarter of fiscal 2021?", quarter).probability < 0.5


def test_takes_the_latest_report_where_it_is_asked_for():
    old = report(" | 2022\nRevenue | 5,931\nNet income | 680", "Acme report old", period="2022-10-30")
    new = report(" | 2023\nRevenue | 18,120\nNet income | 9,243", "Acme report new", period="2023-10-29")
    for hits in ((old, new), (new, old)):
        assert looked("What was Acme's revenue in the latest report?", *hits).cells[0].cell.text == "18,120"


def test_knows_the_quarter_from_the_year_to_date():
    text = " | 2023 | 2022 | 2023 | 2022\nRevenue | 52 | 49 | 158 | 150\nNet income | 18 | 16 | 51 | 55"
    both = report(text, "Acme report", period="2023-03-31")
    assert looked("What was net income in the nine months ended March 31, 2023?", both).cells[0].cell.text == "51"
    assert looked("What was net income in the three months ended March 31, 2023?", both).cells[0].cell.text == "18"


def test_tells_amounts_from_shares_of_revenue():
    amounts = hit("In millions | 2023\nRevenue | 7,192\nNet income | 2,043", "Acme amounts", 1)
    shares = hit(" | 2023\nRevenue | 100.0\nNet income | 28.4", "Acme shares", 1)
    for hits in ((amounts, shares), (shares, amounts)):
        assert looked("What was Acme's net income in 2023?", *hits).cells[0].cell.text == "2,043"


def test_reads_times():
    asked = Dates("in the three months ended July 1, 2023")
    assert (asked.years, asked.months, asked.days, asked.length) == ({2023}, {7}, {1}, 3)
    assert Dates("fiscal year ended 2019").length == 12
    assert Dates("Q3 2022").quarters == {3}
    assert not Dates("net income")


def test_a_day_is_whole_and_alone():
    assert only_day("in the quarter ended July 1, 2023") == date(2023, 7, 1)
    assert only_day("on July 1, 2023 and June 25, 2022") is None
    assert only_day("in the quarters ended June 25, 2022 and 2023") is None
    assert only_day("in July 2023") is None
    assert only_day("on February 31, 2023") is None


def test_tells_a_point_in_time_from_a_period():
    flows = hit(" | Six Months Ended July 30, 2023\nInventories | 861\nReceivables | (3,239)", "Acme cash flows", 1)
    balance = hit(" | July 30, 2023\nInventories | 4,319\nReceivables | 7,066", "Acme balance sheet", 1)
    for one in ((flows, balance), (balance, flows)):
        assert answer("How high were Acme's inventories on July 30, 2023?", *one).citations[0].quote == "4,319"
    in_months = answer("How did inventories change in the six months ended July 30, 2023?", balance, flows)
    assert in_months.citations[0].quote == "861"


@given(
    question=st.text(max_size=40), text=st.text(st.sampled_from(" |ab12\n$%():"), max_size=80), header=st.integers(0, 3)
)
def test_any_table_and_question_give_a_probability(question: str, text: str, header: int):
    found = read(question, hit(text, "Report 2023", header))
    if found is not None:
        assert 0 <= found.probability <= 1
        for citation in draft_of(found).citations:
            assert citation.quote == text[citation.start - 100 : citation.end - 100]


@pytest.mark.parametrize("text", ["1,234", "$ 1,234.5", "(12)", "-3%", "1 234 567", "13.7¢", "€5 million"])
def test_recognises_figures(text: str):
    assert is_figure(text)


@pytest.mark.parametrize("text", ["", "—", "4,720 2,754", "May 5", "Salt Lake City"])
def test_recognises_what_is_no_figure(text: str):
    assert not is_figure(text)


QUARTER = "What were Apple's total net sales in the quarter ended July 1, 2023?"


@pytest.mark.parametrize(
    ("question", "sentence", "says_amount"),
    [
        (QUARTER, "Services net sales increased during the third quarter of 2023 due to higher net sales.", False),
        (QUARTER, "No customer accounted for more than 10% of net sales in the third quarter of 2023.", False),
        (QUARTER, "Total net sales decreased 1% to $81.8 billion during the third quarter of 2023.", True),
        ("What tax rate did it report in 2023, and what is it?", "The effective tax rate was 12.5% in 2023.", True),
        ("How much revenue did it have in 2023?", "Im Jahr 2023 betrug der Umsatz 3,4 Mrd. Euro.", True),
        (
            "What were Apple's total net sales in the quarter ended July 1, 2023?",
            "Total net sales decreased 1% or $1.2 billion during the third quarter of 2023.",
            False,
        ),
        (
            "What was Apple's iPhone revenue in 2023?",
            "Total deferred revenue and revenue from services was $12.5 billion in 2023.",
            False,
        ),
        (
            "What effective tax rate did Apple report in its latest quarterly filing?",
            "The effective tax rate for the third quarter of 2023 was lower than that for the third quarter of 2022.",
            False,
        ),
        (
            "By how much did gaming sales shrink in the quarter ended October 2022?",
            "Gaming revenue was down 51% from a year ago.",
            True,
        ),
        ("What were gaming sales in the quarter ended October 2022?", "Gaming revenue was down 51%.", False),
        ("Apple services net sales, third quarter of 2023", "Services net sales rose because of advertising.", False),
        ("Apple services net sales, third quarter of 2023", "Services net sales were $21.2 billion.", True),
    ],
)
def test_a_figure_outweighs_sentences_without_the_amount(question: str, sentence: str, says_amount: bool):
    cells = replace(looked(QUARTER, REPORT), probability=0.5)
    quoted = [(sentence, REPORT.chunk)]
    assert cells.figure
    assert READER.outweighs(cells, quoted, 0.8, reader.read(question), Request.by_owner()) is not says_amount


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["which year most ", "change ", "1", "$ ", "2022 ", "what ", "1 000 "])
def test_long_texts_take_little_time(part: str):
    text = part * (20_000 // len(part))
    assert value_of(f"${text}x") is None
    assert not is_figure(f"1{text}x")
    table = hit(f" | 2023\nNet sales | {text}\nNet income | 3", "Acme", 1)
    read(f"{text} than", table)
    read(f"How much were net sales in 2023? {text}", table)


CHANGED = hit(
    "Product | 2023 | 2022 | 2023 vs. 2022 variance\nSoftware | 812 | 798 | 14\nServices | 310 | 290 | 20",
    "Sales of Acme",
    1,
)
RACE = hit(
    "Pos | Driver | Constructor | Time\n1 | Ann Lee | BMW | 1:36:24.227\n2 | Bo Roth | Audi | 1:36:40.010",
    "Canadian Grand Prix",
    1,
)


def test_a_column_of_changes_answers_alone():
    found = looked("What was the variance of Services for 2023 vs. 2022?", CHANGED)
    assert [one.cell.text for one in found.cells] == ["20"]
    assert found.probability > 0.5


def test_how_long_asks_for_a_time_and_no_rank():
    found = looked("How long did Bo Roth take to complete the race?", RACE)
    assert [one.cell.text for one in found.cells] == ["1:36:40.010"]


MILLS = hit("name | price\nmill | 12\nforge | 9", "Works", 1)


@pytest.mark.parametrize(
    "question",
    ["What is the weight of the mill?", "How old is the forge?", "How many people work at the mill?"],
)
def test_no_other_column_answers(question: str):
    assert looked(question, MILLS).probability <= CAP


@pytest.mark.parametrize("question", ["What is the price of the mill?", "How expensive is the mill?"])
def test_the_column_asked_for_answers(question: str):
    found = looked(question, MILLS)
    assert (found.cells[0].cell.text, found.probability > 0.5) == ("12", True)


def test_only_a_figure_says_how_much():
    people = hit(
        "Name | Role\nMorag Sinclair | Chief Executive Officer\nPriya Raman | Chief Financial Officer", "About us", 1
    )
    assert read("How much does Morag Sinclair earn?", people) is None
    assert [one.cell.text for one in looked("Which role has Morag Sinclair?", people).cells] == [
        "Chief Executive Officer"
    ]


@pytest.mark.parametrize("question", ["What does E07 mean?", "What does error code E-07 mean?", "What is error 07?"])
def test_the_row_of_a_code_says_what_it_means(question: str):
    codes = "Code | Meaning | Remedy\nE-03 | Brake sensor disconnected | Check it\nE-07 | Battery too cold | Warm it"
    found = looked(question, hit(codes, "Manual", 1), MILLS)
    assert (found.cells[0].cell.text, found.probability) == ("Battery too cold", 0.85)
    other = read("What does E12 mean?", hit(codes, "Manual", 1))
    assert other is None or other.probability < 0.55


PRICES = hit(
    "Article | Description | Price excl. VAT (£) | Price incl. VAT (£) | Delivery (weeks) | Fits\n"
    "RC-010 | Rain cover for the box | 137.5 | 165 | 1 | Otter\n"
    "CS-020 | Child seat with belt | 104.17 | 125 | 2 | Alder, Wren\n"
    "WR-100 | Wren, 400 Wh battery | 2658.33 | 3190 | 3 |\n"
    "OT-200 | Otter Pro, two batteries | 4983.33 | 5980 | 8 |",
    "price-list",
    1,
)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("What does the Wren cost?", ["WR-100 · Wren, 400 Wh battery · Price excl. VAT (£): 2658.33", "3190"]),
        ("What is the price of the Otter Pro?", ["OT-200 · Otter Pro, two batteries", "5980"]),
        ("How much is the child seat incl. VAT?", ["CS-020 · Child seat with belt · Price incl. VAT (£): 125"]),
        ("What does RC-010 cost?", ["RC-010 · Rain cover for the box · Price excl. VAT (£): 137.5", "165"]),
        ("How long does delivery of the Wren take?", ["WR-100 · Wren, 400 Wh battery · Delivery (weeks): 3"]),
    ],
)
def test_the_number_of_an_article_does_not_name_it(question: str, begins: Sequence[str]):
    lines = answer(question, PRICES).text.splitlines()
    assert len(lines) == len(begins)
    assert all(one in line for one, line in zip(begins, lines, strict=True))
    assert looked(question, PRICES).probability > 0.5


def test_a_row_number_is_no_code():
    rows = "No | Place\n11 | Leith\n12 | Bremen\n13 | Utrecht"
    found = read("What does error 12 mean?", hit(rows, "Offices", 1))
    assert found is None or found.probability < 0.55


ROTA = hit(
    "Week | Opener | Closer | Stock\n2031-05-04 | Ruth Vale | Ivo Lund | yes\n2031-05-11 | Ada Holm | Ruth Vale | no",
    "Kiosk rota",
    1,
)


@pytest.mark.parametrize("day", ["11 May", "11/05/2031", "2031-05-11", "the 11th of may", "May 11, 2031"])
def test_a_day_names_its_row_however_it_is_written(day: str) -> None:
    found = looked(f"Who is the opener of {day}?", ROTA)
    assert found.cells[0].cell.text == "Ada Holm"
    assert found.probability > 0.5


DUTIES = hit("Duty | Thu 5.3. | Fri 6.3.\nFerry | Ivo Lund | Ada Holm\nKiosk | Ruth Vale | Ivo Lund", "Duties", 1)
FREIGHT = hit("Freight | up to 20 kg | 21 to 60 kg\nExpress | 9.40 | 14.20\nStandard | 5.10 | 8.30", "Freight", 1)
WARDS = hit("Ward | Beds 2030 | Beds 2031\n3 | 40 | 51\n5 | 38 | 44", "Wards", 1)


@pytest.mark.parametrize(
    ("question", "table", "cell"),
    [
        ("Who has the ferry on Friday 6.3.?", DUTIES, "Ada Holm"),
        ("who has the kiosk on thursday", DUTIES, "Ruth Vale"),
        ("What does express freight of 35 kg cost?", FREIGHT, "14.20"),
        ("What does express freight of 12 kg cost?", FREIGHT, "9.40"),
        ("How many beds has ward 3 in 2031?", WARDS, "51"),
    ],
)
def test_a_day_or_a_weight_names_the_column_within_whose_heading_it_lies(question: str, table: Hit, cell: str) -> None:
    assert looked(question, table).cells[0].cell.text == cell


def test_of_a_row_only_the_cells_of_the_year_asked_for_are_shown() -> None:
    rows = "Variety | 2029 | 2030 | First class 2030\nElstar | 1,480 | 1,395 | 58%\nTopaz | 620 | 745 | 63%"
    found = looked("how many tonnes of elstar came in in 2030", hit(rows, "Harvest of the orchards in tonnes", 1))
    assert [one.cell.text for one in found.cells] == ["1,395"]
    assert {one.cell.text for one in found.after_label} == {"1,395", "58%"}


@pytest.mark.parametrize(("when", "is_named"), [("on friday", True), ("on fridays", False)])
def test_what_happens_on_fridays_is_in_no_column_of_one_day(when: str, is_named: bool) -> None:
    question = Asked(reader.read(f"Who has the ferry {when}?"), READER.weigh, Request.by_owner())
    heading = features_of(question, cells_of([DUTIES])).heading.tolist()
    assert (max(heading) == 1.0) is is_named


HALL = hit("Item | 2021 | 2022 | 2023\nHeating | 900 | 950 | 1000\nTotal costs | 1900 | 2000 | 2100", "Hall", 1)


@pytest.mark.parametrize("years", ["2021 to 2023", "2021-2023", "in all years", "over all the years"])
def test_adds_up_the_years_of_a_row(years: str) -> None:
    assert answer(f"What was the total spent on heating {years}?", HALL).text.splitlines()[-1] == (
        "1,000 + 950 + 900 = 2,850 [1][2][3]"
    )


LABELS = st.sampled_from(["Rent", "Parking fee", "Total", "Deposit 2021", "Café", "WR-100", "1 May to 3 June", "-"])
HEADINGS = st.sampled_from(["2021", "2022", "Price", "Item", "Share (%)", "No.", "Quarter ended June 30, 2022"])
VALUES = st.sampled_from(["", "12", "$3,400", "45%", "Anna", "rent in 2021", "n/a", "2 May 2022", "Deposit"])
QUESTIONS = st.sampled_from(
    [
        "How much was the rent in 2021?",
        "Who is the owner of the deposit?",
        "What share is the parking fee?",
        "How high was revenue in the second quarter of 2022?",
        "What is the latest price of WR-100 on 2 May 2022?",
        "When is the parking fee due?",
    ]
)


@given(
    asked=QUESTIONS,
    headings=st.lists(HEADINGS, min_size=2, max_size=4),
    rows=st.lists(st.tuples(LABELS, st.lists(VALUES, min_size=3, max_size=3)), min_size=1, max_size=4),
)
def test_features_of_a_row_do_not_depend_on_other_rows(
    asked: str, headings: list[str], rows: list[tuple[str, list[str]]]
) -> None:
    """What is read once for a row, a column or a table is combined for the right cells."""
    lines = [" | ".join([label, *values][: len(headings)]) for label, values in rows]
    first = hit("\n".join([" | ".join(headings), *lines]), "Prices", 1)
    other = hit("\n".join([" | ".join(headings), *lines[::-1]]), "Prices", 1)
    question = Asked(reader.read(asked), READER.weigh, Request.by_owner())
    together = cells_of([first, other])
    assume(together)
    values = values_of(features_of(question, together)).tolist()
    for row in {id(one.row): one.row for one in together}.values():
        of_row = [n for n, one in enumerate(together) if one.row is row]
        alone = features_of(question, [together[n] for n in of_row])
        assert values_of(alone).tolist() == [values[n] for n in of_row]


RATES = "Item | Rate\nLunch when working at another site | GBP 9.50\nOwn car | 45 p a mile\nPassenger | 5 p a mile"


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("What is the current lunch allowance when I work at another site?", True),
        ("What is the rate for a hired car?", False),
        ("What is the rate for a bicycle?", False),
    ],
)
def test_the_trained_reader_says_whether_a_table_answers(question: str, *, is_answered: bool):
    reads = replace(READER, reader=build_passage_model())
    evidence = Evidence(question=reader.read(question), hits=(hit(RATES, "Travel and meals", 1),), method="test")
    compared, told = (asyncio.run(one.read(evidence, Request.by_owner())) for one in (READER, reads))
    assert compared is not None
    assert told is not None
    assert (told.probability > compared.probability) is is_answered
    assert (told.row > compared.row) is is_answered


@given(st.floats(0, 1), st.floats(-20, 20), st.floats(0, 5))
def test_a_cell_is_believed_the_more_the_likelier_its_passage_answers(words: float, answers: float, more: float):
    assert 0 < believed(words, answers) <= believed(words, answers + more) < 1
    assert log_odds(believed(words, answers)) <= log_odds(believed(min(1.0, words + more), answers))

"""Rows of tables that a question means without their names: ranges, several equal ones, totals, dates and contacts."""

import asyncio
from collections.abc import Sequence

import pytest

from ragstone import question as reader
from ragstone.core.records import Chunk, Evidence, Hit
from ragstone.core.request import Request
from ragstone.language.contacts import contact_in, has_contact
from ragstone.respond.requirements.unmet import CAP
from ragstone.respond.tables import TableReader, draft_of
from ragstone.respond.tables.dates import Dates, has_time
from ragstone.respond.tables.lookup import Looked
from ragstone.respond.tables.ranges import points_of, range_of

READER = TableReader(
    occurs=lambda words, _request: [True] * len(words), weigh=lambda words, _request: [1.0] * len(words)
)


def table(text: str, title: str, *, section: str = "") -> Hit:
    facts = {
        "is_table": True,
        "table_header": text.split("\n")[0],
        "header_rows": 1,
        "table_caption": "",
        "table_sections": "",
    }
    if section:
        facts["section"] = section
    made = Chunk(
        id=f"{title} {section}",
        document_id=title,
        index=0,
        total=1,
        start=0,
        end=len(text),
        text=text,
        title=title,
        context=section,
        facts=facts,
    )
    return Hit(chunk=made, score=1.0)


def rows_of(columns: Sequence[str], *rows: Sequence[str], file: str) -> tuple[Hit, ...]:
    """Return the rows of a data file."""
    return tuple(
        Hit(
            chunk=Chunk(
                id=f"{file}#{n}",
                document_id=f"{file}#{n}",
                index=0,
                total=1,
                start=0,
                end=1,
                text="; ".join(f"{name}: {value}" for name, value in zip(columns, row, strict=True)),
                title=row[0],
                metadata=dict(zip(columns, row, strict=True)),
            ),
            score=1.0,
        )
        for n, row in enumerate(rows, start=1)
    )


def read(question: str, *hits: Hit, rows: tuple[Hit, ...] = ()) -> Looked | None:
    evidence = Evidence(question=reader.read(question), hits=hits, rows=(rows,) if rows else (), method="test")
    return asyncio.run(READER.read(evidence, Request.by_owner()))


def texts(found: Looked | None) -> list[str]:
    return [one.cell.text for one in found.cells] if found else []


# ---------------------------------------------------------------- ranges

PARCELS = table(
    "Weight | Inland | Abroad\nup to 2 kg | 4.20 | 9.80\nover 2 to 10 kg | 6.50 | 17.40\nover 10 kg | 11 | 33",
    "Parcels",
)
TIERS = table("Order quantity | Rebate\n1 to 9 | none\n10 to 49 | 3%\n50 and more | 8%", "Rebates")
BANDS = table("Income from | Income to | Tax\n0 | 12,000 | 5\n12,001 | 40,000 | 18\n40,001 | | 31", "Tax brackets")


@pytest.mark.parametrize(
    ("text", "within", "outside"),
    [
        ("10,001 to 20,000", "18000", "20001"),
        ("5–10", "10", "11"),
        ("0-5 km", "3", "6"),
        ("up to 5 kg", "5", "5.5"),
        ("over 100", "101", "100"),
        ("über 40.000", "50000", "40000"),
        ("ab 50", "50", "49"),
        ("nuo 5 iki 10", "7", "4"),
        ("24 and more", "24", "23"),
        ("65+", "70", "64"),
        ("< 5", "4", "5"),
        ("5.000 bis 9.999,99 EUR", "9999", "10000"),
        ("10 000 – 20 000", "12000", "9000"),
    ],
)
def test_reads_ranges(text: str, within: str, outside: str):
    found = range_of(text)
    assert found is not None
    values = [points_of(f"for {one} kg", Dates(""))[0].value for one in (within, outside)]
    assert [found.has(value) for value in values] == [True, False]


@pytest.mark.parametrize(
    "text", ["26-07", "2019–2021", "22:00–06:00", "+44 20 7946 0000", "2026-12-21", "1–5 June", "A4", "12 kg"]
)
def test_leaves_codes_times_and_years(text: str):
    assert range_of(text) is None


@pytest.mark.parametrize(
    ("question", "hit", "value"),
    [
        ("What does a parcel of 7 kg cost abroad?", PARCELS, "17.40"),
        ("inland price of a parcel of 1.5 kg", PARCELS, "4.20"),
        ("What rebate do I get for 25 chairs?", TIERS, "3%"),
        ("rebate for an order of 60 chairs", TIERS, "8%"),
        ("tax for an income of 30,000", BANDS, "18"),
        ("tax for an income of 90,000", BANDS, "31"),
    ],
)
def test_a_number_means_the_row_of_its_range(question: str, hit: Hit, value: str):
    found = read(question, hit)
    assert texts(found)[:1] == [value]
    assert found is not None
    assert not found.lacks


def test_another_unit_means_no_range():
    found = read("What does a parcel of 70 metres cost abroad?", PARCELS)
    assert found is None or found.probability <= CAP


SHIFTS = rows_of(
    ["Period", "From", "To", "Porter", "Nurse"],
    ["P1", "2031-03-03", "2031-03-09", "Ada Holm", "Ben Roe"],
    ["P2", "2031-03-10", "2031-03-16", "Cy Dunn", "Dee Falk"],
    ["P3", "2031-03-17", "2031-03-23", "Ed Gray", "Flo Hunt"],
    file="shifts.csv",
)


@pytest.mark.parametrize("day", ["on 12 March 2031", "on March 12, 2031", "on 2031-03-12", "am 12.03.2031"])
def test_a_day_means_the_row_of_its_period(day: str):
    found = read(f"Which nurse works {day}?", *SHIFTS)
    assert texts(found) == ["Dee Falk"]
    assert found is not None
    assert found.probability > 0.7
    assert "From 2031-03-10 · To 2031-03-16" in draft_of(found).text


def test_a_day_outside_all_periods_is_not_answered():
    found = read("Which nurse works on 12 May 2031?", *SHIFTS)
    assert found is None or found.probability <= CAP


# ---------------------------------------------------------------- several rows

TICKETS = table(
    "Ticket | Price 2030 | Price 2031\nSeason ticket, adult | 80 | 85\nSeason ticket, child | 30 | 33\nLocker | 5 | 6",
    "Pool",
)


def test_shows_all_rows_that_fit_equally():
    assert sorted(texts(read("season ticket price 2031", TICKETS))) == ["33", "85"]
    assert texts(read("price of the season ticket for a child 2031", TICKETS)) == ["33"]
    assert texts(read("locker price 2031", TICKETS)) == ["6"]


def test_shows_both_tables_with_equal_rows():
    plan = table("Item | 2030 | 2031\nRent | 10 | 12\nCosts of heating | 3 | 4", "Club", section="Plan")
    done = table("Item | 2030 | 2031\nRent | 11 | 13\nCosts of heating | 2 | 5", "Club", section="Result")
    found = read("costs of heating 2031", plan, done)
    assert sorted(texts(found)) == ["4", "5"]
    assert texts(read("costs of heating 2031 result", done, plan)) == ["5"]


VISITS = rows_of(
    ["visit", "inspector", "arrival", "departure", "crates", "goods"],
    ["V1", "Dr. Iris Quell", "2031-02-03 08:00", "2031-02-04 17:00", "120", "apples"],
    ["V2", "Dr. Iris Quell", "2031-06-11 09:00", "2031-06-11 18:00", "80", "pears"],
    ["V3", "Otto Rund", "2031-07-01 09:00", "2031-07-02 12:00", "45", "apples"],
    file="visits.csv",
)


def test_when_is_answered_by_the_dates_of_all_rows():
    found = read("When was Iris Quell here?", *VISITS)
    assert texts(found) == ["2031-06-11 09:00", "2031-06-11 18:00", "2031-02-03 08:00", "2031-02-04 17:00"]
    assert texts(read("When did Iris Quell leave in June 2031?", *VISITS)) == ["2031-06-11 18:00"]
    assert found is not None
    assert "visit V1" in draft_of(found).text


@pytest.mark.parametrize(
    "question", ["Bis wann muss ich den Ausweis abholen?", "When must I fetch the badge (Ausweis)?"]
)
def test_a_price_does_not_say_when(question: str):
    prices = table("Leistung | Preis 2031\nAusweis | 12 €\nSchlüssel | 5 €", "Preise")
    found = read(question, prices)
    assert found is None or found.probability <= CAP


@pytest.mark.parametrize("text", ["3 May 2031", "08:00–16:00", "15 working days", "1998", "every Monday", "2031-02-03"])
def test_knows_times(text: str):
    assert has_time(text)


@pytest.mark.parametrize("text", ["12 €", "closed", "frei bis zehn Stück", "4711", "EUR 22,000"])
def test_knows_what_is_no_time(text: str):
    assert not has_time(text)


# ---------------------------------------------------------------- totals


@pytest.mark.parametrize(
    ("question", "total"),
    [
        ("total crates of apples delivered in 2031", "120 + 45 = 165"),
        ("What is the sum of crates of Iris Quell?", "120 + 80 = 200"),
        ("total crates of apples in July 2031", None),
        ("total crates of apples in 2030", None),
        ("total crates of plums in 2031", None),
    ],
)
def test_sums_the_rows_that_fit(question: str, total: str | None):
    found = read(question, *VISITS, rows=VISITS)
    assert (found.calculation if found else "").endswith(total or "")
    assert total is not None or found is None or not found.calculation


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("unit price", ["3", "4"]),
        ("opened (year)", ["1990", "2004"]),
        ("weight", ["3 kg", "4 t"]),
        ("share", ["3%", "4%"]),
    ],
)
def test_does_not_sum_what_has_no_sum(column: str, values: Sequence[str]):
    rows = rows_of(
        ["shop", "town", column], ["S1", "Moss", values[0]], ["S2", "Moss", values[1]], ["S3", "Ely", "9"], file="s.csv"
    )
    found = read(f"total {column.partition(' (')[0]} in Moss", *rows, rows=rows)
    assert found is None or not found.calculation


def test_does_not_sum_several_currencies():
    rows = rows_of(
        ["bill", "client", "amount", "currency"], ["B1", "Zed", "3", "EUR"], ["B2", "Zed", "4", "USD"], file="b.csv"
    )
    found = read("total amount of Zed", *rows, rows=rows)
    assert found is None or not found.calculation


def test_a_heading_may_have_the_superlative():
    halls = table(
        "Hall | Largest audience | Longest event (h)\nNorth | 300 | 5\nSouth | 800 | 3\nWest | 450 | 9", "Halls"
    )
    found = read("Which hall takes the longest events?", halls, rows=(halls,))
    assert texts(found) == ["West", "9"]
    assert texts(read("largest audience in the hall North", halls)) == ["300"]


# ---------------------------------------------------------------- contacts and people

STAFF = table(
    "Name | Role | Office | Direct line | Mobile | E-mail\n"
    "Ida Moor | Sales Manager | Oslo | 22 40 11 01 | 987 65 401 | ida@acme.example\n"
    "Jon Pine | Plant Manager | Bergen | 55 30 22 02 | | jon@acme.example\n"
    "Kai Reed | Driver | Bergen | | 987 65 403 | kai@acme.example",
    "Staff",
)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("phone number of Ida Moor", ["22 40 11 01", "987 65 401"]),
        ("What is Jon Pine's telephone number?", ["55 30 22 02"]),
        ("Ida Moor mobile", ["987 65 401"]),
        ("Wie lautet die Handynummer von Kai Reed?", ["987 65 403"]),
        ("e-mail of Kai Reed", ["kai@acme.example"]),
    ],
)
def test_finds_how_to_reach_somebody(question: str, values: Sequence[str]):
    found = read(question, STAFF)
    assert texts(found) == values
    assert found is not None
    assert found.probability > 0.55


def test_an_empty_cell_is_not_replaced():
    found = read("mobile number of Jon Pine", STAFF)
    assert found is None or found.probability <= CAP


@pytest.mark.parametrize(
    ("question", "contact"),
    [
        ("What is the phone number of the reception?", "phone"),
        ("Telefonnummer Empfang", "phone"),
        ("Koks Rasos telefono numeris?", "phone"),
        ("e-mail address for complaints", "mail"),
        ("Can I use my mobile?", None),
        ("What did the e-mail of Ida say?", None),
        ("mobile revenue 2023", None),
        ("How many mobiles do we have?", None),
        ("number of employees", None),
    ],
)
def test_knows_questions_for_contacts(question: str, contact: str | None):
    assert contact_in(question) == contact


def test_tells_numbers_from_dates_and_amounts():
    assert has_contact("phone", "Call +47 22 40 11 01 before noon")
    assert not has_contact("phone", "EUR 22,000 on 2031-12-21 07:00")
    assert not has_contact("mobile", "Call +47 22 40 11 01")
    assert has_contact("mail", "Write to ida@acme.example")


def test_a_row_must_have_what_another_row_has():
    right, wrong = (
        read("Who is the plant manager in Bergen?", STAFF),
        read("Who is the sales manager in Bergen?", STAFF),
    )
    assert texts(right) == ["Jon Pine"]
    assert right is not None
    assert "Role Plant Manager · Office Bergen" in draft_of(right).text
    assert wrong is None or (
        wrong.probability <= CAP and [one.requirement.text for one in wrong.lacks] in (["sales"], ["Bergen"])
    )


def test_the_title_may_name_another_place():
    shifts = table("Week | Porter\n12 | Ada Holm\n13 | Cy Dunn", "Porters Oslo")
    right = read("Who is the porter in Oslo in week 12?", shifts, STAFF)
    assert right is not None
    assert right.probability > CAP
    found = read("Who is the porter in Bergen in week 12?", shifts, STAFF)
    assert found is None or found.probability <= CAP


# ---------------------------------------------------------------- differences


@pytest.mark.parametrize(
    "question",
    [
        "How much more expensive did the locker get from 2030 to 2031?",
        "How much cheaper was the locker in 2030 than in 2031?",
    ],
)
def test_subtracts_prices(question: str):
    found = read(question, TICKETS)
    assert found is not None
    assert found.calculation == "6 − 5 = 1"


def test_shows_the_same_value_of_two_tables_once():
    plan = table("Item | 2030 | 2031\nRent | 10 | 12\nCosts of heating | 3 | 4", "Club", section="Income")
    notes = table("Item | 2030 | 2031\nCosts of heating | 3 | 4\nCosts of water | 1 | 2", "Club", section="Notes")
    assert texts(read("costs of heating 2031", plan, notes)) == ["4"]


def test_a_range_in_the_question_is_the_name_of_a_row():
    debts = table("Overdue | 2030 | 2031\n1 to 2 months | 14 | 12\nover 2 months | 27 | 26", "Debts overdue")
    for label in ("1 to 2 months", "over 2 months"):
        found = read(f"overdue {label} in 2031", debts)
        assert found is not None
        assert {one.row.label for one in found.cells} == {label}


def test_a_label_with_more_words_is_not_equal():
    plays = table("Play | Seats 2031\nHamlet matinee | 70\nHamlet in the old barn matinee | 90", "Season")
    assert texts(read("Hamlet seats 2031", plays)) == ["70"]


# ---------------------------------------------------------------- everyday wording

ROTA = table(
    "Day | Desk early | Desk late\nTue 5 May | Ina | Omar\nWed 6 May | Omar | Lise\nThu 7 May | Lise | Ina", "Desk rota"
)
OPENING = table("Day | Library\nTuesday | 9-17\nWednesday | 9-13\nThursday | 9-19", "Opening hours")
SEASONS = table("Ticket | Adult € | Child under 12 €\nSeason ticket | 120 | 65\nSingle swim | 6 | 3.50", "Pool prices")
JACKETS = table("Item | Lent | Lost\nLife jacket child | 40 | 2\nLife jacket adult | 75 | 9", "Boat house")


@pytest.mark.parametrize("day", ["wednesday 6 may", "Wed, 6 May", "Wednesday, the 6th of May", "6 May"])
def test_a_day_of_the_week_belongs_to_its_day(day: str) -> None:
    found = read(f"who has the late desk on {day}?", OPENING, ROTA)
    assert texts(found) == ["Lise"]
    assert found is not None
    assert found.probability > 0.5


@pytest.mark.parametrize("child", ["a 9 year old", "a nine-year-old, aged 9", "kids aged 9"])
def test_an_age_means_the_column_of_its_range(child: str) -> None:
    found = read(f"how much is the season ticket for {child}?", SEASONS)
    assert texts(found)[:1] == ["65"]


def test_an_age_outside_the_range_does_not_mean_it() -> None:
    assert texts(read("how much is the season ticket for a 40 year old?", SEASONS))[:1] != ["65"]


def test_how_much_something_is_asks_for_its_price() -> None:
    found = read("how much is a single swim?", SEASONS)
    assert sorted(texts(found)) == ["3.50", "6"]
    assert found is not None
    assert found.probability > CAP


def test_kids_are_children() -> None:
    assert texts(read("how many life jackets for kids were lost?", JACKETS)) == ["2"]


def test_a_verb_of_cost_asks_for_a_figure() -> None:
    bookings = rows_of(
        ("name", "event", "room"),
        *((name, "Pool party", "Hall 2") for name in ("Abbot", "Brix", "Cole", "Dorn", "Ertl", "Falk")),
        file="bookings.csv",
    )
    prices = table("Item | Price €\nPool party for 10 guests | 210\nLocker | 2", "Prices")
    assert texts(read("what does a pool party cost", *bookings, prices)) == ["210"]

"""Things that tables compare: which table and column an aspect means, by headings or by what stands above a table."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragstone.core.records import Chunk, Hit
from ragstone.respond.tables.things import attributes_of


def hit(text: str, title: str, heading: str = "", caption: str = "") -> Hit:
    """Return a table with one row of headings."""
    facts = {
        "is_table": True,
        "table_header": text.partition("\n")[0],
        "header_rows": 1,
        "table_caption": caption,
        "table_sections": "",
        "section": f"Report > {heading}",
    }
    made = Chunk(
        id=title + heading,
        document_id=title,
        index=0,
        total=1,
        start=0,
        end=len(text),
        text=text,
        title=title,
        facts=facts,
    )
    return Hit(chunk=made, score=1.0)


OLD = hit("Model | Q4 2025 | Q4 2024\nWren | 371 | 362\nOtter | 126 | 71", "2025-q4", "Bikes sold (units)")
SOLD = hit(
    "Model | Q1 2026 | Q1 2025 | Change\nWren | 412 | 385 | 7%\nOtter | 155 | 97 | 60%",
    "2026-q1",
    "Bikes sold (units)",
    "Bikes sold and revenue by product Bikes sold (units)",
)
REVENUE = hit(
    "Product | Q1 2026 | Q1 2025 | Change\nWren | 968 | 905 | 7%\nOtter | 612 | 383 | 60%",
    "2026-q1",
    "Revenue by product (£ thousand)",
    "Revenue by product (£ thousand)",
)
PRICES = hit("Bike | Price (£) | Battery\nWren | 3190 | 400 Wh\nOtter | 5290 | 522 Wh", "prices", "Bikes")
COVERS = hit("Cover | Price (£) | Fits\nRain cover | 165 | Otter, Wren", "prices", "Accessories")
HOLIDAYS = hit("Country | Days\nWales | 8\nSpain | 14", "calendar", caption="Public holidays")


def shown(hits: Sequence[Hit], *aspects: str, things: Sequence[str] = ("Wren", "Otter")) -> dict[str, list[str]]:
    """Return the texts of the cells by the name of each attribute."""
    found = attributes_of(things, [hits] * len(things), aspects)
    return {one.name: [cell.cell.text if cell else "" for cell in one.cells] for one in found}


def test_headings_name_aspects() -> None:
    assert shown([COVERS, PRICES, SOLD], "price", "battery") == {
        "Price (£)": ["3190", "5290"],
        "Battery": ["400 Wh", "522 Wh"],
    }


def test_what_stands_above_a_table_names_its_latest_column() -> None:
    assert shown([OLD, SOLD, REVENUE], "bikes sold", "revenue") == {
        "bikes sold · Q1 2026": ["412", "155"],
        "revenue · Q1 2026 · in thousands": ["968", "612"],
    }


SEGMENTS = hit(
    "Segment | 2022 | 2023\nRevenue:\nCloud | 54 | 63\nGames | 16 | 15\n"
    "Operating income:\nCloud | 9 | 11\nGames | 4 | 3",
    "report",
    caption="Segment revenue and operating income",
)


def test_a_section_of_a_table_names_its_rows() -> None:
    assert shown([SEGMENTS], "operating income", things=("Cloud", "Games")) == {"operating income · 2023": ["11", "3"]}


def test_unearned_revenue_is_no_revenue() -> None:
    unearned = hit("Segment | 2023\nCloud | 15\nGames | 3", "report", caption="Unearned revenue")
    assert shown([unearned], "revenue", things=("Cloud", "Games")) == {"revenue": []}


def test_columns_without_headings_are_not_compared() -> None:
    unnamed = hit(" |  | (In millions)\nCloud | 54 | 63\nGames | 16 | 15", "report", caption="Revenue")
    assert shown([unnamed], "revenue", things=("Cloud", "Games")) == {"revenue": []}


def test_rows_that_end_before_their_headings_are_not_compared() -> None:
    shifted = hit("Segment | Millions | 2023 | 2022\nCloud | 15 | 19\nGames | 3 | 4", "report", caption="Revenue")
    assert shown([shifted], "revenue", things=("Cloud", "Games")) == {"revenue": []}


def test_a_row_of_two_things_is_that_of_neither() -> None:
    both = hit("Segment | 2023\nCloud and games | 78\nCloud services | 63", "report", caption="Revenue")
    assert shown([both], "revenue", things=("Cloud", "Games")) == {"revenue": []}


def test_an_only_column_is_what_the_caption_names() -> None:
    assert shown([HOLIDAYS], "holidays", things=("Wales", "Spain")) == {"holidays · Days": ["8", "14"]}


@pytest.mark.parametrize("aspect", ["colour", "bikes"])
def test_other_aspects_have_no_cells(aspect: str) -> None:
    """ "Bikes" is above a table whose columns say other things than when."""
    assert shown([PRICES], aspect) == {aspect: []}


def test_a_heading_above_two_tables_names_neither() -> None:
    tables = [hit(one.chunk.text, "report", "Bikes sold and revenue") for one in (SOLD, SOLD)]
    assert shown(tables, "revenue") == {"revenue": []}


def test_without_aspects_all_columns_of_one_table_count() -> None:
    assert list(shown([COVERS, PRICES, OLD], *())) == ["Price (£)", "Battery"]


def test_one_thing_is_no_comparison() -> None:
    assert shown([PRICES], "price", things=("Wren", "Robin")) == {"price": []}

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
        "Bikes sold (units) · Q1 2026": ["412", "155"],
        "Revenue by product (£ thousand) · Q1 2026": ["968", "612"],
    }


def test_an_only_column_is_what_the_caption_names() -> None:
    assert shown([HOLIDAYS], "holidays", things=("Wales", "Spain")) == {"Public holidays · Days": ["8", "14"]}


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

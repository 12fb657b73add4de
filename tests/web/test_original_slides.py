"""The original beside the answer: slides as cards, rows of sheets and of CSV files in their tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from office_files import presentation, workbook
from playwright.sync_api import expect
from served import BY_SCHEME, FIRST, Visit

Open = Callable[..., Visit]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
TOLLS = [["Cart", "Toll"], ["Wagon of chalk", "6 pence"], ["Herd of geese", "2 pence"]]
TALK = presentation(
    ("Bridges of the Medway", "The oldest crossing is at Rochester.\nIt has eleven piers.", "Greet everybody first."),
    ("Tolls of the Rochester bridge", TOLLS, ""),
    ("Repairs of the Aylesford bridge", "The Aylesford bridge was repaired in 1824.", "Its mason was John Rugg."),
)
STOCK = [["Stone", "Tonnes", "Yard"], *([f"Sort {n} of gravel", str(3 * n), "North"] for n in range(1, 120))]
BOOK = workbook({"Gravel": STOCK, "Sand": [["Sand", "Tonnes", "Yard"], ["Washed dune sand", "77", "South"]]})
ROWS = "Quarry,Depth in metres,Owner\nBoughton,31,Hall\nDitton,17,Bassett\nAllington,52,Romney\n"


@pytest.fixture(scope="module")
def files(quoted: str, chromium: Any) -> str:
    """The server, with a presentation, a workbook and a CSV file uploaded through its page."""
    at = Visit(chromium, quoted, at="#/sources")
    office = "application/vnd.openxmlformats-officedocument"
    sent = [
        {"name": "bridges.pptx", "mimeType": f"{office}.presentationml.presentation", "buffer": TALK},
        {"name": "stock.xlsx", "mimeType": f"{office}.spreadsheetml.sheet", "buffer": BOOK},
        {"name": "quarries.csv", "mimeType": "text/csv", "buffer": ROWS.encode()},
    ]
    at.page.locator("input[type=file]").first.set_input_files(sent)
    expect(at.page.locator(".uploads .done")).to_have_count(3, timeout=4 * FIRST)
    at.close()
    return quoted


def source_of(at: Visit, question: str) -> Any:
    """Ask, open the first citation, and return the panel of its source."""
    at.ask(question).locator(".card, .marker").first.click()
    return at.page.get_by_role("complementary", name="Source")


def test_cited_words_are_marked_on_their_slide(files: str, visit: Open) -> None:
    at = visit(files)
    source = source_of(at, "When was the Aylesford bridge repaired?")
    slide = source.locator(".leaf.slide")
    expect(slide).to_contain_text("Repairs of the Aylesford bridge")
    expect(slide.locator("mark").first).to_be_in_viewport()
    expect(slide.locator("mark").first).to_contain_text("1824")
    expect(slide).not_to_contain_text("Rochester")
    expect(source).to_contain_text("Slide 3 of 3")
    expect(source.locator(".notes")).to_contain_text("Its mason was John Rugg.")
    source.get_by_role("button", name="Previous slide").click()
    expect(slide.get_by_role("table")).to_contain_text("Wagon of chalk")
    expect(slide.get_by_role("columnheader", name="Toll")).to_be_visible()
    source.get_by_role("button", name="Back to the cited slide").click()
    expect(slide.locator("mark").first).to_be_in_viewport()


def test_text_of_a_slide_is_a_key_away(files: str, visit: Open) -> None:
    at = visit(files)
    source = source_of(at, "When was the Aylesford bridge repaired?")
    source.get_by_role("radio", name="Original").focus()
    at.page.keyboard.press("ArrowRight")
    text = source.get_by_label("Text of the source")
    expect(text.locator("mark").first).to_contain_text("1824")
    expect(text).to_contain_text("Bridges of the Medway")


def test_cited_row_of_a_sheet_stands_among_others(files: str, visit: Open) -> None:
    at = visit(files)
    source = source_of(at, "How many tonnes of Sort 83 of gravel are in stock?")
    table = source.get_by_role("table")
    expect(table.get_by_role("columnheader", name="Tonnes")).to_be_visible()
    expect(table.locator("mark").first).to_be_in_viewport()
    assert {"Sort 83 of gravel", "249"} & set(table.locator("mark").all_inner_texts())
    expect(table.get_by_role("rowheader", name="Sort 82 of gravel", exact=True)).to_be_visible()
    expect(table.get_by_role("rowheader", name="Sort 1 of gravel", exact=True)).to_have_count(0)
    source.get_by_role("button", name="Show earlier rows").click()
    expect(table.get_by_role("rowheader", name="Sort 1 of gravel", exact=True)).to_have_count(1)
    expect(source).to_contain_text("Gravel (sheet 1 of 2)")
    source.get_by_role("button", name="Next sheet").click()
    expect(table.get_by_role("rowheader", name="Washed dune sand")).to_be_visible()


def test_cited_cell_of_a_csv_row_is_marked(files: str, visit: Open) -> None:
    at = visit(files)
    source = source_of(at, "What is the depth in metres of the Ditton quarry?")
    table = source.get_by_role("table", name="quarries.csv")
    expect(table.get_by_role("columnheader", name="Depth in metres")).to_be_visible()
    expect(table.get_by_role("row", name="Boughton 31 Hall")).to_be_visible()
    expect(table.locator("tr.cited")).to_have_text("Ditton17Bassett")
    assert "17" in " ".join(table.locator("tr.cited mark").all_inner_texts())
    expect(table.locator("mark").first).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_slides_and_rows_are_accessible(files: str, visit: Open, scheme: str, phone: bool) -> None:
    at = visit(files, color_scheme=scheme, **(PHONE if phone else {}))
    for question in (
        "When was the Aylesford bridge repaired?",
        "How many tonnes of Sort 83 of gravel are in stock?",
        "What is the depth in metres of the Ditton quarry?",
    ):
        source = source_of(at, question)
        expect(source.locator(".leaf mark").first).to_be_visible()
        assert at.violations(*BY_SCHEME[scheme]) == []
        at.page.get_by_role("button", name="Close the source").click()

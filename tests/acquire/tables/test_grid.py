"""Grids of tables: spans, signs in columns of their own, and rows of column headings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structure import marked

from ragstone.acquire.readers.tables.figures import heading_rows, is_figure
from ragstone.acquire.readers.tables.grid import Cell, grid
from ragstone.acquire.readers.web.html import parse_page
from ragstone.core.records import Document
from ragstone.language.units import is_unit_line

FILING = """<table>
<tr><td colspan="3"></td><td colspan="6">Year Ended</td></tr>
<tr><td colspan="3">(in millions)</td><td colspan="3">2023</td><td colspan="3">2022</td></tr>
<tr><td colspan="3">Revenue:</td><td colspan="3"></td><td colspan="3"></td></tr>
<tr><td colspan="3">Product</td><td>$</td><td>1,234</td><td></td><td>$</td><td>999</td><td></td></tr>
<tr><td colspan="3">Loss</td><td></td><td>(12</td><td>)</td><td colspan="2">5</td><td>%</td></tr>
</table>"""


def test_joins_columns_of_signs() -> None:
    parsed = parse_page(f"<body>{FILING}</body>")
    (table,) = [mark for mark in parsed.marks if mark.kind == "table"]
    assert parsed.text[table.start : table.end].split("\n") == [
        " | Year Ended | Year Ended",
        "(in millions) | 2023 | 2022",
        "Revenue:",
        "Product | $1,234 | $999",
        "Loss | (12) | 5%",
    ]
    assert (table.header, table.label) == (2, "(in millions)")


def test_page_of_one_table_keeps_it(read_one: Callable[..., Document]) -> None:
    rows = "".join(f"<tr><th>row {n}</th><td>{n}</td></tr>" for n in range(9))
    document = read_one("a.html", f"<html><body><table><tr><th>a</th><th>b</th></tr>{rows}</table></body></html>")
    assert marked(document, "table")[0].startswith("a | b\nrow 0 | 0")


def test_repeats_cells_that_span_rows() -> None:
    made = grid([[Cell("a"), Cell("b")], [Cell("x", rows=2), Cell("1")], [Cell("2")]], header=1)
    assert made.rows == [["a", "b"], ["x", "1"], ["x", "2"]]


def test_repeats_cells_below_their_headings() -> None:
    head = [Cell("hour"), Cell("Monday"), Cell("Tuesday"), Cell("Friday")]
    rows = [
        [Cell("9:00"), Cell("Latin", columns=2), Cell("Art")],
        [Cell("Totals", columns=3), Cell("2")],
        [Cell("10:00"), Cell("long " * 20, columns=3)],
    ]
    made = grid([head, *rows], header=1)
    assert made.rows[1:] == [
        ["9:00", "Latin", "Latin", "Art"],
        ["Totals", "", "", "2"],
        ["10:00", "long " * 20, "", ""],
    ]


def test_headings_reach_over_several_rows() -> None:
    top = [Cell("mill", rows=2, heading=True), Cell("output", columns=2, heading=True)]
    made = grid([top, [Cell("tons"), Cell("share")], [Cell("Forge"), Cell("9"), Cell("4 %")]])
    assert (made.header, made.rows[0]) == (2, ["mill", "output", "output"])


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([["", "2023", "2022"], ["Revenue", "5", "6"]], 1),
        ([["", "Year Ended", ""], ["", "2023", "2022"], ["Revenue", "5", "6"]], 2),
        ([["Revenue", "5", "6"], ["Cost", "1", "2"]], 0),
        ([["Name", "Age"], ["Ann", "47"], ["Bob", "51"]], 1),
        ([["Name", "Ann"], ["Town", "Bonn"]], 0),
        ([["Club", "Chair", "Since"], ["Chess", "Ann", "2021"], ["Rowing", "Bob", "2019"]], 1),
        (
            [
                ["Task", "Who", "Until"],
                ["Paint", "Ann", "3 May 2025"],
                ["Roof", "Bob", "at once"],
                ["Lamp", "Eve", "-"],
            ],
            1,
        ),
        ([["Assets", "Year Ended"], ["Items", "2023"], ["Cash", "5"]], 2),
    ],
)
def test_tells_headings_from_data(rows: list[list[str]], found: int) -> None:
    assert heading_rows(rows) == found


@pytest.mark.parametrize("text", ["1,234", "$ (1,234)", "12.5%", "(3)", "-4", "€5.00", "7.0–10.6"])
def test_knows_figures(text: str) -> None:
    assert is_figure(text)


@pytest.mark.parametrize("text", ["2023", "FY 2023", "12/31/2023", "a", "", "Q1 2022"])
def test_years_and_dates_are_no_figures(text: str) -> None:
    assert not is_figure(text)


def test_knows_units() -> None:
    assert is_unit_line("(In millions, except per share data)")
    assert not is_unit_line("Income")


CELL = st.builds(
    Cell,
    st.sampled_from(["", "a", "$", "1", "(2", ")", "%", "2023"]),
    columns=st.integers(0, 4),
    rows=st.integers(0, 4),
    heading=st.booleans(),
)


@given(st.lists(st.lists(CELL, max_size=5), max_size=6))
def test_grids_are_rectangles_with_every_word(rows: list[list[Cell]]) -> None:
    made = grid(rows)
    assert len({len(row) for row in made.rows}) <= 1
    assert 0 <= made.header <= max(len(made.rows) - 1, 0)
    words = "".join("".join(row) for row in made.rows) + "".join(title.text for title in made.titles)
    assert {one for row in rows for cell in row for one in cell.text} <= {*words}

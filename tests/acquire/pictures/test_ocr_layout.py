"""How pictures are turned, where lines stand in them, and in which order they are read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import LINES, drawn, gray

from ragstone.acquire.ocr.alphabets import Alphabet, letters_of
from ragstone.acquire.ocr.columns import Columns
from ragstone.acquire.ocr.order import paragraphs
from ragstone.acquire.ocr.reading import read_one
from ragstone.acquire.ocr.recognizer import Gray, Recognized, TextLine
from ragstone.acquire.ocr.tesseract import evened, lines_of
from ragstone.acquire.ocr.text_boxes import text_boxes
from ragstone.acquire.ocr.upright import Turn, turn_of
from ragstone.settings import AcquireSettings


def line(text: str, left: float, top: float, width: float | None = None) -> TextLine:
    right = left + (width if width is not None else 10 * len(text))
    return TextLine(text=text, confidence=1.0, left=left, top=top, right=right, bottom=top + 20)


def order(lines: list[TextLine]) -> list[str]:
    return [" ".join(one.text for one in row) for paragraph in paragraphs(lines) for row in paragraph.rows]


# ---------------------------------------------------------------- order


def test_reads_columns_one_after_the_other() -> None:
    left = [line(f"the left column has line {n}", 0, 30 * n) for n in range(6)]
    right = [line(f"the right column has line {n}", 400, 30 * n + 4) for n in range(6)]
    title = line("a title that stands above both of the columns of this page", 0, -60)
    assert order([*right, title, *left]) == [one.text for one in (title, *left, *right)]


def test_reads_rows_of_a_receipt_across() -> None:
    items = [("Coffee, large", "4.20"), ("Sandwich with cheese", "6.50"), ("Total", "10.70")]
    lines = [
        line(text, x, 30 * n + x / 200) for n, item in enumerate(items) for text, x in zip(item, (0, 500), strict=True)
    ]
    assert order(lines) == [" ".join(item) for item in items]


def test_table_above_columns_stays_whole() -> None:
    table = [line(text, x, 30 * n) for n in range(4) for text, x in (("2019", 0), ("1.5", 150), ("7", 450), ("x", 600))]
    prose = [line(f"the column has a line {n}", x, 200 + 30 * n) for x in (0, 400) for n in range(4)]
    assert order([*table, *prose])[:4] == ["2019 1.5 7 x"] * 4


def test_space_begins_a_paragraph() -> None:
    lines = [line("some words", 0, top) for top in (0, 25, 50, 110, 135)]
    assert [len(one.rows) for one in paragraphs(lines)] == [3, 2]


boxes = st.tuples(*[st.floats(0, 1000)] * 2, st.floats(5, 500), st.floats(5, 60))


@given(st.lists(boxes, max_size=30))
def test_order_loses_no_line(given: list[tuple[float, float, float, float]]) -> None:
    lines = [
        TextLine(text=f"{n} words", confidence=1.0, left=x, top=y, right=x + width, bottom=y + height)
        for n, (x, y, width, height) in enumerate(given)
    ]
    found = [one for paragraph in paragraphs(lines) for row in paragraph.rows for one in row]
    assert sorted(one.text for one in found) == sorted(one.text for one in lines)


def is_prose(lines: list[TextLine]) -> bool:
    return len(lines) >= 3 and median(len(one.text) for one in lines) >= 18


def plainly(bands: list[list[TextLine]], height: float) -> tuple[int, float]:
    """What `Columns` finds from the first band on, as its definition says it."""
    best = (0, 0.0)
    for end in range(1, len(bands) + 1):
        if len(bands[end - 1]) > 1 and all(len(one.text) < 18 for one in bands[end - 1]):
            break
        inside = [one for band in bands[:end] for one in band]
        gutters = [
            (low.right, high.left)
            for low in inside
            for high in inside
            if high.left - low.right >= 0.3 * height
            and not any(one.left < high.left and one.right > low.right for one in inside)
        ]
        if not gutters and end > 1:
            break
        for left, right in sorted(gutters, key=lambda one: (one[0] - one[1], one)):
            sides = [one for one in inside if one.right <= left], [one for one in inside if one.left >= right]
            if all(map(is_prose, sides)):
                best = (end, (left + right) / 2)
                break
    return best


cells = st.builds(
    lambda length, left, width: line("x" * length, 100.0 * left, 0, 100.0 * width - 10),
    st.sampled_from([3, 17, 18, 19, 30]),
    st.integers(0, 5),
    st.integers(1, 3),
)


@given(st.lists(st.lists(cells, min_size=1, max_size=3), min_size=1, max_size=12))
def test_columns_are_found_as_defined(bands: list[list[TextLine]]) -> None:
    columns = Columns(bands, 20)
    assert columns.find(0) == plainly(bands, 20)
    assert columns.find(len(bands) // 2) == tuple(
        at + (len(bands) // 2 if at and number == 0 else 0)
        for number, at in enumerate(plainly(bands[len(bands) // 2 :], 20))
    )


def test_long_price_list_is_ordered_quickly() -> None:
    began = time.process_time()
    lines = [
        line(text, x, 30 * n, 200) for n in range(1000) for text, x in (("a name of some length", 0), ("9.50", 500))
    ]
    assert len(order(lines)) == 1000
    assert time.process_time() - began < 5  # by the minute if each band looked at all others


# ---------------------------------------------------------------- turning


@pytest.mark.parametrize("degrees", [-5.0, -1.2, 0.0, 3.3])
@pytest.mark.parametrize("quarters", [0, 1])
def test_finds_how_a_page_is_turned(degrees: float, quarters: int) -> None:
    page = drawn(LINES * 4).rotate(-degrees, expand=True, fillcolor=255)
    found = turn_of(np.ascontiguousarray(np.rot90(gray(page), -quarters)))
    assert found.quarters == quarters
    assert found.degrees == pytest.approx(degrees, abs=0.2)


def test_blank_page_is_upright() -> None:
    assert turn_of(np.full((400, 300), 250, np.uint8)) == Turn()


@given(st.integers(0, 3), st.floats(-8, 8), st.floats(0.3, 0.7), st.floats(0.3, 0.7))
def test_box_points_back_to_its_place(quarters: int, degrees: float, across: float, down: float) -> None:
    picture = np.full((300, 200), 255, np.uint8)
    row, column = int(down * 300), int(across * 200)
    picture[row - 3 : row + 3, column - 3 : column + 3] = 0
    turn = Turn(quarters=quarters, degrees=degrees)
    upright = turn.apply(picture)
    rows, columns = np.nonzero(upright < 100)
    spot = TextLine(
        text="x", confidence=1.0, left=columns.min(), right=columns.max(), top=rows.min(), bottom=rows.max()
    )
    left, top, right, bottom = turn.box(spot, (300, 200), (upright.shape[0], upright.shape[1]))
    assert (left + right) / 2 == pytest.approx(column / 200, abs=0.03)
    assert (top + bottom) / 2 == pytest.approx(row / 300, abs=0.03)


# ---------------------------------------------------------------- boxes and letters


def test_boxes_follow_a_leaning_line() -> None:
    likely = np.zeros((100, 300), np.float32)
    for x in range(20, 280):
        y = int(30 + 0.1 * (x - 20))
        likely[y : y + 8, x] = 0.9
    (box,) = text_boxes(likely)
    assert box.slope == pytest.approx(0.1, abs=0.01)
    assert box.x == pytest.approx(150, abs=2)
    assert 8 < box.height < 30


@given(st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=1, max_size=12))
def test_boxes_cover_all_large_blobs(rows: list[list[bool]]) -> None:
    likely = np.kron(np.array(rows, np.float32), np.ones((6, 6), np.float32))
    found = text_boxes(likely)
    for y, x in zip(*np.nonzero(likely), strict=True):
        assert any(
            abs(x - box.x) <= box.width / 2 + 1 and abs(y - box.y) <= box.height / 2 + abs(box.slope) * box.width + 1
            for box in found
        )


def test_pattern_is_no_text() -> None:
    checks = (np.indices((1000, 1000)).sum(axis=0) % 2).astype(np.float32)
    assert text_boxes(checks) == []


def test_language_decides_between_similar_letters() -> None:
    alphabet = Alphabet(["", "e", "é", "ė", "，", ",", "中", " "])
    likely = np.array([[0.0, 0.1, 0.6, 0.3, 0, 0, 0, 0], [0.2, 0, 0, 0, 0.3, 0.3, 0.2, 0]], np.float32)
    western = alphabet.western(likely)
    assert alphabet.decode(western, "")[0] == "é,"
    assert alphabet.decode(western, letters_of(["lt"]))[0] == "ė,"
    assert alphabet.decode(western, letters_of(["en"]))[0] == "e,"


def test_light_is_evened_and_ink_kept() -> None:
    page = gray(drawn()).astype(np.float32)
    shade = np.linspace(0.35, 1.0, page.shape[1])
    found = evened((page * shade).astype(np.uint8))
    assert (found[page > 250] > 200).mean() > 0.99
    assert (found[page < 5] < 60).mean() > 0.99


def test_unknown_language_allows_all_letters() -> None:
    assert letters_of([]) == letters_of(["lt", "xx"]) == ""


def test_tables_of_tesseract_are_read() -> None:
    header = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
    words = [(10, "Total"), (70, "due"), (400, "9.50"), (500, " ")]
    rows = [f"5\t1\t1\t1\t1\t{n}\t{x}\t20\t50\t20\t90.5\t{word}" for n, (x, word) in enumerate(words)]
    found = lines_of("\n".join([header, "4\t1\t1\t1\t1\t0\t10\t20\t440\t20\t-1\t", *rows]))
    assert [(one.text, one.left, one.right) for one in found] == [("Total due", 10, 120), ("9.50", 400, 450)]


def test_reads_nothing_in_a_picture_without_pixels() -> None:
    class Never:
        name = "never"
        pages_at_once = 1

        def read(self, picture: Gray, languages: Sequence[str], seconds: float) -> Recognized:
            raise AssertionError(f"{picture.shape} has nothing to read in {languages} within {seconds}")

    for shape in ((0, 40), (40, 0), (3, 300)):
        assert read_one(np.zeros(shape, np.uint8), Never(), AcquireSettings()).characters == 0

"""PDF pages as a reader sees them: headings, running lines, titles, tables over pages, and places of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_file import pdf, text
from structure import marked, outline
from test_read_pdf import RULES, WORDS, laid_out, line

from ragstone.acquire.readers.pdf.frame import Frame
from ragstone.acquire.readers.pdf.rules import Rule, Rules
from ragstone.acquire.readers.pdf.title import is_left_behind
from ragstone.acquire.readers.pdf.words import Line
from ragstone.core.layout import Placed, boxes
from ragstone.core.records import Document

Read = Callable[..., Document]
BODY = ["This is a line of text that goes on", "and on until the paragraph is long", "enough to count as a paragraph."]


def styled(words: str, top: float, *, size: float = 10, bold: bool = False, left: float = 0) -> Line:
    one = line(words, left, top)
    return Line(words=one.words, size=size, bold=bold)


def paragraph(top: float) -> list[Line]:
    return [styled(words, top - 12 * n) for n, words in enumerate(BODY)]


def page(*lines: str, top: float = 700, size: float = 12) -> str:
    return " ".join(text(72, top - 14 * n, words, size=size) for n, words in enumerate(lines))


# ---------------------------------------------------------------- headings


def test_larger_and_bold_lines_are_headings() -> None:
    document = laid_out(
        styled("A Large Title", 700, size=20),
        *paragraph(670),
        styled("Section", 600, bold=True),
        *paragraph(585),
        styled("Another Section", 500, bold=True),
        *paragraph(485),
    )
    assert outline(document) == [(1, "A Large Title"), (1, "Section"), (1, "Another Section")]


def test_numbers_give_levels() -> None:
    parts = [("1 First", 16), ("1.1 Within", 13), ("1.2 Also within", 13), ("2 Second", 16), ("2.1 Last", 13)]
    lines = [
        one
        for n, (words, size) in enumerate(parts)
        for one in (styled(words, 700 - 100 * n, size=size), *paragraph(670 - 100 * n))
    ]
    assert outline(laid_out(*lines)) == [
        (1, "1 First"),
        (2, "1.1 Within"),
        (2, "1.2 Also within"),
        (1, "2 Second"),
        (2, "2.1 Last"),
    ]


def test_a_heading_may_take_two_lines() -> None:
    long, rest = "A heading so long that it must go", "on in the next line"
    document = laid_out(styled(long, 700, size=14), styled(rest, 684, size=14), *paragraph(650), *paragraph(600))
    assert outline(document) == [(1, f"{long} {rest}")]
    assert marked(document, "heading") == [f"{long} {rest}"]


@pytest.mark.parametrize(
    "words", ["write to me@example.org", "x = 5 + 3", "12,345", "• a point", "ends with a comma,", "lower case"]
)
def test_large_words_that_head_nothing(words: str) -> None:
    document = laid_out(*paragraph(700), styled(words, 650, size=14), *paragraph(620))
    assert outline(document) == []


def test_bold_paragraphs_are_text() -> None:
    bold = [styled(words, 600 - 12 * n, bold=True) for n, words in enumerate(BODY)]
    assert outline(laid_out(*paragraph(700), *paragraph(650), *bold)) == []


def test_column_headings_of_a_table_are_no_headings() -> None:
    heads = [styled("Amount", 600, bold=True, left=100), styled("Change", 600, bold=True, left=300)]
    assert outline(laid_out(*paragraph(700), *heads, *paragraph(560))) == []


# ---------------------------------------------------------------- running lines and labels


def running(count: int, first: int = 1) -> list[str]:
    return [
        " ".join(
            [
                text(72, 760, "Annual Report"),
                page(f"Text of page {n} here", "and more", top=600),
                text(300, 30, f"Page {n + first - 1}"),
            ]
        )
        for n in range(1, count + 1)
    ]


def test_running_lines_are_left_out(read_one: Read) -> None:
    document = read_one("a.pdf", pdf(running(4), drawn=True))
    # The first page keeps its header: it may name the document.
    assert document.text.count("Annual Report") == 1
    assert "Page" not in document.text.replace("Text of page", "")
    assert all(f"Text of page {n}" in document.text for n in range(1, 5))


def test_printed_numbers_label_pages(read_one: Read) -> None:
    document = read_one("a.pdf", pdf(running(4, first=17), drawn=True))
    assert [mark.label for mark in document.marks if mark.kind == "page"] == ["17", "18", "19", "20"]


def test_repeated_text_without_white_space_stays(read_one: Read) -> None:
    pages = [page("Dear customer", "your bill is due", f"amount {n}", top=770) for n in range(5)]
    assert read_one("a.pdf", pdf(pages, drawn=True)).text.count("your bill is due") == 5


def test_a_document_of_one_word_keeps_it(read_one: Read) -> None:
    assert read_one("a.pdf", pdf([text(300, 30, "7")], drawn=True)).text == "7"


def test_footnotes_follow_the_text_of_the_page() -> None:
    left = [styled(words, 700 - 12 * n) for n, words in enumerate(BODY)]
    note = styled("1 See the other book.", 60, size=8)
    right = [styled(words.upper(), 700 - 12 * n, left=300) for n, words in enumerate(BODY)]
    text = laid_out(*left, note, *right).text
    assert text.endswith("\n\n1 See the other book.")
    assert text.index(BODY[-1]) < text.index(BODY[0].upper())


# ---------------------------------------------------------------- titles

COVER = [
    "UNITED STATES",
    "FORM 10-Q",
    "For the quarterly period ended July 29, 2023",
    "Commission File Number: 1-9595",
    "Best Buy Co., Inc.",
    r"\(Exact name of registrant as specified in its charter\)",
]


def test_filings_are_named_by_their_cover(read_one: Read) -> None:
    document = read_one("a.pdf", pdf([page(*COVER), page("Text")], info="/Title(0000764478-23-000040)", drawn=True))
    assert document.title == "Best Buy Co., Inc. · Form 10-Q · quarter ended July 29, 2023"
    facts = {"company": "Best Buy Co., Inc.", "form": "10-Q", "period": "2023-07-29"}
    assert {key: document.metadata[key] for key in facts} == facts


def test_the_largest_line_names_a_document_without_title(read_one: Read) -> None:
    first = " ".join([text(72, 720, "The Mill", size=24), text(72, 690, "Report", size=16), page(*BODY, top=600)])
    for title in ("", "mill_v2_final.docx", "Quarterly zebra"):  # which the page does not mention
        assert read_one("a.pdf", pdf([first], info=f"/Title({title})", drawn=True)).title == "The Mill"


@pytest.mark.parametrize(
    "title", ["0000320187-24-000044", "PowerPoint Presentation", "Scan_2024-05-01", "12345", "untitled"]
)
def test_titles_that_name_nothing(title: str) -> None:
    assert is_left_behind(title)


# ---------------------------------------------------------------- tables


def rows(names: Sequence[str], top: float) -> str:
    return " ".join(
        text(left, top - 20 * n, words)
        for n, name in enumerate(names)
        for left, words in ((72, name), (250, str(n + 10)), (400, str(n + 50)))
    )


HEADS = " ".join(text(left, 740, words) for left, words in ((72, "Name"), (250, "2023"), (400, "2022")))
LONG = [f"row {n}" for n in range(35)]
LATE = ["late mill", "late rye", "late tide"]


@pytest.mark.parametrize("heads", [HEADS, ""])
def test_tables_go_on_over_pages(read_one: Read, heads: str) -> None:
    document = read_one("a.pdf", pdf([f"{HEADS} {rows(LONG, 720)}", f"{heads} {rows(LATE, 720)}"], drawn=True))
    (table,) = marked(document, "table")
    assert table.startswith("Name | 2023 | 2022\nrow 0 | 10 | 50\n")
    assert table.endswith("row 34 | 44 | 84\nlate mill | 10 | 50\nlate rye | 11 | 51\nlate tide | 12 | 52")
    assert marked(document, "page")[1] == "late mill | 10 | 50\nlate rye | 11 | 51\nlate tide | 12 | 52"
    assert {one.page for one in document.placed if document.text[one.start : one.end].startswith("late")} == {1}


def test_another_table_on_the_next_page_stays_apart(read_one: Read) -> None:
    other = " ".join(text(left, 740, words) for left, words in ((72, "Town"), (250, "2023"), (400, "2022")))
    document = read_one("a.pdf", pdf([f"{HEADS} {rows(LONG, 720)}", f"{other} {rows(LATE, 720)}"], drawn=True))
    assert len(marked(document, "table")) == 2


def test_cells_from_right_to_left_keep_the_order_of_their_words() -> None:
    words = [line("שלום", 60, 95), line("עולם", 20, 95), line("1", 150, 95), line("2", 150, 55), line("אחד", 60, 55)]
    across = [Rule(at=at, start=0, end=200) for at in (100, 70, 40)]
    down = [Rule(at=at, start=40, end=100) for at in (0, 100, 200)]
    document = laid_out(*words, rules=Rules(horizontal=across, vertical=down))
    assert document.text.split("\n")[0] == "שלום עולם | 1"


# ---------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("entries", "turn", "left", "bottom", "wanted"),
    [
        ("", "1 0 0 1", 72, 720, (72 / 612, 72 / 792)),
        ("/CropBox[36 36 576 756]", "1 0 0 1", 72, 720, (36 / 540, 36 / 720)),
        ("/Rotate 90", "0 1 -1 0", 72, 100, (100 / 792, 72 / 612)),
        ("/Rotate 180", "-1 0 0 -1", 540, 72, (72 / 612, 72 / 792)),
        ("/Rotate 270", "0 -1 1 0", 540, 692, (100 / 792, 72 / 612)),
    ],
)
def test_boxes_are_those_of_the_shown_page(
    read_one: Read, entries: str, turn: str, left: float, bottom: float, wanted: tuple[float, float]
) -> None:
    document = read_one("a.pdf", pdf([text(left, bottom, "Petrel", turn=turn)], drawn=True, page=entries))
    assert document.text == "Petrel"
    (one,) = document.placed
    assert (one.left, one.bottom) == (pytest.approx(wanted[0], abs=0.01), pytest.approx(wanted[1], abs=0.01))
    assert one.right > one.left
    assert one.bottom > one.top


def test_text_on_its_side_is_read(read_one: Read) -> None:
    lines = " ".join(text(200 + 14 * n, 100, words, turn="0 1 -1 0") for n, words in enumerate(BODY))
    document = read_one("a.pdf", pdf([lines], drawn=True))
    assert document.text == "\n".join(BODY)
    first, *_ = document.placed
    assert first.bottom - first.top > first.right - first.left  # a viewer shows it on its side
    assert first.bottom == pytest.approx(1 - 100 / 792, abs=0.01)


@given(st.lists(WORDS, max_size=25), RULES, RULES)
def test_boxes_hold_the_words_of_their_span(lines: list[Line], across: list[Rule], down: list[Rule]) -> None:
    document = laid_out(*lines, rules=Rules(horizontal=across, vertical=down))
    frame, ends = Frame(), 0
    for one in document.placed:
        assert ends <= one.start < one.end <= len(document.text)
        ends = one.end
        assert 0 <= one.left < one.right <= 1
        assert 0 <= one.top < one.bottom <= 1
        inside = "".join(word.text for each in lines for word in each.words if _within(frame, word, one))
        assert {*document.text[one.start : one.end]} - {" ", "\n", "-"} <= {*inside}


def _within(frame: Frame, word: object, box: Placed) -> bool:
    left, bottom, right, top = (getattr(word, name) for name in ("left", "bottom", "right", "top"))
    shown = frame.fractions((left, bottom, right, top))
    if shown is None:
        return True
    return shown[0] >= box.left - 1e-6 and shown[2] <= box.right + 1e-6 and shown[1] >= box.top - 1e-6


@given(st.integers(0, 3), st.integers(0, 3), st.floats(0, 500), st.floats(0, 700), st.floats(5, 100), st.floats(5, 80))
def test_every_turn_shows_a_box_in_its_place(
    shown: int, read: int, x: float, y: float, wide: float, high: float
) -> None:
    box = x, y, x + wide, y + high
    usual = Frame(shown=shown, read=shown)
    turned = Frame(shown=shown, read=read)
    assert turned.fractions(turned.turned(*box)) == pytest.approx(usual.fractions(usual.turned(*box)))


def test_words_joined_at_a_line_end_keep_both_places() -> None:
    document = laid_out(line("of rea", 10, 700, hyphen=True), line("soning here", 10, 687))
    assert document.text == "of reasoning\nhere"
    found = boxes(document.placed, 3, 12)[0]  # "reasoning"
    assert len(found) == 2
    assert found[0].top < found[1].top

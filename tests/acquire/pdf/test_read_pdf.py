"""PDF: reading order, tables, divided words and pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_file import pdf
from structure import marked, outline

from ragstone.acquire.readers.parsed import Writer
from ragstone.acquire.readers.pdf.frame import Frame
from ragstone.acquire.readers.pdf.headings import with_headings
from ragstone.acquire.readers.pdf.layout import lay_out
from ragstone.acquire.readers.pdf.rules import Rule, Rules
from ragstone.acquire.readers.pdf.words import Line, Word
from ragstone.acquire.readers.pdf.write import Sheet, vocabulary, write_page
from ragstone.core.records import Document


def line(text: str, left: float, top: float, *, hyphen: bool = False) -> Line:
    """Return a line of words, ten points high, with five points per letter."""
    words: list[Word] = []
    at = left
    for word in text.split(" "):
        if word:
            words.append(Word(text=word, left=at, right=at + 5 * len(word), bottom=top - 10, top=top))
        at += 5 * (len(word) + 1)
    return Line(words=words, hyphen=hyphen)


def laid_out(*lines: Line, headings: dict[str, int] | None = None, rules: Rules | None = None) -> Document:
    writer = Writer()
    (blocks,) = with_headings([lay_out(lines, rules or Rules())], {0: headings or {}})
    write_page(writer, blocks, vocabulary([lines]), Sheet(frame=Frame(), number=0))
    parsed = writer.parsed()
    return Document(id="a", text=parsed.text, marks=parsed.marks, placed=parsed.placed)


def test_reads_pages_and_properties(read_one: Callable[..., Document]) -> None:
    info = "/Title(Given first)/Author(N. Author)/CreationDate(D:20240506070809Z)"
    document = read_one("a.pdf", pdf(["First page\nof it", "Second"], info=info))
    assert document.text == "First page\nof it\n\nSecond"
    assert marked(document, "page") == ["First page\nof it", "Second"]
    assert [mark.label for mark in document.marks] == ["1", "2"]
    wanted = {"kind": "pdf", "pages": 2, "author": "N. Author", "created": "2024-05-06T07:08:09"}
    assert {key: document.metadata[key] for key in wanted} == wanted
    assert document.title == "Given first"


@pytest.mark.parametrize("title", ["untitled", "(anonymous)", "Microsoft Word - a.doc", "report.docx"])
def test_ignores_titles_left_by_programs(read_one: Callable[..., Document], title: str) -> None:
    escaped = title.replace("(", r"\(").replace(")", r"\)")
    assert read_one("a.pdf", pdf(["x"], info=f"/Title({escaped})")).title == ""


def test_keeps_readable_pages_of_damaged_file(read_one: Callable[..., Document]) -> None:
    document = read_one("a.pdf", pdf(["First page"], kids="6 0 R 99 0 R"))
    assert document.text == "First page"
    assert document.metadata["partial"] == "pages that cannot be read: 2"


def test_keeps_pages_read_in_time(read_one: Callable[..., Document]) -> None:
    page = "\n".join(["many words in a line"] * 50)
    document = read_one("a.pdf", pdf([page] * 1500), parse_seconds=8)  # 3 s left a second for laying out: too few
    assert "acquire.parse_seconds" in str(document.metadata["partial"])


def test_reports_pages_without_text(why_skipped: Callable[..., str]) -> None:
    assert why_skipped("a.pdf", pdf([""])).startswith("no text in it")


def test_distance_separates_paragraphs() -> None:
    assert laid_out(line("one", 0, 100), line("two", 0, 87), line("three", 0, 60)).text == "one\ntwo\n\nthree"


def test_reads_columns_from_top_to_bottom() -> None:
    header = line("a header over all of the page", 0, 200)
    left = [line("left one", 0, 150), line("left two", 0, 137)]
    right = [line("right one", 100, 150), line("right two", 100, 137)]
    assert laid_out(*left, *right, header).text == (
        "a header over all of the page\n\nleft one\nleft two\n\nright one\nright two"
    )


def test_tables_keep_their_columns() -> None:
    rows = [line("name      size      note", 0, 100), line("one                 x", 0, 80), line("two       2", 0, 60)]
    document = laid_out(line("before", 0, 150), *rows, line("after all of this there is text", 0, 20))
    assert marked(document, "table") == ["name | size | note\none |  | x\ntwo | 2"]
    assert document.text.startswith("before\n\nname")
    assert document.text.endswith("\n\nafter all of this there is text")


def test_tables_below_each_other_stay_apart() -> None:
    first = [line("profit    2025    2024", 0, 200), line("gross     700     650", 0, 180)]
    first += [line("net       90      80", 0, 160), line("cash      12      11", 0, 140)]
    second = [line("staff               May     June", 0, 60), line("in workshops and    41      36", 0, 40)]
    second += [line("in all offices      14      11", 0, 20)]
    document = laid_out(*first, line("Employees by department", 0, 85), *second)
    assert marked(document, "table") == [
        "profit | 2025 | 2024\ngross | 700 | 650\nnet | 90 | 80\ncash | 12 | 11",
        "staff | May | June\nin workshops and | 41 | 36\nin all offices | 14 | 11",
    ]


@pytest.mark.parametrize("label", [51, 58])  # in the middle beside the other cells, or at their top
def test_cells_of_several_lines_join_their_row(label: float) -> None:
    rows = [line("code      sense               remedy", 0, 120), line("E1        too cold            wait", 0, 100)]
    rows += [line("E2        too hot             rest", 0, 80)]
    last = [line("E3", 0, label), line("no signal", 50, 58), line("at all", 50, 45), line("look at the", 150, 58)]
    document = laid_out(*rows, *last, line("magnet", 150, 45), line("A text that follows the table", 0, 0))
    assert marked(document, "table") == [
        "code | sense | remedy\nE1 | too cold | wait\nE2 | too hot | rest\nE3 | no signal at all | look at the magnet"
    ]


def test_columns_of_text_are_no_table() -> None:
    words = "as many words as make a column of text"
    lines = [line(f"{side} {n} {words}", left, 100 - 13 * n) for n in range(3) for side, left in (("L", 0), ("R", 300))]
    pairs = [Line(words=[*lines[n].words, *lines[n + 1].words]) for n in (0, 2, 4)]
    document = laid_out(*pairs)
    assert not marked(document, "table")
    assert [row[:3] for row in document.text.split("\n")] == ["L 0", "L 1", "L 2", "", "R 0", "R 1", "R 2"]


@pytest.mark.parametrize(
    ("first", "second", "elsewhere", "joined"),
    [
        ("of rea", "soning here", "", "of reasoning\nhere"),
        ("of conversation", "centric kinds", "conversation-centric", "of conversation-centric\nkinds"),
        ("of rea", "soning here", "reasoning rea-soning", "of reasoning\nhere"),
        ("the Anglo", "Saxon one", "", "the Anglo-Saxon\none"),
        ("pages 10", "12 and", "", "pages 10-12\nand"),
    ],
)
def test_joins_words_divided_at_line_ends(first: str, second: str, elsewhere: str, joined: str) -> None:
    lines = [line(first, 0, 100, hyphen=True), line(second, 0, 87), line(elsewhere or "x", 0, 20)]
    assert laid_out(*lines).text.startswith(joined)


def test_bookmarks_become_headings() -> None:
    document = laid_out(line("Two Words", 0, 100), line("text", 0, 87), headings={"twowords": 2})
    assert outline(document) == [(2, "Two Words")]
    assert document.text == "Two Words\n\ntext"


def test_headings_span_their_columns() -> None:
    rows = [
        line("                      Year Ended", 0, 100),
        line("                    2023      2022", 0, 87),
        line("Revenue             $ 10      $ 12", 0, 70),
        line("Cost of goods", 0, 47),
        line("sold                   5         6", 0, 35),
        line("Income                 5         6", 0, 12),
    ]
    document = laid_out(*rows)
    assert marked(document, "table") == [
        " | Year Ended | Year Ended\n | 2023 | 2022\nRevenue | $10 | $12\nCost of goods sold | 5 | 6\nIncome | 5 | 6"
    ]
    assert [mark.header for mark in document.marks if mark.kind == "table"] == [2]


def test_headings_stored_one_after_the_other_stand_above_their_columns() -> None:
    document = laid_out(
        line("May 1,", 100, 100),
        line("2023", 100, 87),
        line("May 2,", 150, 100),
        line("2022", 150, 87),
        line("Yearly", 200, 100),
        line("change", 200, 87),
        line("(in millions)", 115, 70),
        *(line(f"row{n}                1{n}        2{n}        3%", 0, 50 - 13 * n) for n in range(3)),
    )
    (table,) = marked(document, "table")
    assert table.startswith("(in millions) | May 1, 2023 | May 2, 2022 | Yearly change\nrow0 | 10 | 20 | 3%\n")


def test_heading_at_the_right_edge_spans_the_years_beside_it() -> None:
    document = laid_out(
        line("Quarter ended", 185, 113),
        line("June 30,", 210, 100),
        line("Yearly", 430, 113),
        line("change", 430, 100),
        line("2023", 100, 87),
        line("2022", 230, 87),
        *(
            line(
                f"row{n}                1{n}                        2{n}                                       3%",
                0,
                70 - 13 * n,
            )
            for n in range(3)
        ),
    )
    (table,) = marked(document, "table")
    assert table.startswith(" | Quarter ended June 30, | Quarter ended June 30,\n | 2023 | 2022 | Yearly change\n")


def test_caption_is_above_its_table() -> None:
    rows = [line(f"row{n}                {n}0      {n}1", 0, 100 - 13 * n) for n in range(4)]
    document = laid_out(line("Sales (in millions)", 0, 140), *rows)
    assert [mark.label for mark in document.marks if mark.kind == "table"] == ["Sales (in millions)"]


def test_lines_draw_cells() -> None:
    heading = [line("name", 5, 95), line("first", 105, 97), line("and second", 105, 85)]
    words = [*heading, line("x", 5, 55), line("2", 105, 55)]
    across = [Rule(at=at, start=0, end=200) for at in (100, 70, 40)]
    down = [Rule(at=at, start=40, end=100) for at in (0, 100, 200)]
    assert laid_out(*words, rules=Rules(horizontal=across, vertical=down)).text == "name | first and second\nx | 2"


EDGES = st.floats(-50, 400, allow_nan=False)
WORDS = st.builds(line, st.sampled_from(["a", "12", "$", "2023", "two words", ")"]), EDGES, EDGES)
RULE = st.tuples(EDGES, EDGES, EDGES).map(lambda at: Rule(at=at[0], start=min(at[1:]), end=max(at[1:])))
RULES = st.lists(RULE, max_size=8)


@given(st.lists(WORDS, max_size=25), RULES, RULES)
def test_any_page_keeps_its_words(lines: list[Line], across: list[Rule], down: list[Rule]) -> None:
    text = laid_out(*lines, rules=Rules(horizontal=across, vertical=down)).text
    assert {one for each in lines for word in each.words for one in word.text} <= {*text}

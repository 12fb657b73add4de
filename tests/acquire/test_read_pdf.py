"""PDF: reading order, tables, words cut at the ends of lines, pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from structure import marked, outline

from ragstone.acquire.readers.parsed import Writer
from ragstone.acquire.readers.pdf_layout import Line, Word, vocabulary, write_page
from ragstone.contracts import Document


def pdf(pages: Sequence[str], *, info: str = "", kids: str | None = None) -> bytes:
    """A PDF with these lines on its pages."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", f"<<{info}>>"]
    numbers = []
    for page in pages:
        shown = " ".join(f"({line}) Tj 0 -14 Td" for line in page.split("\n"))
        stream = f"BT /F1 12 Tf 72 700 Td {shown} ET"
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {len(objects)} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        numbers.append(len(objects))
    kids = kids if kids is not None else " ".join(f"{number} 0 R" for number in numbers)
    objects[1] = f"<</Type/Pages/Count {len(kids.split()) // 3}/Kids[{kids}]>>"
    body, table = "%PDF-1.4\n", "0000000000 65535 f \n"
    for number, text in enumerate(objects, 1):
        table += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{text}\nendobj\n"
    size = len(objects) + 1
    end = f"trailer\n<</Root 1 0 R/Info 4 0 R/Size {size}>>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {size}\n{table}{end}".encode("latin-1")


def line(text: str, left: float, top: float, *, hyphen: bool = False) -> Line:
    """Words of ten points' height, five points to a letter."""
    words, at = [], left
    for word in text.split(" "):
        if word:
            words.append(Word(text=word, left=at, right=at + 5 * len(word), bottom=top - 10, top=top))
        at += 5 * (len(word) + 1)
    return Line(words=words, hyphen=hyphen)


def laid_out(*lines: Line, headings: dict[str, int] | None = None) -> Document:
    writer = Writer()
    write_page(writer, lines, vocabulary([lines]), headings)
    parsed = writer.parsed()
    return Document(id="a", text=parsed.text, marks=parsed.marks)


def test_pages_and_properties(read_one: Callable[..., Document]) -> None:
    info = "/Title(Given)/Author(N. Author)/CreationDate(D:20240506070809Z)"
    document = read_one("a.pdf", pdf(["First page\nof it", "Second"], info=info))
    assert document.text == "First page\nof it\n\nSecond"
    assert marked(document, "page") == ["First page\nof it", "Second"]
    assert [mark.label for mark in document.marks] == ["1", "2"]
    wanted = {"kind": "pdf", "pages": 2, "author": "N. Author", "created": "2024-05-06T07:08:09"}
    assert {key: document.metadata[key] for key in wanted} == wanted
    assert document.title == "Given"


@pytest.mark.parametrize("title", ["untitled", "(anonymous)", "Microsoft Word - a.doc", "report.docx"])
def test_titles_that_programs_leave_behind_are_none(read_one: Callable[..., Document], title: str) -> None:
    escaped = title.replace("(", r"\(").replace(")", r"\)")
    assert read_one("a.pdf", pdf(["x"], info=f"/Title({escaped})")).title == ""


def test_what_can_be_read_of_a_damaged_file_is_kept(read_one: Callable[..., Document]) -> None:
    document = read_one("a.pdf", pdf(["First page"], kids="6 0 R 99 0 R"))
    assert document.text == "First page"
    assert document.metadata["partial"] == "pages that cannot be read: 2"


def test_a_long_file_is_kept_as_far_as_time_allows(read_one: Callable[..., Document]) -> None:
    page = "\n".join(["many words in a line"] * 50)
    document = read_one("a.pdf", pdf([page] * 1500), parse_seconds=3)
    assert "acquire.parse_seconds" in str(document.metadata["partial"])


def test_pages_without_text_are_told(why_skipped: Callable[..., str]) -> None:
    assert why_skipped("a.pdf", pdf([""])).startswith("no text in it")


def test_paragraphs_are_told_apart_by_their_distance() -> None:
    assert laid_out(line("one", 0, 100), line("two", 0, 87), line("three", 0, 60)).text == "one\ntwo\n\nthree"


def test_what_stands_above_is_read_first_and_columns_stay() -> None:
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
def test_words_cut_at_the_end_of_a_line(first: str, second: str, elsewhere: str, joined: str) -> None:
    lines = [line(first, 0, 100, hyphen=True), line(second, 0, 87), line(elsewhere or "x", 0, 20)]
    assert laid_out(*lines).text.startswith(joined)


def test_bookmarks_make_headings() -> None:
    document = laid_out(line("Two Words", 0, 100), line("text", 0, 87), headings={"two words": 2})
    assert outline(document) == [(2, "Two Words")]
    assert document.text == "Two Words\n\ntext"

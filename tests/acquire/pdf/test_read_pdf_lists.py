"""Lists of a PDF: which lines are items, how they are nested, and what is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_file import pdf, text

from ragstone.acquire.readers.parsed import Writer
from ragstone.acquire.readers.pdf.layout import lay_out
from ragstone.acquire.readers.pdf.lists import with_lists
from ragstone.acquire.readers.pdf.rules import Rules
from ragstone.acquire.readers.pdf.words import Line, Word
from ragstone.core.records import Document

Read = Callable[..., Document]
BULLET = "\\267"
"""A bullet in the encoding of the font."""


def page(*lines: tuple[float, str], top: float = 700) -> str:
    """Lines one below the other, each with how far it is indented; an empty one leaves room."""
    return " ".join(text(72 + x, top - 14 * n, words) for n, (x, words) in enumerate(lines) if words)


def read(read_one: Read, *pages: str) -> str:
    return read_one("a.pdf", pdf([*pages], drawn=True)).text


def test_bullets_become_items_with_whole_lines(read_one: Read) -> None:
    lines = [
        (0, "What you need for the upgrade:"),
        (10, f"{BULLET} a copy of the folder, which takes as much"),
        (20, "room as the folder itself"),
        (10, f"{BULLET} an hour"),
        (0, ""),
        (0, "After the list there is a paragraph."),
    ]
    assert read(read_one, page(*lines)).split("\n") == [
        "What you need for the upgrade:",
        "• a copy of the folder, which takes as much room as the folder itself",
        "• an hour",
        "",
        "After the list there is a paragraph.",
    ]


def test_items_are_nested_by_indentation(read_one: Read) -> None:
    lines = [(10, "1. First"), (30, "- inner one"), (30, "- inner two"), (10, "2. Second"), (30, "a. last one")]
    lines.append((30, "b. last two"))
    assert read(read_one, page(*lines)).split("\n") == [
        "1. First",
        "  - inner one",
        "  - inner two",
        "2. Second",
        "  a. last one",
        "  b. last two",
    ]


def test_list_goes_on_over_a_page_break(read_one: Read) -> None:
    first = page((0, "1. Stop the server."), (0, "2. Copy the whole folder to"), top=120)
    second = page((14, "another disk."), (0, "3. Start it."), top=760)
    steps = "1. Stop the server.\n2. Copy the whole folder to another disk.\n3. Start it."
    document = read_one("a.pdf", pdf([first, second], drawn=True))
    assert document.text == steps
    assert [document.text[one.start : one.end] for one in document.placed] == [
        "Stop the server.",
        "Copy the whole folder to",
        "another disk.",
        "Start it.",
    ]
    assert [one.page for one in document.placed] == [0, 0, 1, 1]


def test_items_apart_are_one_list(read_one: Read) -> None:
    lines = [(0, "1. one"), (0, ""), (0, ""), (0, "2. two"), (0, ""), (0, ""), (0, "3. three")]
    assert read(read_one, page(*lines)) == "1. one\n2. two\n3. three"


@pytest.mark.parametrize(
    "lines",
    [
        ["The law was passed in the year", "2019. It was changed later in", "2020. Nobody minded that."],
        ["They met Mr. and Mrs. B. and", "A. Smith, and they were glad of", "all that came of it."],
        ["He walked to the door of the house", "- an old one -", "and knocked at it."],
        ["1. Only one number does not make", "a list of anything at all."],
        ["3. A list that does not begin", "4. at its beginning is none."],
        [f"Name {BULLET} Street {BULLET} Town", f"{BULLET} Name {BULLET} Street {BULLET} Town"],
    ],
)
def test_other_lines_stay_as_they_are(read_one: Read, lines: Sequence[str]) -> None:
    assert read(read_one, page(*((0, one) for one in lines))) == "\n".join(lines).replace(BULLET, "•")


@pytest.mark.parametrize("mark", ["{}.", "[{}]"])
def test_number_far_from_its_words_is_no_row(read_one: Read, mark: str) -> None:
    drawn = " ".join(
        text(x, 700 - 14 * n, words)
        for n, item in enumerate(("the first of them", "the second of them", "the third of them"))
        for x, words in ((72, mark.format(n + 1)), (110, item))
    )
    document = read_one("a.pdf", pdf([drawn], drawn=True))
    lines = [f"{mark.format(n)} the {word} of them" for n, word in enumerate(("first", "second", "third"), 1)]
    assert document.text.split("\n") == lines


words = st.sampled_from(["•", "-", "1.", "2.", "a)", "b)", "some", "words", "•words", "(1)", "2019."])
lines = st.tuples(st.integers(0, 3), st.lists(words, min_size=1, max_size=4))


@given(st.lists(st.lists(lines, max_size=8), max_size=3))
def test_no_word_is_lost(pages: list[list[tuple[int, list[str]]]]) -> None:
    laid = [lay_out([_line(n, *one) for n, one in enumerate(each)], Rules()) for each in pages]
    before = [line.text for blocks in laid for block in blocks for line in block.lines]
    found = with_lists(laid)
    writer = Writer()
    for blocks in found:
        writer.page("1")
        for block in blocks:
            text = " ".join(line.text for line in block.lines)
            if block.item or block.goes_on:
                writer.item(block.item, text)
            else:
                writer.paragraph(text)
    kept = "".join(writer.parsed().text.split())
    assert sorted(kept) == sorted("".join("".join(before).split()))


def _line(number: int, indent: int, words: Sequence[str]) -> Line:
    left, found = 72.0 + 15 * indent, list[Word]()
    for word in words:
        found.append(
            Word(text=word, left=left, right=left + 6 * len(word), bottom=700 - 14 * number, top=710 - 14 * number)
        )
        left += 6 * len(word) + 4
    return Line(words=found, size=10)

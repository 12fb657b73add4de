"""Questions of FAQs, in any format: each is a heading above its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structure import check, outline

from ragstone.acquire.readers.questions import with_questions
from ragstone.core.records import Document, Mark

ReadOne = Callable[..., Document]

SHOWER, PRICE, OPEN = "Is there a shower?", "Which price?", "When is it open?"
MARKDOWN = f"# Help\n\n**{SHOWER}**\nYes.\n\n__{PRICE}__\n\nTwo euros.\n\n{OPEN.replace('open', '*open*')}\n\nAt ten.\n"
FOLDED = "# Help\n\n" + "\n".join(
    f"<details>{line}<summary>{asked}</summary>\n\n{answer}\n</details>\n"
    for asked, answer, line in ((SHOWER, "Yes.", ""), (PRICE, "Two euros.", "\n"), (OPEN, "At ten.", "\n"))
)
TERMS = f"<h1>Help</h1><dl><dt>{SHOWER}<dd>Yes.<dt>{PRICE}<dd>Two euros.<dt>{OPEN}<dd>At ten.</dl>"
PARAGRAPHS = f"<h1>Help</h1><p><b>{SHOWER}</b><p>Yes.<p><strong>{PRICE}</strong><br>Two euros.<p>{OPEN}</p><p>At ten."
LETTERS = f"Q: {SHOWER}\nA: Yes.\nQ: {PRICE}\nA: Two euros.\n\nQ3. {OPEN}\n\nAt ten.\n"
RICH = rf"{{\rtf1 {{\b {SHOWER}}}\par Yes.\par {{\b {PRICE}}}\par Two euros.\par {{\b {OPEN}}}\par At ten.\par}}"
NUMBERS = f"1. {SHOWER}\nYes.\n2. {PRICE}\nTwo euros.\n3. {OPEN}\nAt ten.\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", MARKDOWN), ("a.md", FOLDED), ("a.html", TERMS), ("a.html", PARAGRAPHS), ("a.txt", LETTERS),
        ("a.rtf", RICH),
    ],
)  # fmt: skip
def test_questions_of_a_faq_are_headings(name: str, text: str, read_one: ReadOne) -> None:
    document = read_one(name, text)
    check(document)
    assert [one for one in outline(document) if one[0] > 1] == [(6, SHOWER), (6, PRICE), (6, OPEN)]


def test_numbers_of_questions_are_kept() -> None:
    assert [mark.label for mark in with_questions(NUMBERS, ())] == [f"1. {SHOWER}", f"2. {PRICE}", f"3. {OPEN}"]


@pytest.mark.parametrize(
    "text",
    [
        f"{SHOWER}\n\nYes.\n\n{PRICE}\n\nTwo euros.\n",
        f"1. {SHOWER}\n2. {PRICE}\n3. {OPEN}\n",
        "".join(f"- {one}\n\nYes.\n\n" for one in (SHOWER, PRICE, OPEN)),
        "".join(f'"{one}"\n\nYes.\n\n' for one in (SHOWER, PRICE, OPEN)),
        "".join(f"It asks: {one} Yes.\n\n" for one in (SHOWER, PRICE, OPEN)),
        "".join(f"{one}\n\nSome say so.\n\n" + "More of this.\n\n" * 12 for one in (SHOWER, PRICE, OPEN)),
        "".join(f"We write\n{one}\nYes.\n\n" for one in (SHOWER, PRICE, OPEN)),
    ],
    ids=["two", "only questions", "a list", "in quotes", "in lines", "a text that asks", "within paragraphs"],
)
def test_other_texts_have_no_questions(text: str) -> None:
    assert with_questions(text, ()) == ()


def test_no_question_is_taken_out_of_a_block() -> None:
    text = f"{SHOWER}\n\nYes.\n\n{PRICE}\n\nTwo.\n\n{OPEN}\n\nAt ten.\n\nWho?\n\nAll.\n"
    at = text.index(OPEN)
    code = Mark(kind="code", start=at - 1, end=at + len(OPEN) + 9)
    page = Mark(kind="page", start=0, end=len(text), label="1")
    marks = with_questions(text, [page, code])
    assert [(mark.kind, mark.label) for mark in marks] == [
        ("page", "1"), ("heading", SHOWER), ("heading", PRICE), ("code", ""), ("heading", "Who?")
    ]  # fmt: skip


LINES = st.sampled_from(["Why?", "**Why?**", "", "So.", "1. Why? ", "Q: Why?", "<summary>Why?</summary>", "¿?"])


@given(st.lists(LINES))
def test_every_question_is_a_whole_line_above_words(lines: list[str]) -> None:
    text = "\n".join(["What is it?", "", "It.", *lines])
    document = Document(id="a", text=text, marks=with_questions(text, ()))
    check(document)
    assert all("?" in text[mark.start : mark.end] for mark in document.marks)
    assert all(text[one.end : after.start].strip() for one, after in pairwise(document.marks))


@pytest.mark.parametrize("text", ["?" * 300_000, "a? " * 100_000, "\n" * 300_000, "\n" + " " * 300_000, "<" * 300_000,
                                  "\na. " * 100_000, "\n<details>" * 50_000])  # fmt: skip
def test_long_texts_take_linear_time(text: str) -> None:
    started = time.perf_counter()
    with_questions(text, ())
    assert time.perf_counter() - started < 2

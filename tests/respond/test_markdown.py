"""Markdown stays whole: in the sentences of a reply, and with citation marks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import chunk
from ragstone.respond.markdown import bare, is_heading, is_item, is_row, is_rule, marked
from ragstone.respond.writing.marks import Marks
from ragstone.respond.writing.transcript import Sentence, Transcript

CODE = '```python\nprint("One. Two.")\n```'
BLOCKS = [
    "# Opening hours",
    "The museum opens at ten. It closes at five.",
    "- **Monday:** closed. It rests.\n- Tuesday: ten",
    "1. Go in.\n2. Pay two euros. Then wait.",
    "**Masks are sold at the entrance. They cost two euros.** Bring some.",
    "| Day | Opens |\n|---|---|\n| Monday | never. It is closed. |\n| Tuesday | ten |",
    CODE,
    "> A quote. And more.",
]


def read(text: str, size: int) -> list[Sentence]:
    transcript, closed = Transcript(chunk.sentences, Marks(["one"] * 9)), list[Sentence]()
    for start in range(0, len(text), size):
        transcript.add(text[start : start + size])
        closed += transcript.closed()
    transcript.end()
    return [*closed, *transcript.closed(everything=True)]


@given(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=6), st.integers(1, 40))
def test_sentences_and_marks_leave_markdown_whole(blocks: list[str], size: int):
    text = "\n\n".join(blocks)
    sentences = read(text, size)
    assert "".join(one.before + one.text for one in sentences) == text
    assert all(one.text.count("**") % 2 == 0 for one in sentences)
    assert sum(one.text == CODE for one in sentences) == blocks.count(CODE)
    shown = "".join(one.before + marked(one.text, () if is_rule(one.text) else ("[1]",)) for one in sentences)
    assert re.sub(r"\s*\[1\]", "", shown) == re.sub(r"\s+(?=\|$)", "", text, flags=re.MULTILINE) or "|" in text
    lines = shown.splitlines()
    assert sum(line.startswith("```") for line in lines) == 2 * blocks.count(CODE)
    assert all(line in ("```", "```python") for line in lines if line.startswith("```"))
    assert all(line.endswith("|") for line in lines if line.startswith("|"))


@given(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=4), st.integers(1, 40))
def test_pieces_make_no_difference(blocks: list[str], size: int):
    text = "\n\n".join(blocks)
    assert [one.text for one in read(text, size)] == [one.text for one in read(text, len(text))]


def test_unclosed_bold_holds_up_only_its_line():
    assert [one.text for one in read("**A is one. B is two.\nC is three. D", 3)] == [
        "**A is one.",
        "B is two.",
        "C is three.",
        "D",
    ]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Masks are sold.", "Masks are sold. [1] [2]"),
        ("| Monday | ten |", "| Monday | ten [1] [2] |"),
        (CODE, f"{CODE}\n[1] [2]"),
        ("**Masks are sold.**", "**Masks are sold.** [1] [2]"),
        ("- Masks", "- Masks [1] [2]"),
    ],
)
def test_places_marks(sentence: str, expected: str):
    assert marked(sentence, ("[1]", "[2]")) == expected
    assert marked(sentence, ()) == sentence


def test_tells_headings_rows_and_rules_apart():
    assert is_heading("## Opening hours")
    assert is_heading("**Opening hours**")
    assert not is_heading("**Masks are sold.**")
    assert not is_heading("Opening hours")
    assert is_row("| a | b |")
    assert not is_row("a | b")
    assert is_rule("|---|:-:|")
    assert not is_rule("| a |")


def test_bare_words_have_no_signs():
    assert bare("1. **Masks** are `sold` _here_") == "Masks are sold here"
    assert bare("| Monday | ten |") == "Monday. ten"
    assert bare("## Opening hours") == "Opening hours"
    assert bare("2 * 3 and snake_case") == "2 * 3 and snake_case"
    assert bare(CODE) == CODE


@pytest.mark.parametrize("item", ["- one", "* one", "• one", "1. one", "(2) one", "a) one"])
def test_items_of_a_list(item: str):
    assert is_item(item)
    assert not is_item(item.lstrip("-*•(12a.) "))

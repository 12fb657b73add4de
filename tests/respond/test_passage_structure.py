"""Headings, tables and code are told from sentences, and a lead-in is quoted with what it leads to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import sentences
from ragstone.core.records import Span
from ragstone.respond.passage_structure import (
    MAX_QUOTE,
    block_around,
    code_around,
    ends_in_code,
    has_lines,
    heading_above,
    introduces_next_chunk,
    is_caption,
    is_directive,
    is_heading,
    is_table,
    list_around,
    unwrapped,
    with_introduced,
    with_term,
)

GUIDE = """# Installing

Two things are needed first:

- Python 3.11,
  or newer
- a compiler.

## Then

Run this:

```sh
make all
# check: it ends with "done"
```

Press release
-------------

The old harbour opens at six.

Opening hours

It closes at ten.

| day | hour |
|-----|------|
| Mon | 6    |

**Take care**

Mind the step

    sudo rm it:
"""


def at(words: str, text: str = GUIDE) -> Span:
    start = text.index(words)
    return Span(start=start, end=start + len(words))


@pytest.mark.parametrize(
    "words", ["Installing", "Then", "Press release", "Opening hours", "Take care", "Mind the step"]
)
def test_recognises_all_kinds_of_headings(words: str) -> None:
    assert is_heading(GUIDE, at(words))


@pytest.mark.parametrize("words", ["The old harbour opens at six.", "- a compiler.", "Run this:", "It closes at ten."])
def test_sentences_and_items_are_not_headings(words: str) -> None:
    assert not is_heading(GUIDE, at(words))


def test_last_line_is_not_a_heading() -> None:
    assert not is_heading("Opening hours", Span(start=0, end=13))


def test_recognises_table_rows() -> None:
    assert is_table(GUIDE, at("Mon"))
    assert not is_table(GUIDE, at("It closes at ten."))


def test_quotes_lead_in_with_list_and_code() -> None:
    quote = with_introduced(GUIDE, at("Two things are needed first:")).of(GUIDE)
    assert quote == "Two things are needed first:\n\n- Python 3.11,\n  or newer\n- a compiler."
    assert has_lines(quote)
    code = with_introduced(GUIDE, at("Run this:")).of(GUIDE)
    assert code.endswith('"done"\n```')
    assert ends_in_code(code)


def test_quotes_lead_in_with_list_without_marks() -> None:
    text = 'These are needed:\n\nA rope\nTwo lamps (see "What is a lamp?")\nAll else is found at the entrance.'
    quote = with_introduced(text, Span(start=0, end=17)).of(text)
    assert quote == 'These are needed:\n\nA rope\nTwo lamps (see "What is a lamp?")'
    assert has_lines(quote)
    for rest in ("A rope\nEverything else is sold here.", "A rope\n\nTwo lamps", "| a\n| b", "```\na"):
        alone = f"These are needed:\n{rest}"
        assert with_introduced(alone, Span(start=0, end=17)).of(alone) == "These are needed:"
    assert not has_lines("A rope\nTwo lamps")


def test_quotes_lead_in_with_a_command() -> None:
    text = "Use this command:\n\ndpkg --purge linux-image-NNN\n\nReplace NNN with your kernel version."
    quote = with_introduced(text, Span(start=0, end=17)).of(text)
    assert quote == "Use this command:\n\ndpkg --purge linux-image-NNN"
    assert has_lines(quote)
    for rest in ("C++\n\nint main() {}", "A rope\n\nTwo lamps\n\nAll else is sold here."):
        alone = f"Use this command:\n\n{rest}"
        assert with_introduced(alone, Span(start=0, end=17)).of(alone) == "Use this command:"


def test_other_sentences_stay_unchanged() -> None:
    for words in ("The old harbour opens at six.", "sudo rm it:"):
        assert with_introduced(GUIDE, at(words)) == at(words)
    text = "He said:\n\nNo list follows."
    assert with_introduced(text, at("He said:", text)).of(text) == "He said:"


def test_long_list_ends_between_items() -> None:
    text = "All of these:\n" + "\n".join(f"- item {n} {'x' * 90}" for n in range(20)) + "\n"
    quote = with_introduced(text, Span(start=0, end=13)).of(text)
    assert MAX_QUOTE - 110 < len(quote) <= MAX_QUOTE
    assert quote.endswith("x" * 90)


def test_wrapped_lines_belong_to_their_item() -> None:
    text = (
        "Two things:\n1. The mill is closed on all days between the first frost and the end of the thaw, and on\n"
        "Sundays.\n2. Bring bags.\nThank you."
    )
    assert with_introduced(text, Span(start=0, end=len("Two things:"))).of(text) == text.removesuffix("\nThank you.")


def test_finds_code_around_any_position() -> None:
    code = code_around(GUIDE, at("check").start)
    assert code is not None
    assert code.of(GUIDE).startswith("```sh\nmake all")
    assert code_around(GUIDE, at("Press").start) is None
    assert code_around("```\nnever closed", 5) is None


@given(st.text(alphabet="ab:.-*#`~|\n 1)", max_size=120))
def test_extended_quote_keeps_its_start(text: str) -> None:
    for span in sentences(text):
        is_heading(text, span), is_table(text, span)
        led = with_introduced(text, span)
        assert led.start == span.start
        assert span.end <= led.end <= max(span.end, span.start + MAX_QUOTE)
        code = code_around(text, span.start)
        assert code is None or code.start <= span.start < code.end <= len(text)


@pytest.mark.parametrize("between", ["", "C++\n\n", ".. code:: console\n\n"])
def test_label_before_code_is_skipped(between: str) -> None:
    text = f"Call this:\n\n{between}    make all\n\nThen go home."
    span = with_introduced(text, Span(start=0, end=len("Call this:")))
    assert span.of(text) == f"Call this:\n\n{between}    make all"
    assert not introduces_next_chunk(text, Span(start=0, end=len("Call this:")))


def test_recognises_lead_in_of_next_chunk() -> None:
    for rest in ("", "\n", "\n\nC++", "\n\nC++ (nvq++)\n"):
        assert introduces_next_chunk(f"Call this:{rest}", Span(start=0, end=len("Call this:")))
    for rest in ("\n\nThen go home.", "\n\nThe second paragraph of it"):
        assert not introduces_next_chunk(f"Call this:{rest}", Span(start=0, end=len("Call this:")))
    assert is_directive("Text.\n\n.. _place:\n", Span(start=7, end=17))


def test_a_signature_is_one_block():
    text = "It is true.\n\nBy: /s/ Ann Lee\nAnn Lee\nSenior Vice President,\nChief Financial Officer\n\nExhibit 31"
    start = text.index("Chief")
    block = block_around(text, Span(start=start, end=start + 5))
    assert block is not None
    assert block.of(text) == "By: /s/ Ann Lee\nAnn Lee\nSenior Vice President,\nChief Financial Officer"
    assert block_around(text, Span(start=0, end=11)) is None
    long = "Ann Lee\nExecutive Vice President and Chief Financial Officer (Duly Authorized and\nPrincipal Officer)"
    block = block_around(long, Span(start=8, end=30))
    assert block is not None
    assert block.of(long) == long
    prose = "The officer who signs is named\nbelow, as in any other report of the year, by his function.\n"
    assert block_around(prose, Span(start=0, end=10)) is None


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("Table 3: Unemployment by sex (in %)", True),
        ("Table A-1. Summary of assumptions to 2021.", True),
        ("| Fig. 2 – Sales", False),
        ("Abbildung 4.2: Umsatz", True),
        ("SOURCE: Department of Education, 1997", True),
        ("Table 3 shows that sales rose by 5%.", False),
        (
            "Figure 2: The encoder reads the sentence once and hands the states of all of its layers to the decoder.",
            False,
        ),
        ("The table has two columns.", False),
    ],
)
def test_captions_name_a_table_and_say_nothing(line: str, is_one: bool):
    text = f"Before that.\n{line}\nAfter that."
    assert is_caption(text, at_line(text, line)) is is_one


def test_the_rest_of_a_caption_is_one():
    text = "Table 3. Enrollment in public schools, by grade: 1996 to 2021\nIt rises."
    rest = text.index("Enrollment")
    assert is_caption(text, Span(start=rest, end=text.index("\n")))
    assert not is_caption(text, Span(start=text.index("It"), end=len(text)))


LONG = "A line that is as long as the lines of a text that was wrapped"


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        (f"{LONG}\nat a width.\n- {LONG}\n  goes on.\n- Two.", f"{LONG} at a width.\n- {LONG} goes on.\n- Two."),
        (f"1. {LONG}\n    goes on.\n\n2. Two.", f"1. {LONG} goes on.\n2. Two."),
        ("If one of two\nfails, so does the other.\n- One.", "If one of two fails, so does the other.\n- One."),
        ("```\nif one\nfails\n```\n- One.", "```\nif one\nfails\n```\n- One."),
        ("To install:\nOpen the box.\nPlug it in.", "To install:\nOpen the box.\nPlug it in."),
        (f"{LONG}:\n```sh\n# {LONG}\nmake\n```\n- One.", f"{LONG}:\n```sh\n# {LONG}\nmake\n```\n- One."),
        (f"Run:\n\n    {LONG}\n    make\n", f"Run:\n    {LONG}\n    make"),
        (f"{LONG}\n\nNext.\n- One.", f"{LONG}\nNext.\n- One."),
        (f"# {LONG}\nText.\n| {LONG} |\n| a |", f"# {LONG}\nText.\n| {LONG} |\n| a |"),
    ],
)
def test_joins_wrapped_lines_outside_code(quote: str, shown: str):
    assert unwrapped(quote) == shown


@given(st.text(alphabet="ab \n-`#|.:1x", max_size=200))
def test_unwrapping_keeps_every_word(quote: str):
    assert unwrapped(quote).split() == quote.split()


def at_line(text: str, line: str) -> Span:
    start = text.index(line)
    return Span(start=start, end=start + len(line))


MANUAL = """OPTIONS
       refresh_time (12h)
              The time after which a logfile is refreshed.  It is
              checked hourly.

       --quiet
           Say nothing. This is the default.
           Errors are said.

No indent here
for this one.
"""


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ("The time after which a logfile is refreshed.", "refresh_time (12h)"),
        ("It is\n              checked hourly.", "refresh_time (12h)"),
        ("Errors are said.", "--quiet"),
        ("for this one.", "for this one."),
        ("refresh_time (12h)", "OPTIONS"),
    ],
)
def test_a_definition_is_quoted_with_its_term(words: str, begins: str):
    span = with_term(MANUAL, at(words, MANUAL))
    assert span.of(MANUAL).startswith(begins)
    assert span.of(MANUAL).endswith(words)


@pytest.mark.parametrize(
    ("term", "begins"),
    [("SIGUSR2", True), ("--verbose", True), ("`retry`", True), ("max_size", True), ("Signals", False), ("See", False)],
)
def test_a_name_of_programs_is_quoted_with_the_paragraph_below(term: str, begins: bool):
    text = f"Something else.\n\n{term}\n\nIt closes the log\nand opens it again."
    span = with_term(text, at("It closes the log\nand opens it again.", text))
    assert span.of(text).startswith(term) is begins
    assert has_lines(f"{term}\n\nIt closes the log.") is begins


@given(st.text(alphabet="ab .\n", max_size=80), st.data())
def test_a_term_only_adds_in_front(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    span = Span(start=start, end=data.draw(st.integers(start, len(text))))
    extended = with_term(text, span)
    assert 0 <= extended.start <= span.start
    assert extended.end == span.end


def test_a_numbered_line_apart_is_a_heading_and_no_item() -> None:
    text = (
        "It is closed.\n\n3. Water\n\nTaps are shut in winter.\n\n1. Fill the can\n\n2. Close the tap\n\nThat is all."
    )
    headings = [one for one in ("3. Water", "1. Fill the can", "2. Close the tap") if is_heading(text, at(one, text))]
    assert headings == ["3. Water"]
    assert is_heading(text, at("Water", text)), "the sentence without its number"


def test_the_heading_above_a_sentence_is_the_nearest_outside_code() -> None:
    text = "Early.\n\n## The wheel\n\nIt turns.\n\n```\n# no heading\n```\n\nIt stops.\n\n## The feast\n\nIn May."
    above = {words: heading_above(text, text.index(words)) for words in ("Early", "It turns", "It stops", "In May")}
    assert above == {"Early": "", "It turns": "The wheel", "It stops": "The wheel", "In May": "The feast"}


def test_a_numbered_line_above_others_is_no_list() -> None:
    text = "Report\n\n1. NUMBERS\nvisits 1,486\nsolved at once 83 %, target 86.\nLeeds 88."
    sentence = at("1. NUMBERS\nvisits 1,486\nsolved at once 83 %, target 86.", text)
    assert list_around(text, sentence) is None
    assert list_around(text, at("1. NUMBERS", text)) == at("1. NUMBERS", text)

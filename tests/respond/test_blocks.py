"""Headings, tables and code are told from sentences, and a lead-in is quoted with what it leads to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import sentences
from ragstone.contracts import Span
from ragstone.respond.blocks import (
    LONGEST,
    code_around,
    ends_in_code,
    has_lines,
    is_directive,
    is_heading,
    is_table,
    leads_out,
    led_to,
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
def test_headings_are_told_however_they_are_marked(words: str) -> None:
    assert is_heading(GUIDE, at(words))


@pytest.mark.parametrize("words", ["The old harbour opens at six.", "- a compiler.", "Run this:", "It closes at ten."])
def test_sentences_and_items_are_no_headings(words: str) -> None:
    assert not is_heading(GUIDE, at(words))


def test_the_last_line_of_a_text_is_no_heading_for_nothing_stands_under_it() -> None:
    assert not is_heading("Opening hours", Span(start=0, end=13))


def test_rows_of_tables_are_told() -> None:
    assert is_table(GUIDE, at("Mon"))
    assert not is_table(GUIDE, at("It closes at ten."))


def test_a_lead_in_is_quoted_with_its_list_and_with_its_code() -> None:
    quote = led_to(GUIDE, at("Two things are needed first:")).of(GUIDE)
    assert quote == "Two things are needed first:\n\n- Python 3.11,\n  or newer\n- a compiler."
    assert has_lines(quote)
    code = led_to(GUIDE, at("Run this:")).of(GUIDE)
    assert code.endswith('"done"\n```')
    assert ends_in_code(code)


def test_what_leads_nowhere_stays_as_it_is() -> None:
    for words in ("The old harbour opens at six.", "sudo rm it:"):
        assert led_to(GUIDE, at(words)) == at(words)
    text = "He said:\n\nNo list follows."
    assert led_to(text, at("He said:", text)).of(text) == "He said:"


def test_a_long_list_ends_between_two_items() -> None:
    text = "All of these:\n" + "\n".join(f"- item {n} {'x' * 90}" for n in range(20)) + "\n"
    quote = led_to(text, Span(start=0, end=13)).of(text)
    assert LONGEST - 110 < len(quote) <= LONGEST
    assert quote.endswith("x" * 90)


def test_code_is_found_around_any_place_in_it() -> None:
    code = code_around(GUIDE, at("check").start)
    assert code is not None
    assert code.of(GUIDE).startswith("```sh\nmake all")
    assert code_around(GUIDE, at("Press").start) is None
    assert code_around("```\nnever closed", 5) is None


@given(st.text(alphabet="ab:.-*#`~|\n 1)", max_size=120))
def test_a_quote_begins_where_its_sentence_does_and_reaches_as_far(text: str) -> None:
    for span in sentences(text):
        is_heading(text, span), is_table(text, span)
        led = led_to(text, span)
        assert led.start == span.start
        assert span.end <= led.end <= max(span.end, span.start + LONGEST)
        code = code_around(text, span.start)
        assert code is None or code.start <= span.start < code.end <= len(text)


@pytest.mark.parametrize("between", ["", "C++\n\n", ".. code:: console\n\n"])
def test_a_label_between_a_lead_in_and_its_code_does_no_harm(between: str) -> None:
    text = f"Call this:\n\n{between}    make all\n\nThen go home."
    span = led_to(text, Span(start=0, end=len("Call this:")))
    assert span.of(text) == f"Call this:\n\n{between}    make all"
    assert not leads_out(text, Span(start=0, end=len("Call this:")))


def test_what_a_lead_in_leads_to_may_be_in_the_next_chunk() -> None:
    for rest in ("", "\n", "\n\nC++", "\n\nC++ (nvq++)\n"):
        assert leads_out(f"Call this:{rest}", Span(start=0, end=len("Call this:")))
    for rest in ("\n\nThen go home.", "\n\nThe second paragraph of it"):
        assert not leads_out(f"Call this:{rest}", Span(start=0, end=len("Call this:")))
    assert is_directive("Text.\n\n.. _place:\n", Span(start=7, end=17))

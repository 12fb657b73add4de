"""Links and pictures of documents, which no answer may bring along."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.respond.links import strip_links


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [the manual](https://x.example/a_(b)).", "See the manual."),
        ("See [the\nmanual](manual.md).", "See the\nmanual."),
        ("[![The mill](mill.png)](https://x.example)", "The mill"),
        ("[a [b](c) d](e)", "a b d"),
        ("Press [F1] (or F2).", "Press [F1] (or F2)."),
        ("Run `f[0](x)`.", "Run `f[0] (x)`."),
    ],
)
def test_links_become_their_words(text: str, shown: str) -> None:
    assert strip_links(text) == shown


@given(st.text("ab[]()!<>\n", max_size=60))
def test_no_link_is_left(text: str) -> None:
    assert "](" not in strip_links(text)


@pytest.mark.parametrize("part", ["[", "[a ", "![x", "[a\n", "[a](", "](", "<a"])
def test_long_texts_take_linear_time(part: str) -> None:
    started = time.perf_counter()
    strip_links(part * 30_000)
    assert time.perf_counter() - started < 3

"""What a terminal shows of Markdown."""

from __future__ import annotations

import pytest

from ragstone.serve.views.unmarked import unmarked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Decision:** the ferry stays. [1]", "Decision: the ferry stays. [1]"),
        ("It is *not* open, and __Never__ was; _see_ (*here*).", "It is not open, and Never was; see (here)."),
        ("Run `make all` or ``a ` b``.", "Run make all or a ` b."),
        ("**Use `a**b` here** now", "Use a**b here now"),
        ("***Both*** of them", "Both of them"),
        ("这是**重点**内容", "这是重点内容"),
        ("| **Day** | `open` |\n|---|---|", "| Day | open |\n|---|---|"),
        ("```\n**kept** `as is`\n```\n**not**", "```\n**kept** `as is`\n```\nnot"),
    ],
)
def test_drops_the_signs(text: str, shown: str) -> None:
    assert unmarked(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "2*3*4 and 2**3**4 and 2 * 3 * 4",
        "* an item\n* another *",
        "files *.md,*.txt and *.py",
        "def f(*args, **kwargs) in snake_case_name and __init__",
        "price* and fee*, see *)",
        "a \\*star\\* and a lone ` sign",
        "a\0b",
    ],
)
def test_keeps_what_is_no_sign(text: str) -> None:
    assert unmarked(text) == text

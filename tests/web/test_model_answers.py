"""Answers that a language model writes, as the page draws them, and the models in the administration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from served import Visit, served

from servers.openai_server import KEY, OpenAIServer

Open = Callable[..., Visit]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
REPLY = """FOUND: yes
Kentish ragstone is a hard grey limestone. [1]

| stone | limestone |
|---|---|
| Kentish ragstone | hard grey **limestone** [1] |

1. The Romans shipped it:
   - down the river Medway [1]

Its mass is $m = \\rho V$. [1]

> It was first quarried in 1492. [1]

```
size = 12
```
"""


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    def reply(messages: Sequence[Any]) -> str:
        return REPLY if "ragstone" in str(messages) else "FOUND: yes\nIt opened in 1932. [1]"

    with OpenAIServer(reply) as model:
        yield model


@pytest.fixture(scope="module")
def plain(kb: Path) -> Iterator[str]:
    """The address of a server whose administrators have chosen no model yet."""
    with served(kb.with_name("modelled"), "--set", "serve.models=[own:m]", "--set", "cache.enabled=false") as url:
        yield url


def test_adds_tries_and_chooses_a_model(plain: str, model: OpenAIServer, visit: Open) -> None:
    at = visit(plain, at="#/admin/models")
    page, keys = at.page, at.page.keyboard
    expect(page.get_by_text("no model: the documents are quoted")).to_be_visible()
    page.locator("summary", has_text="Add a server of models").focus()
    keys.press("Enter")
    for text in ("own", model.url, KEY):
        keys.press("Tab")
        keys.type(text)
    keys.press("Enter")
    expect(page.get_by_role("row", name="own")).to_contain_text("stored")
    assert KEY not in page.content()
    page.get_by_label("Model", exact=True).fill("own:m")
    page.get_by_role("button", name="Test", exact=True).press("Enter")
    expect(page.get_by_role("region", name="own:m")).to_contain_text("It opened in 1932.")
    page.get_by_role("button", name="Use", exact=True).press("Enter")
    expect(page.locator(".figures").first).to_contain_text("own:m")
    assert at.violations() == []
    page.get_by_role("link", name="New conversation").press("Enter")
    expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
    expect(page.get_by_role("link", name="Connect a model")).to_have_count(0)
    page.goto(f"{plain}/#/admin/models")
    page.get_by_role("button", name="As configured").press("Enter")
    expect(page.get_by_text("no model: the documents are quoted")).to_be_visible()
    page.get_by_role("link", name="New conversation").press("Enter")
    expect(page.get_by_role("link", name="Connect a model")).to_be_visible()


def test_menus_of_the_question_have_words_on_a_phone(plain: str, visit: Open) -> None:
    at = visit(plain, at="#/admin/collections")
    page = at.page
    page.locator("summary", has_text="Add a collection").press("Enter")
    page.get_by_label("Name", exact=True).fill("Everything about stone")
    page.get_by_label("Documents, as a filter").fill("kind = markdown")
    page.get_by_role("button", name="Add a collection").press("Enter")
    expect(page.get_by_role("row", name="Everything about stone")).to_be_visible()
    at = visit(plain, **PHONE)
    for name in ("Collection", "Language model", "Effort"):
        menu = at.page.get_by_role("combobox", name=name)
        expect(menu).to_be_visible()
        box = menu.bounding_box()
        assert box
        assert box["width"] >= 80
        assert box["x"] + box["width"] <= 360
    assert not at.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert at.violations() == []


def test_draws_tables_and_tells_reasons(plain: str, visit: Open) -> None:
    at = visit(plain)
    at.page.get_by_role("combobox", name="Language model").select_option("own:m")
    turn = at.ask("What is Kentish ragstone?")
    expect(turn.get_by_role("columnheader")).to_have_text(["stone", "limestone"])
    expect(turn.locator("td .marker")).to_have_count(1)
    expect(turn.locator("ol > li > ul > li")).to_contain_text("down the river Medway")
    expect(turn.locator("pre")).to_have_text("size = 12")
    expect(turn.locator("math mi")).to_have_text(["m", "ρ", "V"])
    mark = turn.get_by_role("button", name="not found")
    reason = turn.get_by_role("tooltip")
    expect(reason).to_have_count(0)
    mark.focus()
    expect(reason).to_be_visible()
    assert at.violations() == []
    at.page.keyboard.press("Escape")
    expect(reason).to_have_count(0)
    mark.hover()
    expect(reason).to_be_visible()
    box = reason.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280

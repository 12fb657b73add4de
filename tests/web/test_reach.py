"""Accessibility of the page, phones, themes and keys."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect
from served import START, Visit, environment, served

Open = Callable[..., Visit]
ROMANS = "What did the Romans ship down the river Medway?"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def look_around(at: Visit, *rules: str) -> None:
    """Check each view with axe."""
    expect(at.page.get_by_role("list", name="Suggested questions")).to_be_visible()
    assert at.violations(*rules) == []
    turn = at.ask(ROMANS)
    turn.locator("summary").click()
    turn.get_by_role("button", name="Bad answer").click()
    at.page.get_by_role("button", name="All documents").click()
    at.page.get_by_role("button", name="Add condition", exact=True).click()
    turn.get_by_role("button", name="Citation 1").click()
    expect(at.page.locator("aside mark").first).to_be_visible()
    assert at.violations(*rules) == []
    at.page.keyboard.press("Escape")
    at.ask("How much is a train ticket to Vilnius?")
    assert at.violations(*rules) == []
    at.page.get_by_role("link", name="Sources").click()
    expect(at.page.get_by_role("list", name="Documents").get_by_role("listitem").first).to_be_visible()
    assert at.violations(*rules) == []
    at.page.get_by_role("button", name="API key").click()
    assert at.violations(*rules) == []


def test_axe_finds_no_violation(quoted: str, visit: Open) -> None:
    look_around(visit(quoted))


def test_axe_accepts_dark_contrast(quoted: str, visit: Open) -> None:
    look_around(visit(quoted, color_scheme="dark"), "color-contrast")


def test_axe_accepts_written_answers(written: str, visit: Open) -> None:
    at = visit(written)
    at.ask("What is Kentish ragstone?")
    assert at.violations() == []
    at.page.evaluate("document.querySelector('.prose').style.color = '#999'")
    assert len(at.violations("color-contrast")) == 1, "axe does look"


def test_works_with_the_keyboard_alone(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    keys = at.page.keyboard
    expect(at.page.get_by_label("Question", exact=True)).to_be_focused()
    keys.press("Escape")
    expect(at.page.locator("body")).to_be_focused()
    keys.press("/")
    keys.type(ROMANS)
    keys.press("Enter")
    turn = at.page.locator("article.turn")
    expect(turn.locator(".turn-foot")).to_be_visible()
    expect(at.page.get_by_label("Question", exact=True)).to_be_focused()
    keys.press("/")
    expect(at.page.get_by_label("Question", exact=True)).to_have_value("/")
    keys.press("Backspace")

    turn.get_by_role("button", name="Citation 1").focus()
    keys.press("Enter")
    source = at.page.get_by_role("complementary", name="Source")
    expect(source.get_by_role("heading")).to_be_focused()
    keys.press("Escape")
    expect(source).to_have_count(0)
    expect(turn.get_by_role("button", name="Citation 1")).to_be_focused()
    keys.press("1")
    expect(source.locator("mark").first).to_be_visible()
    keys.press("Escape")

    keys.press("?")
    dialog = at.page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    dialog.get_by_role("checkbox").uncheck()
    keys.press("Escape")
    expect(dialog).to_have_count(0)
    at.page.locator("body").focus()
    keys.press("s")
    expect(at.page.get_by_role("heading", name="Sources")).to_have_count(0)


def test_single_keys_wait_for_escape(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    box, sources = at.page.get_by_label("Question", exact=True), at.page.get_by_role("heading", name="Sources")
    expect(box).to_be_focused()
    at.page.get_by_role("heading", name="Ask your documents").click()
    at.page.keyboard.press("s")
    at.page.keyboard.press("/")
    expect(box).to_be_focused()
    expect(sources).to_have_count(0)
    at.page.keyboard.press("Escape")
    expect(box).not_to_be_focused()
    at.page.keyboard.press("s")
    expect(sources).to_be_visible()


def test_tab_order_follows_the_page(quoted: str, visit: Open) -> None:
    at = visit(quoted, at="#/sources")  # elsewhere the box has the focus
    expect(at.page.get_by_role("list", name="Documents").get_by_role("listitem").first).to_be_visible()
    names: list[str] = []
    for _ in range(8):
        at.page.keyboard.press("Tab")
        names.append(at.page.evaluate("document.activeElement.textContent || document.activeElement.ariaLabel"))
    assert names[0] == "Go to the search"
    assert names.index(" New conversation") < names.index(" Sources")
    at.page.get_by_role("link", name="Go to the search").focus()
    at.page.keyboard.press("Enter")
    expect(at.page.get_by_label("Find a document by name")).to_be_focused()


def test_fits_a_phone(quoted: str, visit: Open) -> None:
    at = visit(quoted, **PHONE)
    turn = at.ask(ROMANS)
    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not at.page.evaluate(wide)
    turn.get_by_role("button", name="Citation 1").tap()
    expect(at.page.locator("aside mark").first).to_be_in_viewport()
    box = at.page.get_by_role("complementary", name="Source").bounding_box()
    assert box
    assert (box["x"], box["width"], box["height"]) == (0, 360, 740)
    head = at.page.locator(".source-head").bounding_box()
    assert head
    assert head["height"] <= 74, "a tenth of the screen"
    assert not at.page.evaluate(wide)
    assert at.violations() == []
    at.page.get_by_role("button", name="Close the source").tap()
    expect(at.page.locator("aside")).to_have_count(0)
    turn.locator(".card").first.tap()
    expect(at.page.locator("aside")).to_have_count(1)
    at.page.go_back()
    expect(at.page.locator("aside")).to_have_count(0)
    expect(turn).to_be_visible()
    at.page.get_by_role("button", name="Menu").tap()
    expect(at.page.get_by_role("link", name="Sources")).to_be_in_viewport()
    assert at.violations() == []
    at.page.get_by_role("link", name="Sources").tap()
    expect(at.page.get_by_role("heading", name="Sources")).to_be_visible()
    assert not at.page.evaluate(wide)


def test_theme_follows_the_system_by_default(quoted: str, visit: Open) -> None:
    at = visit(quoted, color_scheme="dark")
    body = at.page.locator("body")
    expect(body).to_have_css("background-color", "rgb(20, 22, 20)")
    at.page.get_by_role("radio", name="Light").check()
    expect(body).to_have_css("background-color", "rgb(246, 244, 239)")
    at.page.reload()
    expect(body).to_have_css("background-color", "rgb(246, 244, 239)")


def test_asks_for_a_key_and_forgets_it(kb: Path, visit: Open) -> None:
    locked = kb.with_name("locked")
    command = [sys.executable, "-c", START, "key", "make", "reader", "--create", "--scope", "read", "--kb", str(locked)]
    made = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(), timeout=60)
    key = re.search(r"rgs_[\w-]+", made.stdout)
    assert key
    with served(locked) as url:
        at = visit(url, allow="401")
        dialog = at.page.get_by_role("dialog", name="API key")
        expect(dialog.get_by_label("Key", exact=True)).to_be_focused()
        at.page.keyboard.type(key[0])
        dialog.get_by_role("button", name="Use this key").click()
        expect(at.page.get_by_text("5 documents")).to_be_visible()
        at.ask(ROMANS)
        assert key[0] not in at.page.url
        assert at.page.evaluate("Object.values(localStorage).join()").find("rgs_") < 0
        at.page.get_by_role("link", name="Sources").click()
        expect(at.page.get_by_role("list", name="Documents")).to_be_visible()
        assert at.page.locator("input[type=file]").count() == 0, "a key that may only read cannot upload"
        at.page.reload()
        expect(at.page.get_by_role("list", name="Documents").get_by_role("listitem")).to_have_count(5)
        at.page.get_by_role("button", name="API key").click()
        at.page.get_by_role("button", name="Forget the key").click()
        assert at.page.evaluate("sessionStorage.length") == 0
        late: list[Any] = []
        at.page.route("**/conversations", lambda route: late.append(route), times=1)
        at.page.reload()
        expect(dialog).to_be_visible()
        dialog.get_by_label("Key", exact=True).fill(key[0])
        dialog.get_by_role("button", name="Use this key").click()
        expect(at.page.get_by_role("list", name="Documents")).to_be_visible()
        with at.page.expect_response(lambda answer: answer.status == 401):
            late.pop().continue_()
        at.page.evaluate("fetch('sign-in').then(() => new Promise(requestAnimationFrame))")
        expect(dialog).to_have_count(0)

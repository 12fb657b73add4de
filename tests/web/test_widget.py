"""The chat on another site, in a real browser: with a strict content security policy, by keyboard and by touch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from playwright.sync_api import expect
from served import BY_SCHEME, Visit, served

from ragstone.history.journal import Journal
from ragstone.history.keys import Keys

Open = Callable[..., Visit]
ROMANS = "What did the Romans ship down the river Medway?"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@dataclass
class Site:
    """A site of somebody else's: its address, that of the chat's server, and its key, which stays with it."""

    url: str = ""
    api: str = ""
    key: str = ""
    visitor: str = "7"

    def page(self, query: str) -> bytes:
        attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in parse_qsl(query))
        return (
            '<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width">'
            f'<title>A shop</title><script src="{self.api}/widget.js" defer{attributes}></script></head>'
            "<body><main><h1>A shop</h1><p>Stones of all kinds.</p><button>Buy</button></main></body></html>"
        ).encode()

    def token(self) -> bytes:
        headers = {"authorization": f"Bearer {self.key}"}
        return httpx2.post(f"{self.api}/tokens", json={"visitor": self.visitor}, headers=headers).content


@pytest.fixture(scope="module")
def site(kb: Path) -> Iterator[Site]:
    """A site, and a server of its own for its chat."""
    here = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._send(here.page(parts.query) if parts.path in ("/", "/other") else b"", "text/html")

        def do_POST(self) -> None:
            self._send(here.token(), "application/json")

        def _send(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            policy = f"default-src 'none'; script-src {here.api}; connect-src 'self' {here.api}"
            self.send_header("content-security-policy", policy)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    own = kb.with_name("widget")
    with closing(Keys(Journal(own))) as keys:
        _, here.key = keys.make("shop", ["tokens"])
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        here.url = f"http://127.0.0.1:{server.server_address[1]}"
        settings = ("enabled=true", f"origins=[{here.url}]", "anonymous=true", "rate_per_minute=100")
        try:
            with served(own, *(word for one in settings for word in ("--set", f"serve.widget.{one}"))) as here.api:
                yield here
        finally:
            server.shutdown()
            thread.join()


def asked(at: Visit, question: str) -> Any:
    """Ask in the open chat, wait for the answer, and return its element."""
    turns = at.page.get_by_role("dialog").locator("article")
    count = turns.count()
    at.page.get_by_role("dialog").get_by_role("textbox").fill(question)
    at.page.keyboard.press("Enter")
    turn = turns.nth(count)
    expect(turn).to_have_attribute("aria-busy", "false")
    return turn


def is_focus_within(at: Visit) -> bool:
    return at.page.evaluate(
        "document.querySelector('ragstone-chat').shadowRoot.querySelector('dialog :focus') !== null"
    )


def test_answers_by_keyboard_on_another_site(site: Site, visit: Open) -> None:
    at = visit(site.url, trusted=site.api)
    page = at.page
    launcher = page.locator("ragstone-chat .launcher")
    expect(launcher).to_have_accessible_name("Ask a question")
    assert at.violations() == []
    page.get_by_role("button", name="Buy").focus()
    page.keyboard.press("Tab")
    expect(launcher).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    turn = asked(at, ROMANS)
    expect(turn.locator(".prose")).to_contain_text("river Medway")
    turn.get_by_role("button", name="Citation 1").press("Enter")
    expect(turn.locator("details[open] blockquote")).to_contain_text("The Romans shipped it down the river Medway")
    refused = asked(at, "How much is a train ticket to Vilnius?")
    expect(refused.get_by_role("group", name="Closest passages").get_by_role("listitem").first).to_be_in_viewport()
    assert at.violations() == []
    for _ in range(12):
        page.keyboard.press("Tab")
        assert is_focus_within(at) or page.evaluate("document.activeElement === document.body")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(launcher).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("article")).to_have_count(2)
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("dialog").locator("article")).to_have_count(0)
    page.mouse.click(10, 10)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_fills_a_phone_in_the_colours_and_language_of_the_site(site: Site, visit: Open) -> None:
    attributes = "?theme=dark&language=de&accent=%23ffd400&tokens=/token&title=Fragen%20%3Cb%3E"
    at = visit(site.url, at=attributes, trusted=site.api, **PHONE)
    launcher = at.page.get_by_role("button", name="Fragen <b>")
    expect(launcher).to_have_css("background-color", "rgb(255, 212, 0)")
    expect(launcher).to_have_css("color", "rgb(0, 0, 0)")
    assert at.violations() == []
    with at.page.expect_request(f"{site.api}/query") as sent:
        launcher.tap()
        turn = asked(at, "What is sandstone made of?")
    assert sent.value.headers["authorization"].startswith("Bearer rgt_")
    assert at.page.get_by_role("dialog").bounding_box() == {"x": 0, "y": 0, **PHONE["viewport"]}
    expect(at.page.get_by_role("dialog").get_by_role("textbox")).to_have_attribute("placeholder", "Eine Frage stellen")
    expect(turn).to_contain_text("grains of sand")
    turn.locator("summary").first.tap()
    assert turn.locator("img, script, style, [onerror], a").count() == 0
    assert at.page.title() == "A shop"
    assert at.violations() == []
    assert not at.page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_conversation_goes_on_across_pages(site: Site, visit: Open) -> None:
    at = visit(site.url, trusted=site.api)
    at.page.get_by_role("button", name="Ask a question").click()
    turn = asked(at, ROMANS)
    turn.get_by_role("button", name="Good answer").click()
    expect(turn).to_contain_text("Thank you for your feedback.")
    at.page.goto(f"{site.url}/other")
    expect(at.page.get_by_role("dialog")).to_have_count(0)
    at.page.get_by_role("button", name="Ask a question").click()
    before = at.page.get_by_role("dialog").locator("article")
    expect(before).to_contain_text("river Medway")
    expect(before.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "true")
    assert at.violations() == []
    with at.page.expect_request(f"{site.api}/query") as sent:
        asked(at, "What is sandstone made of?")
    at.page.goto(site.url)
    at.page.get_by_role("button", name="Ask a question").click()
    expect(before).to_have_count(2)
    assert at.page.evaluate("Object.values(sessionStorage)[0]").count(sent.value.post_data_json["session"]) == 1
    at.page.get_by_role("button", name="New conversation").click()
    at.page.goto(site.url)
    at.page.get_by_role("button", name="Ask a question").click()
    expect(before).to_have_count(0)


def test_conversation_does_not_pass_to_another_visitor(site: Site, visit: Open) -> None:
    at = visit(site.url, at="?tokens=/token", trusted=site.api)
    at.page.get_by_role("button", name="Ask a question").click()
    asked(at, ROMANS)
    for visitor, turns in (("7", 1), ("8", 0), ("7", 0)):
        site.visitor = visitor
        with at.page.expect_response(f"{site.url}/token") if visitor != "7" or turns else nullcontext():
            at.page.goto(f"{site.url}/?tokens=/token")
            at.page.get_by_role("button", name="Ask a question").click()
        at.page.wait_for_function("kept => sessionStorage.length === kept", arg=turns)  # until the token was read
        expect(at.page.get_by_role("dialog").locator("article")).to_have_count(turns)


def test_thumbs_are_accessible_everywhere(site: Site, visit: Open) -> None:
    for scheme in ("light", "dark"):
        for phone in ({}, PHONE):
            at = visit(site.url, trusted=site.api, color_scheme=scheme, **phone)
            at.page.get_by_role("button", name="Ask a question").click()
            turn = asked(at, ROMANS)
            turn.get_by_role("button", name="Bad answer").click()
            expect(turn.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
            assert at.violations(*BY_SCHEME[scheme]) == []


def test_a_site_that_is_not_listed_gets_no_answer(site: Site, visit: Open) -> None:
    other = site.url.replace("127.0.0.1", "localhost")
    at = visit(other, trusted=site.api, allow="CORS|ERR_FAILED|serve.widget.origins")
    at.page.get_by_role("button", name="Ask a question").click()
    turn = asked(at, ROMANS)
    expect(turn.get_by_role("alert")).to_have_text("The server cannot be reached. Try again in a moment.")
    expect(turn.get_by_role("button", name="Ask again")).to_be_visible()
    assert at.violations() == []

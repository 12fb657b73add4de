"""The web: when it is searched, by which protocol, and that nothing a service sends or does is believed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from evidence import evidence, hit
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.answers import Adequacy
from ragstone.core.errors import RetrievalError, SettingsError
from ragstone.core.protocols import OutsideSearch
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.query.outside import Outside, build_outside, outside_hits, why_search, with_outside
from ragstone.question import read
from ragstone.settings.load import load
from servers.exa_server import KEY, PAGES, ExaServer
from servers.searching import Fault, SearchServer
from servers.searxng_server import SearxngServer

QUICK = ("services.backoff_seconds=[0.01, 20]", "services.retries=2", "services.timeout_seconds=10")
FOUND = evidence("What opened on Monday?", "The library opens at nine.")


def exa(server: SearchServer, *settings: str, key: str = KEY) -> OutsideSearch:
    return build("exa", f"services.exa.base_url={server.url}", f"services.exa.api_key={key}", *settings)


def searxng(server: SearchServer, *settings: str) -> OutsideSearch:
    return build("searxng", f"services.searxng.base_url={server.url}", *settings)


def build(engine: str, *settings: str) -> OutsideSearch:
    chosen = load((f"query.web.engine={engine}", *QUICK, *settings)).settings
    (web,) = build_outside(chosen.query, chosen.services)
    assert (web.type, web.name, str(web)) == ("web", engine, "the web")
    return web.search


def run(search: OutsideSearch, k: int = 3) -> list[Document]:
    return asyncio.run(search.search("What opened on Monday?", k, request=Request.by_owner()))


# ---------------------------------------------------------------- the services


def test_exa_returns_pages_with_texts() -> None:
    with ExaServer() as server:
        pages = run(exa(server))
    assert [page.title for page in pages] == ["Harbour opens", "Ferry runs", "Island closed"]
    assert pages[0].url == "https://news.example/harbour"
    assert len(pages[0].text) == 10_000
    assert pages[0].metadata == {"author": "A. Writer", "published": "2026-10-01T08:00:00.000Z"}
    (asked,) = server.asked
    assert asked.body == {
        "query": "What opened on Monday?",
        "type": "auto",
        "numResults": 3,
        "contents": {"text": {"maxCharacters": 10_000}},
    }


def test_searxng_returns_excerpts() -> None:
    with SearxngServer() as server:
        pages = run(searxng(server, "query.web.characters=100"))
    assert [(page.title, page.text) for page in pages] == [
        ("Harbour opens", "The new harbour opened on Monday."),
        ("Ferry runs", "The ferry runs twice a day."),
    ]
    (asked,) = server.asked
    assert asked.fields == {"q": "What opened on Monday?", "format": "json"}


def test_default_is_off_and_missing_settings_are_named() -> None:
    settings = load().settings
    assert build_outside(settings.query, settings.services) == ()
    with pytest.raises(SettingsError, match="EXA_API_KEY"):
        build("exa")
    with pytest.raises(SettingsError, match=r"services\.searxng\.base_url"):
        build("searxng")


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("open_", [exa, searxng], ids=["exa", "searxng"])
def test_retries_transient_failures(open_: Callable[..., OutsideSearch]) -> None:
    kind = ExaServer if open_ is exa else SearxngServer
    with kind(Fault(status=503), Fault(status=429, headers={"Retry-After": "0"})) as server:
        assert run(open_(server))
    assert len(server.asked) == 3
    with kind(Fault(body=b'{"results": []}', half=True)) as server:
        assert run(open_(server))
    with kind(Fault(seconds=1.0)) as server:
        assert run(open_(server, "services.timeout_seconds=0.5"))
    assert len(server.asked) > 1


@pytest.mark.parametrize(
    ("fault", "said", "requests"),
    [
        (Fault(status=500, body=b"<html>sorry"), r"failed \(HTTP 500\)", 3),
        (Fault(status=400, body=b'{"error": "no"}'), r"refuses \(HTTP 400: ", 1),
        (Fault(status=402), "no credit", 1),
        (Fault(status=404), r"check services\.\w+\.base_url", 1),
        (Fault(status=429, headers={"Retry-After": "3600"}), "too many requests", 1),
        (Fault(status=302, headers={"Location": "http://169.254.169.254/"}), "not followed", 1),
        (Fault(body=b"<!doctype html>"), "did not reply in JSON", 1),
        (Fault(body=b"[" * 100_000), "did not reply in JSON", 1),
        (Fault(body=b'{"error": "x"}'), "sent no list of results", 1),
        (Fault(body=b"[1]"), "sent no list of results", 1),
        (Fault(body=b'{"results": [1, {"url": 2}]}'), "sent 2 results, but none is a page", 1),
        (Fault(body=b" " * 8_000_001), "larger than 8 MB", 1),
    ],
    ids=["500", "400", "402", "404", "429", "redirect", "html", "deep", "no list", "list", "no pages", "large"],
)
@pytest.mark.parametrize("open_", [exa, searxng], ids=["exa", "searxng"])
def test_describes_failures(open_: Callable[..., OutsideSearch], fault: Fault, said: str, requests: int) -> None:
    with (ExaServer if open_ is exa else SearxngServer)(*[fault] * 3) as server:
        with pytest.raises(RetrievalError, match=said) as told:
            run(open_(server))
        assert len(server.asked) == requests
    assert str(told.value).startswith(("Exa ", "SearXNG "))


def test_never_shows_a_key() -> None:
    wrong = "exa-secret-93ab"
    with ExaServer() as server, pytest.raises(RetrievalError, match=r"refuses the key .*\*\*\*") as told:
        run(exa(server, key=wrong))
    shown, error = "", told.value
    while error is not None:
        shown, error = shown + repr(error) + str(error), error.__cause__
    assert wrong not in shown
    assert wrong not in repr(vars(exa(server, key=wrong))["_service"])


def test_searxng_without_json_says_how_to_allow_it() -> None:
    with SearxngServer(formats=("html",)) as server, pytest.raises(RetrievalError, match=r"search\.formats"):
        run(searxng(server))


def test_reports_an_unreachable_server() -> None:
    with SearxngServer() as server:
        pass
    with pytest.raises(RetrievalError, match=r"no connection.*services\.searxng\.base_url"):
        run(searxng(server, "services.retries=0"))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["url", "title", "content", "author", "publishedDate"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(st.lists(ANYTHING, max_size=4))
def test_any_reply_gives_pages_or_an_error(entries: list) -> None:
    from ragstone.query.web_services import pages

    with suppress(RetrievalError):
        for page in pages("it", json.loads(json.dumps({"results": entries})), text="content", limit=3):
            assert page.text.strip()
            assert isinstance(page.title, str)


# ---------------------------------------------------------------- as evidence


def page(url: str, text: str = "A text.", title: str = "") -> Document:
    return Document(id=url, text=text, url=url, title=title)


def web(search: OutsideSearch, *, results: int = 3, characters: int = 10_000) -> Outside:
    return Outside(type="web", name="exa", search=search, results=results, characters=characters)


class Nothing:
    async def search(self, query: str, k: int, request: Request) -> list[Document]:  # noqa: ARG002
        return []


NOWHERE = web(Nothing())


def test_pages_become_web_evidence() -> None:
    (one,) = outside_hits([page("https://a.example/x", "long " * 1000, "A page")], web(Nothing(), characters=100))
    assert one.chunk.is_outside
    assert one.score == 0.8
    assert len(one.chunk.text) <= 100
    assert (one.chunk.start, one.chunk.end) == (0, len(one.chunk.text))
    assert (one.chunk.title, one.chunk.url) == ("A page", "https://a.example/x")
    assert not hit("a stored chunk").chunk.is_outside


@pytest.mark.parametrize(
    "url", ["", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://", "https://a b", "http://["]
)
def test_skips_bad_page_addresses(url: str) -> None:
    assert outside_hits([page(url)], NOWHERE) == ()


def test_deduplicates_and_limits_pages() -> None:
    twice = [page("https://a.example/"), page("https://a.example/"), page("https://b.example/", "  ")]
    assert len(outside_hits(twice, NOWHERE)) == 1
    assert len(outside_hits([page(f"https://a.example/{n}") for n in range(9)], web(Nothing(), results=2))) == 2


def test_web_pages_follow_stored_chunks() -> None:
    with ExaServer() as server:
        found, used = asyncio.run(with_outside(FOUND, [web(exa(server))], Request.by_owner()))
    assert used
    assert found.hits[0] == FOUND.hits[0]
    assert [one.chunk.title for one in found.hits[1:]] == [one["title"] for one in PAGES[:3]]


def test_failed_search_keeps_stored_evidence() -> None:
    with ExaServer(Fault(status=402)) as server:
        found, used = asyncio.run(with_outside(FOUND, [web(exa(server))], Request.by_owner()))
    assert (found.hits, used) == (FOUND.hits, ())
    assert "no credit" in found.missing[0]
    with ExaServer(Fault(body=b'{"results": []}')) as server:
        found, used = asyncio.run(with_outside(FOUND, [web(exa(server))], Request.by_owner()))
    assert (found.hits, used, found.missing) == (FOUND.hits, (), ())
    assert found.notices == ("The web was searched, but nothing was found.",)


# ---------------------------------------------------------------- when


def adequacy(confidence: float, *, asks: bool = False) -> Adequacy:
    return Adequacy(confidence=confidence, reasoning="", needs_web_search=asks)


@pytest.mark.parametrize(
    ("judged", "answerability", "recent", "reasons"),
    [
        (None, 0.7, False, 0),
        (None, 0.69, False, 1),
        (adequacy(5), 0.9, False, 0),
        (adequacy(4.9), 0.9, False, 1),
        (adequacy(9, asks=True), 0.9, False, 1),
        (None, 0.9, True, 1),
        (adequacy(0, asks=True), 0.0, True, 4),
    ],
)
def test_searches_the_web_for_a_reason(
    judged: Adequacy | None, answerability: float, recent: bool, reasons: int
) -> None:
    assert len(why_search(judged, answerability, replace(read("Why?"), recent=recent), 0.7)) == reasons

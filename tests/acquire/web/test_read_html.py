"""HTML: the content of a page without its furniture."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structure import marked, outline

from ragstone.acquire.readers.web.html import parse_page
from ragstone.core.records import Document, Skipped

ReadOne = Callable[..., Document]

FURNITURE = """
<header><a href="/">SITE</a> HEADER</header><nav><ul><li>MENU</li></ul></nav>
<div class="cookie-consent">COOKIES</div><div id="sidebar">SIDEBAR</div>
<div role="navigation">CRUMBS</div><p hidden>HIDDEN</p><noscript>NOSCRIPT</noscript>
"""
AFTER = '<aside>ASIDE</aside><div class="related-posts">RELATED</div><footer>FOOTER</footer><script>SCRIPT()</script>'
CONTENT = """
<h1>The  <em>title</em><a class="headerlink" href="#t">¶</a></h1>
<p>One&nbsp;para&shy;graph<br>of two lines.</p>
<ul><li>first</li><li><p>second</p><p>more</p></li></ul>
<h2>Code</h2>
<div class="highlight-python notranslate"><div class="highlight"><pre><span>x</span> = 1

y = 2
</pre></div></div>
<table><caption>Sizes</caption><thead><tr><th>Name</th><th>Size</th></tr></thead>
<tbody><tr><td>one</td><td>1<br>m</td></tr></tbody></table>
<blockquote>Said.</blockquote>
"""
TAGS = [
    "<p>",
    "</p>",
    "<table>",
    "<tr>",
    "<td>",
    "<li>",
    "<h1>",
    "<pre>",
    "a",
    " ",
    "<br>",
    "</div>",
    "<nav>",
    "<main>",
    "&amp;",
    "<div class=menu>",
    "<form>",
]
HEAD = """<head><title>The title — Site</title><link rel="canonical" href="https://x.example/page">
<meta name="author" content="N. Author">
<meta property="article:published_time" content="2024-05-06T07:08:09Z"></head>"""


@pytest.mark.parametrize("around", ["main", 'div role="main"', "article", 'div class="text"'])
def test_keeps_only_content_of_a_page(read_one: ReadOne, around: str) -> None:
    body = f"{FURNITURE}<{around}>{CONTENT}</{around.split()[0]}>{AFTER}"
    document = read_one("page.html", f'<!doctype html><html lang="en">{HEAD}<body>{body}</body></html>')
    assert document.text == (
        "The title\n\nOne paragraph\nof two lines.\n- first\n- second\n\nmore\n\nCode\n\nx = 1\n\ny = 2\n\n"
        "Name | Size\none | 1 m\n\nSaid."
    )
    assert outline(document) == [(1, "The title"), (2, "Code")]
    assert [(m.kind, m.label) for m in document.marks[2:]] == [("code", "python"), ("table", "Sizes")]
    assert (document.title, document.url) == ("The title", "https://x.example/page")
    wanted = {"kind": "html", "lang": "en", "author": "N. Author", "created": "2024-05-06T07:08:09"}
    assert {key: document.metadata[key] for key in wanted} == wanted


def test_drops_link_menus_of_unmarked_pages(read_one: ReadOne) -> None:
    links = "".join(f'<li><a href="{n}">Menu {n}</a></li>' for n in range(9))
    document = read_one("a.htm", f"<div><ul>{links}</ul></div><div><p>{'Some words of text. ' * 9}</p></div>")
    assert "Menu" not in document.text
    # A page that declares links as its content keeps them.
    assert "Menu 8" in read_one("b.htm", f"<main><ul>{links}</ul></main>").text


def test_does_not_empty_page_of_furniture(read_one: ReadOne) -> None:
    assert read_one("a.html", '<body class="sidebar"><div class="navbar"><p>All there is.</p></div>').text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<p>Žodis</p>".encode(), "Žodis"),
        ("<p>Žodis</p>".encode("utf-16"), "Žodis"),
        (b"<meta charset=windows-1257><p>\xdeodis</p>", "Žodis"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>\x93\xfa\x96{</p>', "日本"),
        (b"<p>caf\xe9</p>", "café"),
        (b"<meta charset=nonsense><p>caf\xe9</p>", "caf\ufffd"),
        (b"<p>a\0b &#0; &#xD800;</p>", "ab \ufffd \ufffd"),
    ],
)
def test_decodes_pages(read_one: ReadOne, data: bytes, text: str) -> None:
    assert read_one("a.html", data).text == text


def test_reads_gzipped_page(read_one: ReadOne) -> None:
    document = read_one("a.html.gz", gzip.compress(b"<h1>T</h1><p>text</p>"))
    assert (document.id, document.title) == ("a.html.gz", "T")


@pytest.mark.parametrize(
    ("content", "reason"),
    [("", "empty"), ("<nav>only</nav>", "empty"), ("<html></html>", "empty"), (b"\0\1" * 9, "binary")],
)
def test_reports_pages_without_content(why_skipped: Callable[..., str], content: str | bytes, reason: str) -> None:
    assert why_skipped("a.html", content).startswith(reason)


@pytest.mark.parametrize("deep", ["<div>", "<ul><li>", "<b>", "<table><tr><td>", "<blockquote>", "<p><a>"])
@pytest.mark.parametrize("count", [100, 20_000])
def test_survives_deep_nesting(read_one: ReadOne, deep: str, count: int) -> None:
    assert "text" in read_one("a.html", deep * count + "text").text


@given(st.lists(st.sampled_from(TAGS), max_size=25))
def test_marks_of_any_page_are_exact(pieces: list[str]) -> None:
    parsed = parse_page("".join(pieces))
    for mark in parsed.marks:
        assert parsed.text[mark.start : mark.end].strip()
        assert mark.kind != "heading" or parsed.text[mark.start : mark.end] == mark.label


SITE_FURNITURE = ("Built with Sphinx", "Read the Docs", "© Copyright", "View page source", "Search docs", "Previous")
KNOWN_EMPTY = {"search.html", "versions.html"}
"""Pages that a script fills."""


def test_reads_real_site_without_navigation(data_dir: Path, read_all: Callable[..., list[Document | Skipped]]) -> None:
    results = read_all(data_dir / "cudaq_docs" / "html_preview" / "v1")
    assert {Path(one.source).name for one in results if isinstance(one, Skipped)} == KNOWN_EMPTY
    documents = [one for one in results if isinstance(one, Document)]
    assert len(documents) == 54
    for document in documents:
        assert not [words for words in SITE_FURNITURE if words in document.text], document.id
        # A heading of the menu, which is content only on the first page.
        assert ("Learn the Basics" in document.text) == document.id.endswith("v1/index.html")
    assert sum(len(marked(document, "code")) for document in documents) > 250

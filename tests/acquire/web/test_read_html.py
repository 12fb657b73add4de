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
from ragstone.acquire.sources.pages import Pages
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

ReadOne = Callable[..., Document]

FURNITURE = """
<header><a href="/">SITE</a> HEADER</header><nav><ul><li>MENU</li></ul></nav>
<div class="cookie-consent">COOKIES</div><div id="sidebar"><a href="/a">SIDEBAR</a></div>
<div role="navigation">CRUMBS</div><p hidden>HIDDEN</p><noscript>NOSCRIPT</noscript>
"""
AFTER = """<aside><a href="/b">ASIDE</a></aside><div class="related-posts"><a href="/c">RELATED</a></div>
<footer>FOOTER</footer><script>SCRIPT()</script>"""
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
        "The title\n\nOne paragraph\nof two lines.\n- first\n- second\n  more\n\nCode\n\nx = 1\n\ny = 2\n\n"
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


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        ("ž".encode(), "text/html", "ž"),
        ("ž".encode(), "text/html; charset=iso-8859-1", "ž"),
        ("ž".encode("cp1257"), "text/html; charset=windows-1257", "ž"),
        (b"<meta charset='iso-8859-2'><p>\xbe", "text/html", "ž"),
        (b"<meta charset='iso-8859-1'><p>\xbe", "text/html; charset='iso-8859-2'", "ž"),
        (b"a", "text/html; charset=zlib", "a"),
        (b"a \xff", "text/html; charset=nonsense", "a \ufffd"),
    ],
)
def test_decodes_page_as_its_server_declares(body: bytes, content_type: str, said: str) -> None:
    with Pages(AcquireSettings()) as pages:
        (document,) = pages.read(body, content_type, "https://mill.example/")
    assert isinstance(document, Document)
    assert document.text == said


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


PROSE = "".join(f"<p>Paragraph {n}: the museum shows the tools of the millers and the smiths.</p>" for n in range(8))


def read_text(page: str) -> str:
    return parse_page(page).text


def test_keeps_short_sections_beside_a_long_one() -> None:
    text = read_text(
        "<body><h1>Museum</h1><div><h2>Opening hours</h2><p>10:00 to 17:00</p></div>"
        f"<div>{PROSE}</div><div class=sidebar>Adults pay 8 euros.</div><aside>Closed in May.</aside></body>"
    )
    for words in ("Museum", "Opening hours\n\n10:00 to 17:00", "Adults pay 8 euros.", "Closed in May."):
        assert words in text


def test_keeps_asides_and_forms_with_data() -> None:
    text = read_text(
        f"<main><h1>Boiler</h1><aside>Never open it under pressure.</aside>{PROSE}"
        "<form><p>Deliver to Mill Lane 4</p><input value=31><select><option>red<option selected>teal</select>"
        "<input type=checkbox checked>Express</form></main><form><input type=search>Search here</form>"
    )
    for words in ("Never open it under pressure.", "Deliver to Mill Lane 4\n\n31 teal ☒ Express"):
        assert words in text
    assert "Search here" not in text


def test_reads_tables_in_cells_as_tables() -> None:
    parsed = parse_page(
        f"<main><h1>Fees</h1>{PROSE}<table><tr><th>Ship<th>Fee<tr><td>Yacht<td><table><tr><td>Summer<td>40"
        "<tr><td>Winter<td>20</table><tr><td>Ferry<td>90</table></main>"
    )
    tables = [parsed.text[mark.start : mark.end] for mark in parsed.marks if mark.kind == "table"]
    assert tables == ["Ship | Fee\nYacht\nFerry | 90", "Summer | 40\nWinter | 20"]
    assert "\n\nYacht\n\nSummer | 40" in parsed.text


def test_reads_tables_with_headings_in_cells() -> None:
    text = read_text(
        f"<h1>Sheet</h1>{PROSE}<table><tr><td><h3>Power</h3><td>5 kW<tr><td><h3>Mass</h3><td>31 kg</table>"
        "<p>Valid now.</p>"
    )
    assert text.endswith("Power | 5 kW\nMass | 31 kg\n\nValid now.")


def test_a_page_that_is_a_menu_is_read() -> None:
    inner = "<ul role=menu><li><a href=a>Opening hours</a> of the mill<li><a href=b>Prices</a> and fees</ul>"
    text = read_text(f"<body><ul class=nav><li>Visit{inner}<li>Contact</ul></body>")
    assert text == "- Visit\n  - Opening hours of the mill\n  - Prices and fees\n- Contact"


def test_reads_descriptions_of_pictures() -> None:
    picture = '<img alt="The mill in 1920">'
    page = f"<p>Before {picture} after</p><p><img alt=logo><img alt='the old mill.jpg'></p><a href=x>{picture}</a>"
    assert read_text(f"<body>{page}</body>") == "Before The mill in 1920 after"


def test_a_page_of_links_is_read() -> None:
    text = read_text(
        '<body><ul class="nav"><li><a href=a>Some page</a><li><a href=b>Main part</a><li>Homepage</ul></body>'
    )
    assert text == "- Some page\n- Main part\n- Homepage"


def test_numbers_items_of_ordered_lists() -> None:
    text = read_text("<main><ol><li>Stop<li>Open<ol type=a><li>left<li>right</ol><li value=7>Go</ol></main>")
    assert text == "1. Stop\n2. Open\n  a. left\n  b. right\n7. Go"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("holds 10<sup>6</sup> litres", "holds 10⁶ litres"),
        ("10<sup>−7</sup> mbar, 40 m<sup>2</sup>", "10⁻⁷ mbar, 40 m²"),
        ("for three years<sup>3</sup>.", "for three years ³."),
        ("sold 5,200<sup>1</sup>", "sold 5,200¹"),
        ('heats<a epub:type="noteref" href="#n">1</a> up', "heats ¹ up"),
        ("the 1<sup>st</sup> of H<sub>2</sub>O", "the 1st of H2O"),
        ("x<sup>n+1</sup>", "x^(n+1)"),
        ("1<sup>3</sup>/<sub>4</sub> inch", "1 3/4 inch"),
        ("<math><mn>1</mn><mfrac><mn>3</mn><mn>4</mn></mfrac></math> inch", "1 3/4 inch"),
        ("<math><msup><mn>10</mn><mn>6</mn></msup></math>", "10⁶"),
        (
            "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><msqrt><mn>2</mn></msqrt></mfrac></math>",
            "(a+b)/(√2)",
        ),
    ],
)
def test_numbers_keep_their_value(written: str, shown: str) -> None:
    assert read_text(f"<main><p>{written}</p></main>") == shown
    assert read_text(f"<main><table><tr><td>{written}<td>1<tr><td>a<td>2</table></main>").startswith(f"{shown} | 1")

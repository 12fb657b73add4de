"""Markdown, reStructuredText and notebooks: headings, code and tables."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structure import check, marked, outline

from ragstone.acquire.readers.text.markdown import find_marks
from ragstone.acquire.readers.text.restructured import parse_text
from ragstone.core.records import Document

ReadOne = Callable[..., Document]

PIECES = [
    "# One", "## Two ##", "Under", "=====", "---", "```python", "```", "~~~", "    code", "| a | b |", "|---|---|",
    "- item", "text", "", "\t", "title: x", "> quote", "#no",
]  # fmt: skip
WORDS = st.text("abc é|_", min_size=1).map(str.strip).filter(lambda words: words.strip("|"))


@pytest.mark.parametrize(
    ("text", "headings", "code"),
    [
        ("# A\n\n## B ##\n### C#\n", [(1, "A"), (2, "B"), (3, "C#")], []),
        ("A\n===\n\nB\n---\n\ntext\n", [(1, "A"), (2, "B")], []),
        ("- item\n---\n\n***\n", [], []),
        ("#hashtag\n####### seven\n# \n", [], []),
        ("```python\n# no\n\nx = 1\n```\n# Yes", [(1, "Yes")], [("python", "# no\n\nx = 1")]),
        ("~~~ {.sh}\n```\nls\n~~~\n", [], [("sh", "```\nls")]),
        ("```{code-block} cpp\nint x;\n```\n", [], [("cpp", "int x;")]),
        ("````\n```\n````\n", [], [("", "```")]),
        ("```\nnever closed", [], [("", "never closed")]),
        ("```\n```\n", [], []),
        ("text\n\n    one\n\n    two\n\nmore\n", [], [("", "    one\n\n    two")]),
        ("text\n    not code\n", [], []),
        ("- item\n\n      more of it\n\n  ```sh\n  ls\n  ```\n", [], [("sh", "  ls")]),
        ("## [Link](x) and `code`\n", [(2, "Link and code")], []),
    ],
)
def test_marks_headings_and_code_of_markdown(text: str, headings: list[object], code: list[object]) -> None:
    document = Document(id="a", text=text, marks=find_marks(text))
    check(document)
    assert outline(document) == headings
    assert [(m.label, text[m.start : m.end]) for m in document.marks if m.kind == "code"] == code


def test_marks_tables_of_markdown(read_one: ReadOne) -> None:
    table = "| a | b |\n|:--|--:|\n| 1 | 2 |\n| 3 | 4 |"
    document = read_one("a.md", f"text\n\n{table}\n\na | b\n")
    assert marked(document, "table") == [table]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("\n".join))
def test_markdown_marks_are_ordered_and_disjoint(text: str) -> None:
    marks = find_marks(text)
    for one, other in pairwise(marks):
        assert one.end <= other.start
    for mark in marks:
        assert text[mark.start : mark.end].strip()
        # Whole lines.
        assert mark.start == 0 or text[mark.start - 1] == "\n"
        assert mark.end == len(text) or text[mark.end] == "\n"


@given(st.lists(st.tuples(st.integers(1, 6), WORDS), max_size=8), st.text("ab\n#`=|- ", max_size=30))
def test_code_does_not_look_like_headings(headings: list[tuple[int, str]], noise: str) -> None:
    fence = "`" * (noise.count("`") + 3)
    between = f"\n\n{fence}\n{noise}\n{fence}\n\n"
    text = between + between.join(f"{'#' * level} {words}" for level, words in headings) + between
    found = [mark for mark in find_marks(text) if mark.kind == "heading"]
    assert [mark.level for mark in found] == [level for level, _ in headings]
    assert [text[mark.start : mark.end] for mark in found] == [f"{'#' * level} {words}" for level, words in headings]


@pytest.mark.parametrize("line", ["# " + " " * 300_000 + "x", "# " + "[" * 300_000, "```" + " " * 300_000 + "`",
                                  "|" + "-" * 300_000 + "x", "`" * 300_000, "a\n" + "-" * 300_000 + "x"])  # fmt: skip
def test_long_lines_take_linear_time(line: str) -> None:
    started = time.perf_counter()
    find_marks(line)
    parse_text(line)
    assert time.perf_counter() - started < 5


RST = """
.. _top:

=====
Title
=====

:orphan:

.. toctree::
   :maxdepth: 2

   hidden

Some ``code``, :ref:`a link <target>`, :code:`vector<int>`, **bold** and `a site <https://x.example>`_. Then::

    literal  text

Part
----

.. tab:: Python

    .. code-block:: python
       :linenos:

       x = 1

       y = 2

.. note::

   Take care.

.. list-table:: Sizes

   * - Name
     - Size
   * - one
     - 1

====  =====
Key   Value
====  =====
a     b
====  =====

+-----+-----+
| c   | d   |
+=====+=====+
| e   | f   |
+-----+-----+

Deeper
~~~~~~

- first item
  goes on
- second

.. include:: /etc/passwd
.. a comment

>>> print(1)
1

Part again
----------
"""


def test_reads_restructured_text(read_one: ReadOne) -> None:
    document = read_one("page.rst", RST)
    assert document.title == "Title"
    assert outline(document) == [(1, "Title"), (2, "Part"), (3, "Deeper"), (2, "Part again")]
    code = [(m.label, document.text[m.start : m.end]) for m in document.marks if m.kind == "code"]
    assert code == [("", "literal  text"), ("python", "x = 1\n\ny = 2"), ("python", ">>> print(1)\n1")]
    assert marked(document, "table") == ["Name | Size\none | 1", "Key | Value\na | b", "c | d\ne | f"]
    assert "Some code, a link, vector<int>, bold and a site. Then:" in document.text
    assert "Python\n\nx = 1" in document.text
    assert "- first item\ngoes on\n- second" in document.text
    for noise in ("::", "..", "hidden", "maxdepth", "linenos", "orphan", "comment", "passwd", "~~~", "_top"):
        assert noise not in document.text, noise


@given(st.text("ab \n=-.:*`|+>_", max_size=80))
def test_restructured_marks_are_exact(text: str) -> None:
    parsed = parse_text(text)
    if parsed.text:
        check(Document(id="a", text=parsed.text, marks=parsed.marks))


def test_reads_notebooks(read_one: ReadOne) -> None:
    long = ["line\n"] * 1000
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "x = 1\nx", "outputs": [
            {"output_type": "stream", "name": "stdout", "text": long},
            {"output_type": "stream", "name": "stderr", "text": "warning"},
            {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": ["<Figure>"]}},
            {"output_type": "error", "traceback": ["boom"]},
        ]},
        {"cell_type": "raw", "source": "raw"},
        "no cell",
    ]  # fmt: skip
    book = {"cells": cells, "metadata": {"kernelspec": {"language": "julia"}}, "nbformat": 4}
    document = read_one("a.ipynb", json.dumps(book))
    assert (document.title, document.metadata["kind"]) == ("Title", "notebook")
    assert marked(document, "code") == ["x = 1\nx"]
    assert document.marks[1].label == "julia"
    assert 900 < document.text.count("line") * 5 <= 1000
    assert "[4,000 more characters of output]" in document.text.replace("[3,999", "[4,000")
    for noise in ("warning", "AAAA", "boom", "Figure"):
        assert noise not in document.text


PICTURE = "data:image/png;base64," + "iVBORw0KGgo+/" * 1000 + "=="


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", f"# One\n\n![a picture]({PICTURE})\n\nTwo\n"),
        ("a.txt", f"One {PICTURE} Two"),
        ("a.css", f"url({PICTURE}) /* Two */"),
        ("a.html", f"<main><h1>One</h1><img src='{PICTURE}'><p>url({PICTURE})</p><p>Two</p></main>"),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": f"<img src='{PICTURE}'> Two"}]})),
    ],
)
def test_leaves_out_pictures_inside_text(read_one: ReadOne, name: str, content: str) -> None:
    document = read_one(name, content)
    assert "Two" in document.text
    assert len(document.text) < 100
    assert "iVBOR" not in document.text


def test_real_notebook_has_no_pictures(data_dir: Path, read_one: ReadOne) -> None:
    folder = data_dir / "cudaq_docs" / "raw" / "docs" / "sphinx" / "applications" / "python"
    document = read_one(folder / "quantum_transformer.ipynb")
    assert len(document.text) < 60_000
    assert max(map(len, document.text.split())) < 500


@pytest.mark.parametrize("level", [None, "two", [2], {}])
def test_notebook_heading_without_level(read_one: ReadOne, level: object) -> None:
    cells = [{"cell_type": "heading", "level": level, "source": "Setup"}, {"cell_type": "code", "source": "x = 1"}]
    document = read_one("a.ipynb", json.dumps({"cells": cells}))
    assert document.text == "Setup\n\nx = 1"


def test_unreadable_csv_table_stops_nothing(read_one: ReadOne) -> None:
    usual = csv.field_size_limit(50)  # of the process; readers of tables raise it
    try:
        document = read_one("a.rst", f".. csv-table::\n\n   a,{'b' * 60}\n   c,d\n\nAfter it.\n")
    finally:
        csv.field_size_limit(usual)
    assert document.text == f"a,{'b' * 60}\nc,d\n\nAfter it."


@pytest.mark.parametrize("content", ["{}", "[]", "{", "[" * 100_000, '{"cells": 1}', '{"worksheets": []}', "null"])
def test_reports_files_that_are_no_notebooks(why_skipped: Callable[..., str], content: str) -> None:
    assert why_skipped("a.ipynb", content).startswith(("damaged", "empty"))


GOLDEN = {
    "html_preview/v1/using/simulators.html": [
        (1, "CUDA Quantum Simulation Backends"), (2, "State Vector Simulators"), (3, "cuQuantum single-GPU"),
        (3, "cuQuantum multi-node multi-GPU"), (3, "OpenMP CPU-only"), (2, "Tensor Network Simulators"),
        (3, "cuQuantum multi-node multi-GPU"),
    ],
    "raw/docs/sphinx/using/backends/hardware/iontrap.rst": [
        (1, "Ion Trap"), (2, "IonQ"), (3, "Setting Credentials"), (3, "Submitting"), (2, "Quantinuum"),
        (3, "Setting Credentials"), (3, "Submitting"),
    ],
    "raw/docs/sphinx/specification/quake-dialect.md": [
        (1, "Quake Dialect"), (2, "General Introduction"), (2, "Motivation"),
    ],
    "raw/docs/sphinx/examples/python/visualization.ipynb": [
        (1, "Visualization"), (2, "Qubit Visualization"), (2, "Kernel Visualization"),
    ],
}  # fmt: skip
# One of the 17 directives of the second page has no content.
CODE_BLOCKS = {"html": 8, "rst": 16, "md": 6, "ipynb": 12}


@pytest.mark.parametrize("page", GOLDEN)
def test_finds_headings_of_real_pages(data_dir: Path, read_one: ReadOne, page: str) -> None:
    """Compare with lists that were made by hand."""
    document = read_one(data_dir / "cudaq_docs" / page)
    assert outline(document) == GOLDEN[page]
    assert document.title == GOLDEN[page][0][1]
    assert len(marked(document, "code")) == CODE_BLOCKS[page.rpartition(".")[2]]


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ("readers: finance", {"readers": ("finance",)}),
        ("readers: [finance, HR]", {"readers": ("HR", "finance")}),
        ("readers:\n  - finance\n  - hr", {"readers": ("finance", "hr")}),
        ("readers: []", {"readers": ()}),
        ("readers:", {"readers": ()}),
        ("author: Ann Lee\ndate: 2026-11-23\ntags: [a, 'b c']", {"author": "Ann Lee", "tags": ("a", "b c")}),
        ("last-reviewed: 2026", {"last_reviewed": 2026}),
        ("price: 12.5\nactive: true\ncode: 007", {"price": 12.5, "active": True, "code": "007"}),
        ("author: Ann: the boss\nreaders: [hr]", {"author": "Ann: the boss", "readers": ("hr",)}),
        ('path: ../../etc\nkind: secret\ntitle: "T: one"', {"path": "a.md", "kind": "markdown"}),
    ],
)
def test_front_matter_becomes_facts(read_one: ReadOne, written: str, facts: dict[str, object]) -> None:
    document = read_one("a.md", f"---\n{written}\n---\n\nText.\n")
    assert {key: document.metadata[key] for key in facts} == facts
    assert ("title" in written) == (document.title == "T: one")


def test_front_matter_is_no_text(read_one: ReadOne) -> None:
    document = read_one("a.md", "---\ntitle: Rent\nstatus: draft\n---\n\n# Paying\n\nBy the third day.\n")
    assert document.text == "# Paying\n\nBy the third day.\n"
    assert (document.title, document.metadata["status"]) == ("Rent", "draft")
    assert [mark.label for mark in document.marks] == ["Paying"]


def test_front_matter_alone_is_text(read_one: ReadOne) -> None:
    assert "status: draft" in read_one("a.md", "---\nstatus: draft\n---\n \n").text


# ---------------------------------------------------------------- Markdown under other names

NOTES = "# Mill\n\nIt grinds.\n\n## Wheel\n\nIt turns.\n"
PRICES = "Prices:\n\n| Part | Price |\n|---|---|\n| Wheel | 4 |\n"
COMMENTS = "# Settings of the mill\nspeed = 4\n\n# How long\n# it runs\nhours = 3\n"


@pytest.mark.parametrize("name", ["notes.txt", "README"])
def test_markdown_is_known_by_its_headings(read_one: ReadOne, name: str) -> None:
    document = read_one(name, NOTES)
    assert (document.metadata["kind"], document.title) == ("markdown", "Mill")
    assert outline(document) == [(1, "Mill"), (2, "Wheel")]


def test_markdown_is_known_by_its_tables(read_one: ReadOne) -> None:
    assert marked(read_one("notes.txt", PRICES), "table") == ["| Part | Price |\n|---|---|\n| Wheel | 4 |"]


@pytest.mark.parametrize(
    "text", [COMMENTS, "a | b\n--- | ---\n", "#hash #tags\n\n#one\n\n##two\n\n", "# One\n\ntext\n"]
)
def test_other_text_is_no_markdown(read_one: ReadOne, text: str) -> None:
    document = read_one("notes.txt", text)
    assert (document.metadata["kind"], document.text, document.marks) == ("text", text, ())


def test_reads_bibliographies(read_one: ReadOne, why_skipped: Callable[..., str]) -> None:
    written = r"""@string{jr = "Journal of Reeds"}
@article{mueller24, title = {{Otters} in the {\"O}resund}, author="M{\"u}ller, J. and Stra{\ss}er, K.",
  year = 2024, journal = jr # " (B)", pages = {11--19}, file = {:home/a.pdf:PDF}}
@book(heron, title={Herons}, note = {100\% in print})"""
    assert read_one("a.bib", written).text == (
        "Otters in the Öresund\n\nArticle mueller24\nAuthor: Müller, J. and Straßer, K.\nYear: 2024\n"
        "Journal: jr (B)\nPages: 11–19\n\nHerons\n\nBook heron\nNote: 100% in print"
    )
    assert why_skipped("b.bib", "@comment{nothing}") == "no entry of a bibliography in it"


DUMP = r"""-- a dump
CREATE TABLE `products` (
  `id` int NOT NULL, -- the key
  `name` varchar(40),
  `price` decimal(8,2),
  PRIMARY KEY (`id`)
);
INSERT INTO `products` VALUES (1,'Alder, the (fast) bike',1999.00),(2,'O''Neil\'s \n bell',NULL);
INSERT INTO shop.products (id, name, price) VALUES
  (3, 'Otter; red', NOW());
COPY public.people (id, name, note) FROM stdin;
1	Ann	on\ttour
2	Bob	\N
\.
"""


def test_reads_the_rows_of_a_dump(read_one: ReadOne) -> None:
    document = read_one("a.sql", DUMP)
    assert document.text == (
        "products\n\nid | name | price\n1 | Alder, the (fast) bike | 1999.00\n2 | O'Neil's bell"
        "\n\nshop.products\n\nid | name | price\n3 | Otter; red | NOW()"
        "\n\npublic.people\n\nid | name | note\n1 | Ann | on tour\n2 | Bob"
    )
    assert [mark.header for mark in document.marks if mark.kind == "table"] == [1, 1, 1]


def test_values_of_a_dump_stay_as_they_are(read_one: ReadOne) -> None:
    text = r"INSERT INTO t (a, b) VALUES ('C:\new\', CAST(N'2020-01-01' AS date)), (X'00', 'it''s'), (NULL, 'NULL');"
    assert read_one("a.sql", text.replace("\\\\", "\\")).text == (
        "t\n\na | b\nC:\\new\\ | CAST(N'2020-01-01' AS date)\n00 | it's\n | NULL"
    )


def test_columns_in_another_order_are_another_table(read_one: ReadOne) -> None:
    text = "INSERT INTO u (id, name) VALUES (1, 'Ada');\nINSERT INTO u (name, id) VALUES ('Bob', 2);\n"
    assert read_one("a.sql", text).text == "u\n\nid | name\n1 | Ada\n\nu\n\nname | id\nBob | 2"


def test_code_with_a_few_rows_stays_code(read_one: ReadOne) -> None:
    lines = (
        "-- kept for 90 days",
        "CREATE FUNCTION f AS $$ a long body of words $$;",
        "INSERT INTO r VALUES (1);",
    )
    assert read_one("a.sql", "\n".join(lines)).metadata["kind"] == "code"


def test_sql_without_rows_is_code(read_one: ReadOne) -> None:
    text = "CREATE TABLE a (id int);\nSELECT * FROM a WHERE x IN (VALUES (1));\n"
    document = read_one("a.sql", text)
    assert (document.text, document.metadata["kind"]) == (text, "code")


def test_a_dump_that_is_cut_keeps_what_stands_there(read_one: ReadOne) -> None:
    document = read_one("a.sql", "INSERT INTO a (x, y) VALUES (1, 'one'), (2, 'tw")
    assert (document.text, document.metadata["partial"]) == ("a\n\nx | y\n1 | one", "1 row named a was left out")

"""Splitting by headings and tokens: properties for any text, and an example."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import split
from ragstone.chunk.outline import questions_apart, section_at, sections
from ragstone.chunk.ruler import PART, Characters, Tokens
from ragstone.chunk.structure import structured
from ragstone.chunk.text import by_paragraph, by_sentence
from ragstone.core.headings import question_above
from ragstone.core.records import Document, Mark, Span
from ragstone.settings import ChunkSettings

GUIDE = """# Tool

## Install

On Linux, run the installer. It asks for a folder.

```
install --to /opt
```

### Windows

Use the other installer.
"""


def tokens(text: str) -> list[Span]:
    return [Span(start=m.start(), end=m.end()) for m in re.finditer(r"\w+|[^\w\s]", text)]


def mark(kind: str, words: str, level: int = 0, within: str = GUIDE) -> Mark:
    start = within.index(words)
    label = words.lstrip("# ") if kind == "heading" else ""
    return Mark(kind=kind, start=start, end=start + len(words), level=level, label=label)  # pyright: ignore


MARKS = (
    mark("heading", "# Tool", 1),
    mark("heading", "## Install", 2),
    mark("code", "install --to /opt"),
    mark("heading", "### Windows", 3),
)
STRUCTURE = ChunkSettings(strategy="structure", unit="tokens", size=64, overlap=8)


def test_splits_at_headings_and_isolates_code():
    document = Document(id="guide.md", text=GUIDE, title="Tool", marks=MARKS)
    chunks = split(document, STRUCTURE, tokens)
    assert [(chunk.facts["section"], chunk.facts["is_code"], chunk.text) for chunk in chunks] == [
        (
            "Tool > Install",
            False,
            "# Tool\n\n## Install\n\nOn Linux, run the installer. It asks for a folder.",
        ),
        ("Tool > Install", True, "```\ninstall --to /opt\n```"),
        ("Tool > Install > Windows", False, "### Windows\n\nUse the other installer."),
    ]
    assert chunks[2].context == "Tool\nInstall > Windows"
    assert chunks[2].facts["section_level"] == 3
    assert chunks[1].facts["chunk_kind"] == "example"
    assert chunks[0].facts["chunk_kind"] == "how_to"


FAQ = """# Parking

## Who may park here?

Guests of the mill.

### With a caravan

On the lower meadow.

## What does it cost?

Two euros a day.

## Opening hours

The gate opens at six.

## History

The mill was built in 1821.

## Other things

### Is there a shower?

Yes, next to the barn.
"""


def test_each_question_of_a_heading_has_a_chunk_of_its_own():
    headings = [one[0] for one in re.finditer(r"^#+ .*$", FAQ, re.MULTILINE)]
    marks = tuple(mark("heading", one, one.index(" "), FAQ) for one in headings)
    chunks = split(Document(id="faq.md", text=FAQ, title="Parking", marks=marks), ChunkSettings(), tokens)
    assert [(chunk.context, chunk.text.split("\n")[0], chunk.text.split("\n")[-1]) for chunk in chunks] == [
        ("Parking\nWho may park here?", "# Parking", "On the lower meadow."),
        ("Parking\nWhat does it cost?", "## What does it cost?", "Two euros a day."),
        ("Parking\nOpening hours", "## Opening hours", "The mill was built in 1821."),
        ("Parking\nOther things > Is there a shower?", "## Other things", "Yes, next to the barn."),
    ]
    asked = [question_above(chunk) for chunk in chunks]
    assert [span and span.of(chunk.headed) for span, chunk in zip(asked, chunks, strict=True)] == [
        "Who may park here?",
        "What does it cost?",
        None,
        "Is there a shower?",
    ]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=8), st.data())
def test_questions_part_a_text_without_loss(written: list[tuple[bool, bool]], data: st.DataObject):
    text, marks = "Before. ", []
    for number, (is_asked, has_text) in enumerate(written):
        label = f"Title {number}{'?' * is_asked}"
        level = data.draw(st.integers(1, 3))
        marks.append(Mark(kind="heading", start=len(text), end=len(text) + len(label), level=level, label=label))
        text += f"{label}\n\n{f'Text {number}.' * has_text}\n\n"
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    outline = sections(len(text), marks)
    parts = [*questions_apart(text, outline, start, end)]
    assert (parts[0][0].start, parts[-1][0].end) == (start, end)
    assert all(before.end == after.start < after.end for (before, _), (after, _) in pairwise(parts))
    for part, first in parts:
        inside = [one for one in outline if one.start < part.end and one.end > part.start]
        assert first in inside
        with_text = [one for one in inside if "Text" in text[one.start : one.end] or one.start == 0]
        assert len({one.question for one in with_text}) <= 1
        assert not with_text or first.question == with_text[0].question


@pytest.mark.parametrize(
    ("path", "title", "context"),
    [
        ("docs/flask/CHANGES.rst", "", "docs/flask/CHANGES"),
        ("helmet/CHANGELOG.md", "Changelog", "helmet\nChangelog"),
        ("a/b/c/d/notes.txt", "", "c/d/notes"),
        ("clients/acme/0000027419-23-000015.pdf", "Contract", "clients/acme\nContract"),
        ("2024/01.md", "", ""),
        (None, "Tool", "Tool"),
    ],
)
def test_context_says_where_a_document_lies(path: str | None, title: str, context: str):
    metadata = {} if path is None else {"path": path}
    (only,) = split(Document(id="d", text="Fixed a fault.", title=title, metadata=metadata), STRUCTURE, tokens)
    assert only.context == context


def test_context_is_never_part_of_the_span():
    document = Document(id="guide.md", text=GUIDE, title="Tool", marks=MARKS)
    for context, expected in (("none", ""), ("title", "Tool"), ("path", "Tool\nInstall > Windows")):
        cut = STRUCTURE.model_copy(update={"context": context})
        last = split(document, cut, tokens)[-1]
        assert last.context == expected
        assert GUIDE[last.start : last.end] == last.text


def test_any_strategy_records_pages():
    pages = (Mark(kind="page", start=0, end=7, label="i"), Mark(kind="page", start=7, end=14, label="1"))
    document = Document(id="a.pdf", text="Front.\nBody.\n ", marks=pages)
    chunks = split(document, ChunkSettings(strategy="paragraph", size=20, overlap=0), tokens)
    assert [chunk.facts for chunk in chunks] == [{"page": "i"}]


class Counted(tuple[Mark, ...]):
    """Marks that count how often they are read."""

    read = 0

    def __iter__(self) -> Iterator[Mark]:
        for one in super().__iter__():
            self.read += 1
            yield one


def test_passes_over_marks_are_few():
    parts = [f"## Part {n}\n\nIt says {n}.\n\n" for n in range(200)]
    starts = [0, *accumulate(map(len, parts))]
    text = "".join(parts)
    headings = [
        Mark(kind="heading", start=at, end=part_end, level=2, label=f"Part {n}")
        for n, at in enumerate(starts[:-1])
        for part_end in [text.index("\n", at)]
    ]
    pages = [Mark(kind="page", start=a, end=b, label=str(n)) for n, (a, b) in enumerate(pairwise(starts), start=1)]
    marks = Counted(mark for both in zip(pages, headings, strict=True) for mark in both)
    chunks = split(Document(id="book", text=text, marks=marks), STRUCTURE, tokens)
    assert [chunk.facts["page"] for chunk in chunks] == [str(n) for n in range(1, 201)]
    assert [chunk.facts["section"] for chunk in chunks] == [f"Part {n}" for n in range(200)]
    assert marks.read < 10 * len(marks)


PIECES = [
    "A sentence here. ",
    "Another one, longer than that. ",
    "\n\n",
    "\n",
    "word",
    " ",
    "x" * 30,
    "日本語。",
    "e\u0301 ",
]


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, tuple[Mark, ...]]:
    """Draw a text with headings, code and tables anywhere."""
    text, marks = "", []
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["", "heading", "code", "table"]))
        piece = "".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8)))
        if kind == "heading":
            piece = " ".join(piece.split()) or "H"
            level = draw(st.integers(1, 4))
            marks.append(Mark(kind="heading", start=len(text), end=len(text) + len(piece), level=level, label=piece))
        elif kind:
            marks.append(Mark(kind=kind, start=len(text), end=len(text) + len(piece)))  # pyright: ignore
        text += piece + "\n\n"
    return text, tuple(marks)


@given(marked(), st.integers(4, 40), st.data())
def test_pieces_are_bounded_and_within_sections(
    given_text: tuple[str, tuple[Mark, ...]], size: int, data: st.DataObject
):
    text, marks = given_text
    overlap = data.draw(st.integers(0, size - 1))
    ruler = data.draw(st.sampled_from([Tokens(text, tokens), Characters(text)]))
    pieces = structured(text, marks, ruler, size, overlap)
    assert all(ruler.length(p.span.start, p.span.end) <= size for p in pieces)
    assert all(p.span.of(text).strip() for p in pieces)
    covered = {i for p in pieces for i in range(p.span.start, p.span.end)}
    assert all(char.isspace() for i, char in enumerate(text) if i not in covered)
    for before, after in pairwise(pieces):
        assert before.span.start < after.span.start
        assert before.span.end <= after.span.end
    outline = sections(len(text), marks)
    for piece in pieces:
        assert section_at(outline, piece.span.end - 1) == piece.section or piece.span.end <= piece.section.start


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.integers(2, 30), st.data())
def test_token_chunks_keep_size_and_overlap(text: str, size: int, data: st.DataObject):
    overlap = data.draw(st.integers(0, size - 1))
    ruler = Tokens(text, tokens)
    for strategy in (by_sentence, by_paragraph):
        spans = strategy(text, size, overlap, ruler)
        assert all(ruler.length(span.start, span.end) <= size for span in spans)
        assert all(ruler.length(after.start, before.end) <= overlap for before, after in pairwise(spans))
        covered = {i for span in spans for i in range(span.start, span.end)}
        assert all(char.isspace() for i, char in enumerate(text) if i not in covered)


@pytest.mark.parametrize("between", ["\n", " ", "\n\n \n"])
def test_long_text_has_the_same_tokens(between: str) -> None:
    text = between.join(f"word{i}" for i in range(50_000))
    assert len(text) > PART
    ruler = Tokens(text, tokens)
    lengths = [ruler.length(0, end) for end in range(0, len(text), 997)]
    starts = [token.start for token in tokens(text)]
    assert lengths == [bisect_left(starts, end) for end in range(0, len(text), 997)]

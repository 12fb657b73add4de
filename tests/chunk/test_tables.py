"""Tables in chunks: whole rows, with what stands above them."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import split
from ragstone.core.records import Document, Mark, Span
from ragstone.settings import ChunkSettings

ROWS = [
    " | Year Ended | Year Ended",
    " | 2023 | 2022",
    "Revenue | 100 | 90",
    "Operating expenses:",
    "Research | 30 | 20",
    "Sales | 10 | 10",
    "Total operating expenses | 40 | 30",
    "Income | 60 | 60",
]
HEADER = "\n".join(ROWS[:2])


def tokens(text: str) -> list[Span]:
    return [Span(start=m.start(), end=m.end()) for m in re.finditer(r"\w+|[^\w\s]", text)]


def document(rows: list[str], header: int) -> Document:
    table = "\n".join(rows)
    text = f"Before the table.\n\n{table}\n\nAfter the table."
    mark = Mark(kind="table", start=19, end=19 + len(table), label="(in millions)", header=header)
    return Document(id="a", text=text, title="Report", marks=(mark,))


def test_later_rows_repeat_headings_and_section() -> None:
    for strategy in ("structure", "recursive", "paragraph", "sentence"):
        cut = ChunkSettings(strategy=strategy, size=110, overlap=0)
        first, *later = [one for one in split(document(ROWS, 2), cut, tokens) if one.facts.get("is_table")]
        assert first.text.startswith(HEADER)
        assert (first.facts["header_rows"], first.facts["table_header"]) == (2, HEADER)
        assert first.context == "Report\n(in millions)"
        assert later[0].text.split("\n")[0] == "Sales | 10 | 10"
        assert later[0].context == f"Report\n(in millions)\n{HEADER}\nOperating expenses:"
        assert later[0].facts["table_sections"] == "Operating expenses:"
        assert later[0].facts["header_rows"] == 0


def test_sections_end_with_a_total() -> None:
    cut = ChunkSettings(strategy="structure", size=42, overlap=0)
    last = [one for one in split(document(ROWS, 2), cut, tokens) if one.facts["is_table"]][-1]
    assert last.text == ROWS[-1]
    assert last.facts["table_sections"] == ""


def test_text_without_tables_has_no_facts_about_them() -> None:
    plain = Document(id="a", text="Before.\n\nAfter.", title="Report")
    (chunk,) = split(plain, ChunkSettings(), tokens)
    assert (chunk.facts, chunk.context) == ({}, "Report")


CELLS = st.text(st.sampled_from("ab1 "), max_size=8).map(str.strip)


ROW = st.lists(CELLS, min_size=2, max_size=4)


@given(st.lists(ROW, min_size=1, max_size=12), st.integers(0, 3), st.integers(60, 90))
def test_rows_are_never_divided(rows: list[list[str]], header: int, size: int) -> None:
    lines = [f"x{' | '.join(row)}" for row in rows]
    for strategy in ("structure", "recursive"):
        chunks = split(document(lines, header), ChunkSettings(strategy=strategy, size=size, overlap=0), tokens)
        found = [line.rstrip() for one in chunks if one.facts.get("is_table") for line in one.text.split("\n")]
        assert found == [line.rstrip() for line in lines]


def test_long_rows_of_dashes_cost_no_more_than_their_length() -> None:
    begun = time.perf_counter()
    split_rows = split(
        document([" | a | b", f"{' ' * 2_000}{'-' * 2_000}x | 1"], header=1), ChunkSettings(size=4_000), tokens
    )
    assert split_rows
    assert time.perf_counter() - begun < 10

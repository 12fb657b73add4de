"""Tables of chunks: cells with exact spans, column headings and labels."""

import time

from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.filters import Scalar
from ragstone.core.records import Chunk, Span
from ragstone.core.table import Table, head_above, table_of

INCOME = (
    " | Three Months Ended | Three Months Ended\n | July 1, 2023 | June 25, 2022\nNet sales:\n"
    "Products | $60,584 | $63,355\n"
    "Services | 21,213 | 19,604\nTotal net sales | 81,797 | 82,959\nGross margin | 36,413 | 35,885"
)
HEADER = "\n".join(INCOME.split("\n")[:2])


def chunk(text: str, **facts: Scalar) -> Chunk:
    return Chunk(id="c", document_id="d", index=0, total=1, start=0, end=len(text), text=text, facts=facts)


def income() -> Table:
    made = table_of(
        chunk(
            INCOME, is_table=True, table_header=HEADER, header_rows=2, table_caption="(In millions, except per share)"
        )
    )
    assert made is not None
    return made


def test_reads_headings_and_sections():
    table = income()
    cell = next(one for one in table.cells if one.text == "19,604")
    assert cell.label == ("Net sales", "Services")
    assert cell.header == ("Three Months Ended", "June 25, 2022")
    assert [row.label for row in table.rows] == ["Products", "Services", "Total net sales", "Gross margin"]
    assert next(one for one in table.cells if one.text == "35,885").label == ("Gross margin",)


def test_takes_headings_from_facts_on_later_chunks():
    text = "Services | 21,213 | 19,604"
    table = table_of(chunk(text, is_table=True, table_header=HEADER, header_rows=0, table_sections="Net sales:"))
    assert table is not None
    (row,) = table.rows
    assert row.cells[1].header == ("Three Months Ended", "July 1, 2023")
    assert row.cells[1].label == ("Net sales", "Services")


def test_text_across_a_table_is_prose():
    line = "Insured Gabriel Diaz Make Jeep Model Grand Cherokee Estimator Ellis Turner"
    table = table_of(chunk(f"{line}\nBody labour\nParts | 2,100\nTotal | 2,730", is_table=True, table_header=""))
    assert table is not None
    assert [span.of(f"{line}\n") for span in table.prose] == [line]


def test_reads_markdown_with_and_without_its_rule():
    whole = "| Year | Winner |\n|------|--------|\n| 1998 | France |\n| 2002 | Brazil |"
    table = table_of(chunk(whole, is_table=True, table_header="| Year | Winner |", header_rows=1))
    assert table is not None
    assert [(one.text, one.header) for one in table.cells] == [
        ("1998", ("Year",)),
        ("France", ("Winner",)),
        ("2002", ("Year",)),
        ("Brazil", ("Winner",)),
    ]
    later = table_of(chunk("| 2006 | Italy |", is_table=True, table_header="| Year | Winner |", header_rows=0))
    assert later is not None
    assert [(one.text, one.header) for one in later.cells] == [("2006", ("Year",)), ("Italy", ("Winner",))]


def test_headings_stand_above_a_row():
    within = "Winners by year.\nYear | Winner\n1998 | France\n2002 | Brazil\n\nNo cup in 2004."
    whole = chunk("2002 | Brazil", is_table=True, table_header="Year | Winner")
    for one, quote, head in [
        (chunk(within), "2002 | Brazil", "Year | Winner"),
        (whole, "2002 | Brazil", "Year | Winner"),
        (chunk(within), "Year | Winner", ""),
        (chunk(within), "No cup in 2004.", ""),
    ]:
        start = one.text.index(quote)
        assert head_above(one, Span(start=start, end=start + len(quote))) == head


def test_ignores_what_is_no_table():
    assert table_of(chunk("Year | Winner\n1998 | France")) is None
    assert table_of(chunk("One line\nand another", is_table=True)) is None


@given(
    text=st.text(st.sampled_from(" |-ab1\n\\$:¦\u2028\x0c\r"), max_size=60),
    header=st.text(st.sampled_from(" |-a\n"), max_size=20),
    rows=st.integers(-3, 9),
    section=st.text(max_size=5),
)
def test_spans_hold_the_words_of_cells(text: str, header: str, rows: int, section: str):
    table = table_of(chunk(text, is_table=True, table_header=header, header_rows=rows, table_sections=section))
    for row in table.rows if table else ():
        assert row.cells
        for cell in row.cells:
            assert cell.text
            assert cell.span.of(text) == cell.text
            assert row.span.start <= cell.span.start <= cell.span.end <= row.span.end
            assert cell.header == table.columns[cell.column] if table else True


def test_long_lines_of_dashes_cost_no_more_than_their_length():
    begun = time.perf_counter()
    assert table_of(chunk(f"a | b\n{' ' * 2_000}{'-' * 2_000}x | 1", is_table=True, header_rows=1))
    assert time.perf_counter() - begun < 10

"""Rows of data files as tables: each value is found at its exact place, whatever signs it holds."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragstone.acquire.readers.tables.rows import read_row
from ragstone.core.record import prose_start, record_of
from ragstone.core.records import Chunk
from ragstone.settings.acquire import ColumnSettings

NAMES = st.lists(
    st.sampled_from(["Station", "Price", "Opened (year)", "note", "b", "a: b", "Total; net"]), min_size=2, unique=True
)
VALUES = st.one_of(
    st.integers(-9, 9999).map(str),
    st.text(alphabet="ab;: 1,.", min_size=1, max_size=12),
    st.sampled_from(["b: c; Price: 3", "true", "1.50", "Alpha; Beta", "2004-05-01"]),
)


def row(fields: dict[str, str]) -> Chunk:
    found = read_row(dict(fields), ColumnSettings(), "readers", is_record=True, is_typed=False)
    return Chunk(
        id="1",
        document_id="data/stations.csv#1",
        index=0,
        total=1,
        start=0,
        end=len(found.text),
        text=found.text,
        title=found.title,
        metadata={"path": "data/stations.csv", "kind": "csv", **found.facts},
    )


@given(st.data())
def test_finds_each_text_of_a_row(data: st.DataObject):
    names = data.draw(NAMES)
    fields = {name: data.draw(VALUES.filter(lambda text: bool(text.strip()))) for name in names}
    chunk = row(fields)
    table = record_of(chunk)
    assert table is not None
    assert table.file == "data/stations.csv"
    cells = {cell.header[0]: cell.text for cell in table.cells}
    assert cells == {name: value.strip() for name, value in fields.items()}
    assert all(cell.span.of(chunk.text) == cell.text for cell in table.cells)


def test_names_a_row_by_its_title():
    table = record_of(row({"id": "7", "Station": "Alpha", "Name": "Alpha North", "Price": "3"}))
    assert table is not None
    assert [cell.text for cell in table.rows[0].cells] == ["Alpha North", "7", "Alpha", "3"]
    assert table.rows[0].cells[1].label == ("Alpha North",)


def test_reads_no_row_in_prose():
    text = "author: Ada; the notes say: nothing is certain; and so on"
    chunk = Chunk(id="1", document_id="notes.txt", index=0, total=1, start=0, end=len(text), text=text)
    assert record_of(chunk) is None


def test_quotes_the_article_of_a_row():
    article = "The ground shook at seven. " * 40
    chunk = row({"id": "7", "title": "Earthquake", "source": "The Daily", "content": article})
    assert record_of(chunk) is None
    assert chunk.text[prose_start(chunk) :] == article.strip()
    line = replace(chunk, text=chunk.text.partition("\n")[0], total=3)
    assert record_of(line) is None
    assert prose_start(line) == len(line.text)
    short = row({"id": "7", "title": "Earthquake", "source": "The Daily", "content": "The ground shook at seven. " * 8})
    assert record_of(short)
    assert prose_start(short) == 0

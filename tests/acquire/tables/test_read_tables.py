"""Rows of CSV, TSV and JSON Lines, good and bad, as documents."""

import json
import zipfile
from collections.abc import Callable
from datetime import date
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_file import pdf

from ragstone import acquire
from ragstone.acquire.readers.decode import decoded_file
from ragstone.acquire.readers.tables.fields import Json
from ragstone.acquire.readers.tables.records import record_text, record_title
from ragstone.core.errors import SourceError
from ragstone.core.records import Decoded, Document, Skipped
from ragstone.settings import AcquireSettings, MetadataSettings
from ragstone.settings.load import load

ReadAll = Callable[..., list[Document | Skipped]]
ReadOne = Callable[..., Document]


def read(source: str, settings: AcquireSettings, *, base: Path) -> list[Document | Skipped]:
    """Return the documents and skipped rows of a source."""
    found = acquire.read(source, settings, base=base)
    return [one for one in found if isinstance(one, Document | Skipped)]


def read_table(
    folder: Path, content: str | bytes, name: str = "kb.csv", **columns: str | tuple[str, ...]
) -> list[Document | Skipped]:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    settings = AcquireSettings.model_validate({"columns": columns, "metadata": {"enabled": False}})
    return [*read(str(folder / name), settings, base=folder)]


def texts(results: list[Document | Skipped]) -> list[str]:
    return [result.text for result in results if isinstance(result, Document)]


def reasons(results: list[Document | Skipped]) -> list[str]:
    return [result.reason for result in results if isinstance(result, Skipped)]


def test_row_becomes_document_with_typed_metadata(tmp_path: Path):
    table = "ID,Title,Text,URL,views,score,zip,public,day,none\n7,  A  title ,Text.,https://x.example,12,-0.50,01234,TRUE,2024-05-06,\n"
    assert read_table(tmp_path, table) == [
        Document(
            id="kb.csv#7",
            text="Text.",
            source=f"{tmp_path / 'kb.csv'}#7",
            title="A title",
            url="https://x.example",
            metadata={
                "path": "kb.csv", "kind": "csv", "views": 12, "score": -0.5, "zip": "01234", "public": True,
                "day": "2024-05-06",
            },
        )
    ]  # fmt: skip


def test_text_that_resembles_a_number_stays_text(tmp_path: Path):
    odd = ["1e5", "nan", "inf", "1,5", "+1", "0x10", "12345678901234567890", "1_000", "٣", "1٣", "1.0e999"]
    header = ",".join(f"c{number}" for number in range(len(odd)))
    row = ",".join(f'"{cell}"' for cell in odd)
    (document,) = read_table(tmp_path, f"id,text,{header}\n1.10,3.50,{row}\n")
    assert isinstance(document, Document)
    assert (document.id, document.text) == ("kb.csv#1.10", "3.50")
    assert [document.metadata[f"c{number}"] for number in range(len(odd))] == odd


def test_maps_and_joins_columns(tmp_path: Path):
    table = "key;question;answer;more;link\na;Why?;Because.;And so.;u\nb;How?;;Thus.;\n"
    results = read_table(tmp_path, table, id="Key", title=("question",), text=("Answer", "MORE"), url="link")
    assert texts(results) == ["Because.\n\nAnd so.", "Thus."]
    assert [(row.id, row.title, row.url) for row in results if isinstance(row, Document)] == [
        ("kb.csv#a", "Why?", "u"), ("kb.csv#b", "How?", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_finds_delimiter(tmp_path: Path, delimiter: str, name: str):
    table = "id,text,note\n1,words here,x\n".replace(",", delimiter)
    (document,) = read_table(tmp_path, table, name)
    assert isinstance(document, Document)
    assert (document.text, document.metadata["note"]) == ("words here", "x")


def test_quoted_cells_keep_special_characters(tmp_path: Path):
    table = '\ufeff"id","text"\r\n"1","One, ""two""\r\nthree\r\n\r\nfour"\r\n'
    assert texts(read_table(tmp_path, table)) == ['One, "two"\nthree\n\nfour']


def test_one_column_is_enough(tmp_path: Path):
    results = read_table(tmp_path, "text\nfirst\n\nsecond; with, marks\n".replace(",", ""))
    assert texts(results) == ["first", "second; with marks"]
    assert [row.id for row in results if isinstance(row, Document)] == ["kb.csv#1", "kb.csv#2"]


def test_reports_bad_rows_and_reads_the_rest(tmp_path: Path):
    table = 'id,text,x\n1,good\n2, \n3,too,many,cells\n4,"bad"quote,x\n1,again,x\n6,good too,x\n'
    results = read_table(tmp_path, table)
    assert texts(results) == ["good", "good too"]
    empty, many, quote, again = reasons(results)
    assert empty == "row 2: no text in text"
    assert many == "row 3: 4 cells, but the header has 3"
    assert quote.startswith("row 4: ")
    assert again == "row 5: an earlier row has the same id, kb.csv#1"


def test_reports_unclosed_quote(tmp_path: Path):
    results = read_table(tmp_path, 'id,text\n1,good\n2,"never closed\n3,lost\n')
    assert texts(results) == ["good"]
    assert reasons(results) == ["row 2: a quote is opened and never closed"]


def test_endless_cell_does_not_fill_memory(tmp_path: Path):
    results = read_table(tmp_path, 'id,text\n1,good\n2,"' + "line\n" * 2_000_000)
    assert texts(results) == ["good"]
    assert reasons(results) == ["row 2 and all after it: a cell has no end; is a quote never closed?"]


def test_reads_long_cells(tmp_path: Path):
    assert texts(read_table(tmp_path, f"id,text\n1,{'long ' * 200_000}\n")) == ["long " * 200_000]


def test_reports_undecodable_bytes_with_each_row(tmp_path: Path):
    (document,) = read_table(tmp_path, b"id,text\n1,Gr\xfc\xdfe\n")
    assert isinstance(document, Document)
    assert (document.text, document.metadata["decoding"]) == ("Grüße", "windows-1252, guessed")


@pytest.mark.parametrize(("content", "reason"), [("", "empty"), ("\n\n", "empty"), ("id,text\n", "no rows")])
def test_skips_table_without_rows(tmp_path: Path, content: str, reason: str):
    assert reasons(read_table(tmp_path, content)) == [reason]


@pytest.mark.parametrize(
    ("name", "content"),
    [("kb.csv", "id,Question,Answer\n1,a,b\n"), ("kb.jsonl", '{"id": 1, "Question": "a", "Answer": "b"}\n')],
)
def test_missing_column_of_the_settings_is_named(tmp_path: Path, name: str, content: str):
    with pytest.raises(SourceError) as raised:
        read_table(tmp_path, content, name, text=("body",))
    for part in (name, "'body'", "id, Question, Answer", "acquire.columns.text"):
        assert part in str(raised.value)
    assert "--" not in str(raised.value)
    settings = AcquireSettings.model_validate({"columns": {"text": ["body"]}})
    (skipped,) = read(str(tmp_path), settings, base=tmp_path)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == str(raised.value)


SHOPS = "name,price,city,description\nMill,12.50,Vilnius,\n,,,\nForge,7,Kaunas," + "Iron and fire. " * 20 + "\n"


def test_rows_without_text_become_records(tmp_path: Path):
    first, empty, second = read_table(tmp_path, SHOPS, "shops.csv")
    assert first == Document(
        id="shops.csv#1",
        text="name: Mill; price: 12.50; city: Vilnius",
        source=f"{tmp_path / 'shops.csv'}#1",
        title="Mill",
        metadata={"path": "shops.csv", "kind": "csv", "name": "Mill", "price": 12.5, "city": "Vilnius"},
    )
    assert isinstance(empty, Skipped)
    assert empty.reason == "row 2: empty"
    assert isinstance(second, Document)
    assert second.text == "name: Forge; price: 7; city: Kaunas\n\ndescription: " + ("Iron and fire. " * 20).strip()
    assert "description" not in second.metadata


def test_json_objects_without_text_become_records(tmp_path: Path):
    shops = [{"id": 4, "price": 3, "label": "Mill", "open": True, "tags": ["a", "b"], "at": {"x": 1, "y": {"z": 2}}}]
    (document,) = read_table(tmp_path, json.dumps(shops), "shops.json")
    assert isinstance(document, Document)
    assert document.text == 'id: 4; price: 3; label: Mill; open: true; tags: a, b; at.x: 1; at.y: {"z": 2}'
    assert (document.id, document.title) == ("shops.json#4", "Mill")
    assert (document.metadata["tags"], document.metadata["at.x"]) == (("a", "b"), 1)


@pytest.mark.parametrize(
    ("header", "row", "title"),
    [
        ("city,Product name,price", "Vilnius,Wheel,3", "Wheel"),
        ("first_name,last_name,age", "Ann,Mill,30", "Ann Mill"),
        ("date,amount,place", "2024-05-06,12,Kaunas", "Kaunas"),
        ("a,b", "1,2", ""),
    ],
)
def test_record_takes_its_title_from_what_names_it(tmp_path: Path, header: str, row: str, title: str):
    (document,) = read_table(tmp_path, f"{header}\n{row}\n")
    assert isinstance(document, Document)
    assert document.title == title


def test_reads_ten_thousand_columns(tmp_path: Path):
    header = ",".join(f"c{number}" for number in range(10_000))
    (document,) = read_table(tmp_path, f"{header}\n{','.join(['7'] * 10_000)}\n")
    assert isinstance(document, Document)
    assert document.text.endswith("c9999: 7")
    assert len(document.metadata) == 100


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=9),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=9), lambda one: st.lists(one, max_size=3)
        ),
        max_size=6,
    )
)
def test_every_record_is_storable(fields: dict[str, Json]):
    text = record_text(fields) + record_title(fields)
    text.encode()
    assert "\r" not in text
    assert not any(line.endswith(": ") for line in record_text(fields).split("\n"))


def test_json_lines_keep_their_types(tmp_path: Path):
    record = {
        "id": 5, "title": "T", "text": "Text\r\nof it\ud800.", "views": 3, "share": 0.25, "public": False,
        "zip": "01234", "tags": ["a", "b", None], "nothing": None, "blank": " ", "huge": 1 << 70, "rows": [[1], [2]],
        "meta": {"lang": "de", "url": "https://x.example"}, "author": {"name": "N", "born": {"year": 1}},
    }  # fmt: skip
    (document,) = read_table(tmp_path, json.dumps(record) + "\n", "kb.jsonl")
    assert isinstance(document, Document)
    assert (document.id, document.text, document.url) == ("kb.jsonl#5", "Text\nof it\ufffd.", "https://x.example")
    assert document.metadata == {
        "path": "kb.jsonl", "kind": "jsonl", "views": 3, "share": 0.25, "public": False, "zip": "01234",
        "tags": ("a", "b"), "huge": str(1 << 70), "lang": "de", "author.name": "N",
    }  # fmt: skip


def test_reports_bad_json_lines_and_reads_the_rest(tmp_path: Path):
    wrong = ['{"text": ', "", "[1]", '{"text": null}', '{"other": 1}', "[" * 100_000]
    lines = ['{"text": "one"}', *wrong, '{"text": ["two", "lines"]}']
    results = read_table(tmp_path, "\n".join(lines), "kb.ndjson")
    assert texts(results) == ["one", "two\nlines"]
    told = [reason.split(":")[0] for reason in reasons(results)]
    assert told == ["line 2", "line 4", "line 5", "line 6", "line 7"]
    assert [row.id for row in results if isinstance(row, Document)] == ["kb.ndjson#1", "kb.ndjson#8"]


def test_streams_rows(tmp_path: Path):
    (tmp_path / "kb.csv").write_text("id,text\n" + "".join(f"{n},text\n" for n in range(1000)) + '"')
    rows = acquire.read(str(tmp_path / "kb.csv"), AcquireSettings(), base=tmp_path)
    assert isinstance(next(rows), Document)


@pytest.mark.parametrize(
    ("name", "column", "count"),
    [
        ("covid_faq_kb/dev/kb.csv", "text", 997),
        ("covid_faq_kb/dev/corpus.jsonl", "text", 997),
        ("malaysian_news/dev/news.csv", "article_content", 2358),
        ("scifact/dev/corpus.jsonl", "text", 5183),
    ],
)
def test_reads_real_tables_completely(data_dir: Path, name: str, column: str, count: int):
    # What is derived from a text takes most of the time, and `test_metadata.py` checks it.
    settings = AcquireSettings.model_validate({"columns": {"text": [column]}, "metadata": {"enabled": False}})
    results = [*read(str(data_dir / name), settings, base=data_dir)]
    assert len(results) == count
    assert reasons(results) == []


def test_reads_tables_in_encodings_of_other_scripts(data_dir: Path):
    file = data_dir / "parsing_corpus" / "dev" / "encoding" / "md_test_mskanji.csv"
    results = read(str(file), AcquireSettings(), base=data_dir)
    assert {one.metadata["decoding"] for one in results if isinstance(one, Document)} == {"cp932, guessed"}


def test_types_and_cleans_news_columns(tmp_path: Path):
    (tmp_path / "news.csv").write_text(
        "title,article_content,timestamp,created_at,authors,keywords,total_engagement,sentiment\n"
        '"Tom &amp; Co","<p>One   two</p><p>a < b</p><script>x()</script>\n\n\n\nend",05-03-24 9:07,'
        '2024-03-05T10:00:00Z,"[\'Ann O\'Neil\', ""Bob, Jr""]",x; y,12,0.5\n'
        "Second,text,unknown,,Ann,,,\n"
    )
    settings = load(preset="news").settings.acquire.model_copy(update={"metadata": MetadataSettings(enabled=False)})
    first, second = read(str(tmp_path / "news.csv"), settings, base=tmp_path)
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.title, first.text) == ("Tom & Co", "One two\na < b\n\nend")
    assert first.metadata == {
        "path": "news.csv",
        "kind": "csv",
        "timestamp": "2024-03-05T09:07:00",
        "created_at": "2024-03-05T10:00:00+00:00",
        "authors": ("Ann O'Neil", "Bob, Jr"),
        "keywords": ("x", "y"),
        "total_engagement": 12,
        "sentiment": 0.5,
    }
    assert second.metadata["timestamp"] == "unknown"
    assert second.metadata["authors"] == ("Ann",)


def test_text_of_a_record_does_not_name_its_readers(tmp_path: Path) -> None:
    (document,) = read_table(tmp_path, "Readers,Stone,Price\nhr;board,Basalt,44\n", "prices.csv")
    assert isinstance(document, Document)
    assert (document.title, document.text) == ("Basalt", "Stone: Basalt; Price: 44")
    assert document.metadata["readers"] == ("board", "hr")


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        ("sep=;\nname;price\nmill;12\n", ["name: mill; price: 12"]),
        ("name,value,value\nmill,1,2\n", ["name: mill; value: 1; value (2): 2"]),
        ("name,,price\nmill,wood,2\n", ["name: mill; column 2: wood; price: 2"]),
        ("# a comment\nname,price\nmill,12\n", ["name: mill; price: 12"]),
        (
            "Report of sales\nGenerated 2024-01-02\n\nname;price\nmill;12\nforge;9\n",
            ["name: mill; price: 12", "name: forge; price: 9"],
        ),
        ("mill,12\nforge,9\n", ["column 1: mill; column 2: 12", "column 1: forge; column 2: 9"]),
        ("name,2023,2024\nmill,12,13\n", ["name: mill; 2023: 12; 2024: 13"]),
    ],
)
def test_no_cell_of_a_table_is_lost(read_all: ReadAll, written: str, texts: list[str]) -> None:
    assert [one.text for one in read_all("t.csv", written) if isinstance(one, Document)] == texts


def test_says_that_lines_above_the_header_are_left_out(read_all: ReadAll) -> None:
    (document,) = read_all("t.csv", "Report\nname,price\nmill,12\n")
    assert isinstance(document, Document)
    source = document.source.partition("#")[0]
    assert decoded_file(document) == Decoded(source=source, note="1 line above the header left out")


def test_reads_json_with_comments_as_text(read_one: ReadOne) -> None:
    written = '{\n  // the kiln "x"\n  "url": "http://a", /* b */\n  "pots": [40,],\n}'
    document = read_one("tsconfig.json", written)
    assert document.text == written
    assert document.metadata["decoding"] == "JSON with comments, read as text"


def test_json_with_comments_keeps_its_readers(read_one: ReadOne) -> None:
    document = read_one("a.json", '{"readers": ["hr"], // x\n "a": 1}')
    assert document.metadata["readers"] == ("hr",)


def test_an_emptied_table_says_so(read_all: ReadAll) -> None:
    (skipped,) = read_all("t.csv", "name,price\n")
    assert isinstance(skipped, Skipped)
    assert skipped.emptied


# ---------------------------------------------------------------- Parquet


def parquet(path: Path) -> Path:
    """A table with values of each kind."""
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    columns = {
        "product": ["Alder", "Otter"],
        "price": [1999.0, 2100.5],
        "since": [date(2020, 1, 1), None],
        "colors": [["red", "blue"], []],
        "size": [{"wheel": 28}, None],
        "picture": [b"\x89PNG", b""],
    }
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_reads_parquet_as_a_sheet(read_one: ReadOne, tmp_path: Path) -> None:
    document = read_one(parquet(tmp_path / "prices.parquet"))
    assert document.text == (
        "prices\n\nproduct | price | since | colors | size | picture\n"
        "Alder | 1999 | 2020-01-01 | red, blue | wheel: 28\nOtter | 2100.5"
    )
    assert [mark.header for mark in document.marks if mark.kind == "table"] == [1]


def test_columns_of_one_name_keep_their_values(read_one: ReadOne, tmp_path: Path) -> None:
    pyarrow: Any = import_module("pyarrow")
    table = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2]), pyarrow.array([3])], ["a", "a", "b"])
    import_module("pyarrow.parquet").write_table(table, tmp_path / "t.parquet")
    assert read_one(tmp_path / "t.parquet").text == "t\n\na | a | b\n1 | 2 | 3"


def test_damaged_parquet_is_skipped(why_skipped: Callable[..., str], tmp_path: Path) -> None:
    data = parquet(tmp_path / "a.parquet").read_bytes()
    assert "damaged" in why_skipped("b.parquet", data[:-20])


# ---------------------------------------------------------------- iWork


@pytest.mark.parametrize("name", ["a.pages", "a.numbers"])
def test_reads_the_preview_of_an_iwork_file(read_one: ReadOne, name: str) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("QuickLook/Preview.pdf", pdf(["The mill grinds."]))
    document = read_one(name, packed.getvalue())
    assert (document.text, document.metadata["kind"]) == ("The mill grinds.", name.partition(".")[2])


def test_an_iwork_file_without_a_preview_is_named(why_skipped: Callable[..., str], data_dir: Path) -> None:
    reason = why_skipped(data_dir / "fixtures" / "tika" / "tableNames.numbers")
    assert reason == "it holds no preview to read; export it as PDF, Word or Excel"

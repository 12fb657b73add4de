"""Archives: their members are read, and hostile ones are refused."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.acquire.readers.parsed import Budget, File
from ragstone.acquire.sources.archives import members
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

ReadAll = Callable[..., list[Document | Skipped]]


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def told(results: list[Document | Skipped]) -> list[tuple[str, str]]:
    """Return the names of the documents, and the reasons for skipped files."""
    return [
        (one.id, one.text) if isinstance(one, Document) else (one.source.partition("a.zip")[2], one.reason)
        for one in results
    ]


def test_reads_files_in_archives(read_all: ReadAll, tmp_path: Path) -> None:
    inner = packed({"b.csv": b"id,text\n7,row\n"})
    files = {"b.md": b"# B", "deep/a.html": b"<p>page", "in.zip": inner, "x.bin": b"x"}
    results = read_all("a.zip", packed(files | {"__MACOSX/a.md": b"#", ".hidden.md": b"#"}))
    assert told(results)[:3] == [("a.zip/b.md", "# B"), ("a.zip/deep/a.html", "page"), ("a.zip/in.zip/b.csv#7", "row")]
    assert told(results)[3][1] == "a program"
    assert len(results) == 4
    assert [one.source for one in results[:1]] == [f"{tmp_path / 'a.zip'}/b.md"]


def test_member_names_never_lead_outside(read_all: ReadAll, tmp_path: Path) -> None:
    files = {"../../out.md": b"a", "/abs.md": b"b", "..\\w.md": b"c", "x/../../y.md": b"d"}
    before = sorted(tmp_path.parent.rglob("*.md"))
    results = read_all("a.zip", packed(files))
    assert {one.id for one in results if isinstance(one, Document)} == {
        "a.zip/out.md", "a.zip/abs.md", "a.zip/w.md", "a.zip/x/y.md",
    }  # fmt: skip
    assert sorted(tmp_path.parent.rglob("*.md")) == before


def test_refuses_archive_bombs(read_all: ReadAll) -> None:
    zeros = b"0" * 30_000_000
    reason = "an archive bomb: it expands to more than 200 times its size"
    assert told(read_all("a.zip", packed({"a.txt": zeros, "b.txt": b"b"}))) == [("", reason)]
    assert told(read_all("a.txt.gz", gzip.compress(zeros)))[0][1] == reason
    # The inner archive draws on the budget of the outer one.
    nested = packed({f"{n}.zip": packed({"a.txt": zeros}) for n in range(3)})
    assert all(one[1] == reason for one in told(read_all("a.zip", nested)))


def test_limits_depth_and_number_of_members(read_all: ReadAll, tmp_path: Path) -> None:
    content: bytes = b"text"
    for _ in range(4):
        content = packed({"in.zip" if content != b"text" else "a.md": content})
    assert told(read_all("a.zip", content)) == [("/in.zip/in.zip", "nested deeper than 2 archives")]
    many = packed({f"{n}.md": b"# text" for n in range(5)})
    path = tmp_path / "many.zip"
    path.write_bytes(many)
    budget = Budget(bytes_left=1_000_000, files_left=3)
    file = File(path=path, name="many.zip", source="", suffix=".zip", settings=AcquireSettings(), budget=budget)
    last = list(members(file))[3:]
    assert last == [Skipped(source="", reason="2 more files, above the limit of 10,000")]
    large = packed({"a.md": b"# a", "b.md": bytes(range(256)) * 4000})
    assert told(read_all("a.zip", large, max_file_mb=0.1))[1] == ("/b.md", "above acquire.max_file_mb=0.1")


def test_reports_damaged_archives(read_all: ReadAll) -> None:
    good = packed({"a.md": b"# words " * 50, "b.md": b"# b"})
    broken = good[:36] + b"\xff" * 4 + good[40:]
    assert [one[1][:8] for one in told(read_all("a.zip", broken))] == ["damaged:", "# b"]
    for content in (b"", b"PK", b"no archive", good[:-30], packed({})):
        ((_, reason),) = told(read_all("a.zip", content))
        assert reason.startswith(("damaged", "empty"))
    assert told(read_all("a.md.gz", gzip.compress(b"# a")[:-9]))[0][1].startswith("damaged")
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("a.md", "# one")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.md", "# two")
    assert told(read_all("a.zip", twice.getvalue()))[1][1] == "another file in the archive has the same name"


MAIL = """From: =?utf-8?b?xb0uIFRlc3Q=?= <z@x.example>
To: b@x.example
Date: Mon, 6 May 2024 07:08:09 +0200
Subject: =?utf-8?q?About_=C5=BEod=C5=BEiai?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=A

--A
Content-Type: multipart/alternative; boundary=B

--B
Content-Type: text/plain; charset=windows-1257
Content-Transfer-Encoding: 8bit

Plain \xfeodis.
--B
Content-Type: text/html

<h1>Page</h1>
--B--
--A
Content-Type: text/markdown
Content-Disposition: attachment; filename="../notes.md"

# Notes
--A
Content-Type: application/octet-stream
Content-Disposition: attachment; filename="x.exe"

MZ
--A--
"""


def test_reads_mail_and_attachments(read_all: ReadAll) -> None:
    mail, notes, unknown = read_all("a.eml", MAIL.encode("latin-1"))
    assert isinstance(mail, Document)
    assert (mail.text, mail.title) == ("Plain žodis.", "About žodžiai")
    wanted = {"kind": "eml", "from": "Ž. Test <z@x.example>", "to": "b@x.example", "date": "2024-05-06T07:08:09+02:00"}
    assert {key: mail.metadata[key] for key in wanted} == wanted
    assert isinstance(notes, Document)
    assert (notes.id, notes.text.strip(), notes.title) == ("a.eml/notes.md", "# Notes", "Notes")
    assert isinstance(unknown, Skipped)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Subject: S\nContent-Type: text/html\n\n<nav>x</nav><h1>T</h1><p>page</p>", "x\n\nT\n\npage"),
        ("From: a\n\ntext", "text"),
        ("Subject: a\nContent-Type: text/plain; charset=nonsense\n\ntext", "text"),
        ("just text", None),
        ("Subject: only\n\n", None),
    ],
)
def test_reads_unusual_mail(read_all: ReadAll, content: str, text: str | None) -> None:
    (result,) = read_all("a.eml", content)
    assert (result.text if isinstance(result, Document) else None) == text


def test_reads_json_as_rows_or_text(read_all: ReadAll) -> None:
    rows = [{"id": "a", "text": "one", "n": 1}, {"id": "b"}]
    first, second = read_all("a.json", json.dumps(rows))
    assert isinstance(first, Document)
    assert (first.id, first.text, first.metadata["n"]) == ("a.json#a", "one", 1)
    assert isinstance(second, Skipped)
    (other,) = read_all("b.json", '{"a": ["ž", 1]}')
    assert isinstance(other, Document)
    assert other.text == '{\n  "a": [\n    "ž",\n    1\n  ]\n}'
    for wrong in ("{", "[]", "[" * 100_000, ""):
        (result,) = read_all("c.json", wrong)
        assert isinstance(result, Skipped)

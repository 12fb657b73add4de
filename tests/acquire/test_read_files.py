"""Files and folders, good and bad, as documents."""

import os
import zipfile
from pathlib import Path

import pytest
from compound_file import compound
from hypothesis import given
from hypothesis import strategies as st

from ragstone import acquire
from ragstone.acquire import readers
from ragstone.acquire.readers.sniff import suffix_from_content
from ragstone.core.errors import SourceError
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

SUFFIXES = [".txt", ".md", ".csv", ".tsv", ".jsonl"]
PIECES = ["text", "id", ",", ";", '"', "\n", "\r\n", '{"text": "a"}', "\0", "ž", "#", "x y"]
MESSY = st.lists(st.sampled_from(PIECES)).map("".join)


def read(source: str, settings: AcquireSettings, *, base: Path) -> list[Document | Skipped]:
    """Return the documents and skipped files of a source."""
    found = acquire.read(source, settings, base=base)
    return [one for one in found if isinstance(one, Document | Skipped)]


def read_all(path: Path, base: Path | None = None, **limits: float) -> list[Document | Skipped]:
    settings = AcquireSettings.model_validate({**limits, "metadata": {"enabled": False}})
    return [*read(str(path), settings, base=base or (path if path.is_dir() else path.parent))]


def read_bytes(folder: Path, content: bytes, name: str = "a.txt", **limits: float) -> Document | Skipped:
    (folder / name).write_bytes(content)
    (result,) = read_all(folder / name, **limits)
    return result


def test_keeps_text_file_unchanged(tmp_path: Path):
    document = read_bytes(tmp_path, "  Žodis.\r\nAntras\rTrečias\n\t".encode())
    assert document == Document(
        id="a.txt",
        text="  Žodis.\nAntras\nTrečias\n\t",
        source=str(tmp_path / "a.txt"),
        metadata={"path": "a.txt", "kind": "text"},
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_mark_decides_the_encoding(tmp_path: Path, encoding: str):
    document = read_bytes(tmp_path, "Ąžuolas 🌳\n".encode(encoding))
    assert isinstance(document, Document)
    assert document.text == "Ąžuolas 🌳\n"
    assert "decoding" not in document.metadata


@pytest.mark.parametrize(
    ("content", "text", "note"),
    [
        (b"Gr\xfc\xdfe aus K\xf6ln \x96 bald", "Grüße aus Köln – bald", "windows-1252, guessed"),
        ("ąčęėįšų".encode() + b" \xff\xfe", "ąčęėįšų \ufffd\ufffd", "utf-8, 2 undecodable replaced"),
        (b"plain words and more \x81.", "plain words and more \ufffd.", "utf-8, 1 undecodable replaced"),
    ],
)
def test_replaces_and_reports_undecodable_bytes(tmp_path: Path, content: bytes, text: str, note: str):
    document = read_bytes(tmp_path, content)
    assert isinstance(document, Document)
    assert (document.text, document.metadata["decoding"]) == (text, note)


def test_replaces_nul(tmp_path: Path):
    document = read_bytes(tmp_path, b"one\0two")
    assert isinstance(document, Document)
    assert document.text == "one\ufffdtwo"
    document.text.encode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\r\n ", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0", "binary"),
        (bytes(range(256)) * 50, "binary"),
        ("Насос потерял давление. ".encode("cp866") * 20, "its encoding is unclear"),
    ],
)
def test_skips_files_without_text(tmp_path: Path, content: bytes, reason: str):
    result = read_bytes(tmp_path, content)
    assert isinstance(result, Skipped)
    assert reason in result.reason
    assert result.source == str(tmp_path / "a.txt")


@pytest.mark.parametrize(("limit", "said"), [(100, "acquire.max_file_mb"), (1000, "a line longer than 8 MB")])
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl"])
def test_skips_file_with_a_huge_line(tmp_path: Path, limit: float, said: str, name: str):
    with (tmp_path / name).open("wb") as stream:
        stream.write(b"words without a break " * 500_000)
        stream.truncate(200_000_000)  # The rest takes no room on disk.
    (result,) = read_all(tmp_path / name, max_file_mb=limit)
    assert isinstance(result, Skipped)
    assert said in result.reason


def test_measures_lines_across_blocks(tmp_path: Path):
    content = b"a" * 700_000 + b"\n" + b"b" * 8_000_000 + b"\n" + b"c" * 700_000
    assert isinstance(read_bytes(tmp_path, content), Document)
    assert isinstance(read_bytes(tmp_path, content.replace(b"bc", b"bbc").replace(b"\nb", b"\nbb")), Skipped)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Intro\n\n# The *real* [title](x.md) #\n# Second", "The real title"),
        ("Set out\n=======\n\nText", "Set out"),
        ("\nSub\n---\n", "Sub"),
        ('---\ntitle: "Given"\n# comment\n---\n\n## No\n', "Given"),
        ("---\nauthor: N\n---\n\n## Yes\n", "Yes"),
        ("```\n# comment\n```\n\n### After\n", "After"),
        ("## 3.1.3 (2026-05-26)\n\nNew.\n\n## 3.1.2 (2025-12-01)\n", ""),
        ("# Version 3.1\n\nNew.\n\n# Version 3.0\n", ""),
        ("# Release notes\n\n# Version 3.0\n", "Release notes"),
        ("# 10 years on\n\n# 3 wishes\n", "10 years on"),
        ("~~~\n```\n# comment\n", ""),
        ("- item\n---\ntext", ""),
        ("#hashtag and #another\n", ""),
        ("just text", ""),
    ],
)
def test_first_heading_is_the_title(tmp_path: Path, text: str, title: str):
    document = read_bytes(tmp_path, text.encode(), "page.MD")
    assert isinstance(document, Document)
    shown = text.rpartition("---\n\n")[2]  # without front matter
    assert (document.title, document.text, document.metadata["kind"]) == (title, shown, "markdown")


def test_missing_path_is_an_error(tmp_path: Path):
    for wrong in (tmp_path / "none", tmp_path / ("x" * 5000), Path("a\0b")):
        with pytest.raises(SourceError):
            read(str(wrong), AcquireSettings(), base=tmp_path)


def test_folder_without_known_files_is_an_error(tmp_path: Path):
    (tmp_path / "a.ico").write_bytes(b"x")
    with pytest.raises(SourceError, match="it has no documents, tables or other text"):
        read(str(tmp_path), AcquireSettings(), base=tmp_path)


def test_reads_folder_in_order_without_hidden_files(tmp_path: Path):
    for name in ("b.txt", "a/z.md", "a/y/deep.TXT", ".hidden.txt", ".git/x.txt", ".ragstone-kb/y.txt", "c.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}")
    results = read_all(tmp_path)
    assert [result.id for result in results if isinstance(result, Document)] == ["a/y/deep.TXT", "a/z.md", "b.txt"]
    assert [Path(result.source).name for result in results if isinstance(result, Skipped)] == ["c.png"]
    assert results == read_all(tmp_path)


def test_id_does_not_depend_on_the_given_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("text")
    monkeypatch.chdir(docs)
    for source in ("a.txt", ".", "../docs", str(docs), str(docs / "a.txt"), "../docs/a.txt"):
        (document,) = read(source, AcquireSettings(), base=tmp_path)
        assert isinstance(document, Document)
        assert (document.id, document.source) == ("docs/a.txt", str(docs / "a.txt"))


def test_id_outside_the_base_begins_with_a_name(tmp_path: Path):
    (tmp_path / "kb").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("text")
    for names, id in (({}, "docs/a.txt"), ({str(tmp_path): "plant"}, "plant/docs/a.txt")):
        document, _ = acquire.read(str(tmp_path / "docs"), AcquireSettings(), base=tmp_path / "kb", names=names)
        assert isinstance(document, Document)
        assert document.id == id


def test_reports_links_out_of_the_folder(tmp_path: Path):
    root, other = tmp_path / "root", tmp_path / "other"
    (root / "sub").mkdir(parents=True)
    other.mkdir()
    (root / "sub" / "a.txt").write_text("a")
    (other / "b.txt").write_text("b")
    (root / "sub" / "up").symlink_to(root)
    (root / "linked").symlink_to(other)
    (root / "b.txt").symlink_to(other / "b.txt")
    (root / "own.txt").symlink_to(root / "sub" / "a.txt")
    (root / "self.txt").symlink_to(root / "self.txt")
    (root / "gone.txt").symlink_to(tmp_path / "nowhere.txt")
    results = read_all(root)
    assert [result.id for result in results if isinstance(result, Document)] == ["own.txt", "sub/a.txt"]
    out = "a link that leads out of the folder; add what it leads to by its own path"
    skipped = {Path(one.source).name: one.reason for one in results if isinstance(one, Skipped)}
    assert skipped == {"b.txt": out, "linked": out, "self.txt": "a broken link", "gone.txt": "a broken link"}


def test_bad_files_do_not_stop_the_rest(tmp_path: Path):
    os.mkfifo(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_bytes(b"")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / "d.txt").write_text("good")
    results = read_all(tmp_path)
    assert [type(result) for result in results] == [Skipped, Skipped, Skipped, Document]
    assert isinstance(read_all(tmp_path / "a.txt")[0], Skipped)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_skips_unreadable_files(tmp_path: Path):
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "a.txt").chmod(0)
    (result,) = read_all(tmp_path)
    assert isinstance(result, Skipped)


def test_id_of_non_unicode_name_can_be_stored(tmp_path: Path):
    name = os.fsdecode(b"gr\xfc\xdfe.txt")
    try:
        (tmp_path / name).write_text("text")
    except OSError:
        pytest.skip("this file system refuses names that are not Unicode")
    (document,) = read_all(tmp_path)
    assert isinstance(document, Document)
    assert document.id == "gr\ufffd\ufffde.txt"


def test_no_bytes_stop_reading(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("any")

    @given(content=st.one_of(st.binary(max_size=200), MESSY.map(str.encode)), suffix=st.sampled_from(SUFFIXES))
    def check(content: bytes, suffix: str):
        file = folder / f"a{suffix}"
        file.write_bytes(content)
        results = read_all(folder)
        file.unlink()
        assert results
        for document in results:
            if isinstance(document, Document):
                assert document.text.strip()
                assert "\r" not in document.text
                document.text.encode()

    check()


def test_reads_real_press_releases_completely(data_dir: Path):
    folder = data_dir / "telekom_press" / "dev" / "txt"
    results = read_all(folder)
    assert len(results) == len([*folder.iterdir()])
    assert all(isinstance(result, Document) for result in results)


def test_unexpected_error_affects_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> list[Document]:
        raise IndexError("no such cell")

    monkeypatch.setitem(readers.READERS, ".md", fail)
    (tmp_path / "a.md").write_text("# Rooms")
    (tmp_path / "b.txt").write_text("Visitors park behind the mill.")
    skipped, document = read_all(tmp_path)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "damaged: IndexError: no such cell"
    assert isinstance(document, Document)


@pytest.mark.parametrize(
    ("members", "suffix"),
    [
        ({"word/document.xml": ""}, ".docx"),
        ({"ppt/presentation.xml": ""}, ".pptx"),
        ({"xl/workbook.xml": ""}, ".xlsx"),
        ({"mimetype": "application/epub+zip"}, ".epub"),
        ({"mimetype": "application/vnd.oasis.opendocument.text"}, ".odt"),
        ({"a.txt": ""}, ".zip"),
    ],
)
def test_office_files_without_a_suffix_are_known_by_their_parts(tmp_path: Path, members: dict[str, str], suffix: str):
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    assert suffix_from_content(tmp_path / "file") == suffix


@pytest.mark.parametrize(
    ("stream", "suffix"), [("Workbook", ".xls"), ("PowerPoint Document", ".ppt"), ("Other", ".doc")]
)
def test_older_office_files_are_known_by_their_streams(tmp_path: Path, stream: str, suffix: str):
    (tmp_path / "file").write_bytes(compound({stream: b"x"}))
    assert suffix_from_content(tmp_path / "file") == suffix

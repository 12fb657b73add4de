"""Bad input of every kind: the message is clear, the exit code right, and nothing stored is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Run

MEGABYTE = 1_000_000


@pytest.fixture
def stored(run: Run, kb: Path) -> Iterator[Path]:
    """The knowledge base, checked afterwards: whatever was tried, the articles are still there."""
    yield kb
    assert run("status", "--json").json["documents"] >= 3
    assert "Marie Curie" in run("ask", "What is room 7 called?").out


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["add", "missing.txt"], 1, "no file or folder 'missing.txt'"),
        (["add", "articles.csv", "missing.txt"], 1, "no file or folder 'missing.txt'"),
        (["add", "hollow"], 1, "nothing to read under 'hollow'"),
        (["add", "articles.csv", "--kb", "new", "--set", "acquire.columns.text=[body]"], 1, "body"),
        (["add", "articles.csv", "--set", "acquire.columns.nothing=x"], 2, "no setting 'acquire.columns.nothing'"),
        (["add"], 2, "Missing argument"),
        (["ask", "Why?", "--set", "chunk.sise=3"], 2, "did you mean chunk.size?"),
        (["ask", "Why?", "--set", "rank.top_k"], 2, "write it as path=value"),
        (["ask", "Why?", "--preset", "nothing"], 2, "no preset 'nothing'"),
        (["ask", "Why?", "--retrieval-method", "magic"], 2, "query.method"),
        (["ask", "Why?", "--vector-weight", "2"], 2, "query.vector_weight"),
        (["ask", "Why?", "--chunk-size", "many"], 2, "chunk.size"),
        (["ask", "Why?", "--chunk-size", "300"], 1, "ragstone rebuild --kb .ragstone --set chunk.size=300"),
        (["chat", "--chunk-overlap", "3"], 1, "ragstone rebuild"),
        (["ask", " \t\n "], 2, "the question is empty"),
        (["ask", ""], 2, "the question is empty"),
        (["ask", "Why?", "--where", "lang ="], 2, "the filter cannot be read"),
        (["search", "Why?", "--where", ""], 2, "the filter is empty"),
        (["search", "Why?", "-k", "0"], 2, "k must be at least 1"),
        (["search", "Why?", "-k", "three"], 2, "Invalid value for '-k'"),
        (["ask", "Why?", "--preset", "knowledge-base"], 1, "rebuild --kb .ragstone --preset knowledge-base"),
        (["ask", "Why?", "--kb", "nowhere"], 1, "ragstone add SOURCE --kb nowhere"),
        (["chat", "--kb", "nowhere"], 1, "ragstone add SOURCE --kb nowhere"),
        (["status", "--kb", "articles.csv"], 1, "no knowledge base"),
        (["show", "nothing"], 1, "there is no document 'nothing'"),
        (["show", "articles.csv#1", "--span", "5"], 2, "write two numbers"),
        (["show", "articles.csv#1", "--span", "a:b"], 2, "write two numbers"),
        (["show", "articles.csv#1", "--span", "-1:5"], 2, "write two numbers"),
        (["show", "articles.csv#1", "--span", "5:2"], 2, "not within the document"),
        (["show", "articles.csv#1", "--span", "0:99999"], 2, "not within the document"),
        (["remove", "nothing"], 1, "there is no document 'nothing'"),
        (["rebuild", "--set", "chunk.size=1"], 2, "chunk.size"),
        (["nothing"], 2, "No such command"),
        (["ask", "Why?", "--nothing"], 2, "No such option"),
    ],
)
def test_it_is_refused_in_one_line(run: Run, tmp_path: Path, words: list[str], code: int, message: str) -> None:
    (tmp_path / "hollow" / "inner").mkdir(parents=True)
    done = run(*words)
    assert (done.code, done.out) == (code, "")
    assert re.fullmatch(r"ragstone: [^\n]+\n", done.err)
    assert message in done.err


def test_a_setting_of_the_environment_is_named(run: Run, kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_NOTHING", "1")
    done = run("ask", "Why?", "--kb", str(kb))
    assert done.code == 2
    assert "RAGSTONE_NOTHING in the environment" in done.err


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\x7fELF\x00\x01\x02\x03" * 50, "binary, not text"),
        (b"\x81\x8d\x8f\x90\x9d\xff\xfe" * 50, "neither UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(run: Run, tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "bad.txt").write_bytes(content)
    done = run("add", "bad.txt")
    assert done.code == 1
    assert f"bad.txt: {reason}" in done.out
    assert run("status", "--json").json["skipped"][0]["reason"].startswith(reason)


@pytest.mark.usefixtures("stored")
def test_a_bad_file_stops_no_other(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_bytes(b"\0\1\2\3" * 100)
    (tmp_path / "folder" / "b.txt").write_text("Bees dance.")
    (tmp_path / "folder" / "c.txt").write_bytes(b"Caf\xe9 au lait.")
    done = run("add", "folder", "--json")
    assert done.code == 0
    assert done.json["added"] == 2
    assert [Path(one["source"]).name for one in done.json["skipped"]] == ["a.txt"]


@pytest.mark.usefixtures("stored")
def test_a_line_of_200_megabytes_is_skipped(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "long.txt").open("wb") as file:
        file.truncate(200 * MEGABYTE)
    (tmp_path / "rather-long.txt").write_bytes(b"x" * 9 * MEGABYTE)
    done = run("add", "long.txt", "rather-long.txt")
    assert done.code == 1
    assert "long.txt: 200 MB, above acquire.max_file_mb=100" in done.out
    assert "a line longer than acquire.max_line_mb=8" in done.out

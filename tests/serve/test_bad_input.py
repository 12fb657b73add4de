"""Bad input: one clear line, the right exit code, and nothing stored is lost."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from running import Run

from ragstone.engine.knowledge_base import KnowledgeBase

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def shared(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One copy of the knowledge base for all refusals; afterwards it must hold what it held."""
    folder = tmp_path_factory.mktemp("bad") / "input"
    shutil.copytree(made, folder)
    (folder / "hollow" / "inner").mkdir(parents=True)
    yield folder
    with closing(KnowledgeBase.open(folder / ".ragstone")) as kb:
        assert kb.status().documents == 3


@pytest.fixture
def folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shared)
    return shared


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["add", "missing.txt"], 1, "no file or folder 'missing.txt'"),
        (["add", "articles.csv", "missing.txt"], 1, "no file or folder 'missing.txt'"),
        (["add", "hollow"], 1, "nothing to read under 'hollow'"),
        (["add", "articles.csv", "--kb", "new", "--set", "acquire.columns.text=[body]"], 1, "body"),
        (["add", "articles.csv", "--set", "acquire.columns.nothing=x"], 2, "no setting 'acquire.columns.nothing'"),
        (["add", "articles.csv", "--retrieval-method", "bm25"], 2, "No such option"),
        (["add"], 2, "name a file or a folder, or set acquire.sources"),
        (["ask", "Why?", "--set", "chunk.sise=3"], 2, "did you mean chunk.size?"),
        (["ask", "Why?", "--set", "rank.top_k"], 2, "write it as path=value"),
        (["ask", "Why?", "--preset", "nothing"], 2, "no preset 'nothing'"),
        (["ask", "Why?", "--retrieval-method", "magic"], 2, "query.method"),
        (["ask", "Why?", "--vector-weight", "2"], 2, "query.vector_weight"),
        (["ask", "Why?", "--chunk-size", "many"], 2, "chunk.size"),
        (["ask", "Why?", "--chunk-size", "300"], 1, "ragstone rebuild --kb .ragstone --set chunk.size=300"),
        (["ask", "Why?", "--add", "missing.txt"], 1, "no file or folder 'missing.txt'"),
        (["chat", "--chunk-overlap", "3"], 1, "ragstone rebuild"),
        (["ask", " \t\n "], 2, "the question is empty"),
        (["ask", ""], 2, "the question is empty"),
        (["ask", "Why?", "--where", "lang ="], 2, "the filter cannot be read"),
        (["search", "Why?", "--where", ""], 2, "the filter is empty"),
        (["search", "Why?", "-k", "0"], 2, "k must be at least 1"),
        (["search", "Why?", "-k", "three"], 2, "Invalid value for '-k'"),
        (["search", "Why?", "--chunk-size", "3"], 2, "No such option"),
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
        (["rebuild", "--switch", "--revert"], 2, "--switch and --revert cannot be combined"),
        (["sync", "articles.csv", "--queue", "--watch"], 2, "--queue cannot be combined"),
        (["history", "conversations", "--forget", "x"], 1, "ragstone history conversations"),
        (["nothing"], 2, "No such command"),
        (["eval"], 2, "Missing argument"),
        (["ask", "Why?", "--nothing"], 2, "No such option"),
    ],
)
def test_refuses_in_one_line(run: Run, words: list[str], code: int, message: str) -> None:
    done = run(*words)
    assert (done.code, done.out) == (code, "")
    assert re.fullmatch(r"ragstone: [^\n]+\n", done.err)
    assert message in done.err


@pytest.mark.usefixtures("folder")
def test_names_an_unknown_environment_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_NOTHING", "1")
    done = run("ask", "Why?")
    assert done.code == 2
    assert "RAGSTONE_NOTHING in the environment" in done.err


@pytest.mark.usefixtures("kb")
def test_reports_unreadable_files_and_adds_the_rest(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    contents = {
        "empty.txt": b"",
        "blank.txt": b" \n\t\n",
        "binary.txt": b"\x7fELF\x00\x01\x02\x03" * 50,
        "unknown.txt": b"\x81\x8d\x8f\x90\x9d\xff\xfe" * 50,
        "good.txt": b"Bees dance.",
        "latin.txt": b"Caf\xe9 au lait.",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    done = run("add", "folder", "--json")
    assert done.code == 0
    assert done.json["added"] == 2
    reasons = {Path(one["source"]).name: one["reason"] for one in done.json["skipped"]}
    assert set(reasons) == {"empty.txt", "blank.txt", "binary.txt", "unknown.txt"}
    assert reasons["empty.txt"].startswith("empty")
    assert reasons["blank.txt"].startswith("empty")
    assert reasons["binary.txt"].startswith("binary, not text")
    assert reasons["unknown.txt"].startswith("its encoding is unclear")
    assert len(run("status", "--json").json["skipped"]) == 4
    failed = run("add", "folder/empty.txt")
    assert failed.code == 1
    assert "empty.txt: empty" in failed.out


@pytest.mark.usefixtures("kb")
def test_skips_a_line_of_200_megabytes(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "long.txt").open("wb") as file:
        file.truncate(200 * MEGABYTE)
    (tmp_path / "rather-long.txt").write_bytes(b"x" * 9 * MEGABYTE)
    done = run("add", "long.txt", "rather-long.txt")
    assert done.code == 1
    assert "long.txt: 200 MB, above acquire.max_file_mb=100" in done.out
    assert "a line longer than 8 MB" in done.out

"""The command line on real files and the real engine."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import pytest
from running import Result, Run, program

from ragstone.serve.cli import app as cli

ARTICLES = """\
id,title,text,lang,author
1,Rooms,Room 7 is called Marie Curie. It has twelve seats and a projector.,en,Ada
2,Parking,Visitors park behind the mill. The gate closes at nine in the evening.,en,Bob
3,Kantine,Die Kantine öffnet um elf Uhr. Freitags gibt es Fisch.,de,Ada
"""


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process; ``typed`` is its standard input."""

    def run(*words: str, typed: str = "") -> Result:
        capfd.readouterr()
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = cli.run(words)
        sys.stderr.flush()
        return Result(code, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some articles and a knowledge base of them, made once; tests work on copies."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "articles.csv").write_text(ARTICLES, encoding="utf-8")
    done = program("add", "articles.csv", cwd=folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def kb(made: Path, workdir: Path) -> Path:
    """The current folder is a copy of `made`; gives its knowledge base."""
    shutil.copytree(made, workdir, dirs_exist_ok=True)
    return workdir / ".ragstone"

"""Folders that this account may not read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import START, Result, environment

WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
"""Begins a command of root under which it may read no more than any other account."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder ``src`` of documents, some of them in ``src/closed``."""
    if WITHOUT_RIGHTS and not shutil.which("setpriv"):
        pytest.skip("root may read everything")
    for name, text in (("a", "The ferry leaves at nine."), ("closed/b", "The mill opens at eight.")):
        file = tmp_path / "src" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    yield tmp_path
    for closed in ("src", "src/closed"):
        (tmp_path / closed).chmod(0o755)


def ragstone(folder: Path, *words: str) -> Result:
    command = [*WITHOUT_RIGHTS, sys.executable, "-c", START, *words]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("mode", [0o000, 0o444], ids=["closed", "only listed"])
def test_sync_skips_an_unreadable_folder_and_keeps_its_documents(folder: Path, mode: int) -> None:
    assert ragstone(folder, "sync", "src").code == 0
    (folder / "src" / "c.md").write_text("The bridge is closed.", encoding="utf-8")
    (folder / "src" / "closed").chmod(mode)
    done = ragstone(folder, "sync", "src")
    assert done.code == 0, done.err
    assert "src/closed" in done.out + done.err
    assert "ermission denied" in done.out + done.err
    listed = ragstone(folder, "list").out
    assert all(name in listed for name in ("a.md", "closed/b.md", "c.md"))


@pytest.mark.parametrize("closed", ["src", "src/closed"])
def test_says_that_a_folder_may_not_be_read(folder: Path, closed: str) -> None:
    (folder / "src" / "a.md").unlink()
    (folder / closed).chmod(0)
    done = ragstone(folder, "add", "src")
    assert done.code != 0
    assert "ermission denied" in done.err
    assert "has no documents" not in done.err

"""The page as it is built: from its sources, the same every time, small, and fetching nothing."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
WEB, PAGE = ROOT / "web", ROOT / "ragstone" / "serve" / "page"
LARGEST = 110_000
"""Bytes of the whole page as it is sent, compressed."""


@pytest.fixture(scope="module")
def npm() -> str:
    """The command, where Node and the packages of the page are there."""
    found = shutil.which("npm")
    if not found:
        pytest.skip("Node is not installed, so the page is not built anew")
    if not (WEB / "node_modules").is_dir():
        pytest.skip("the packages of the page are not there (npm ci, in web/), so it is not built anew")
    return found


def run(npm: str, *words: str, **env: str) -> str:
    given = {name: value for name, value in os.environ.items() if not name.startswith("VITE_")}
    done = subprocess.run(
        [npm, "run", *words], cwd=WEB, env={**given, **env}, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tree(folder: Path) -> dict[str, bytes]:
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_the_page_is_what_its_sources_give(npm: str, tmp_path: Path) -> None:
    run(npm, "build", "--", "--outDir", str(tmp_path / "page"))
    built, there = tree(tmp_path / "page"), tree(PAGE)
    assert sorted(built) == sorted(there), "run, in web/: npm run build"
    assert built == there, "run, in web/: npm run build"


def test_it_can_be_built_for_an_api_elsewhere(npm: str, tmp_path: Path) -> None:
    run(npm, "build", "--", "--outDir", str(tmp_path / "page"), VITE_API="https://api.example/kb")
    built = tree(tmp_path / "page")
    index = built["index.html"].decode()
    assert (
        "connect-src &#39;self&#39; https://api.example;" in index or "connect-src 'self' https://api.example;" in index
    )
    assert any(b"https://api.example/kb" in content for name, content in built.items() if name.endswith(".js"))
    assert all(path.startswith("./") for path in re.findall(r'(?:src|href)="([^"]+)"', index)), "fits any folder"


def test_it_is_small_and_holds_no_script_or_style_within_its_html() -> None:
    files = tree(PAGE)
    assert sum(len(gzip.compress(content, mtime=0)) for content in files.values()) < LARGEST
    index = files["index.html"].decode()
    assert "default-src 'none'" in index
    assert re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|(?:src|href)=\"(?!\./)", index) is None


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    assert all("integrity" in package for name, package in lock["packages"].items() if name)

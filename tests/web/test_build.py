"""The build of the page: reproducible, small, and self-contained."""

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
LARGEST, LARGEST_WIDGET = 130_000, 15_400
"""Bytes of the page that are loaded first, and of the chat for other sites, compressed."""


@pytest.fixture(scope="module")
def npm() -> str:
    """The npm command, if Node and the page's packages are installed."""
    found = shutil.which("npm")
    if not found:
        pytest.skip("Node is not installed, so the build is not tested")
    if not (WEB / "node_modules").is_dir():
        pytest.skip("the page's packages are not installed (npm ci, in web/), so the build is not tested")
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


def test_committed_page_matches_its_sources(npm: str, tmp_path: Path) -> None:
    run(npm, "build", "--", "--outDir", str(tmp_path / "page"))
    built, there = tree(tmp_path / "page"), tree(PAGE)
    assert sorted(built) == sorted(there), "run, in web/: npm run build"
    assert built == there, "run, in web/: npm run build"


def test_builds_for_a_remote_api(npm: str, tmp_path: Path) -> None:
    run(npm, "build", "--", "--outDir", str(tmp_path / "page"), VITE_API="https://api.example/kb")
    built = tree(tmp_path / "page")
    index = built["index.html"].decode()
    assert (
        "connect-src &#39;self&#39; https://api.example;" in index or "connect-src 'self' https://api.example;" in index
    )
    assert any(b"https://api.example/kb" in content for name, content in built.items() if name.endswith(".js"))
    assert all(path.startswith("./") for path in re.findall(r'(?:src|href)="([^"]+)"', index)), "fits any folder"


def test_page_is_small_without_inline_code() -> None:
    files = tree(PAGE)
    sizes = {name: len(gzip.compress(content, mtime=0)) for name, content in files.items()}
    assert sizes.pop("widget.js") < LARGEST_WIDGET
    index = files["index.html"].decode()
    named = set(re.findall(r'(?:src|href)="\./([^"]+)"', index))
    languages = [size for name, size in sizes.items() if re.match(r"assets/(de|lt|ms)-", name)]
    assert len(languages) == 3
    assert sum(sizes[name] for name in {"index.html", *named}) + max(languages) < LARGEST
    assert "default-src 'none'" in index
    assert re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|(?:src|href)=\"(?!\./)", index) is None


def test_lock_file_names_no_registry() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    assert all("integrity" in package for name, package in lock["packages"].items() if name)
